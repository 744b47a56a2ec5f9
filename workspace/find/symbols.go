package find

import (
	"cmp"
	"context"
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
	r, degraded, err := s.begin(ctx, true)
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	out := Result{Degraded: degraded}
	q := names.NewQuery(text, names.QueryOptions{Kinds: s.Kinds, Weakest: weakest})
	out.Hits, out.Truncated, err = r.symbols(ctx, q)
	if err == nil && len(out.Hits) == 0 && q.CaseMatters() {
		q = names.NewQuery(text, names.QueryOptions{Kinds: s.Kinds, Weakest: weakest, Fold: true})
		out.Hits, out.Truncated, err = r.symbols(ctx, q)
	}
	return out, err
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
	r.each(ctx, r.files(), blockFiles, func(worker, first, end int) {
		b := &found[worker]
		b.most = r.Limit + 1
		for n := first; n < end; n++ {
			r.match(q, n, b)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all := best{most: r.Limit + 1}
	for _, b := range found {
		all.list = append(all.list, b.list...)
	}
	all.cut()
	return all.list, nil
}

// match adds the candidates of file n.
func (r *run) match(q *names.Query, n int, b *best) {
	list, ok := r.held(n)
	if !ok {
		return
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
}

// held returns the names of file n as far as they are known.
func (r *run) held(n int) (names.Names, bool) {
	if known := r.verified[n]; known != nil && known.changed { // nobody writes it now
		return known.names, true
	}
	f, _ := r.file(n)
	return f.Names()
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
