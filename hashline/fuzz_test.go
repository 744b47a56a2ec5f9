package hashline

import (
	"testing"

	"pgregory.net/rapid"
)

// FuzzMapLines compares two texts of fuzzed bytes.
func FuzzMapLines(f *testing.F) {
	f.Add([]byte("a\nb\n}\n"), []byte("b\n}\n}\na\n"))
	f.Add([]byte("\xef\xbb\xbfa\r\n\r\n"), []byte("a\n\n\r"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		old, new := NewText(a), NewText(b)
		checkMap(t, MapLines(old, new), old, new)
	})
}

// FuzzApply makes batches of edits from fuzzed bytes.
func FuzzApply(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(applyEqualsReference))
}
