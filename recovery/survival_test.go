package recovery

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mapd/hashline"
)

// tracked is a line of which the test knows the identity.
type tracked struct {
	id      int
	content string
}

// played is a file that agents and other programs change, with a session that
// reads it.
type played struct {
	*lived
	rng     *rand.Rand
	nextID  int
	lines   []tracked
	ledger  *Ledger
	history map[string][]tracked // by snapshot
}

func (p *played) fresh() tracked {
	p.nextID++
	content := fmt.Sprintf("value%d := compute()", p.nextID)
	if p.rng.IntN(100) < 38 {
		content = []string{"}", "", "\t}", "return nil"}[p.rng.IntN(4)]
	}
	return tracked{p.nextID, content}
}

func (p *played) publish() {
	var sb strings.Builder
	for _, l := range p.lines {
		sb.WriteString(l.content + "\n")
	}
	p.foreign(sb.String())
	p.history[p.at] = slices.Clone(p.lines)
}

// change splices lines in and out, as an edit through the daemon or behind its
// back.
func (p *played) change(through bool) {
	at := p.rng.IntN(len(p.lines) + 1)
	count := min(p.rng.IntN(4), len(p.lines)-at)
	var with []tracked
	var texts []string
	for range p.rng.IntN(4) {
		l := p.fresh()
		// A line typed again in its own place is the same line to any reader.
		if slices.ContainsFunc(p.lines[at:at+count], func(old tracked) bool { return old.content == l.content }) {
			continue
		}
		with, texts = append(with, l), append(texts, l.content)
	}
	from := p.at
	if through {
		e := hashline.Edit{Op: hashline.Append, Start: at, Lines: texts}
		if at == 0 {
			e.Op = hashline.Prepend
		}
		if count > 0 {
			e = hashline.Edit{Op: hashline.Replace, Start: at + 1, End: at + count, Lines: texts}
		}
		a, err := hashline.Apply(p.texts[p.at], []hashline.Edit{e})
		if err != nil {
			p.t.Fatal(err)
		}
		p.lines = slices.Replace(slices.Clone(p.lines), at, at+count, with...)
		p.publish()
		if string(a.New.Bytes()) != string(p.texts[p.at].Bytes()) {
			p.t.Fatal("the test's lines are not those of the file")
		}
		p.lineage.Add("f", from, p.at, a.Map)
		return
	}
	p.lines = slices.Replace(slices.Clone(p.lines), at, at+count, with...)
	p.publish()
}

func (p *played) read() {
	start := p.rng.IntN(max(1, len(p.lines))) + 1
	end := min(len(p.lines), start+p.rng.IntN(30))
	if start <= end {
		p.ledger.Record(Delivery{Path: "f", Snapshot: p.at, Lines: []hashline.Range{rng(start, end)}})
	}
}

// survival counts what became of anchors.
type survival struct{ asked, current, moved, refused, wrong int }

// ask checks an anchor of every line that the session was shown.
func (p *played) ask(sum *survival) {
	held := p.ledger.File("f").Held
	scene := &Scene{Held: held, Live: p.texts[p.at], Texts: throughLineage{p.lived}}
	for _, h := range held {
		for _, r := range h.Lines {
			for n := r.Start; n <= r.End; n++ {
				sum.asked++
				v := scene.Resolve(p.texts[h.Snapshot].Anchor(n, 4), "")
				// Another version may have the same anchor; the verdict says which.
				was := p.history[v.Snapshot]
				switch {
				case !v.Accepted():
					sum.refused++
				case was == nil || was[n-1].id != p.lines[v.Line-1].id:
					sum.wrong++
					p.t.Errorf("anchor of line %d of %s led to line %d %q, which is another line", n, h.Snapshot, v.Line, p.lines[v.Line-1].content)
				case v.Status == Current:
					sum.current++
				default:
					sum.moved++
				}
			}
		}
	}
}

type throughLineage struct{ *lived }

func (l throughLineage) Text(snapshot string) (*hashline.Text, bool) { return l.text(snapshot) }

func (l throughLineage) Map(snapshot string) (*hashline.LineMap, bool) {
	return l.lineage.Map("f", snapshot, l.at, l.text)
}

// TestNeverRelocate plays sessions on files that other programs and the
// session's own edits change, and holds every verdict against the identity of
// the lines.
func TestNeverRelocate(t *testing.T) {
	var sum survival
	for seed := range uint64(150) {
		p := &played{
			lived: newLived(t, ""), rng: rand.New(rand.NewPCG(seed, 3)),
			ledger: NewLedgers(1 << 20).New(), history: map[string][]tracked{},
		}
		for range 80 {
			p.lines = append(p.lines, p.fresh())
		}
		p.publish()
		for range 12 {
			switch p.rng.IntN(4) {
			case 0:
				p.change(false)
			case 1:
				p.change(true)
			default:
				p.read()
			}
		}
		p.ask(&sum)
	}
	t.Logf("%+v", sum)
	if sum.asked < 10_000 || 100*(sum.current+sum.moved) < 80*sum.asked {
		t.Errorf("%+v: too few anchors survived to mean anything", sum)
	}
}

func BenchmarkCheck(b *testing.B) {
	var sb strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&sb, "\tvalue%d := compute(%d)\n", i, i)
		if i%3 == 0 {
			sb.WriteString("\t}\n")
		}
	}
	old := sb.String()
	live := "new\n" + strings.Replace(strings.Replace(old, "value100 ", "other ", 1), "value40000 ", "other\n\tother", 1)
	s := onScene(old, live)
	var anchors []hashline.Anchor
	for i := range 100 {
		anchors = append(anchors, served(s, 1+i*500))
	}
	var bare float64
	b.Run("bare", func(b *testing.B) { // digest, lines, one comparison
		for b.Loop() {
			hashline.Sum([]byte(live))
			t, _ := s.Texts.Text("v1")
			hashline.MapLines(t, hashline.NewText([]byte(live)))
		}
		bare = float64(b.Elapsed()) / float64(b.N)
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			hashline.Sum([]byte(live))
			t, _ := s.Texts.Text("v1")
			texts := map[string]*hashline.Text{"v1": t, "live": hashline.NewText([]byte(live))}
			scene := &Scene{Held: s.Held, Live: texts["live"], Texts: fakeTexts{texts, nil}}
			r := scene.Check(anchors, "")
			scene.Reread(r.Affected, 10_000)
		}
		if bare > 0 {
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/bare, "x-bare")
		}
	})
}
