package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"mapd/workspace/ignore"
	"mapd/workspace/watch"
)

// generation is one stream of events and what is known about the tree since
// its scan. Only the publisher uses it.
type generation struct {
	w      *Workspace
	rules  *ignore.Rules
	set    *inForce
	stream watch.Stream     // nil while there are no watches
	events *watch.Collector // of stream
	tree   *scanned
	inputs map[string]bool // of rules, outside of the tree
	absent map[string]bool // directories of inputs that were not there to be watched
	linked map[uint64]bool // inodes with several names that a batch touched
	why    string          // why it is degraded
	took   time.Duration   // by its scan
	stale  bool            // rules changed during the scan: scan again
}

// restart says why a generation ends.
type restart uint8

const (
	keepOn restart = iota
	rescan         // the tree may differ from what is known in ways that no event tells
	closed
)

// publish runs generation after generation.
func (w *Workspace) publish() {
	w.loadNames()
	trust := false // whether files whose stamps are as before need not be read
	for w.ctx.Err() == nil {
		g := w.begin(trust)
		trust = g.follow()
		g.end()
	}
}

// begin starts a generation: watches first, then the scan, so that whatever
// changes during the scan is an event.
func (w *Workspace) begin(trust bool) *generation {
	g := &generation{w: w, inputs: map[string]bool{}, absent: map[string]bool{}, linked: map[uint64]bool{}}
	var add func(string) error
	stream, err := w.opt.Watch()
	if err == nil && w.cookies != "" {
		err = stream.Add(w.cookies)
	}
	switch {
	case err == nil:
		g.stream, add = stream, stream.Add
		g.events = watch.Collect(stream, w.cache.limits.DirtyPaths)
	default:
		g.why = err.Error()
		if stream != nil {
			stream.Close()
		}
	}
	waiters := w.allWaiters(false)
	start := time.Now()
	if g.loadRules() {
		trust = false // what else is to be made of the same bytes
	}
	tree, err := w.cache.scan(w.ctx, walk{
		root: w.root, own: g.rules.Root(), limit: g.set.indexFiles, add: add, pause: w.yield, exclude: w.excluded(),
	})
	switch {
	case w.ctx.Err() != nil:
		g.tree = newScanned()
		return g
	case err != nil:
		g.why = "the root cannot be read: " + err.Error()
		tree = newScanned()
	case tree.skipped[SkipUnreadable][""]:
		g.why = "the root cannot be read: permission denied"
	case tree.watch != nil:
		g.why = tree.watch.Error()
	case len(tree.skipped[SkipTooMany]) > 0:
		g.why = "the workspace has more files than are indexed"
	}
	g.tree = tree
	// The scan may have met repositories.
	if g.stale = g.watchInputs(); g.stale {
		return g
	}
	g.replaceAll(trust)
	g.took = time.Since(start)
	finishWaiters(waiters)
	return g
}

// loadRules reads the rules such that whatever changes in them from now on is
// an event: what they are read from is watched first, which only a first
// reading tells. It reports whether the settings of the root are others than
// those of the generation before.
func (g *generation) loadRules() (changed bool) {
	if g.stream != nil {
		_ = g.stream.Add(g.w.root) // if it fails, the scan says so
	}
	g.set = g.w.cache.settingsOf(g.w.root)
	env := g.w.env
	env.Extra = g.set.ignore
	g.rules = ignore.Load(g.w.root, env)
	own := []string{joinPath(g.w.root, ".gitignore"), joinPath(g.w.root, ".ignore")}
	if g.watchInputs() || g.rules.Stale(own...) {
		g.rules = ignore.Load(g.w.root, env)
	}
	return g.w.set.Swap(g.set) != g.set
}

// watchInputs watches the files outside of the tree that the rules were read
// from, as far as they are not yet. It reports whether one of these says
// something else by now. The user's home directory is not watched, where too
// much happens; what changes there is seen at the next scan.
func (g *generation) watchInputs() (stale bool) {
	w := g.w
	var added []string
	for _, path := range g.rules.Inputs() {
		base, dir := filepath.Base(path), filepath.Dir(path)
		if g.inputs[path] || within(w.root, path) && (base == ".gitignore" || base == ".ignore") {
			continue // the latter have events of the tree
		}
		g.inputs[path] = true
		added = append(added, path)
		if g.stream != nil && dir != w.env.Home && dir != "/" {
			if g.stream.Add(dir) != nil {
				g.absent[dir] = true
			}
		}
	}
	return g.rules.Stale(added...)
}

// end closes the watches and waits for their goroutines.
func (g *generation) end() {
	if g.stream != nil {
		g.stream.Close()
		g.events.Wait()
	}
}

