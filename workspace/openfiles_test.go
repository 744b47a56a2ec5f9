package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// However many reads come at once, as many files are open as the limit says;
// the others wait, and can be called off.
func TestOpenFiles(t *testing.T) {
	const limit = 3
	var mu sync.Mutex
	var now, most int
	var reached sync.Once
	enough, resume := make(chan struct{}), make(chan struct{})
	src := newFaulty()
	src.atOpen = func() error {
		mu.Lock()
		now++
		most = max(most, now)
		if now == limit {
			reached.Do(func() { close(enough) })
		}
		mu.Unlock()
		<-resume
		mu.Lock()
		now--
		mu.Unlock()
		return nil
	}
	c := NewCache(Options{source: src, Limits: Limits{OpenFiles: limit}})
	defer c.Close()
	dir := t.TempDir()
	f, err := c.Folders(dir)
	if err != nil {
		t.Fatal(err)
	}
	var reads sync.WaitGroup
	for i := range 4 * limit {
		name := fmt.Sprint(i)
		write(t, filepath.Join(dir, name), name)
		reads.Go(func() {
			if _, err := c.Read(t.Context(), f, name); err != nil {
				t.Error(err)
			}
		})
	}
	<-enough
	ctx, cancel := context.WithCancel(t.Context())
	called := make(chan error)
	go func() {
		_, err := c.Glance(ctx, f, "0")
		called <- err
	}()
	cancel()
	if err := <-called; !errors.Is(err, context.Canceled) {
		t.Errorf("a look that was called off: %v", err)
	}
	for range 4 * limit {
		resume <- struct{}{}
	}
	reads.Wait()
	if most != limit {
		t.Errorf("%d files were open at once, not %d", most, limit)
	}
}
