package workspace

import (
	"strings"
	"sync"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/workspace/ignore"
)

// SettingsFile is the name of the file in a root that Options.Project reads.
const SettingsFile = ".mapd.toml"

// MaxSettings is the size in bytes of the largest such file that counts.
const MaxSettings = 64 << 10

// Settings are what a user, or a project for itself, sets about the files below
// a root. The zero value sets nothing.
type Settings struct {
	Ignore    []string                    // patterns as in a .gitignore of the root, none negated; they outrank all others
	Languages map[string]outline.Language // by extension without its first dot, or by name; in lower case

	// Limits lower those of the Cache; 0 leaves them.
	FileBytes, IndexBytes int64
	IndexFiles            int
}

// inForce is what holds for the files below one root. It is immutable.
type inForce struct {
	languages             []map[string]outline.Language // the strongest first
	ignore                *ignore.List
	fileBytes, indexBytes int64
	indexFiles            int
}

// language returns the language of a file from its path and its first bytes.
func (s *inForce) language(path string, bytes []byte) outline.Language {
	base := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	for _, set := range s.languages {
		for name, found := base, len(set) > 0; found; _, name, found = strings.Cut(name, ".") {
			if lang, ok := set[name]; ok {
				return lang
			}
		}
	}
	return outline.Detect(path, bytes[:min(head, len(bytes))])
}

// settings keeps what is in force below each root that has a file for it.
type settings struct {
	project func(file string, text []byte) Settings
	limits  Limits
	user    Settings
	plain   *inForce // without such a file

	mu    sync.Mutex // guards roots
	roots map[string]rootSettings
}

// rootSettings is what a file said when it was read.
type rootSettings struct {
	stamp   stamp
	settled bool // the stamp tells whether the file changed since
	digest  hashline.Digest
	*inForce
}

// maxSettingsKept bounds how many roots' files are remembered.
const maxSettingsKept = 1024

func newSettings(opt Options, l Limits) *settings {
	s := &settings{project: opt.Project, limits: l, user: opt.Settings, roots: map[string]rootSettings{}}
	s.plain = s.merge(Settings{})
	return s
}

// merge adds what a project sets to what the user does.
func (s *settings) merge(project Settings) *inForce {
	lower := func(limit, by int64) int64 {
		if by > 0 {
			return min(limit, by)
		}
		return limit
	}
	in := &inForce{
		fileBytes:  lower(s.limits.FileBytes, project.FileBytes),
		indexBytes: lower(s.limits.IndexBytes, project.IndexBytes),
		indexFiles: int(lower(int64(s.limits.IndexFiles), int64(project.IndexFiles))),
	}
	for _, set := range []Settings{project, s.user} {
		if len(set.Languages) > 0 {
			in.languages = append(in.languages, set.Languages)
		}
	}
	if patterns := append(s.user.Ignore[:len(s.user.Ignore):len(s.user.Ignore)], project.Ignore...); len(patterns) > 0 {
		in.ignore = ignore.Parse([]byte(strings.Join(patterns, "\n")), false)
	}
	return in
}

// settingsAt returns what is in force for a real path in the folders.
func (c *Cache) settingsAt(f Folders, path string) *inForce {
	deepest := ""
	for _, root := range f.roots {
		if len(root) > len(deepest) && within(root, path) {
			deepest = root
		}
	}
	return c.settingsOf(deepest)
}

// settingsOf returns what is in force below a root now: the same pointer as long
// as its file says the same. The file is found for each call and read only when
// it may have changed. A file that is a link, special or too large does not
// count.
func (c *Cache) settingsOf(root string) *inForce {
	s := c.settings
	if s.project == nil || root == "" {
		return s.plain
	}
	path := joinPath(root, SettingsFile)
	n, err := c.source.find(path)
	if err != nil {
		return s.plain
	}
	defer n.close()
	st, err := n.stat()
	if err != nil || st.kind != regular || st.size > MaxSettings {
		return s.plain
	}
	s.mu.Lock()
	was, known := s.roots[root]
	s.mu.Unlock()
	if known && was.settled && was.stamp.same(st) {
		return was.inForce
	}
	if real, err := n.realPath(st); err != nil || real != path {
		return s.plain
	}
	text, ok := readSmall(n, MaxSettings)
	if !ok {
		return s.plain
	}
	now := rootSettings{stamp: st, settled: !st.young(time.Now()), digest: hashline.Sum(text), inForce: was.inForce}
	if !known || now.digest != was.digest {
		now.inForce = s.merge(s.project(path, text))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.roots) >= maxSettingsKept {
		clear(s.roots)
	}
	s.roots[root] = now
	return now.inForce
}

// readSmall reads a regular file that has at most limit bytes.
func readSmall(n node, limit int) ([]byte, bool) {
	file, err := n.open()
	if err != nil {
		return nil, false
	}
	defer file.close()
	b := make([]byte, limit+1)
	for size := 0; ; {
		m, err := file.readAt(b[size:], int64(size))
		switch {
		case err != nil:
			return nil, false
		case m == 0:
			return b[:size], true
		}
		if size += m; size > limit {
			return nil, false
		}
	}
}
