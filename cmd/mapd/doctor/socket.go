package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mapd/rpc/client"
	"mapd/rpc/socket"
)

// checkSocket looks at the way to the daemon, and at the daemon if one runs.
func checkSocket(ctx context.Context, opt *Options) []Finding {
	path, err := socket.Path(opt.Getenv)
	if err != nil {
		return []Finding{problem(err.Error(), "choose a short directory of your own, as in MAPD_SOCKET=~/.mapd.sock")}
	}
	var dir *socket.DirError
	switch err := socket.CheckDir(filepath.Dir(path)); {
	case errors.As(err, &dir):
		return []Finding{problem("the socket directory "+dir.Dir+" "+dir.Problem, dir.Remedy)}
	case errors.Is(err, fs.ErrNotExist):
		if at, err := makeable(filepath.Dir(path)); err != nil {
			return []Finding{problem(fmt.Sprintf("the socket directory %s cannot be made in %s: %v", filepath.Dir(path), at, err), "set XDG_RUNTIME_DIR or MAPD_SOCKET to a directory of your own")}
		}
		return []Finding{ok(path + ", no daemon runs, one starts with the first command")}
	case err != nil:
		return []Finding{problem(err.Error(), "set MAPD_SOCKET to a path in a directory of your own")}
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{ok(path + ", no daemon runs, one starts with the first command")}
	case err != nil:
		return []Finding{problem(err.Error(), "set MAPD_SOCKET to a path in a directory of your own")}
	case info.Mode()&fs.ModeSocket == 0:
		return []Finding{problem(path+" is in the way: it is no socket", fmt.Sprintf("remove it: rm %q", path))}
	}
	return []Finding{checkDaemon(ctx, opt, path, info.Mode().Perm())}
}

func checkDaemon(ctx context.Context, opt *Options, path string, mode fs.FileMode) Finding {
	status, err := daemon(ctx, opt.Getenv)
	build, _ := opt.Build()
	switch {
	case errors.Is(err, client.ErrNoDaemon):
		return ok(path + ", left by a daemon that is gone; the next one replaces it")
	case err != nil:
		return problem(fmt.Sprintf("%s does not answer: %v", path, err), "end the daemon with 'mapd stop', or by its pid where that fails; the log is in the state directory")
	case status.Build != build:
		return problem(fmt.Sprintf("the daemon on %s is of build %s, this is %s", path, status.Build, build), "run 'mapd stop': the next command starts this build")
	case mode&0o077 != 0:
		return problem(fmt.Sprintf("%s has the mode %04o", path, mode), fmt.Sprintf("run chmod 600 %q", path))
	}
	return ok(fmt.Sprintf("%s, pid %d, up %v", path, status.PID, time.Duration(status.UptimeSeconds)*time.Second))
}
