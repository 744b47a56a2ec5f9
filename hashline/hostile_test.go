package hashline

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// hostilePairs returns pairs of texts of that many lines on which a careless
// comparison is quadratic or worse.
func hostilePairs(lines int) map[string][2]*Text {
	rng := rand.New(rand.NewPCG(7, 7))
	text := func(n int, line func(i int) string) *Text {
		var sb strings.Builder
		for i := range n {
			sb.WriteString(line(i))
			sb.WriteByte('\n')
		}
		return NewText([]byte(sb.String()))
	}
	random := func(words int) func(int) string {
		return func(int) string { return strings.Repeat("x", rng.IntN(words)) }
	}
	same := func(int) string { return "}" }
	return map[string][2]*Text{
		"one word, half as many": {text(lines, same), text(lines/2, same)},
		"two words at random":    {text(lines, random(2)), text(lines, random(2))},
		"fifty words at random":  {text(lines, random(50)), text(lines, random(50))},
		"a period, shifted": {
			text(lines, func(i int) string { return strings.Repeat("y", i%7) }),
			text(lines, func(i int) string { return strings.Repeat("y", (i+3)%7) }),
		},
		"reversed": {
			text(lines, func(i int) string { return "line " + string(rune('A'+i%26)) + strings.Repeat("z", i%97) }),
			text(lines, func(i int) string {
				j := lines - 1 - i
				return "line " + string(rune('A'+j%26)) + strings.Repeat("z", j%97)
			}),
		},
	}
}

func TestHostileTextsAreBounded(t *testing.T) {
	for name, pair := range hostilePairs(20_000) {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			m := MapLines(pair[0], pair[1])
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%v for %d lines", took, pair[0].Lines())
			}
			proven := 0
			for n := 1; n <= m.Lines(); n++ {
				if m.Line(n).Status.Proven() {
					proven++
				}
			}
			if name != "a period, shifted" && proven > m.Lines()/100 {
				t.Errorf("%d of %d lines are proven", proven, m.Lines())
			}
		})
	}
}

func TestComposingHostileMapsIsBounded(t *testing.T) {
	for name, pair := range hostilePairs(20_000) {
		m, back := MapLines(pair[0], pair[1]), MapLines(pair[1], pair[0])
		start := time.Now()
		m.Compose(back).Compose(m)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s: %v for %d lines", name, took, pair[0].Lines())
		}
	}
}
