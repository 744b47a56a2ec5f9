package outline

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mapd/hashline"
)

const foldSource = `package p

import "a"

import (
	"b"
	"c"
)

// T is
// documented.
type T struct {
	a, b int
	in   struct {
		c int
	}
}

func f() {
	g := func() {
	}
}

func one() {}
`

func foldOutline(t *testing.T) *Outline {
	o, err := New(Options{}).Extract(context.Background(), Go, hashline.NewText([]byte(foldSource)))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestFolds(t *testing.T) {
	want := "[{3 7 imports} {10 11 comment} {12 17 region} {14 16 region} {19 22 region} {20 21 region}]"
	if got := fmt.Sprint(foldOutline(t).Folds()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEnclosing(t *testing.T) {
	o := foldOutline(t)
	for line, want := range map[int]string{0: "", 1: "", 11: "", 12: "T", 13: "T a", 15: "T in c", 16: "T in", 18: "", 20: "f g", 22: "f", 24: "one", 25: "", 99: ""} {
		var names []string
		for _, s := range o.Enclosing(line) {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("line %d: got %q, want %q", line, got, want)
		}
	}
}
