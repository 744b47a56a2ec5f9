package workspace

import (
	"strings"
	"testing"

	"mapd/hashline"
)

// What is said of the bytes that an edit made is what is said of the same bytes
// when they are read.
func TestContentOfAnEdit(t *testing.T) {
	packet := "G" + strings.Repeat("x", 187)
	for _, old := range []string{"a\nb\nc\n", "a\r\nb\nc", "\ufeffa\nb\nc\n", "é\n\xff\nc\n", packet + packet + packet + "\nb\nc\n"} {
		for _, line := range []string{"x", "é", "\xff", "%PDF-1.4", "GIF89a", "GIF89a\xff", "\xff\xfe", "\ufeff", "\x1f\x8b", "BM"} {
			for at := 1; at <= 3; at++ {
				c := &Version{record: &record{content: newContent(hashline.Digest{}, []byte(old), nil)}}
				edit, err := hashline.Apply(c.Text(), []hashline.Edit{{Op: hashline.Replace, Start: at, End: at, Lines: []string{line}}})
				if err != nil {
					t.Fatal(err)
				}
				b := edit.New.Bytes()
				from := originOf(b, c, edit)
				if (from == nil) != c.Lossy() {
					t.Errorf("%q: origin %v", old, from)
				}
				got, want := newContent(hashline.Digest{}, b, from), newContent(hashline.Digest{}, b, nil)
				if got.mime != want.mime || got.lossy != want.lossy || (got.text == nil) != (want.text == nil) {
					t.Errorf("%q in %q: %s, lossy %v; as read: %s, lossy %v", line, old, got.mime, got.lossy, want.mime, want.lossy)
				}
				if got.text != nil && got.text.Lines() != want.text.Lines() {
					t.Errorf("%q in %q: %d lines; as read: %d", line, old, got.text.Lines(), want.text.Lines())
				}
			}
		}
	}
}
