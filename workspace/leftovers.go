package workspace

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"mapd/hashline"
)

// The names of temporary files, which never outlive a write unless the daemon
// is killed in it: .mapd-EPOCH-RANDOM, then what a sweep must know, then
//
//	.new   a file that is being written, ours alone
//	.swap  a complete file before the exchange, what came off after it; the
//	       fields are the digests of the old and the new bytes
//	.undo  old and new bytes of a write in place; the fields are the inode and
//	       the size of the old bytes
const tempPrefix = ".mapd-"

// IsTemp reports whether a file of that name, without its directory, is a
// temporary file of a write. It is never part of a workspace.
func IsTemp(name string) bool {
	_, _, ok := parseTemp(name)
	return ok
}

// tempName is a parsed name of a temporary file.
type tempName struct {
	epoch  string
	fields []string
}

func parseTemp(name string) (t tempName, kind string, ok bool) {
	rest, found := strings.CutPrefix(name, tempPrefix)
	body, kind, cut := strings.Cut(rest, ".")
	fields := strings.Split(body, "-")
	if !found || !cut || len(fields) < 2 || len(fields[0]) != 16 || len(fields[1]) != 16 {
		return tempName{}, "", false
	}
	want := map[string]int{"new": 2, "swap": 4, "undo": 4}[kind]
	return tempName{fields[0], fields[2:]}, kind, len(fields) == want
}

// Leftovers is what the sweep for files of killed daemons found.
type Leftovers struct {
	Removed int
	// Kept are files that may hold bytes of other programs, by absolute path;
	// nothing but a person can say what to do with them.
	Kept []string
}

// leftovers makes temporary names, and remembers in a journal where such files
// may be, so that the next daemon looks there: one file for each daemon, with
// one quoted directory a line, locked as long as the daemon lives.
type leftovers struct {
	epoch   string
	journal string // directory; "" for none

	mu    sync.Mutex // guards all below
	noted map[string]struct{}
	file  *os.File // nil before the first write
	found Leftovers
}

// maxNoted is how many directories are remembered as noted; past it the memory
// starts anew, and a directory may be noted twice.
const maxNoted = 10_000

// strayAge is how old a temporary file of an unknown daemon must be before a
// write into its directory removes it.
const strayAge = time.Hour

func (l *leftovers) name(fields ...string) string {
	var b [8]byte
	rand.Read(b[:])
	return tempPrefix + strings.Join(append([]string{l.epoch, hex.EncodeToString(b[:])}, fields...), "-")
}

func (l *leftovers) draftName() string { return l.name() + ".new" }

func (l *leftovers) swapName(old, b hashline.Digest) string {
	return l.name(old.String(), b.String()) + ".swap"
}

func (l *leftovers) undoName(ino uint64, oldSize int) string {
	return l.name(strconv.FormatUint(ino, 16), strconv.FormatUint(uint64(oldSize), 16)) + ".undo"
}

// note records that temporary files may appear beside path. On the first time
// it also removes old ones from there that no journal tells of. A journal that
// cannot be written costs tidiness after a crash and nothing else.
func (l *leftovers) note(c *Cache, path string) {
	dir := filepath.Dir(path)
	l.mu.Lock()
	_, known := l.noted[dir]
	if !known {
		if l.noted == nil || len(l.noted) >= maxNoted {
			l.noted = map[string]struct{}{}
		}
		l.noted[dir] = struct{}{}
		l.recordLocked(dir)
	}
	l.mu.Unlock()
	if !known {
		before := time.Now().Add(-strayAge).UnixNano()
		c.sweep(dir, func(t tempName, s stamp) bool { return t.epoch != l.epoch && s.ctime < before })
	}
}

func (l *leftovers) recordLocked(dir string) {
	if l.journal == "" {
		return
	}
	if l.file == nil {
		file, err := openJournal(l.journal, l.epoch)
		if err != nil {
			return
		}
		l.file = file
	}
	_, _ = fmt.Fprintln(l.file, strconv.Quote(dir))
}

const journalPrefix = "writes-"

