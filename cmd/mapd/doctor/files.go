package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// makeable reports whether a directory that is not there could be made, and
// where: in the deepest one above it that is there.
func makeable(dir string) (at string, err error) {
	for at = dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)) && at != filepath.Dir(at):
		case err != nil:
			return at, err
		case !info.IsDir():
			return at, errors.New("it is no directory")
		default:
			return at, unix.Access(at, unix.W_OK|unix.X_OK)
		}
	}
}

// checkPermissions looks at the directories that mapd writes to.
func checkPermissions(_ context.Context, opt *Options) []Finding {
	if opt.StateDir == "" {
		return []Finding{problem("neither XDG_STATE_HOME nor HOME is set, so there is no log", "set HOME")}
	}
	if at, err := makeable(opt.StateDir); err != nil {
		return []Finding{problem(fmt.Sprintf("the state directory %s cannot be written: %s: %v", opt.StateDir, at, err),
			fmt.Sprintf("make %q writable for you, or set XDG_STATE_HOME", at))}
	}
	var out []Finding
	log := filepath.Join(opt.StateDir, "mapd.log")
	if info, err := os.Stat(log); err == nil {
		switch {
		case unix.Access(log, unix.W_OK) != nil:
			out = append(out, problem(log+" cannot be written", fmt.Sprintf("remove it: rm %q", log)))
		case info.Mode().Perm()&0o077 != 0:
			out = append(out, problem(fmt.Sprintf("%s has the mode %04o: others may read which files you read", log, info.Mode().Perm()), fmt.Sprintf("run chmod 600 %q", log)))
		}
	}
	if len(out) == 0 {
		out = append(out, ok("log and state in "+opt.StateDir))
	}
	return out
}

// minDescriptors is how many open files a daemon needs to serve many clients
// that read at once.
const minDescriptors = 1024

// checkFiles looks at the limit of open files.
func checkFiles(context.Context, *Options) []Finding {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return []Finding{problem("the limit of open files is not known: "+err.Error(), "run 'ulimit -n' to see it")}
	}
	if limit.Max < minDescriptors {
		return []Finding{problem(fmt.Sprintf("a process may have %d files open, so few clients can connect", limit.Max), fmt.Sprintf("raise the hard limit to %d or more (ulimit -Hn, limits.conf)", minDescriptors))}
	}
	return []Finding{ok(fmt.Sprintf("a process may have %d files open", limit.Max))}
}
