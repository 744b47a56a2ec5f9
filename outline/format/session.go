package format

import "mapd/outline/symbol"

// scanSession adds the turns of an agent's session: what the user said, what
// the assistant did with the tools it called, changes of the model, and
// compactions. A tool call reaches to the line of its result.
func scanSession(d *doc) {
	s := session{d: d}
	for n := 1; n <= d.text.Lines() && !d.stopped(); n++ {
		s.line(n)
	}
	s.close(d.text.Lines())
}

type session struct {
	d     *doc
	r     eventReader
	model string

	// The open turn of the assistant, and its children so far.
	open     bool
	turn     symbol.Symbol
	children []symbol.Symbol
	byID     map[string]int // index in children of the call with this id
	last     int            // last line that belongs to it
	omitted  int
}

func (s *session) line(n int) {
	e := s.r.read(s.d.text.Line(n))
	if e.broken {
		s.d.broken(symbol.Segments)
	}
	switch e.kind {
	case eventStart:
		s.single(n, symbol.Record, "session", e.text)
	case eventModel:
		s.changeModel(n, e.model)
	case eventCompaction:
		s.single(n, symbol.Event, "compaction", e.text)
	case eventUser:
		s.single(n, symbol.Section, "user", e.text)
	case eventAssistant:
		s.assistant(n, e)
	case eventResult:
		s.result(n, e.result)
	}
}

// single ends the assistant's turn and adds a symbol of one line.
func (s *session) single(n int, kind symbol.Kind, name, text string) {
	s.close(s.last)
	s.d.tree.leaf(symbol.Symbol{Name: name, Kind: kind, Start: n, End: n, NameLine: n, Signature: text})
}

func (s *session) changeModel(n int, model string) {
	if model == "" || model == s.model || model == "<synthetic>" {
		return
	}
	s.model = model
	s.single(n, symbol.Event, "model "+cutName(model), "")
}

func (s *session) assistant(n int, e event) {
	s.changeModel(n, e.model)
	if !s.open {
		s.open = true
		s.turn = symbol.Symbol{Name: "assistant", Kind: symbol.Section, Start: n, NameLine: n}
		s.byID = map[string]int{}
	}
	s.last = n
	if s.turn.Signature == "" {
		s.turn.Signature = e.text
	} else if e.text != "" {
		s.add(symbol.Symbol{Name: "text", Kind: symbol.Record, Start: n, End: n, NameLine: n, Signature: e.text})
	}
	for _, c := range e.calls {
		if c.id != "" && len(s.children) < MaxChildren {
			s.byID[c.id] = len(s.children)
		}
		s.add(symbol.Symbol{Name: c.name, Kind: symbol.Function, Start: n, End: n, NameLine: n, Signature: c.arguments})
	}
}

func (s *session) add(child symbol.Symbol) {
	if len(s.children) >= MaxChildren {
		s.omitted++
		return
	}
	s.children = append(s.children, child)
}

// result makes the calls with the ids reach to line n.
func (s *session) result(n int, ids []string) {
	if !s.open {
		return
	}
	for _, id := range ids {
		if i, ok := s.byID[id]; ok {
			s.children[i].End = n
		}
	}
	s.last = n
}

// close ends the assistant's turn at its last line.
func (s *session) close(last int) {
	if !s.open {
		return
	}
	s.open = false
	t := &s.d.tree
	t.begin(s.turn)
	for _, c := range s.children {
		t.leaf(c)
	}
	if s.omitted > 0 {
		t.leaf(elided(s.omitted, "call", s.children[len(s.children)-1].End, s.last))
	}
	s.children, s.omitted = s.children[:0], 0
	t.end(min(last, s.last))
}
