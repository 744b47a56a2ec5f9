package outline

import (
	"context"
	"strings"
	"sync"
	"testing"

	"mapd/hashline"
	"mapd/outline/sandbox"
	"mapd/outline/symbol"
)

// TestWorkers makes outlines through real workers, several at once, and after
// one that a worker cannot make within its limits.
func TestWorkers(t *testing.T) {
	limits := Limits{Memory: 512 << 20}
	pool := sandbox.NewPool(limits.Sandbox())
	t.Cleanup(func() { pool.Close() })
	x := New(Options{Limits: limits, Pool: pool})
	extract := func(lang Language, src string) *Outline {
		o, err := x.Extract(context.Background(), lang, hashline.NewText([]byte(src)))
		if err != nil {
			t.Error(err)
			return &Outline{}
		}
		return o
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			o := extract(Python, python)
			if o.Source != symbol.Parser || o.Why != "" || o.Count != 3 || o.Symbols[0].Name != "A" || o.Symbols[0].End != 3 {
				t.Errorf("python: %+v", o)
			}
		})
		all.Go(func() {
			o := extract(TypeScript, "class A {\n  f(): void {\n  }\n}\n")
			if o.Source != symbol.Parser || o.Count != 2 {
				t.Errorf("typescript: %+v", o)
			}
		})
	}
	all.Wait()
	o := extract(Java, strings.Repeat("a<", 30_000)+"\nclass B {\n}\n")
	if o.Source != symbol.Pattern || !o.Why.Transient() || o.Count != 1 || o.Symbols[0].Name != "B" {
		t.Errorf("hostile java: %s %s, %d symbols", o.Source, o.Why, o.Count)
	}
	if o := extract(Java, "class B {\n}\n"); o.Source != symbol.Parser || o.Count != 1 {
		t.Errorf("java after it: %+v", o)
	}
	pool.Close()
	if o := extract(Python, python); o.Source != symbol.Pattern || o.Why != symbol.Crashed || o.Count != 3 {
		t.Errorf("after Close: %s %s, %d symbols", o.Source, o.Why, o.Count)
	}
}
