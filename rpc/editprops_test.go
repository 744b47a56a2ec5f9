package rpc_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mapd/rpc/wire"
)

// TestEditsHitTheLineThatWasShown has three agents and another program change
// one file in any order, and agents hold on to lines for long. The test knows
// the identity of every line, which the file does not tell: more than a third of
// its lines are equal to others. After each edit the file must be what the edit
// of exactly those lines makes of it, and after a rejection what it was.
func TestEditsHitTheLineThatWasShown(t *testing.T) {
	d := newDaemon(t)
	sum := map[string]int{}
	for seed := range uint64(15) {
		p := &village{t: t, d: d, rng: rand.New(rand.NewPCG(seed, 11)), file: fmt.Sprintf("f%d", seed), sum: sum}
		for range 60 {
			p.lines = append(p.lines, p.fresh())
		}
		p.publish()
		for range 3 {
			p.agents = append(p.agents, &villager{agent: d.session(`{"stale":"off"}`)})
		}
		for range 80 {
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
			switch a := p.agents[p.rng.IntN(3)]; p.rng.IntN(6) {
			case 0:
				p.foreign()
			case 1:
				p.read(a)
			default:
				p.edit(a)
			}
		}
		for _, a := range p.agents {
			a.conn.Close()
		}
	}
	t.Log(sum)
	if sum["landed"] < 300 || sum["followed"] < 100 || sum["rejected"] < 100 || sum["retyped"]*100 > sum["landed"] {
		t.Errorf("%v: too little happened to mean anything", sum)
	}
}

// known is a line of which the test knows the identity.
type known struct {
	id   int
	text string
}

// village is a file that many change.
type village struct {
	t      *testing.T
	d      *daemon
	rng    *rand.Rand
	file   string
	lines  []known
	nextID int
	agents []*villager
	sum    map[string]int
}

// villager is an agent with the showings that it remembers: of each, the lines
// in order, some of them may be gone by now.
type villager struct {
	*agent
	shown [][]memory
}

type memory struct {
	anchor        string
	line          known
	before, after string // its neighbours then
}

func (p *village) fresh() known {
	p.nextID++
	text := fmt.Sprintf("value%d := compute()", p.nextID)
	if p.rng.IntN(100) < 38 {
		text = []string{"}", "", "\t}", "return nil"}[p.rng.IntN(4)]
	}
	return known{p.nextID, text}
}

func (p *village) bytes() string {
	var sb strings.Builder
	for _, l := range p.lines {
		sb.WriteString(l.text + "\n")
	}
	return sb.String()
}

func (p *village) publish() { p.d.write(p.file, p.bytes()) }

// foreign is a change by another program.
func (p *village) foreign() {
	at := p.rng.IntN(len(p.lines) + 1)
	count := min(p.rng.IntN(4), len(p.lines)-at)
	var with []known
	for range p.rng.IntN(4) {
		l := p.fresh()
		// A line typed again in its own place is the same line to any reader.
		if !slices.ContainsFunc(p.lines[at:at+count], func(old known) bool { return old.text == l.text }) {
			with = append(with, l)
		}
	}
	p.lines = slices.Replace(slices.Clone(p.lines), at, at+count, with...)
	p.publish()
}

func (p *village) text(i int) string {
	if i < 0 || i >= len(p.lines) {
		return ""
	}
	return p.lines[i].text
}

// see keeps lines that an agent was shown of the file as it is now.
func (p *village) see(a *villager, shown string) {
	at := anchors(wire.ReadResult{Content: []wire.Content{{Text: shown}}})
	var block []memory
	for i := range p.lines {
		anchor := at[i+1]
		if anchor == "" && block != nil {
			a.shown = append(a.shown, block)
			block = nil
		}
		if anchor != "" {
			block = append(block, memory{anchor, p.lines[i], p.text(i - 1), p.text(i + 1)})
		}
	}
	if block != nil {
		a.shown = append(a.shown, block)
	}
}

