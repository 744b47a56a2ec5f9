package names

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"mapd/outline/symbol"
)

// many returns names like those of a large repository, and the same flat.
func many(files, symbols int) (packed []Names, flat []string) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("get set new server client read write file name index buffer handle request close open parse token node tree list map value key error state event queue worker lock time cache store config option type field method")
	title := func(w string) string { return strings.ToUpper(w[:1]) + w[1:] }
	for range files {
		var list []symbol.Symbol
		for line := range symbols {
			name := title(words[rng.IntN(len(words))]) + title(words[rng.IntN(len(words))])
			switch rng.IntN(3) {
			case 0:
				name = title(words[rng.IntN(len(words))]) + "." + name
			case 1:
				name = words[rng.IntN(len(words))] + name
			}
			flat = append(flat, name)
			list = append(list, symbol.Symbol{Name: name, Kind: symbol.Function, Start: line + 1, End: line + 1})
		}
		packed = append(packed, Pack(outlineOf(list...)))
	}
	return packed, flat
}

// BenchmarkSearch compares a search of all kinds with the least that a search
// can do: to look for the letters in one piece in the same names.
func BenchmarkSearch(b *testing.B) {
	packed, flat := many(2000, 100)
	size := 0
	for _, n := range packed {
		size += n.Size()
	}
	for name, query := range map[string]string{"exact": "NewServer", "fuzzy": "rdbfcl", "rare": "quux", "common": "e"} {
		b.Run(name, func(b *testing.B) {
			q := NewQuery(query, QueryOptions{Weakest: Subsequence})
			floor := time.Duration(1 << 62)
			for range 5 {
				start := time.Now()
				n := 0
				for _, name := range flat {
					if strings.Contains(name, query) {
						n++
					}
				}
				floor = min(floor, time.Since(start))
			}
			found := 0
			for b.Loop() {
				for _, n := range packed {
					q.Search(n, func(Match) { found++ })
				}
			}
			each := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(each)/float64(len(flat)), "ns/name")
			b.ReportMetric(float64(each)/float64(floor), "x-scan")
			b.ReportMetric(float64(size)/float64(len(flat)), "B/name")
			b.ReportMetric(float64(found/b.N), "found")
		})
	}
}