// follow applies what happens until the tree must be scanned again. It reports
// whether that scan may trust stamps.
func (g *generation) follow() (trust bool) {
	if g.stale {
		return true
	}
	var ready <-chan struct{}
	if g.events != nil {
		ready = g.events.Ready()
	}
	audit := time.NewTimer(g.w.opt.Audit)
	defer audit.Stop()
	var sweep <-chan time.Time
	if g.why != "" {
		timer := time.NewTimer(g.sweepAfter())
		defer timer.Stop()
		sweep = timer.C
	}
	for {
		select {
		case <-g.w.ctx.Done():
			return false
		case <-ready:
			if g.apply(g.events.Take()) == rescan {
				g.pause()
				return true
			}
			if g.why != "" && sweep == nil { // degraded since then: sweep
				timer := time.NewTimer(g.sweepAfter())
				defer timer.Stop()
				sweep = timer.C
			}
		case <-g.w.wake:
			if waiters := g.w.allWaiters(g.why == ""); len(waiters) > 0 {
				return true
			}
		case <-sweep:
			return true
		case <-audit.C:
			return false
		}
	}
}

// sweepAfter returns when a degraded workspace is scanned again: so late that the
// scans of a large one take no more than a small part of a processor.
func (g *generation) sweepAfter() time.Duration { return max(g.w.opt.Sweep, sweepShare*g.took) }

// sweepShare is by how much the pause between two sweeps is longer than a sweep.
const sweepShare = 20

// pause lets a storm of changes pass before the tree is scanned again, unless
// somebody waits.
func (g *generation) pause() {
	const quiet = 20 * time.Millisecond
	if len(g.w.allWaiters(false)) > 0 {
		return
	}
	select {
	case <-time.After(quiet):
	case <-g.w.wake:
		signal(g.w.wake)
	case <-g.w.ctx.Done():
	}
}

// replaceAll publishes the index of the scanned tree.
func (g *generation) replaceAll(trust bool) {
	old := g.w.Index()
	changes := map[string]*File{}
	for _, f := range old.files {
		if _, there := g.tree.files[f.Path]; !there {
			changes[f.Path] = nil
		}
	}
	var paths []string
	for _, path := range sortedKeys(g.tree.files) {
		was, known := old.Lookup(path)
		if s := g.tree.files[path]; !known || !trust || !was.stamp.same(s) || s.young(time.Now()) {
			paths = append(paths, path)
		}
	}
	g.w.survey(paths, func(s surveyed) {
		f := g.accept(s)
		was, known := old.Lookup(s.path)
		switch {
		case f == nil && known:
			changes[s.path] = nil
		case f != nil && known && f.Digest == was.Digest && f.Language == was.Language:
			was.restamp(f.stamp, changes)
			g.w.takeBody(f)
		case f != nil:
			changes[s.path] = f
		}
	})
	if g.w.ctx.Err() != nil {
		return
	}
	g.w.forgetNames()
	g.put(changes, old.Generation+1)
}

// restamp replaces f by a file that differs in the stamp alone.
func (f *File) restamp(s stamp, changes map[string]*File) {
	if f.stamp.same(s) {
		return
	}
	n := &File{Path: f.Path, Digest: f.Digest, Size: f.Size, Language: f.Language, Binary: f.Binary, stamp: s}
	if again := f.again.Load(); again != 0 {
		n.made.Store(f.made.Load())
		n.again.Store(again)
	}
	changes[f.Path] = n
}

// inspect reads a file of the tree, and returns nil if it does not belong to
// the index: it is gone, unreadable, too large, or stands for another one.
func (g *generation) inspect(path string) *File {
	looker := g.w.Looker()
	defer looker.Close()
	f, err := g.w.inspect(looker, path, false)
	return g.accept(surveyed{path, f, err})
}

// accept notes why a file does not belong to the index, and returns it if it
// does.
func (g *generation) accept(s surveyed) *File {
	for _, paths := range g.tree.skipped {
		delete(paths, s.path)
	}
	switch {
	case s.err == nil:
		return s.file
	case errors.Is(s.err, ErrTooLarge):
		g.tree.skip(SkipTooLarge, s.path)
	case errors.Is(s.err, fs.ErrPermission):
		g.tree.skip(SkipUnreadable, s.path)
	}
	return nil
}

// watched returns how many directories of the tree have a watch.
func (g *generation) watched() int {
	if g.stream == nil || g.tree.watch != nil {
		return 0
	}
	return len(g.tree.dirs)
}

// put publishes an index with changes and tells who wants to know.
func (g *generation) put(changes map[string]*File, number uint64) {
	w := g.w
	old := w.Index()
	if g.why == "" && len(g.tree.skipped[SkipTooMany]) > 0 {
		g.why = "the workspace has more files than are indexed"
	}
	ix := &Index{Generation: number, Version: old.Version + 1, Why: g.why, Watched: g.watched(), Skipped: g.tree.counts(), files: old.files, tally: w.tally}
	if len(changes) > 0 {
		ix.files = old.with(changes)
	}
	left := w.tally.publish(old, changes)
	w.index.Store(ix)
	for _, f := range left {
		w.takeBody(f)
	}
	signal(w.work)
	if w.opt.Changed == nil {
		return
	}
	var paths []string
	for _, path := range sortedKeys(changes) {
		was, known := old.Lookup(path)
		if f := changes[path]; !known || f == nil || f.Digest != was.Digest {
			paths = append(paths, path)
		}
	}
	if len(paths) > 0 {
		w.opt.Changed(ix, paths)
	}
}
