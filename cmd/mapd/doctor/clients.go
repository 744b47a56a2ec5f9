package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// setup is where a client has its configuration.
type setup struct {
	client string
	paths  []string // relative to the home directory, or as the variable says
}

// setups are the clients that mapd can be installed in. A path may hold * for
// one element.
func setups(getenv func(string) string) []setup {
	home := getenv("HOME")
	in := func(variable, standard string) string {
		if dir := getenv(variable); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(home, standard)
	}
	config := in("XDG_CONFIG_HOME", ".config")
	return []setup{
		{"claude-code", []string{filepath.Join(home, ".claude.json"), filepath.Join(in("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")}},
		{"codex", []string{filepath.Join(in("CODEX_HOME", ".codex"), "config.toml")}},
		{"opencode", []string{filepath.Join(config, "opencode", "opencode.json"), filepath.Join(config, "opencode", "opencode.jsonc")}},
		{"zed", []string{filepath.Join(config, "zed", "settings.json")}},
		{"neovim", []string{filepath.Join(config, "nvim", "init.lua"), filepath.Join(config, "nvim", "lsp", "*.lua"), filepath.Join(config, "nvim", "plugin", "*.lua")}},
		{"pi", []string{filepath.Join(in("PI_CODING_AGENT_DIR", ".pi/agent"), "extensions", "mapd*"), filepath.Join(in("PI_CODING_AGENT_DIR", ".pi/agent"), "extensions", "mapd*", "*.ts")}},
	}
}

// maxSetup is how many bytes of a client's configuration are looked through.
const maxSetup = 16 << 20

// checkClients looks which clients name mapd in their configuration, and whether
// the program that they would run is there.
func checkClients(_ context.Context, opt *Options) []Finding {
	if !filepath.IsAbs(opt.Getenv("HOME")) {
		return []Finding{problem("HOME is not set", "set HOME")}
	}
	var out []Finding
	for _, s := range setups(opt.Getenv) {
		for _, pattern := range s.paths {
			files, _ := filepath.Glob(pattern)
			for _, file := range files {
				out = append(out, checkSetup(opt.Getenv, s.client, file)...)
			}
		}
	}
	if len(out) == 0 {
		out = append(out, ok("none is set up to use mapd; 'mapd install CLIENT' does that"))
	}
	return out
}

// named finds texts in quotes that are the program's name, or a path that ends
// in it.
var named = regexp.MustCompile(`["']((?:[^"'\n\\]*/)?mapd)["']`)

func checkSetup(getenv func(string) string, client, file string) []Finding {
	text, err := readSetup(file)
	if err != nil {
		return []Finding{problem(fmt.Sprintf("%s: %s cannot be read: %v", client, file, err), "see that you may read it")}
	}
	var out []Finding
	seen := map[string]bool{}
	for _, match := range named.FindAllStringSubmatch(text, -1) {
		program := match[1]
		path := strings.Contains(program, "/")
		if seen[program] || !path && !bareIsCommand(text, match[0]) {
			continue
		}
		seen[program] = true
		found, err := lookProgram(getenv, program)
		switch {
		case err == nil:
			out = append(out, ok(fmt.Sprintf("%s: %s runs %s", client, file, found)))
		case path:
			out = append(out, problem(fmt.Sprintf("%s: %s runs %s, which cannot be run: %v", client, file, program, err), fmt.Sprintf("run 'mapd install %s' with the mapd that it shall run", client)))
		default:
			out = append(out, problem(fmt.Sprintf("%s: %s runs mapd, which PATH does not lead to", client, file), fmt.Sprintf("put mapd into a directory of PATH, or run 'mapd install %s'", client)))
		}
	}
	return out
}

// bareIsCommand reports whether the name stands where a program is named, and
// not only as a key.
func bareIsCommand(text, quoted string) bool {
	return regexp.MustCompile(`(?:command|cmd|path)["']?\s*[:=]\s*[\[{]?\s*` + regexp.QuoteMeta(quoted)).MatchString(text)
}

func readSetup(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSetup))
	return string(b), err
}

// lookProgram finds a program as a client would.
func lookProgram(getenv func(string) string, program string) (string, error) {
	if strings.Contains(program, "/") {
		return exec.LookPath(program)
	}
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if found, err := exec.LookPath(filepath.Join(dir, program)); err == nil && filepath.IsAbs(dir) {
			return found, nil
		}
	}
	return "", errors.New("not found in PATH")
}
