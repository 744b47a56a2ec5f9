package rpc_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mapd/rpc/wire"
)

// TestAgentsAndAFormatter has 16 agents edit the same files while a formatter
// rewrites them and readers look on. Every line is a slot with a value that was
// never there before, so what was accepted can be told from the end: for each
// slot the accepted edits must be one chain from its first value to its last.
// An edit that was lost, or one that hit another line, breaks a chain. With
// MAPD_SUITE=soak each agent makes 10,000 edits.
func TestAgentsAndAFormatter(t *testing.T) {
	edits := 30
	for suite := range strings.SplitSeq(os.Getenv("MAPD_SUITE"), ",") {
		if suite == "soak" {
			edits = 10_000
		}
	}
	t.Run("one file", func(t *testing.T) { playTown(t, 1, 300, 16, edits) })
	t.Run("200 files", func(t *testing.T) { playTown(t, 200, 40, 16, edits) })
}

// town is files of slots, with all that happened to them.
type town struct {
	t            *testing.T
	d            *daemon
	files, slots int

	// formatting keeps the formatter from undoing an edit between its reading
	// and its writing, as a careless program would: that loss is not mapd's.
	formatting []sync.RWMutex

	mu       sync.Mutex
	accepted map[place]map[int]int // by slot: the new value by the one it replaced

	turns chan struct{} // now and then after an edit: the formatter or a reader acts

	landed, followed, rejected, busy, formats, looks atomic.Int64
}

type place struct{ file, slot int }

var slotLine = regexp.MustCompile(`(?m)^(?:([0-9]+#[A-Z]+):)?\s*slot\[([0-9]+)\] = ([0-9]+);$`)

func playTown(t *testing.T, files, slots, agents, edits int) {
	w := &town{t: t, d: newDaemon(t), files: files, slots: slots, formatting: make([]sync.RWMutex, files), accepted: map[place]map[int]int{}, turns: make(chan struct{}, 1)}
	for f := range files {
		var sb strings.Builder
		for s := range slots {
			fmt.Fprintf(&sb, "slot[%d] = %d;\n", s, s)
		}
		w.d.write(name(f), sb.String())
	}
	var working, looking sync.WaitGroup
	done := make(chan struct{})
	looking.Go(func() { w.onTurns(done, w.format) })
	for range 2 {
		looking.Go(func() { w.onTurns(done, w.look) })
	}
	begin := time.Now()
	for i := range agents {
		a := w.d.session(`{"stale":"off"}`)
		_ = a.conn.SetDeadline(time.Now().Add(time.Hour))
		working.Go(func() {
			(&worker{town: w, agent: a, id: i, rng: rand.New(rand.NewPCG(uint64(i), 7)), held: map[place]sighting{}}).work(edits)
		})
	}
	working.Wait()
	took := time.Since(begin)
	close(done)
	looking.Wait()
	lost, wrong := w.judge()
	t.Logf("%d agents × %d edits of %d file(s) in %.1f s: landed %d, of these followed %d, rejected %d, busy %d, lost %d, wrong %d; %d formats, %d looks",
		agents, edits, files, took.Seconds(), w.landed.Load(), w.followed.Load(), w.rejected.Load(), w.busy.Load(), lost, wrong, w.formats.Load(), w.looks.Load())
	if lost+wrong > 0 || w.landed.Load() == 0 || w.followed.Load() == 0 && files == 1 || w.rejected.Load() == 0 && files == 1 || w.formats.Load() == 0 {
		t.Fail()
	}
}

func name(file int) string { return fmt.Sprintf("f%d.c", file) }

// values returns the value of each slot of a text, and reports whether each
// stands there once and in order.
func (w *town) values(text string) ([]int, bool) {
	var out []int
	for i, m := range slotLine.FindAllStringSubmatch(text, -1) {
		value, _ := strconv.Atoi(m[3])
		if slot, _ := strconv.Atoi(m[2]); slot != i {
			return nil, false
		}
		out = append(out, value)
	}
	return out, len(out) == w.slots
}

// onTurns acts until done.
func (w *town) onTurns(done <-chan struct{}, act func(*rand.Rand)) {
	rng := rand.New(rand.NewPCG(5, 5))
	for {
		select {
		case <-done:
			return
		case <-w.turns:
			act(rng)
		}
	}
}

