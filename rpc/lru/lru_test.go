package lru

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The cache holds what a list that is searched and cut holds.
func TestCacheEqualsList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type pair struct {
			key, value int
			size       int64
		}
		const limit = 8 * (entryBytes + 100)
		c := New[int, int](limit)
		var model []pair // the one used last at the end
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			k := rapid.IntRange(0, 12).Draw(t, "key")
			at := slices.IndexFunc(model, func(p pair) bool { return p.key == k })
			if rapid.Bool().Draw(t, "put") {
				size := int64(rapid.IntRange(0, 600).Draw(t, "size"))
				c.Put(k, i, size)
				if size += entryBytes; size <= limit/4 {
					if at >= 0 {
						model = slices.Delete(model, at, at+1)
					}
					model = append(model, pair{k, i, size})
				}
				total := int64(0)
				for j := len(model) - 1; j >= 0; j-- {
					if total += model[j].size; total > limit {
						model = model[j+1:]
						break
					}
				}
				continue
			}
			value, ok := c.Get(k)
			if ok != (at >= 0) || ok && value != model[at].value {
				t.Fatalf("get %d: %d, %v; the list has %v", k, value, ok, model)
			}
			if ok {
				model = append(slices.Delete(slices.Clone(model), at, at+1), model[at])
			}
		}
		total := int64(0)
		for _, p := range model {
			total += p.size
		}
		if c.Bytes() != total {
			t.Fatalf("%d bytes, want %d", c.Bytes(), total)
		}
	})
}
