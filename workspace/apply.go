package workspace

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"syscall"

	"mapd/workspace/watch"
)

// apply looks at every path of a batch and publishes what changed. The events
// themselves are not believed: what counts is what stands at the path now.
func (g *generation) apply(batch watch.Batch) restart {
	if batch.Lost {
		return rescan
	}
	var waiters []*waiter
	changes := map[string]*File{}
	var inputs []string
	for _, path := range sortedKeys(batch.Dirty) {
		switch {
		case g.w.cookies != "" && filepath.Dir(path) == g.w.cookies:
			if wait := g.w.satisfied(path); wait != nil {
				waiters = append(waiters, wait)
			}
		case g.absent[path]:
			return rescan // rules may be in it
		case g.inputs[path]:
			inputs = append(inputs, path)
		default:
			if g.look(path, batch.Dirty[path], changes) == rescan {
				return rescan
			}
		}
		if g.w.ctx.Err() != nil {
			return closed
		}
	}
	g.updateLinks(changes)
	if g.rules.Stale(inputs...) || len(waiters) > 0 && !g.rootStands() {
		return rescan
	}
	if len(changes) > 0 || !maps.Equal(g.tree.counts(), g.w.Index().Skipped) {
		g.put(changes, g.w.Index().Generation)
	}
	if g.why == "" { // else a scan lets them go
		finishWaiters(waiters)
	}
	return keepOn
}

// rootStands reports whether the root is still the directory that was scanned:
// no event tells that a directory above it was renamed.
func (g *generation) rootStands() bool {
	was, known := g.tree.dirs[g.w.root]
	return known && g.lookDir(g.w.root, was, false) == keepOn
}

// look brings the index up to date at one path.
func (g *generation) look(path string, gone bool, changes map[string]*File) restart {
	if dir, known := g.tree.dirs[path]; known {
		return g.lookDir(path, dir, gone)
	}
	parent, known := g.tree.dirs[filepath.Dir(path)]
	if !known || parent.rules == nil || path == g.w.root {
		return keepOn // below something that is not indexed
	}
	base := filepath.Base(path)
	switch {
	case base == ".gitignore" || base == ".ignore" || base == ".git" || path == joinPath(g.w.root, SettingsFile):
		return rescan
	case IsTemp(base):
		return keepOn
	}
	rel := strings.TrimPrefix(path[len(g.w.root):], "/")
	for _, paths := range g.tree.skipped {
		delete(paths, rel)
	}
	s, err := g.statIn(filepath.Dir(path), base)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		g.forget(rel, changes)
		return keepOn
	case err != nil:
		return rescan
	case s.kind == directory:
		g.forget(rel, changes)
		if IsTemp(base) || path == g.w.excluded() || parent.rules.Skip(base, true) {
			return keepOn
		}
		return g.grow(rel, parent, changes)
	case s.kind != regular || parent.rules.Skip(base, false):
		if s.kind != regular && s.kind != symlink && !parent.rules.Skip(base, false) {
			g.tree.skip(SkipSpecial, rel)
		}
		if s.kind == regular && s.links > 1 {
			g.linked[s.ino] = true
		}
		g.forget(rel, changes)
		return keepOn
	}
	g.update(rel, s, changes)
	return keepOn
}

// statIn returns the stamp of name in the directory at path.
func (g *generation) statIn(path, name string) (stamp, error) {
	dir, err := g.w.cache.source.place(path)
	if err != nil {
		return stamp{}, err
	}
	defer dir.close()
	return dir.stat(name)
}

// lookDir decides what an event at a directory of the tree means. If it is the
// same directory, its entries have events of their own; else paths of watches
// below it are wrong from now on.
func (g *generation) lookDir(path string, was scannedDir, gone bool) restart {
	if gone {
		return rescan
	}
	dir, err := g.w.cache.source.place(path)
	if err != nil {
		return rescan
	}
	defer dir.close()
	if s, err := dir.stat("."); err != nil || s.ino != was.ino || s.mode != was.mode {
		return rescan
	}
	return keepOn
}

// grow adds a directory that is new, with all that is below it.
func (g *generation) grow(rel string, parent scannedDir, changes map[string]*File) restart {
	var add func(string) error
	if g.stream != nil {
		add = g.stream.Add
	}
	room := g.set.indexFiles - len(g.tree.files)
	tree, err := g.w.cache.scan(g.w.ctx, walk{
		root: g.w.root, rel: rel, parent: parent.rules, limit: room, add: add, pause: g.w.yield, exclude: g.w.excluded(),
	})
	switch {
	case errors.Is(err, fs.ErrPermission):
		g.tree.skip(SkipUnreadable, rel)
		return keepOn
	case err != nil:
		return keepOn // it is gone again, which is an event too
	case tree.watch != nil:
		return rescan
	}
	if g.watchInputs() {
		return rescan
	}
	g.tree.merge(tree)
	for path, s := range tree.files {
		g.update(path, s, changes)
	}
	return keepOn
}

// update reads a regular file and notes what changed.
func (g *generation) update(rel string, s stamp, changes map[string]*File) {
	if _, known := g.tree.files[rel]; !known && len(g.tree.files) >= g.set.indexFiles {
		g.tree.skip(SkipTooMany, "")
		return
	}
	g.tree.files[rel] = s
	if s.links > 1 {
		g.linked[s.ino] = true
	}
	f := g.inspect(rel)
	if f == nil {
		g.forget(rel, changes)
		return
	}
	was, known := g.w.Index().Lookup(rel)
	if known && was.Digest == f.Digest && was.Language == f.Language {
		delete(changes, rel)
		was.restamp(f.stamp, changes)
		return
	}
	changes[rel] = f
}

// updateLinks brings up to date the other names of files that were written and
// have several: an event comes only at the name that was used. Names outside of
// the root and in ignored directories have none, and wait for the audit.
func (g *generation) updateLinks(changes map[string]*File) {
	if len(g.linked) == 0 {
		return
	}
	for rel, s := range g.tree.files {
		if _, done := changes[rel]; !done && g.linked[s.ino] {
			g.update(rel, s, changes)
		}
	}
	clear(g.linked)
}

// forget takes a path out of the index.
func (g *generation) forget(rel string, changes map[string]*File) {
	delete(g.tree.files, rel)
	delete(changes, rel)
	if _, known := g.w.Index().Lookup(rel); known {
		changes[rel] = nil
	}
}
