package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// record is what mapd remembers of a configuration that it has written.
type record struct {
	Path    string   `json:"path"`
	Existed bool     `json:"existed"` // before the first write; the backup has its bytes
	After   string   `json:"after"`   // digest of what was written last
	Made    []string `json:"made"`    // containers made for the entry
	Dirs    []string `json:"dirs"`    // directories made, the highest first
}

// store is the record and the backup of one configuration.
type store struct{ base string }

// openStore names them; nothing is made yet.
func openStore(getenv func(string) string, client, path string) (*store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		state = filepath.Join(home(getenv), ".local", "state")
	}
	return &store{filepath.Join(state, "mapd", "install", client+"-"+digest([]byte(path))[:8])}, nil
}

func (s *store) backup() string { return s.base + ".backup" }
func (s *store) record() string { return s.base + ".json" }

// load returns the record, nil if there is none.
func (s *store) load() (*record, error) {
	b, err := os.ReadFile(s.record())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r record
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; remove %s and try again", err, s.record())
	}
	return &r, nil
}

// keep remembers a file before added is written over it, and makes its
// directory. Where the file is what was written last, the first backup stays.
func (s *store) keep(f *file, added []byte, made []string) error {
	known, err := s.load()
	if err != nil {
		return err
	}
	dirs, err := mkdirs(filepath.Dir(s.base), 0o700)
	if err != nil {
		return err
	}
	more, err := mkdirs(filepath.Dir(f.real), 0o755)
	if err != nil {
		return err
	}
	dirs = append(dirs, more...)
	if known != nil && f.exists && known.After == digest(f.content) {
		known.Dirs = append(known.Dirs, dirs...)
		known.After = digest(added)
		return s.save(known)
	}
	if f.exists {
		if err := replace(s.backup(), f.content, 0o600); err != nil {
			return err
		}
	}
	if known != nil { // of an earlier life of the file
		dirs = append(known.Dirs, dirs...)
	}
	return s.save(&record{Path: f.real, Existed: f.exists, After: digest(added), Made: made, Dirs: dirs})
}

func (s *store) save(r *record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return replace(s.record(), b, 0o600)
}

// keepOnly is a backup without a record.
func (s *store) keepOnly(f *file) error {
	if _, err := mkdirs(filepath.Dir(s.base), 0o700); err != nil {
		return err
	}
	return replace(s.backup(), f.content, 0o600)
}

// drop removes record, backup, and the directories made for all of it that are
// empty now.
func (s *store) drop(r *record) error {
	return errors.Join(ignoreMissing(os.Remove(s.backup())), s.forget(r))
}

// forget is drop with the backup left.
func (s *store) forget(r *record) error {
	if err := ignoreMissing(os.Remove(s.record())); err != nil || r == nil {
		return err
	}
	for _, dir := range slices.Backward(r.Dirs) {
		os.Remove(dir) // fails, as it should, where something is in it
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