// openJournal makes the journal of epoch, which appears under its name only
// once it is locked.
func openJournal(dir, epoch string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	draft, name := filepath.Join(dir, "."+journalPrefix+epoch), filepath.Join(dir, journalPrefix+epoch)
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil {
		err = os.Rename(draft, name)
	}
	if err != nil {
		file.Close()
		os.Remove(draft)
		return nil, err
	}
	return file, nil
}

// close ends the journal; a daemon that ends in order leaves no files.
func (l *leftovers) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		os.Remove(filepath.Join(l.journal, journalPrefix+l.epoch))
		l.file.Close()
		l.file = nil
	}
}

// sweepDead removes what daemons left that are no longer alive.
func (c *Cache) sweepDead() {
	entries, err := os.ReadDir(c.leftovers.journal)
	if err != nil {
		return
	}
	for _, e := range entries {
		if epoch, ok := strings.CutPrefix(e.Name(), journalPrefix); ok && e.Type().IsRegular() {
			c.sweepJournal(filepath.Join(c.leftovers.journal, e.Name()), epoch)
		}
	}
}

// sweepJournal sweeps where the daemon of epoch wrote, unless it still holds
// its lock.
func (c *Cache) sweepJournal(path, epoch string) {
	const most = 16 << 20
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	if unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	text, err := io.ReadAll(io.LimitReader(file, most))
	if err != nil {
		return
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		dir, err := strconv.Unquote(strings.TrimSpace(line))
		if err != nil || seen[dir] || !filepath.IsAbs(dir) {
			continue
		}
		seen[dir] = true
		c.sweep(dir, func(t tempName, _ stamp) bool { return t.epoch == epoch })
	}
	os.Remove(path)
}

// sweep removes the temporary files of the directory that dead accepts, as far
// as they are ours, and finishes what was being written in place.
func (c *Cache) sweep(path string, dead func(tempName, stamp) bool) {
	dir, err := c.source.place(path)
	if err != nil {
		return
	}
	defer dir.close()
	names, _, err := dir.names(1 << 20)
	if err != nil {
		return
	}
	for _, name := range names {
		t, kind, ok := parseTemp(name)
		if !ok {
			continue
		}
		if err := c.sweepOne(dir, names, name, t, kind, dead); err != nil {
			c.leftovers.mu.Lock()
			c.leftovers.found.Kept = append(c.leftovers.found.Kept, filepath.Join(path, name))
			c.leftovers.mu.Unlock()
		}
	}
}

// errKeep says that a temporary file may hold what nobody else has.
var errKeep = errors.New("not ours alone")

func (c *Cache) sweepOne(dir place, names []string, name string, t tempName, kind string, dead func(tempName, stamp) bool) error {
	n, err := dir.look(name)
	if err != nil {
		return nil
	}
	defer n.close()
	s, err := n.stat()
	if err != nil || !dead(t, s) {
		return nil
	}
	if s.kind != regular {
		return errKeep
	}
	switch kind {
	case "swap":
		digest, err := c.digestOf(n)
		if err != nil {
			return err
		}
		if hex := digest.String(); hex != t.fields[0] && hex != t.fields[1] {
			return errKeep
		}
	case "undo":
		ino, oldSize, ok := parseUndo(t.fields)
		if !ok || int64(oldSize) > s.size || s.size > 2*c.limits.FileBytes {
			return errKeep
		}
		both, err := readAllOf(n, s.size)
		if err != nil {
			return err
		}
		if err := finish(dir, names, ino, both[:oldSize], both[oldSize:]); err != nil {
			return err
		}
	}
	if err := dir.remove(name); err != nil {
		return err
	}
	c.leftovers.mu.Lock()
	c.leftovers.found.Removed++
	c.leftovers.mu.Unlock()
	return nil
}

// Leftovers returns what was found of daemons that were killed.
func (c *Cache) Leftovers() Leftovers {
	c.leftovers.mu.Lock()
	defer c.leftovers.mu.Unlock()
	found := c.leftovers.found
	found.Kept = append([]string(nil), found.Kept...)
	return found
}
