package workspace

import (
	"errors"
	"io/fs"
	"strconv"
	"sync"
)

// maxIdentities is how many files are told apart from where they lie. Past it
// all are forgotten at once: then a file that was renamed before is known by its
// path again.
const maxIdentities = 1 << 16

// identities gives every file a name that it keeps when it is renamed. It is
// the path at which the file was first read, unless a file that has moved on
// still has that name.
//
// A path keeps its file when another inode appears there: that is how programs
// save, also those that first move the old one aside. An inode that appears at a
// new path is the file that it was, if nothing but its name has changed and
// nothing is at the old path any more. The zero value is ready for use.
type identities struct {
	mu     sync.Mutex // guards what follows
	byPath map[string]identified
	byNode map[nodeID]string // the path at which a node was read last
	taken  map[string]bool   // names in use
	serial uint64
}

type nodeID struct{ dev, ino uint64 }

// identified is a file as it was read last.
type identified struct {
	name  string
	node  nodeID
	size  int64
	mtime int64
}

// of returns the name of the file that was read at path with stamp s. exists
// reports whether anything is at a path.
func (n *identities) of(path string, s stamp, exists func(path string) bool) string {
	node := nodeID{s.dev, s.ino}
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, ok := n.byPath[path]; ok {
		n.putLocked(path, identified{known.name, node, s.size, s.mtime})
		return known.name
	}
	if old, ok := n.byNode[node]; ok {
		was := n.byPath[old]
		// One question to the system under the lock, when a file was renamed.
		if was.node == node && was.size == s.size && was.mtime == s.mtime && !exists(old) {
			delete(n.byPath, old)
			n.putLocked(path, identified{was.name, node, s.size, s.mtime})
			return was.name
		}
	}
	name := path
	for n.taken[name] {
		n.serial++
		name = path + "\x00" + strconv.FormatUint(n.serial, 10)
	}
	n.putLocked(path, identified{name, node, s.size, s.mtime})
	return name
}

// at returns the name of the file at a path that was read or written.
func (n *identities) at(path string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, ok := n.byPath[path]; ok {
		return known.name
	}
	return path
}

func (n *identities) putLocked(path string, f identified) {
	if n.byPath == nil || len(n.byPath) >= maxIdentities {
		n.byPath, n.byNode, n.taken = map[string]identified{}, map[nodeID]string{}, map[string]bool{}
	}
	if old, ok := n.byPath[path]; ok && old.node != f.node && n.byNode[old.node] == path {
		delete(n.byNode, old.node)
	}
	n.byPath[path], n.byNode[f.node], n.taken[f.name] = f, path, true
}

// fileOf returns the name of a file that was read.
func (c *Cache) fileOf(path string, s stamp) string {
	return c.identities.of(path, s, func(path string) bool {
		at, err := c.source.find(path)
		if err == nil {
			at.close()
		}
		return !errors.Is(err, fs.ErrNotExist)
	})
}
