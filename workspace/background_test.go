package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"mapd/hashline"
	"mapd/outline"
	"mapd/workspace/names"
)

// All outlines are made, what is wanted first, each once for equal bytes; those
// over the limit are not.
func TestWorkspaceOutlines(t *testing.T) {
	dir := memoryDir(t)
	for i := range 20 {
		write(t, filepath.Join(dir, fmt.Sprintf("f%02d.go", i)), fmt.Sprintln("file", i/2))
	}
	write(t, filepath.Join(dir, "b.bin"), "\x00")
	hold, order := make(chan struct{}), make(chan string, 100)
	x := &extractFunc{f: func(ctx context.Context, lang outline.Language, text *hashline.Text) (*outline.Outline, error) {
		order <- string(text.Line(1))
		<-hold
		return outlineOf(lang, text, ""), nil
	}}
	c := NewCache(Options{Outlines: x})
	c.outlining = make(chan struct{}, 2)
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	ix := settle(t, w)
	if ix.State() != Indexing || ix.Pending() == 0 {
		t.Errorf("%s, %d pending", ix.State(), ix.Pending())
	}
	begun := []string{<-order, <-order}
	n := 0 // a file that is neither begun nor, as a twin, of one that is
	for slices.Contains(begun, fmt.Sprint("file ", n)) {
		n++
	}
	w.Want(fmt.Sprintf("f%02d.go", 2*n), "none")
	var next []string
	for range 2 { // one was chosen already
		hold <- struct{}{}
		next = append(next, <-order)
	}
	if !slices.Contains(next, fmt.Sprint("file ", n)) {
		t.Errorf("after %q came %q, file %d was wanted", begun, next, n)
	}
	close(hold)
	for range 6 {
		<-order
	}
	for deadline := time.Now().Add(10 * time.Second); w.Index().State() != Ready; {
		if time.Now().After(deadline) {
			t.Fatalf("%d pending", w.Index().Pending())
		}
	}
	if ix := w.Index(); ix.Indexed() != 20 || x.calls.Load() != 10 {
		t.Errorf("%d outlines from %d extractions", ix.Indexed(), x.calls.Load())
	}
	f, _ := w.Index().Lookup("f04.go")
	if list, ok := f.Names(); !ok || list.Len() != 1 || list.At(0).Name != "file 2" {
		t.Errorf("%d names", list.Len())
	}
	write(t, filepath.Join(dir, "f04.go"), "changed\n")
	settle(t, w)
	if <-order != "changed" {
		t.Error("the changed file has no new outline")
	}
}

func TestBoundedWorkspaceOutlines(t *testing.T) {
	dir := memoryDir(t)
	for i := range 50 {
		write(t, filepath.Join(dir, fmt.Sprint(i, ".go")), fmt.Sprintln("file", i))
	}
	x := &extractFunc{f: plain}
	cost := int64(names.Pack(outlineOf(outline.Go, hashline.NewText([]byte("file 11\n")), "")).Size() + madeBytes)
	c := NewCache(Options{Outlines: x, Limits: Limits{IndexBytes: 10 * cost}})
	defer c.Close()
	w := openWorkspace(t, c, dir, WorkspaceOptions{})
	settle(t, w)
	for deadline := time.Now().Add(10 * time.Second); w.Index().State() != Ready; {
		if time.Now().After(deadline) {
			t.Fatalf("%d pending", w.Index().Pending())
		}
	}
	if n := w.Index().Indexed(); n < 9 || n > 11 {
		t.Errorf("%d outlines are held, there is room for 10", n)
	}
}
