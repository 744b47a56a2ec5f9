package rpc

import (
	"context"
	"slices"
	"strings"
	"sync"

	"mapd/rpc/wire"
	"mapd/workspace"
)

// folderSet is what a session knows of its folders beside their paths. The
// folders themselves are Session.folders.
type folderSet struct {
	mu    sync.Mutex // guards what follows
	ended bool
	held  map[string]heldRoot // by resolved path
	bare  map[string]bool     // folders that are not indexed unless somebody asks
}

// heldRoot is a root that a session keeps from being unloaded.
type heldRoot struct {
	*root
	release func()
}

// indexedRoot is a folder of a session as a search sees it.
type indexedRoot struct {
	root string // resolved path
	// ws is nil if the folder is not indexed; why says why.
	ws  *workspace.Workspace
	why string
}

// keep holds the roots of the session's folders and lets go of all others. bare
// and large are the resolved paths of folders with these marks.
func (s *Session) keep(bare, large map[string]bool) {
	set := &s.set
	folders := s.folders.Load().Roots()
	set.mu.Lock()
	defer set.mu.Unlock()
	if set.ended {
		return
	}
	if set.held == nil {
		set.held = map[string]heldRoot{}
	}
	set.bare = bare
	for path, held := range set.held {
		if !slices.Contains(folders, path) {
			held.release()
			delete(set.held, path)
		}
	}
	for _, path := range folders {
		if _, known := set.held[path]; !known && !bare[path] {
			s.holdLocked(path, large[path])
		}
	}
}

func (s *Session) holdLocked(path string, large bool) heldRoot {
	r, release := s.server.roots.hold(path, large)
	held := heldRoot{r, release}
	s.set.held[path] = held
	return held
}

// leave lets go of all roots for good: the session has ended.
func (s *Session) leave() {
	set := &s.set
	set.mu.Lock()
	defer set.mu.Unlock()
	set.ended = true
	for _, held := range set.held {
		held.release()
	}
	set.held = nil
}

// indexed returns the folders of the session with their workspaces, in the
// session's order. A bare folder is indexed from now on, as somebody asks for
// it. It waits for workspaces to be opened, not for their indexes: those are
// asked of Settle. Folders may lie inside each other: then files come twice.
//
// The error is ctx's.
func (s *Session) indexed(ctx context.Context) ([]indexedRoot, error) {
	var out []indexedRoot
	for _, path := range s.folders.Load().Roots() {
		s.set.mu.Lock()
		held, known := s.set.held[path]
		if known && held.refused() {
			held.release()
			known = false
		}
		if !known && !s.set.ended {
			held = s.holdLocked(path, held.root != nil && held.large)
			delete(s.set.bare, path)
		}
		s.set.mu.Unlock()
		if held.root == nil {
			continue // the session has ended
		}
		ws, err := held.workspace(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		one := indexedRoot{root: path, ws: ws}
		if err != nil {
			one.ws, one.why = nil, reason(err)
		}
		out = append(out, one)
	}
	return out, nil
}

// wanted makes the names of a file that was asked for come first in an index that
// is being made.
func (s *Session) wanted(path string) {
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	for root, held := range s.set.held {
		rel, inside := strings.CutPrefix(path, strings.TrimSuffix(root, "/")+"/")
		if !inside {
			continue
		}
		if ws, _ := held.state(); ws != nil && ws.Index().Pending() > 0 {
			ws.Want(rel)
		}
	}
}

// isBare reports whether a folder of the session is not indexed because its
// client said so.
func (s *Session) isBare(path string) bool {
	s.set.mu.Lock()
	defer s.set.mu.Unlock()
	return s.set.bare[path]
}

// marks returns which of the folders, by resolved path, are marked bare or
// large. The marks of one directory that is named twice add up to what indexes
// more.
func (s *Server) marks(folders []wire.WorkspaceFolder) (bare, large map[string]bool) {
	bare, large = map[string]bool{}, map[string]bool{}
	whole := map[string]bool{}
	for _, f := range folders {
		one, err := s.folders([]wire.WorkspaceFolder{f})
		if err != nil {
			continue
		}
		root := one.Roots()[0]
		switch {
		case f.Bare:
			bare[root] = true
		default:
			whole[root] = true
		}
		if f.Large {
			large[root] = true
		}
	}
	for root := range whole {
		delete(bare, root)
	}
	return bare, large
}
