package find

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"mapd/workspace"
	"mapd/workspace/grep"
	"mapd/workspace/names"
)

// Text returns the lines that match p, each with the innermost symbol around it,
// which is of one of the Kinds:
// first the files nearest to what was read, then by folders and paths. All files
// are read; which of them have such lines is no matter of an index.
func (s *Search) Text(ctx context.Context, p *grep.Pattern) (Result, error) {
	r, degraded, err := s.begin(ctx, len(s.Kinds) > 0)
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	order := r.order()
	found, early, err := r.scan(ctx, p, order)
	if err != nil {
		return Result{}, err
	}
	out := Result{Degraded: degraded}
	outlines, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	late := map[int]bool{} // roots
	for len(found) > 0 && len(out.Hits) <= s.Limit {
		some := found[:min(len(found), readsAtOnce)]
		found = found[len(some):]
		slow, err := r.verify(ctx, outlines, some)
		if err != nil {
			return Result{}, err
		}
		for _, n := range some {
			_, root := r.file(n)
			late[root] = late[root] || slow
			out.Hits = r.lines(ctx, p, n, out.Hits)
		}
	}
	out.Truncated = len(out.Hits) > s.Limit || early || r.heavy
	out.Hits = out.Hits[:min(len(out.Hits), s.Limit)]
	for i, root := range r.Roots {
		if late[i] {
			out.Degraded = append(out.Degraded, Degraded{root.Path, "indexing: some lines are shown without the symbol around them"})
		}
	}
	return out, nil
}

// order returns the numbers of the files that are searched, in the order of
// their lines.
func (r *run) order() []int {
	order := make([]int, 0, r.files())
	near := map[int]int{}
	for n := range r.files() {
		if f, _ := r.file(n); f.Binary || !r.counts(n) {
			continue
		}
		order = append(order, n)
		if len(r.Near) > 0 {
			near[n] = r.near.of(r.path(n))
		}
	}
	if len(r.Near) > 0 {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(near[a], near[b]) })
	}
	return order
}

// scanFiles is how many files a worker takes at a time: few, so that the search
// ends soon after it has found enough.
const scanFiles = 8

// scan returns those of the files that have lines which match, in their order.
// early says that it stopped before the end, having found more than the limit.
func (r *run) scan(ctx context.Context, p *grep.Pattern, order []int) (found []int, early bool, err error) {
	enough, cancel := context.WithCancel(ctx)
	defer cancel()
	p1 := progress{blocks: map[int]block{}}
	lookers := make([][]*workspace.Looker, r.workers)
	defer func() {
		for _, l := range slices.Concat(lookers...) {
			l.Close()
		}
	}()
	r.each(enough, len(order), scanFiles, func(worker, first, end int) {
		if lookers[worker] == nil {
			for _, root := range r.Roots {
				lookers[worker] = append(lookers[worker], root.Workspace.Looker())
			}
		}
		var b block
		for _, n := range order[first:end] {
			if lines := r.countLines(enough, p, n, lookers[worker]); lines > 0 {
				b.files, b.lines = append(b.files, n), b.lines+lines
			}
		}
		if enough.Err() == nil && p1.add(first/scanFiles, b) > r.Limit {
			cancel()
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	return p1.files, enough.Err() != nil && p1.next*scanFiles < len(order), nil
}

// block is what was found in some files that follow each other.
type block struct {
	files []int
	lines int
}

// progress joins blocks in their order.
type progress struct {
	mu     sync.Mutex // guards what follows
	blocks map[int]block
	next   int   // the first block that is not there yet
	files  []int // of all blocks before it
	lines  int
}

// add adds a block and returns the number of lines in all that follow each other
// from the first.
func (p *progress) add(number int, b block) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocks[number] = b
	for {
		b, ok := p.blocks[p.next]
		if !ok {
			return p.lines
		}
		delete(p.blocks, p.next)
		p.next++
		p.files = append(p.files, b.files...)
		p.lines += b.lines
	}
}

// countLines returns how many lines of file n match, counted until there are more
// than the limit. A file that cannot be read has none.
func (r *run) countLines(ctx context.Context, p *grep.Pattern, n int, lookers []*workspace.Looker) int {
	f, root := r.file(n)
	list, ok := names.Names{}, false
	if len(r.Kinds) > 0 {
		if list, ok = r.Roots[root].Workspace.NamesOf(ctx, f); ok && !list.Has(r.Kinds) {
			return 0
		}
	}
	lines := 0
	_ = lookers[root].Look(ctx, f.Path, func(text []byte) {
		p.Find(ctx, text, func(l grep.Line) bool {
			if !ok || r.around(list, list.Enclosing(l.Number)) {
				lines++
			}
			return lines <= r.Limit
		})
	})
	return lines
}

// around reports whether a line counts that stands in symbol i, in none if i is
// -1.
func (r *run) around(list names.Names, i int) bool {
	return len(r.Kinds) == 0 || i >= 0 && slices.Contains(r.Kinds, list.At(i).Kind)
}

// lines appends the hits in file n, which was verified, up to one more than the
// limit.
func (r *run) lines(ctx context.Context, p *grep.Pattern, n int, hits []Hit) []Hit {
	known := r.known(n)
	if known.version == nil {
		return hits
	}
	p.Find(ctx, known.version.Bytes(), func(l grep.Line) bool {
		if i := known.names.Enclosing(l.Number); r.around(known.names, i) {
			hits = append(hits, lineHit(known, l, i))
		}
		return len(hits) <= r.Limit
	})
	return hits
}

// lineHit returns the hit of a line in symbol i, -1 for none.
func lineHit(known *verified, l grep.Line, i int) Hit {
	h := Hit{Version: known.version, Start: l.Number, End: l.Number, Line: l.Number, Column: l.From}
	if i >= 0 {
		s := known.names.At(i)
		h.Name, h.Kind, h.Container = s.Name, s.Kind, container(known.names, s)
	}
	return h
}

// The classes of names that a search for anything takes for a symbol, and those
// that a search for a symbol does.
const (
	WeakestOfAny    = names.Words
	WeakestOfSymbol = names.Subsequence
)