// format rewrites a file: it indents, and puts blank lines and comments in or
// takes them out.
func (w *town) format(rng *rand.Rand) {
	f := rng.IntN(w.files)
	w.formatting[f].Lock()
	path := filepath.Join(w.d.dir, name(f))
	before, err := os.ReadFile(path)
	if err != nil {
		w.t.Error(err)
	}
	var sb strings.Builder
	from := rng.IntN(w.slots)
	for i, line := range strings.Split(strings.TrimSuffix(string(before), "\n"), "\n") {
		switch bare := strings.TrimSpace(line); {
		case !strings.HasPrefix(bare, "slot"):
			if rng.IntN(3) == 0 {
				continue
			}
		case i >= from && i < from+5 && rng.IntN(4) == 0:
			line = strings.Repeat(" ", rng.IntN(4)) + bare
		}
		sb.WriteString(line + "\n")
		if rng.IntN(40) == 0 {
			sb.WriteString([]string{"\n", "// formatted\n", "}\n"}[rng.IntN(3)])
		}
	}
	if err := os.WriteFile(path+"~", []byte(sb.String()), 0o644); err != nil {
		w.t.Error(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		w.t.Error(err)
	}
	w.formats.Add(1)
	w.formatting[f].Unlock()
}

// look reads a file from the disk: it may never be torn.
func (w *town) look(rng *rand.Rand) {
	content, err := os.ReadFile(filepath.Join(w.d.dir, name(rng.IntN(w.files))))
	if _, whole := w.values(string(content)); err != nil || !whole {
		w.t.Errorf("a reader saw a torn file: %v %.200q", err, content)
	}
	w.looks.Add(1)
}

// judge follows the chains of all slots. lost counts accepted edits that are not
// on theirs, wrong the slots whose value nobody wrote there.
func (w *town) judge() (lost, wrong int) {
	for f := range w.files {
		values, whole := w.values(w.d.content(name(f)))
		if !whole {
			w.t.Errorf("%s lost a line or has one twice", name(f))
			return lost, wrong + 1
		}
		for s, last := range values {
			chain := w.accepted[place{f, s}]
			at, steps := s, 0
			for next, ok := chain[at]; ok && steps <= len(chain); next, ok = chain[at] {
				at = next
				steps++
			}
			lost += len(chain) - steps
			if at != last {
				wrong++
				w.t.Errorf("slot %d of %s holds %d, the last accepted edit wrote %d", s, name(f), last, at)
			}
		}
	}
	return lost, wrong
}

// worker is an agent with what it was shown.
type worker struct {
	*town
	agent *agent
	id    int
	rng   *rand.Rand
	held  map[place]sighting
	made  int
}

type sighting struct {
	anchor string
	value  int
}

func (w *worker) work(edits int) {
	for n := range edits {
		f := w.rng.IntN(w.files)
		slot := w.rng.IntN(w.slots)
		at := place{f, slot}
		if _, held := w.held[at]; !held || n%50 == 49 {
			w.see(f, text(w.agent.read(fmt.Sprintf(`{"path":%q,"map":"never"}`, name(f)))))
		}
		w.edit(at, w.held[at])
		if n%3 == 0 {
			select {
			case w.turns <- struct{}{}:
			default:
			}
		}
	}
}

// see takes shown lines.
func (w *worker) see(file int, shown string) {
	for _, m := range slotLine.FindAllStringSubmatch(shown, -1) {
		if m[1] == "" {
			continue
		}
		slot, _ := strconv.Atoi(m[2])
		value, _ := strconv.Atoi(m[3])
		w.held[place{file, slot}] = sighting{m[1], value}
	}
}

// edit gives a slot a new value, with what the worker knows of it, however old.
func (w *worker) edit(at place, seen sighting) {
	w.made++
	value := 1_000_000*(w.id+1) + w.made
	params := fmt.Sprintf(`{"path":%q,"edits":[{"op":"replace","pos":%q,"lines":["slot[%d] = %d;"]}]}`, name(at.file), seen.anchor, at.slot, value)
	w.formatting[at.file].RLock()
	m := w.agent.call("mapd/edit", params)
	w.formatting[at.file].RUnlock()
	delete(w.held, at)
	switch m.code() {
	case "":
	case "stale_anchors":
		w.rejected.Add(1)
		var data struct{ Reread wire.Reread }
		if err := json.Unmarshal(m.Error.Data, &data); err != nil {
			w.t.Error(err)
		}
		w.see(at.file, data.Reread.Text)
		return
	case "server_busy", "io":
		w.busy.Add(1)
		return
	default:
		w.t.Errorf("edit: %s", m.Error.Message)
		return
	}
	var r wire.EditResult
	if err := json.Unmarshal(m.Result, &r); err != nil || !r.Applied {
		w.t.Errorf("edit: %v %s", err, m.Result)
		return
	}
	if gone := fmt.Sprintf("slot[%d] = %d;\n", at.slot, seen.value); strings.Count(r.Diff, "\n-") != 1 || !strings.Contains(r.Diff, gone) {
		w.t.Errorf("the edit of %s, shown as %s, hit another line: %+v", gone, seen.anchor, r)
	}
	w.landed.Add(1)
	if len(r.Rebased) > 0 {
		w.followed.Add(1)
	}
	for _, h := range r.Anchors {
		w.see(at.file, h.Text)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	chain := w.accepted[at]
	if chain == nil {
		chain = map[int]int{}
		w.accepted[at] = chain
	}
	if other, twice := chain[seen.value]; twice {
		w.t.Errorf("slot %d of %s: both %d and %d replaced %d", at.slot, name(at.file), other, value, seen.value)
	}
	chain[seen.value] = value
}
