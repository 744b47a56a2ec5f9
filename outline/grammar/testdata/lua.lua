#!/usr/bin/env lua
-- A small class library and its users.

local json = require("cjson")
local util = require "lib.util"
local M = {}

M.VERSION = "1.0"
local LIMIT = 100
counter = 0

--- Makes a point.
-- @param x number
-- @param y number
function M.point(x, y)
  return { x = x, y = y }
end

local function clamp(value, low, high)
  local function inner(v)
    return v
  end
  if value < low then
    return low
  elseif value > high then
    return high
  end
  return inner(value)
end

local Account = {}
Account.__index = Account

-- The constructor.
function Account.new(owner, balance)
  local self = setmetatable({}, Account)
  self.owner = owner
  self.balance = balance or 0
  self.notify = function(amount)
    print(amount)
  end
  return self
end

function Account:deposit(amount)
  self.balance = self.balance + amount
  for i = 1, 10 do
    local twice = function(n) return n * 2 end
    print(twice(i))
  end
end

function Account:withdraw(amount)
  if amount > self.balance then
    error("insufficient funds")
  end
  self.balance = self.balance - amount
end

Account.close = function(self)
  self.balance = 0
end

M.Account = Account

local handlers = {
  open = function(event)
    return event
  end,
  close = function()
    local done = true
    return done
  end,
  ["quoted name"] = function() end,
  nested = {
    deep = function() end,
  },
}

local square = function(x)
  return x * x
end

local compose
compose = function(f, g)
  return function(x)
    return f(g(x))
  end
end

local a, b, c = 1, 2, 3

function global_function(...)
  local args = { ... }
  while #args > 0 do
    table.remove(args)
  end
  repeat
    counter = counter + 1
  until counter > 10
  return #args
end

do
  local hidden = 1
  function M.in_block()
    return hidden
  end
end

if util.debug then
  function M.trace(...)
    print(...)
  end
else
  function M.trace() end
end

local mt = {}
mt.__add = function(left, right)
  return left
end
mt.__tostring = function(self) return "mt" end
setmetatable(M, mt)

--[[
  A comment of several lines
  about the queue.
]]
local Queue = {}

function Queue:push(item)
  self[#self + 1] = item
end

function Queue:pop()
  return table.remove(self, 1)
end

function Queue.size(q) return #q end

function M.a.b.c.deep(x)
  return x
end

pcall(function()
  local function inside_anonymous()
    return 1
  end
  return inside_anonymous()
end)

local function last(items)
  local n = #items
  return items[n], n
end

M.last = last

return M
