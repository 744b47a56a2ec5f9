package workspace

import (
	"testing"
	"testing/synctest"
	"time"
)

// A file whose outline took long rests a multiple of that, others do not, and who
// is in a hurry ends it.
func TestRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r rests
		defer r.stop()
		made := func(path string, took time.Duration) {
			now := time.Now()
			r.made(outlined{path, now.Add(-took), now})
		}
		slow, fast := &File{Path: "slow"}, &File{Path: "fast"}
		made("slow", 100*time.Millisecond)
		made("fast", time.Millisecond)
		if r.woken() != nil || r.delay(fast) || !r.delay(slow) {
			t.Fatal("the slow file does not rest, or the fast one does")
		}
		newer := &File{Path: "slow"}
		if !r.delay(newer) {
			t.Fatal("it does not rest once it has changed again")
		}
		begun := time.Now()
		<-r.woken()
		if rested := time.Since(begun); rested != 900*time.Millisecond {
			t.Errorf("it rested %v", rested)
		}
		if files := r.take(false); len(files) != 1 || files[0] != newer || r.delay(newer) {
			t.Errorf("after its rest: %v", files)
		}

		made("slow", time.Minute)
		r.delay(slow)
		begun = time.Now()
		<-r.woken()
		if rested := time.Since(begun); rested != restMost {
			t.Errorf("it rested %v", rested)
		}

		made("slow", 100*time.Millisecond)
		r.delay(slow)
		if files := r.take(true); len(files) != 1 || r.delay(slow) {
			t.Error("a hurry did not end the rest")
		}
	})
}
