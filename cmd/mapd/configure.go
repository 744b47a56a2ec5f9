package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"mapd/cmd/mapd/config"
	"mapd/rpc"
	"mapd/workspace"
)

// maxConfig is the size in bytes of the largest configuration file of a user.
const maxConfig = 1 << 20

// configuration is what flags, the environment and the user's file say, the
// strongest first.
type configuration struct {
	getenv   func(string) string // an environment with the user's file below it
	outer    func(string) string // without
	user     config.Settings
	file     string // the user's; "" if there is none
	warnings []config.Warning
}

// limitVariable names the variable that sets a limit.
func limitVariable(name string) string { return "MAPD_LIMIT_" + strings.ToUpper(name) }

// configure reads the user's file. getenv is the environment, with flags above
// it.
func configure(getenv func(string) string) *configuration {
	c := &configuration{outer: getenv}
	c.getenv = c.lookup
	path := config.UserPath(getenv)
	if path == "" {
		return c
	}
	text, err := readRegular(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return c
	}
	c.file = path
	if err != nil {
		// It may hold roots, and a fence that cannot be read stands.
		c.user, _ = config.User(path, []byte("roots = []"), nil, "")
		c.warnings = []config.Warning{{File: path, Line: 1, Reason: fmt.Sprintf("it cannot be read (%v), so no root is allowed until that is mended", err)}}
		return c
	}
	c.user, c.warnings = config.User(path, text, rpc.DefaultLimits().Values(), getenv("HOME"))
	return c
}

// lookup is getenv over the user's file.
func (c *configuration) lookup(name string) string {
	if value := c.outer(name); value != "" {
		return value
	}
	switch name {
	case "MAPD_LOG":
		return c.user.Log
	case "MAPD_SESSION":
		return c.user.Session
	case "MAPD_FSYNC":
		return c.user.Fsync
	}
	if limit, ok := strings.CutPrefix(name, "MAPD_LIMIT_"); ok {
		if n := c.user.Limits[strings.ToLower(limit)]; n > 0 {
			return fmt.Sprint(n)
		}
	}
	return ""
}

// roots returns the only directories that sessions may open, resolved; none
// means that all may be.
func (c *configuration) roots() ([]string, error) {
	if list := c.outer("MAPD_ROOTS"); list != "" {
		return allowedRoots(list)
	}
	var out []string
	for _, dir := range c.user.Roots {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		} // else it may come to be, and until then no path is in it
		out = append(out, dir)
	}
	return out, nil
}

// project reads the file of a project for a daemon with these limits.
func (c *configuration) project(file string, text []byte, limits rpc.Limits) (workspace.Settings, []config.Warning) {
	set, warnings := config.Project(file, text, limits.Values(), func(limit string) bool { return c.outer(limitVariable(limit)) != "" })
	return workspace.Settings{
		Ignore: set.Ignore, Languages: set.Languages,
		FileBytes: set.Limits["file_bytes"], IndexBytes: set.Limits["index_bytes"], IndexFiles: int(set.Limits["index_files"]),
	}, warnings
}

// log writes the warnings about the user's file into a daemon's log.
func (c *configuration) log(log *slog.Logger) {
	for _, w := range c.warnings {
		log.Warn("configuration", "warning", w.String())
	}
}

// warnProject tells a person what does not count in the file of a root.
func (c *configuration) warnProject(stderr io.Writer, root string) {
	path := filepath.Join(root, config.ProjectFile)
	text, err := readRegular(path, workspace.MaxSettings)
	if err != nil {
		return // the daemon does without it too
	}
	limits, err := rpc.LimitsFromEnv(c.getenv)
	if err != nil {
		return // the daemon says so
	}
	_, warnings := c.project(path, text, limits)
	printWarnings(stderr, warnings)
}

// printWarnings prints a line for each. They quote a file that may be anybody's.
func printWarnings(stderr io.Writer, warnings []config.Warning) {
	for _, w := range warnings {
		fmt.Fprintf(stderr, "mapd: %s\n", visible(w.String()))
	}
}

// readRegular reads a regular file of at most limit bytes. Nothing else is
// opened for longer than it takes to see what it is.
func readRegular(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return b, err
}

// overlay is getenv with some values above it.
func overlay(getenv func(string) string, values map[string]string) func(string) string {
	return func(name string) string {
		if value, ok := values[name]; ok {
			return value
		}
		return getenv(name)
	}
}
