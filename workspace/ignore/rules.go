package ignore

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"
)

const (
	maxRules = 4 << 20   // bytes of an ignore or configuration file
	maxIndex = 256 << 20 // bytes of a git index
)

// Rules are what decides about the files below one root, as it was when they
// were loaded. They are safe for concurrent use.
type Rules struct {
	root *Dir
	load *loader
}

// Load reads the rules for root, an absolute path free of symbolic links: of
// the repository that holds it, if one does, from its top down.
func Load(root string, env Env) *Rules {
	l := &loader{env: env, seen: map[string]input{}}
	r := &Rules{load: l}
	defer func() { l.extra, l.below = env.Extra, root }() // the way to the root is not their matter
	repo := l.findRepository(root)
	if repo == nil {
		r.root = l.plain(root)
		return r
	}
	d := &Dir{load: l, path: repo.top, repo: repo}
	d.readLists(Marks{Gitignore: true, Ignore: true})
	for rest := strings.TrimPrefix(root[len(repo.top):], "/"); rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		if d.Skip(name, true) {
			// A root that its repository ignores was meant all the same.
			r.root = l.plain(root)
			return r
		}
		d, _ = d.Enter(name, Marks{Gitignore: true, Ignore: true})
	}
	r.root = d
	return r
}

// plain returns the rules of a root without a repository.
func (l *loader) plain(root string) *Dir {
	d := &Dir{load: l, path: root}
	d.readLists(Marks{Gitignore: true, Ignore: true})
	return d
}

// Root returns the rules for the entries of the root.
func (r *Rules) Root() *Dir { return r.root }

// Inputs returns the files that the rules were read from, and those that they
// would have been read from if they were there: configuration, excludes, the
// index of git, and the ignore files of all directories that were entered.
func (r *Rules) Inputs() []string { return r.load.inputs() }

// Stale reports whether one of the files at paths, which are among Inputs, no
// longer says what it said when it was read. An index of git that was rewritten
// with the same files in it is not stale.
func (r *Rules) Stale(paths ...string) bool {
	return slices.ContainsFunc(paths, r.load.changed)
}

// repository is a git repository with a work tree.
type repository struct {
	top     string // of the work tree
	fold    bool
	lists   []*List // core.excludesFile, then info/exclude, which outranks it
	tracked tracked
}

// Marks say which names a directory has among its entries.
type Marks struct {
	Git       bool // .git
	Gitignore bool // .gitignore
	Ignore    bool // .ignore
}

// Note sets the mark that name stands for.
func (m *Marks) Note(name string) {
	switch name {
	case ".git":
		m.Git = true
	case ".gitignore":
		m.Gitignore = true
	case ".ignore":
		m.Ignore = true
	}
}

// Dir decides about the entries of one directory. It is immutable.
type Dir struct {
	load   *loader
	parent *Dir
	path   string      // absolute
	repo   *repository // that the directory belongs to; nil if none

	git, own *List // of .gitignore and .ignore here
	excluded bool  // git ignores the directory: of it, only tracked files count
}

// Skip reports whether the entry name, which is a directory or not, is no part
// of the workspace. Nothing below a directory that is skipped is.
func (d *Dir) Skip(name string, isDir bool) bool {
	if name == ".git" {
		return true
	}
	path := join(d.path, name)
	if d.load.extra != nil && d.load.extra.Match(below(d.load.below, path), isDir) == Ignored {
		return true
	}
	switch d.ownVerdict(path, isDir) {
	case Ignored:
		return true
	case Included:
		return false
	}
	if !d.gitIgnores(path, isDir) {
		return false
	}
	if d.repo == nil {
		return true
	}
	rel := below(d.repo.top, path)
	if isDir {
		return !d.repo.tracked.hasBelow(rel)
	}
	return !d.repo.tracked.has(rel)
}

// ownVerdict asks the .ignore files, the deepest first.
func (d *Dir) ownVerdict(path string, isDir bool) Verdict {
	for at := d; at != nil; at = at.parent {
		if v := at.own.Match(below(at.path, path), isDir); v != Undecided {
			return v
		}
	}
	return Undecided
}

// gitIgnores asks the .gitignore files of the repository, the deepest first,
// and then its other lists.
func (d *Dir) gitIgnores(path string, isDir bool) bool {
	if d.excluded {
		return true
	}
	for at := d; at != nil && at.repo == d.repo; at = at.parent {
		if v := at.git.Match(below(at.path, path), isDir); v != Undecided {
			return v == Ignored
		}
	}
	if d.repo == nil {
		return false
	}
	for i := len(d.repo.lists) - 1; i >= 0; i-- {
		if v := d.repo.lists[i].Match(below(d.repo.top, path), isDir); v != Undecided {
			return v == Ignored
		}
	}
	return false
}

// Enter returns the rules for the entries of the directory name, which Skip
// did not skip and whose entries marks tells of. It returns false if the
// directory is a repository inside another one: git does not look into it.
func (d *Dir) Enter(name string, marks Marks) (*Dir, bool) {
	path := join(d.path, name)
	sub := &Dir{load: d.load, parent: d, path: path, repo: d.repo}
	if marks.Git {
		if repo := d.load.openRepository(path); repo != nil {
			if d.repo != nil {
				return nil, false
			}
			sub.repo = repo
		}
	}
	sub.excluded = sub.repo == d.repo && d.gitIgnores(path, true) && d.ownVerdict(path, true) != Included
	sub.readLists(marks)
	return sub, true
}

