package doctor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"mapd/cmd/mapd/install"
)

// checkClients looks which clients have mapd in their configuration, and whether
// the program that they would run is there.
func checkClients(_ context.Context, opt *Options) []Finding {
	if !filepath.IsAbs(opt.Getenv("HOME")) {
		return []Finding{problem("HOME is not set, so the configurations of clients are not known", "set HOME")}
	}
	var out []Finding
	for _, s := range install.Statuses(opt.Getenv) {
		where := s.Client + ": " + s.Path
		again := fmt.Sprintf("run 'mapd install %s' with the mapd that it shall run", s.Client)
		switch s.State {
		case install.Absent:
			continue
		case install.Unreadable:
			out = append(out, problem(fmt.Sprintf("%s cannot be read: %v", where, s.Err), "mend the file; until then mapd cannot be installed there"))
			continue
		}
		found, err := lookProgram(opt.Getenv, s.Command)
		switch {
		case s.Command == "":
			out = append(out, ok(where))
		case err != nil:
			out = append(out, problem(fmt.Sprintf("%s runs %s, which cannot be run: %v", where, s.Command, err), again))
		default:
			out = append(out, ok(where+" runs "+found))
		}
	}
	if len(out) == 0 {
		out = append(out, ok("none is set up to use mapd; 'mapd install CLIENT' does that"))
	}
	return out
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
	return "", errors.New("PATH does not lead to it")
}
