package find

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/workspace"
)

// slow is an extractor that waits until its gate is closed.
type slow struct {
	*outline.Extractor
	gate atomic.Pointer[chan struct{}]
}

func newSlow() (s *slow, gate chan struct{}) {
	s = &slow{Extractor: outline.New(outline.Options{})}
	return s, s.shut()
}

// shut makes the extractor wait for another gate.
func (s *slow) shut() (gate chan struct{}) {
	gate = make(chan struct{})
	s.gate.Store(&gate)
	return gate
}

func (s *slow) Extract(ctx context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
	select {
	case <-*s.gate.Load():
		return s.Extractor.Extract(ctx, lang, text)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Symbols for which the index has no room are found all the same, unless that
// takes too long.
func TestNamesWithoutRoom(t *testing.T) {
	x, gate := newSlow()
	close(gate)
	tr := newTreeOf(t, workspace.Options{Outlines: x, Limits: workspace.Limits{IndexBytes: 1000, OutlineBytes: 1}}, map[string]string{})
	for i := range 60 {
		tr.write(fmt.Sprintf("f%02d.go", i), fmt.Sprintf("package a\n\nfunc Get%d() {}\n", i))
	}
	tr.Limit = 100
	r := tr.symbols("get")
	if held := tr.Roots[0].Workspace.Index().Indexed(); len(r.Hits) != 60 || len(r.Degraded) > 0 || held >= 60 {
		t.Fatalf("%d hits, %+v, the names of %d files are held", len(r.Hits), r.Degraded, held)
	}
	defer close(x.shut())
	tr.Patience = time.Second
	r = tr.symbols("get")
	if len(r.Degraded) != 1 {
		t.Errorf("%d hits, %+v", len(r.Hits), r.Degraded)
	}
}

func TestDegradedWhileIndexing(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x, gate := newSlow()
	cache := workspace.NewCache(workspace.Options{Outlines: x})
	defer cache.Close()
	tr := &tree{t: t, dir: dir, cache: cache}
	tr.write("a.go", server)
	w, err := cache.Open(dir, workspace.WorkspaceOptions{Cookies: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	folders, _ := cache.Folders(dir)
	tr.Search = &Search{
		Roots: []Root{{Path: dir, Workspace: w}}, Limit: 10, Patience: 50 * time.Millisecond,
		Read: func(ctx context.Context, path string) (*workspace.Version, error) {
			return cache.Read(ctx, folders, path)
		},
		Outline: func(ctx context.Context, v *workspace.Version) (*outline.Outline, error) { return v.Outline(ctx) },
	}
	r := tr.symbols("Stop")
	if len(r.Hits) > 0 || len(r.Degraded) != 1 {
		t.Fatalf("without outlines: %+v", r)
	}
	r = tr.text("is stopped", false)
	tr.want(r, "a.go:7")
	if len(r.Degraded) == 0 || !strings.HasPrefix(r.Degraded[0].Why, "indexing: ") {
		t.Errorf("text without outlines: %+v", r.Degraded)
	}
	tr.Patience = patience
	done := make(chan struct{})
	go func() {
		defer close(done)
		tr.want(tr.symbols("Stop"), "a.go:7 Server.Stop(method)")
	}()
	close(gate)
	<-done
}
