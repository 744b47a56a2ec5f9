-- Outlines, folds and stale-line diagnostics from the daemon that agents share,
-- in every file. It needs no other plugin.
local command = { "MAPD_COMMAND", "lsp" }

if vim.fn.executable(command[1]) == 0 then
  return
end

if vim.lsp.config and vim.lsp.enable then -- 0.11 and later
  vim.lsp.config("mapd", { cmd = command, root_markers = { ".git" } })
  vim.lsp.enable("mapd")
  return
end

local function root(path)
  local dir = vim.fn.fnamemodify(path, ":p:h")
  local above = vim.fn.fnameescape(dir) .. ";"
  local git = vim.fn.finddir(".git", above)
  if git ~= "" then
    return vim.fn.fnamemodify(git, ":p:h:h")
  end
  git = vim.fn.findfile(".git", above) -- of a worktree
  return git ~= "" and vim.fn.fnamemodify(git, ":p:h") or dir
end

local clients = {} -- by root

local function attach(buffer)
  local path = vim.api.nvim_buf_get_name(buffer)
  if path == "" or path:match("^%a+://") or vim.bo[buffer].buftype ~= "" then
    return
  end
  local dir = root(path)
  if not clients[dir] or vim.lsp.client_is_stopped(clients[dir]) then
    clients[dir] = vim.lsp.start_client({
      name = "mapd",
      cmd = command,
      root_dir = dir,
      workspace_folders = { { uri = vim.uri_from_fname(dir), name = dir } },
    })
  end
  if clients[dir] then
    vim.lsp.buf_attach_client(buffer, clients[dir])
  end
end

vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
  group = vim.api.nvim_create_augroup("mapd", { clear = true }),
  callback = function(args)
    attach(args.buf)
  end,
})
