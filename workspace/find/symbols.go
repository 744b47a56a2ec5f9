package find

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"mapd/workspace/names"
)

// candidate is a symbol that matches.
type candidate struct {
	rank   uint64 // the smaller the better
	file   int
	symbol int
}

func compare(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.file, b.file), cmp.Compare(a.symbol, b.symbol))
}

// best collects the best of many candidates.
type best struct {
	most int
	list []candidate
}

// add adds a candidate. The list is cut whenever it has become twice as long as
// it has to be.
func (b *best) add(c candidate) {
	if b.list = append(b.list, c); len(b.list) >= 2*b.most {
		b.cut()
	}
}

func (b *best) cut() {
	slices.SortFunc(b.list, compare)
	b.list = b.list[:min(len(b.list), b.most)]
}

// Symbols returns the symbols whose names match text; see package names. The
// order is: how well the name matches, exported ones first, the less deep, the
// nearer to what was read, the shorter name, folders and paths, lines. Upper-case
// letters match themselves only, unless nothing is found so. weakest is the
// weakest way to match that counts.
func (s *Search) Symbols(ctx context.Context, text string, weakest names.Class) (Result, error) {
	opt := names.QueryOptions{Kinds: s.Kinds, Weakest: weakest}
	exact := names.NewQuery(text, opt)
	if !exact.CaseMatters() {
		return s.find(ctx, exact)
	}
	opt.Fold = true
	return s.find(ctx, exact, names.NewQuery(text, opt))
}

// SymbolsLike returns the symbols whose names expr matches, in the order of
// Symbols.
func (s *Search) SymbolsLike(ctx context.Context, expr *regexp.Regexp) (Result, error) {
	return s.find(ctx, names.NewExpression(expr, s.Kinds))
}

// find returns what the first of queries finds that finds something.
func (s *Search) find(ctx context.Context, queries ...*names.Query) (out Result, err error) {
	r, degraded, err := s.begin(ctx, true)
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	for _, q := range queries {
		if out.Hits, out.Truncated, err = r.symbols(ctx, q); err != nil {
			return Result{}, err
		}
		if len(out.Hits) > 0 {
			break
		}
	}
	out.Degraded = r.withMissing(degraded)
	return out, nil
}

// withMissing adds to why roots are degraded those that lack names.
func (r *run) withMissing(degraded []Degraded) []Degraded {
	for i, root := range r.Roots {
		known := slices.ContainsFunc(degraded, func(d Degraded) bool { return d.Root == root.Path })
		if r.missing[i] > 0 && !known {
			why := fmt.Sprintf("the symbols of %d files are not known: there was no room for them, or no time", r.missing[i])
			degraded = append(degraded, Degraded{root.Path, why})
		}
	}
	return degraded
}

// symbols returns the best hits of a query. The files of the best candidates are
// read; where one has changed, the candidates are those of what it holds now, and
// all are compared again.
func (r *run) symbols(ctx context.Context, q *names.Query) (hits []Hit, truncated bool, err error) {
	for {
		list, err := r.candidates(ctx, q)
		if err != nil {
			return nil, false, err
		}
		truncated = len(list) > r.Limit || r.heavy
		list = list[:min(len(list), r.Limit)]
		again, err := r.check(ctx, list)
		if err != nil {
			return nil, false, err
		}
		if again {
			continue
		}
		for _, c := range list {
			known := r.known(c.file)
			hits = append(hits, hit(known.version, known.names, c.symbol))
		}
		return hits, truncated, nil
	}
}

// check reads the files of candidates that were not read yet. It reports whether
// one of them has changed, so that its candidates are others. As a file is read
// once in a search, that ends.
func (r *run) check(ctx context.Context, list []candidate) (again bool, err error) {
	var files []int
	for _, c := range list {
		if r.known(c.file) == nil && !slices.Contains(files, c.file) {
			files = append(files, c.file)
		}
	}
	if _, err := r.verify(ctx, ctx, files); err != nil {
		return false, err
	}
	for _, n := range files {
		again = again || r.known(n).changed
	}
	return again, nil
}

// blockFiles is how many files a worker takes at a time.
const blockFiles = 64

// candidates returns the best candidates, one more than the limit if there are
// so many.
func (r *run) candidates(ctx context.Context, q *names.Query) ([]candidate, error) {
	found := make([]best, r.workers)
	missing := make([][]int, r.workers) // files without names, by root
	limited, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	for i := range missing {
		missing[i] = make([]int, len(r.Roots))
	}
	r.each(ctx, r.files(), blockFiles, func(worker, first, end int) {
		b := &found[worker]
		b.most = r.Limit + 1
		for n := first; n < end; n++ {
			if !r.match(limited, q, n, b) {
				_, root := r.file(n)
				missing[worker][root]++
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.missing = make([]int, len(r.Roots))
	for _, counts := range missing {
		for root, n := range counts {
			r.missing[root] += n
		}
	}
	all := best{most: r.Limit + 1}
	for _, b := range found {
		all.list = append(all.list, b.list...)
	}
	all.cut()
	return all.list, nil
}

// match adds the candidates of file n. It reports whether its names are known.
func (r *run) match(ctx context.Context, q *names.Query, n int, b *best) bool {
	list, ok := r.held(ctx, n)
	if !ok {
		return false
	}
	near := -1
	q.Search(list, func(m names.Match) {
		if near < 0 {
			if !r.counts(n) {
				near = maxNear + 1
			} else {
				near = r.near.of(r.path(n))
			}
		}
		if near <= maxNear {
			b.add(candidate{rank: rank(m, list.At(m.Index), near), file: n, symbol: m.Index})
		}
	})
	return true
}

// held returns the names of file n, unless they are not known before ctx ends.
func (r *run) held(ctx context.Context, n int) (names.Names, bool) {
	if known := r.verified[n]; known != nil && known.changed { // nobody writes it now
		return known.names, true
	}
	f, root := r.file(n)
	return r.Roots[root].Workspace.NamesOf(ctx, f)
}

// rank orders candidates but for their paths and lines.
func rank(m names.Match, s names.Symbol, near int) uint64 {
	out := uint64(m.Class)
	push := func(bits int, n int) { out = out<<bits | uint64(min(n, 1<<bits-1)) }
	push(1, number(m.Fold))
	push(1, number(!s.Exported))
	push(8, m.Depth)
	push(8, near)
	push(10, len(s.Name))
	return out
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
