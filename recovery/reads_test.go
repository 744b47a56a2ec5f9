package recovery

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func named(i int) Read {
	return Read{Path: fmt.Sprint("f", i), Params: json.RawMessage(fmt.Sprintf(`{"path":"f%d"}`, i))}
}

func paths(reads []Read) (out []string) {
	for _, r := range reads {
		out = append(out, r.Path)
	}
	return out
}

func TestLostReadsInOrderOnce(t *testing.T) {
	var reads Reads
	var attempts []*Attempt
	for i := range 6 {
		attempts = append(attempts, reads.Begin(reads.Number(), named(i)))
	}
	attempts[4].Lose()
	attempts[1].Lose()
	attempts[1].Lose()
	attempts[2].Settle()
	attempts[3].Settle()
	attempts[3].Lose() // the answer did not leave after all
	attempts[2].Lose()
	attempts[2].Settle() // it did arrive
	attempts[5].Lose()
	taken := reads.Take()
	if got := fmt.Sprint(paths(taken.Reads())); got != "[f1 f3 f4 f5]" {
		t.Errorf("lost %s", got)
	}
	if got := reads.Take().Reads(); len(got) != 0 {
		t.Errorf("taken twice: %v", got)
	}
	attempts[4].Lose()   // it was taken
	attempts[5].Settle() // too late
	attempts[0].Lose()   // lost while the answer is under way
	taken.Put()
	taken.Put()
	if got := fmt.Sprint(paths(reads.Take().Reads())); got != "[f0 f1 f3 f4 f5]" {
		t.Errorf("after the answer was lost: %s", got)
	}
}

func TestReadsOfOneRequestKeepTheirOrder(t *testing.T) {
	var reads Reads
	first, second := reads.Number(), reads.Number()
	for i := range 3 {
		reads.Begin(second, named(10+i)).Lose()
	}
	for i := range 3 {
		reads.Begin(first, named(i)).Lose()
	}
	taken := reads.Take()
	taken.Put()
	if got := fmt.Sprint(paths(reads.Take().Reads())); got != "[f0 f1 f2 f10 f11 f12]" {
		t.Errorf("lost %s", got)
	}
}

func TestLostReadsAreBounded(t *testing.T) {
	var reads Reads
	for i := range 3 * maxLost {
		reads.Begin(reads.Number(), named(i)).Lose()
	}
	taken := reads.Take()
	got := taken.Reads()
	if len(got) != maxLost || got[maxLost-1].Path != fmt.Sprint("f", 3*maxLost-1) {
		t.Errorf("%d reads, the last is %s", len(got), got[len(got)-1].Path)
	}
	reads.Begin(reads.Number(), named(-1)).Lose()
	taken.Put()
	if got := reads.Take().Reads(); len(got) != maxLost || got[maxLost-1].Path != "f-1" {
		t.Errorf("%d reads after they were put back", len(got))
	}
}

// TestEachReadEndsOnce lets reads end in every way at once.
func TestEachReadEndsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "reads")
		lost := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "lost")
		var reads Reads
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[string]int{}
		take := func() {
			for _, p := range paths(reads.Take().Reads()) {
				mu.Lock()
				seen[p]++
				mu.Unlock()
			}
		}
		for i := range n {
			a := reads.Begin(reads.Number(), named(i))
			wg.Go(func() {
				if lost[i] {
					a.Lose()
				} else {
					a.Settle()
				}
			})
			if i%7 == 0 {
				wg.Go(take)
			}
		}
		wg.Wait()
		take()
		for i := range n {
			want := 0
			if lost[i] {
				want = 1
			}
			if got := seen[named(i).Path]; got != want {
				t.Fatalf("read %d (lost %v) was taken %d times", i, lost[i], got)
			}
		}
	})
}

func TestRecoverTexts(t *testing.T) {
	got := Recover(nil)
	encoded, err := json.Marshal(got)
	if err != nil || string(encoded) != `{"skipped":[]}` {
		t.Errorf("nothing skipped: %s, %v", encoded, err)
	}
	reads := []Read{
		{ToolCallID: "1", Path: "src/a.go", Params: json.RawMessage(`{"path":"src/a.go","offset":10}`)},
		{ToolCallID: "2", Path: "日本語.md", Params: json.RawMessage(`{"path":"日本語.md"}`)},
		{ToolCallID: "3", Path: "src/a.go", Params: json.RawMessage(`{"path":"src/a.go","offset":90}`)},
	}
	got = Recover(reads)
	if got.Summary != "Recovery: 3 interrupted read(s) being re-issued" {
		t.Errorf("summary %q", got.Summary)
	}
	if got.Expanded != "Recovery: 3 interrupted read(s) being re-issued\nsrc/a.go\n日本語.md" {
		t.Errorf("expanded %q", got.Expanded)
	}
	m := got.Message
	if m.CustomType != "read-recovery" || !m.Display || m.DeliverAs != "followUp" || !slices.Equal(m.Details.Paths, []string{"src/a.go", "日本語.md"}) {
		t.Errorf("message %+v", m)
	}
	want := `3 read(s) were interrupted before their result arrived. Please read again, with the same arguments:
- src/a.go
- 日本語.md
Do not assume anything about the content of these files until you have read it.`
	if m.Content != want {
		t.Errorf("content %q", m.Content)
	}
}

func TestRecoverPathWithLineEnd(t *testing.T) {
	got := Recover([]Read{{Path: "a\nb", Params: json.RawMessage(`{}`)}})
	if want := "Recovery: 1 interrupted read(s) being re-issued\n\"a\\nb\""; got.Expanded != want {
		t.Errorf("expanded %q, want %q", got.Expanded, want)
	}
	if got.Message.Details.Paths[0] != "a\nb" {
		t.Errorf("paths %q", got.Message.Details.Paths)
	}
}
