package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// scarce is the part of a limit, in percent, past which it is about to be used
// up.
const scarce = 90

// checkWatches compares what the programs of the user watch with the limits of
// the system, which they share, and looks whether the root can be watched.
func checkWatches(_ context.Context, opt *Options) []Finding {
	instances, err1 := inotifyLimit(opt.Proc, "max_user_instances")
	watches, err2 := inotifyLimit(opt.Proc, "max_user_watches")
	if err := errors.Join(err1, err2); err != nil {
		return []Finding{problem("the limits of watches are not known: "+err.Error(), "see that "+opt.Proc+" is mounted; without watches the trees of workspaces are scanned")}
	}
	usedInstances, usedWatches := usedByUser(opt.Proc, os.Getuid())
	out := []Finding{
		scarcity("instances", "max_user_instances", usedInstances, instances, max(512, 2*instances)),
		scarcity("watches", "max_user_watches", usedWatches, watches, max(524_288, 2*watches)),
	}
	if opt.Root != "" {
		out = append(out, checkFileSystem(opt.Root)...)
	}
	return out
}

func scarcity(what, name string, used, limit, better int) Finding {
	text := fmt.Sprintf("%d of %d inotify %s are in use", used, limit, what)
	if used*100 >= limit*scarce {
		return problem(text+": where none is left, a workspace is scanned instead and says that it is degraded",
			fmt.Sprintf("run sudo sysctl fs.inotify.%s=%d, or end programs that watch much", name, better))
	}
	return ok(text)
}

func inotifyLimit(proc, name string) (int, error) {
	b, err := os.ReadFile(filepath.Join(proc, "sys/fs/inotify", name))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(bytes.TrimSpace(b)))
}

// usedByUser counts the inotify instances and watches of the processes of a
// user. Those that end meanwhile are not counted.
func usedByUser(proc string, uid int) (instances, watches int) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return 0, 0
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		dir := filepath.Join(proc, e.Name())
		info, err := os.Stat(dir)
		if err != nil {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != uid {
			continue
		}
		i, w := usedBy(dir)
		instances, watches = instances+i, watches+w
	}
	return instances, watches
}

func usedBy(dir string) (instances, watches int) {
	fds, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return 0, 0
	}
	for _, fd := range fds {
		to, err := os.Readlink(filepath.Join(dir, "fd", fd.Name()))
		if err != nil || to != "anon_inode:inotify" {
			continue
		}
		instances++
		if b, err := os.ReadFile(filepath.Join(dir, "fdinfo", fd.Name())); err == nil {
			watches += bytes.Count(b, []byte("inotify wd:"))
		}
	}
	return instances, watches
}

// remote are file systems whose changes by other machines make no events here.
var remote = map[int64]string{
	unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB",
	unix.V9FS_MAGIC: "9p", unix.FUSE_SUPER_MAGIC: "FUSE", unix.AFS_SUPER_MAGIC: "AFS", unix.CEPH_SUPER_MAGIC: "Ceph",
}

func checkFileSystem(root string) []Finding {
	var st unix.Statfs_t
	if err := unix.Statfs(root, &st); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return []Finding{problem(root+" cannot be looked at: "+err.Error(), "see that you may read it")}
	}
	if name, ok := remote[int64(st.Type)]; ok {
		return []Finding{{Status: Note, Finding: root + " lies on " + name + ": what other machines change there is noticed by the audit only, minutes later",
			Remedy: "answers about single files are right at once all the same; work on a local copy if searches must be too"}}
	}
	return []Finding{ok(root + " is on a file system that reports changes")}
}
