package install

import (
	_ "embed" // for the files that are installed whole
	"os"
	"path/filepath"
)

// client is one program that mapd is put into.
type client struct {
	name   string
	path   func(getenv func(string) string) string
	editor editor
	note   string
}

//go:embed neovim.lua
var neovimPlugin string

//go:embed pi/mapd.ts
var piExtension string

// clients are the programs, by name.
var clients = []client{
	{
		name: "claude-code",
		path: func(getenv func(string) string) string {
			if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
				return filepath.Join(dir, ".claude.json")
			}
			return filepath.Join(home(getenv), ".claude.json")
		},
		editor: jsonEntry{containers: []string{"mcpServers"}, fields: []field{{"type", `"stdio"`}, {"command", ""}, {"args", `["mcp"]`}}},
		note:   "Claude Code runs it from its next start, in every project.",
	},
	{
		name: "codex",
		path: func(getenv func(string) string) string {
			if dir := getenv("CODEX_HOME"); dir != "" {
				return filepath.Join(dir, "config.toml")
			}
			return filepath.Join(home(getenv), ".codex", "config.toml")
		},
		editor: tomlEntry{},
		note:   "Codex runs it from its next start.",
	},
	{
		name:   "neovim",
		path:   func(getenv func(string) string) string { return filepath.Join(neovimDir(getenv), "plugin", "mapd.lua") },
		editor: wholeFile{text: neovimPlugin, comment: "--"},
		note:   "Neovim sources it at its next start and attaches it to every file; nothing has to be enabled.",
	},
	{
		name:   "opencode",
		path:   opencodePath,
		editor: opencodeEntry{},
		note:   "OpenCode runs it from its next start.",
	},
	{
		name: "pi",
		path: func(getenv func(string) string) string {
			dir := getenv("PI_CODING_AGENT_DIR")
			if dir == "" {
				dir = filepath.Join(home(getenv), ".pi", "agent")
			}
			return filepath.Join(dir, "extensions", "mapd.ts")
		},
		editor: wholeFile{text: piExtension, comment: "//"},
		note:   "pi loads it at its next start, or at /reload.",
	},
	{
		name:   "zed",
		path:   func(getenv func(string) string) string { return filepath.Join(config(getenv), "zed", "settings.json") },
		editor: jsonEntry{containers: []string{"context_servers"}, fields: []field{{"command", ""}, {"args", `["mcp"]`}}},
		note:   "Zed takes it up when the file is saved.",
	},
}

func home(getenv func(string) string) string {
	if dir := getenv("HOME"); dir != "" {
		return dir
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	return dir
}

// config is the directory of configurations by the XDG rules.
func config(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(home(getenv), ".config")
}

func neovimDir(getenv func(string) string) string {
	name := getenv("NVIM_APPNAME")
	if name == "" {
		name = "nvim"
	}
	return filepath.Join(config(getenv), name)
}

// opencodePath is the file that $OPENCODE_CONFIG names, or the one of the
// directory that has mapd, or the first that is there, or the first.
func opencodePath(getenv func(string) string) string {
	if path := getenv("OPENCODE_CONFIG"); path != "" {
		return path
	}
	dir := filepath.Join(config(getenv), "opencode")
	first := ""
	for _, name := range []string{"opencode.jsonc", "opencode.json", "config.json"} {
		path := filepath.Join(dir, name)
		f, err := open(path)
		if err == nil && !f.exists {
			continue
		}
		if first == "" {
			first = path
		}
		if err == nil {
			if _, present, err := (opencodeEntry{}).inspect(f.content); err == nil && present {
				return path
			}
		}
	}
	if first != "" {
		return first
	}
	return filepath.Join(dir, "opencode.json")
}