func (d *Dir) readLists(marks Marks) {
	fold := d.repo != nil && d.repo.fold
	if marks.Gitignore {
		d.git = d.load.list(join(d.path, ".gitignore"), fold, false)
	}
	if marks.Ignore {
		d.own = d.load.list(join(d.path, ".ignore"), fold, false)
	}
}

func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// below returns path relative to dir, which holds it.
func below(dir, path string) string { return strings.TrimPrefix(path[len(dir):], "/") }

// loader reads files and remembers what they said.
type loader struct {
	env   Env
	extra *List
	below string // the root: extra is for the paths below it

	mu   sync.Mutex // guards seen
	seen map[string]input
}

// input is how a file was read, and a hash of what it said; 0 if it could not
// be read.
type input struct {
	limit  int64
	follow bool
	index  bool // of git: only the names in it count
	sha256 bool
	probe  bool // only whether something is there counts
	hash   uint64
}

func (l *loader) inputs() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.seen))
}

// changed reports whether the file at path says something else now.
func (l *loader) changed(path string) bool {
	l.mu.Lock()
	was, known := l.seen[path]
	l.mu.Unlock()
	switch {
	case !known:
		return false
	case was.probe:
		return was.sum(nil, exists(path)) != was.hash
	}
	b, ok := readFile(path, was.limit, was.follow)
	return was.sum(b, ok) != was.hash
}

// exists reports whether something is at path, and remembers the answer as an
// input.
func (l *loader) exists(path string) bool {
	in, ok := input{probe: true}, exists(path)
	in.hash = in.sum(nil, ok)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[path] = in
	return ok
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (in input) sum(b []byte, ok bool) uint64 {
	if !ok {
		return 0
	}
	h := xxh3.New()
	_, _ = h.Write([]byte{1}) // an empty file is not a missing one
	files, ok := tracked(nil), false
	if in.index {
		files, ok = parseIndex(b, in.sha256)
	}
	if !ok {
		_, _ = h.Write(b)
	}
	for _, name := range files {
		_, _ = h.WriteString(name)
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// file returns the content of a file that is small enough.
func (l *loader) file(path string) ([]byte, bool) {
	return l.read(path, input{limit: maxRules, follow: true})
}

func (l *loader) read(path string, in input) ([]byte, bool) {
	b, ok := readFile(path, in.limit, in.follow)
	in.hash = in.sum(b, ok)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[path] = in
	return b, ok
}

func readFile(path string, limit int64, follow bool) ([]byte, bool) {
	flags := os.O_RDONLY | unix.O_NONBLOCK
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	file, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	if st, err := file.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > limit {
		return nil, false
	}
	b, err := io.ReadAll(io.LimitReader(file, limit))
	return b, err == nil
}

// list reads the patterns of a file. Git does not follow a symbolic link to
// one inside the work tree.
func (l *loader) list(path string, fold, follow bool) *List {
	b, ok := l.read(path, input{limit: maxRules, follow: follow})
	if !ok {
		return nil
	}
	return Parse(b, fold)
}

// findRepository returns the repository whose work tree holds dir, or nil.
func (l *loader) findRepository(dir string) *repository {
	for {
		if repo := l.openRepository(dir); repo != nil {
			return repo
		}
		up := filepath.Dir(dir)
		if up == dir {
			return nil
		}
		dir = up
	}
}

// openRepository opens the repository whose work tree is top, or returns nil
// if there is none.
func (l *loader) openRepository(top string) *repository {
	gitDir, common := l.gitDirs(top)
	if gitDir == "" {
		return nil
	}
	var c config
	for _, path := range l.env.userFiles() {
		c.read(l, l.env, path, 0)
	}
	c.read(l, l.env, join(common, "config"), 0)
	if c.worktree {
		c.read(l, l.env, join(gitDir, "config.worktree"), 0)
	}
	repo := &repository{top: top, fold: c.ignoreCase}
	excludes := ""
	if c.hasExcludes {
		excludes = l.env.expand(c.excludesFile, top)
	} else if dir := l.env.configHome(); dir != "" {
		excludes = filepath.Join(dir, "git", "ignore")
	}
	if excludes != "" {
		repo.lists = append(repo.lists, l.list(excludes, c.ignoreCase, true))
	}
	repo.lists = append(repo.lists, l.list(join(common, "info/exclude"), c.ignoreCase, true))
	if b, ok := l.read(join(gitDir, "index"), input{limit: maxIndex, follow: true, index: true, sha256: c.sha256}); ok {
		if files, ok := parseIndex(b, c.sha256); ok {
			repo.tracked = files
		}
	}
	return repo
}

// gitDirs returns the directory of the repository of a work tree, and the one
// that it shares with other work trees; both are empty if top is no work tree.
func (l *loader) gitDirs(top string) (gitDir, common string) {
	gitDir = join(top, ".git")
	st, err := os.Stat(gitDir)
	if err != nil {
		return "", ""
	}
	if !st.IsDir() {
		text, _ := l.file(gitDir)
		to, found := bytes.CutPrefix(bytes.TrimRight(text, "\r\n"), []byte("gitdir: "))
		if !found {
			return "", ""
		}
		gitDir = l.env.expand(string(to), top)
	}
	common = gitDir
	if text, ok := l.file(join(gitDir, "commondir")); ok {
		common = l.env.expand(strings.TrimRight(string(text), "\r\n"), gitDir)
	}
	// All three are looked for, so that Inputs names them: git makes a repository
	// step by step, and whoever sees the first is told of the others.
	head, objects, refs := l.exists(join(gitDir, "HEAD")), l.exists(join(common, "objects")), l.exists(join(common, "refs"))
	if !head || !objects || !refs {
		return "", ""
	}
	return gitDir, common
}