func (p *village) read(a *villager) {
	params := fmt.Sprintf(`{"path":%q,"map":"never"`, p.file)
	if n := len(p.lines); n > 10 && p.rng.IntN(2) == 0 {
		start := 1 + p.rng.IntN(n)
		params += fmt.Sprintf(`,"ranges":[{"start":%d,"end":%d}]`, start, min(n, start+p.rng.IntN(12)))
	}
	p.see(a, text(a.read(params+"}")))
}

// edit is an edit of lines that the agent was shown at some time.
func (p *village) edit(a *villager) {
	if len(a.shown) == 0 {
		p.read(a)
	}
	if len(a.shown) == 0 {
		return
	}
	block := a.shown[p.rng.IntN(len(a.shown))]
	from := p.rng.IntN(len(block))
	to := from
	op := []string{"replace", "replace", "delete", "append", "prepend"}[p.rng.IntN(5)]
	e := wire.Edit{Op: op, Pos: block[from].anchor}
	if op == "replace" || op == "delete" {
		to = min(len(block)-1, from+p.rng.IntN(4))
		e.End = block[to].anchor
	}
	var with []known
	if op != "delete" {
		e.Lines = &[]string{}
		for range 1 + p.rng.IntN(2) {
			p.nextID++
			l := known{p.nextID, fmt.Sprintf("edit%d()", p.nextID)}
			with, *e.Lines = append(with, l), append(*e.Lines, l.text)
		}
	}
	params, err := json.Marshal(wire.EditParams{Path: p.file, Edits: []wire.Edit{e}})
	if err != nil {
		p.t.Fatal(err)
	}
	m := a.call("mapd/edit", string(params))
	if m.Error == nil {
		p.landed(a, m, op, block[from:to+1], with)
		return
	}
	p.sum["rejected"]++
	if m.code() != "stale_anchors" {
		p.t.Errorf("%s: %s", params, m.Error.Message)
	}
	if got := p.d.content(p.file); got != p.bytes() {
		p.t.Errorf("a rejected edit changed the file to %q", got)
	}
	var data struct{ Reread wire.Reread }
	if err := json.Unmarshal(m.Error.Data, &data); err != nil {
		p.t.Fatal(err)
	}
	p.see(a, data.Reread.Text)
}

// landed holds an accepted edit of those lines against the file.
func (p *village) landed(a *villager, m message, op string, target []memory, with []known) {
	p.t.Helper()
	var r wire.EditResult
	if err := json.Unmarshal(m.Result, &r); err != nil || !r.Applied {
		p.t.Fatalf("%v %s", err, m.Result)
	}
	p.sum["landed"]++
	if len(r.Rebased) > 0 {
		p.sum["followed"]++
	}
	at := p.find(target[0], r)
	for i, line := range target {
		if at+i >= len(p.lines) || p.lines[at+i].text != line.line.text {
			p.t.Errorf("line %d of %d was not where the edit was accepted: %q", i, len(target), line.line.text)
			return
		}
	}
	start, end := at, at+len(target)
	switch op {
	case "append":
		start = end
	case "prepend":
		end = start
	}
	p.lines = slices.Replace(slices.Clone(p.lines), start, end, with...)
	if got := p.d.content(p.file); got != p.bytes() {
		p.t.Errorf("%s of %q hit another line: the file is %q, want %q", op, target[0].line.text, got, p.bytes())
	}
	for _, h := range r.Anchors {
		p.see(a, h.Text)
	}
}

// find returns where a shown line is. One that is gone, but was typed again
// between the same neighbours, cannot be told from it by any reader.
func (p *village) find(shown memory, r wire.EditResult) int {
	at := slices.IndexFunc(p.lines, func(l known) bool { return l.id == shown.line.id })
	if at >= 0 {
		return at
	}
	hit := shown.anchor
	for _, b := range r.Rebased {
		if b.From == hit {
			hit = b.To
		}
	}
	number, _, _ := strings.Cut(hit, "#")
	n, _ := strconv.Atoi(number)
	if p.text(n-1) != shown.line.text || p.text(n-2) != shown.before && p.text(n) != shown.after {
		p.t.Errorf("an edit of the line %q, which is gone, was accepted", shown.line.text)
	}
	p.sum["retyped"]++
	return n - 1
}
