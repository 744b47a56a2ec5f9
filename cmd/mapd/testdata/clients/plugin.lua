-- Looks at what the installed plugin does by itself, in a folder with a.go and
-- b.go. Prints "ok" at the end, or what went wrong, and quits.
local function clients()
  local list = vim.lsp.get_clients or vim.lsp.get_active_clients
  return list({ name = "mapd" })
end

local function wait(what, condition)
  assert(vim.wait(30000, condition, 20), "in vain: " .. what)
end

local function symbols()
  local params = { textDocument = vim.lsp.util.make_text_document_params() }
  local replies = assert(vim.lsp.buf_request_sync(0, "textDocument/documentSymbol", params, 30000))
  local _, reply = next(replies)
  assert(reply and reply.result, vim.inspect(replies))
  return vim.tbl_map(function(s) return s.name end, reply.result)
end

local function check()
  vim.cmd("edit a.go")
  wait("a client", function() return #clients() == 1 and clients()[1].initialized end)
  assert(vim.deep_equal(symbols(), { "A" }), vim.inspect(symbols()))
  vim.cmd("edit b.go")
  wait("the buffer", function() return vim.lsp.buf_is_attached(0, clients()[1].id) end)
  assert(vim.deep_equal(symbols(), { "B" }), vim.inspect(symbols()))
  assert(#clients() == 1, "one client for one folder")
  vim.cmd("enew")
  vim.cmd("setlocal buftype=nofile")
  assert(#clients() == 1, "none for what is no file")
end

local fine, failure = pcall(check)
print(fine and "ok" or failure)
vim.cmd("qall!")
