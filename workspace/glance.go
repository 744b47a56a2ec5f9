package workspace

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// maxGlances is how many files Glance remembers the stamps of.
const maxGlances = 8192

// glances remembers which snapshot a file had when it bore a stamp. The zero
// value is ready for use.
type glances struct {
	mu   sync.Mutex // guards seen
	seen map[string]glance
}

type glance struct {
	stamp    stamp
	snapshot string
}

// Glance returns the snapshot string of a file for a hint, for example whether
// lines of it that were shown may have gone stale. It reads the file only if
// the file does not bear the stamp that it had when it was last read for this;
// so it may miss a store through a memory map, and no answer may rest on it. A
// stamp so young that a change could leave it as it is is not trusted.
func (c *Cache) Glance(ctx context.Context, f Folders, path string) (snapshot string, err error) {
	if err := c.enter(); err != nil {
		return "", err
	}
	defer c.leave()
	at, err := c.look(ctx, f, path)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", show(path), err)
	}
	if snapshot, ok := c.glances.get(at.path, at.stamp); ok {
		return snapshot, nil
	}
	now := time.Now()
	v, err := c.read(ctx, f, path)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", show(path), err)
	}
	if !at.stamp.young(now) && !v.Unstable() && v.Path() == at.path {
		c.glances.put(at.path, glance{at.stamp, v.Snapshot()})
	}
	return v.Snapshot(), nil
}

// look finds a file and closes it.
func (c *Cache) look(ctx context.Context, f Folders, path string) (found, error) {
	if err := c.takeOpen(ctx); err != nil {
		return found{}, err
	}
	defer c.giveOpen()
	at, err := c.find(f, path)
	if err == nil {
		at.close()
	}
	return at, err
}

func (g *glances) get(path string, s stamp) (snapshot string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen, ok := g.seen[path]
	return seen.snapshot, ok && seen.stamp.same(s)
}

func (g *glances) put(path string, seen glance) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen == nil || len(g.seen) >= maxGlances {
		g.seen = map[string]glance{}
	}
	g.seen[path] = seen
}
