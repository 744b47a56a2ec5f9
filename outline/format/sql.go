package format

import (
	"bytes"
	"strings"

	"mapd/outline/symbol"
)

// scanSQL adds what the statements of a file define: tables with their columns,
// views, routines, types and the rest of DDL. A statement ends at its
// delimiter, which does not count in strings, dollar quotes, comments and the
// bodies of routines. Runs of inserts into one table are one symbol.
func scanSQL(d *doc) {
	s := &sql{d: d, l: newSQLLexer(d.src, d.bom)}
	s.advance()
	for s.tok.kind != sqlEOF && !d.stopped() {
		s.statement()
	}
	s.flushInserts()
	if s.l.unclosed > 0 || s.bad {
		d.broken(symbol.Segments)
	}
}

// sql is the state between two statements. tok is the next token.
type sql struct {
	d    *doc
	l    *sqlLexer
	tok  sqlToken
	last int // offset of the last character of the statement so far
	bad  bool
	flat bool // BEGIN … END do not nest: once they were not closed

	inserts insertRun
}

// insertRun is a run of statements that fill one table.
type insertRun struct {
	name       string // "INSERT INTO t", "COPY t"
	start, end int    // lines
	n, rows    int
}

// advance reads the next token of the same statement.
func (s *sql) advance() {
	if s.tok.end > s.tok.start {
		s.last = s.tok.end - 1
	}
	s.tok = s.l.next()
}

// accept reads the keyword if it is next.
func (s *sql) accept(keyword string) bool {
	if !s.l.is(s.tok, keyword) {
		return false
	}
	s.advance()
	return true
}

func (s *sql) text(from, to int) []byte { return s.d.src[from:to] }

// statement reads one statement with its delimiter.
func (s *sql) statement() {
	if s.tok.kind == sqlEnd {
		s.advance()
		return
	}
	if s.command() {
		return
	}
	switch s.l.keyword(s.tok) {
	case "CREATE":
		s.flushInserts()
		s.create()
	case "ALTER", "DROP":
		s.flushInserts()
		s.change()
	case "INSERT", "REPLACE":
		s.insert()
	case "COPY":
		s.copy()
	default:
		s.rest(false)
	}
}

// command handles the lines that a client takes for itself: DELIMITER, and what
// starts with a backslash.
func (s *sql) command() bool {
	start := s.tok.start
	if !startsLine(s.d.src, start) {
		return false
	}
	end := lineEndFrom(s.d.src, start)
	switch {
	case s.l.isByte(s.tok, '\\'):
	case s.l.is(s.tok, "DELIMITER"):
		mark := string(bytes.TrimSpace(s.text(s.tok.end, end)))
		if mark == "" || len(mark) > 16 {
			return false
		}
		s.l.delimiter = mark
	default:
		return false
	}
	s.l.i = end
	s.advance()
	return true
}

// rest reads to the end of the statement. In a routine the delimiters between
// BEGIN and END belong to it. It returns the offset at which the text that
// introduces the statement ends.
func (s *sql) rest(routine bool) (head int) {
	head = -1
	mark := *s.l
	from, depth, cases := s.tok, 0, 0
	mark.i = from.start
	for ; s.tok.kind != sqlEOF; s.advance() {
		if s.d.stopped() {
			break
		}
		if s.tok.kind == sqlEnd && (s.l.batch(s.tok) || depth <= 0 && !(routine && s.l.batches)) {
			break
		}
		word := s.l.keyword(s.tok)
		if word == "CREATE" && !routine && s.tok.start > from.start && startsLine(s.d.src, s.tok.start) {
			break // the delimiter is missing
		}
		if head < 0 && (word == "AS" || word == "BEGIN" || s.tok.kind == sqlDollar) {
			head = s.tok.start
		}
		if !routine || s.flat {
			continue
		}
		switch word {
		case "BEGIN":
			depth++
		case "CASE":
			depth++
			cases++
		case "END":
			depth -= s.closes(&cases)
		}
	}
	if depth > 0 && s.tok.kind == sqlEOF && !s.d.ended {
		// A BEGIN without END: the statement ends at its first delimiter.
		s.bad, s.flat = true, true
		s.l.i = mark.i
		s.tok = sqlToken{}
		s.advance()
		return s.rest(false)
	}
	if head < 0 {
		head = s.tok.start
	}
	if s.tok.kind == sqlEnd {
		if !s.l.batch(s.tok) {
			s.last = s.tok.end - 1
		}
		at := s.last
		s.tok = s.l.next()
		s.last = at
	}
	return head
}

// closes tells whether the END at hand closes a BEGIN or a CASE (1) or an IF or
// a loop (0), which are not counted.
func (s *sql) closes(cases *int) int {
	after := *s.l
	switch after.keyword(after.next()) {
	case "IF", "LOOP", "WHILE", "REPEAT", "FOR":
		return 0
	}
	*cases = max(*cases-1, 0)
	return 1
}

// emit adds the symbol of a statement that begins at offset from.
func (s *sql) emit(sym symbol.Symbol, from, comment int, children []symbol.Symbol) {
	sym.Start = s.d.lines.at(from)
	sym.NameLine = max(sym.NameLine, sym.Start)
	end := s.d.lines.at(max(s.last, from))
	if comment >= 0 {
		if lead := s.d.lines.at(comment); lead < sym.Start {
			sym.Lead = lead
			sym.Docstring = commentText(s.text(comment, lineEndFrom(s.d.src, comment)))
		}
	}
	s.d.tree.begin(sym)
	for _, c := range children {
		s.d.tree.leaf(c)
	}
	s.d.tree.end(end)
}

// commentText returns the words of the first line of a comment.
func commentText(line []byte) string {
	return preview(bytes.Trim(line, "-/*# \t\r!"), MaxPreview)
}

// leadOffset returns where the comments before the current token start, -1 if
// there are none or a blank line or a statement stands between.
func (s *sql) leadOffset() int {
	c := s.l.comment
	if c < 0 || !startsLine(s.d.src, c) || bytes.Count(s.text(s.l.commentEnd, s.tok.start), []byte("\n")) > 1 {
		return -1
	}
	// Only the block of comments right above counts.
	block := s.text(c, s.tok.start)
	if i := bytes.LastIndex(block, []byte("\n\n")); i >= 0 {
		c += i + 2
	}
	return c
}

// name reads a name with its qualifiers: a.b, "a"."b".
func (s *sql) name() (name string, at int) {
	var parts []string
	at = s.tok.start
	for s.tok.kind == sqlWord || s.tok.kind == sqlName || s.tok.kind == sqlString {
		parts = append(parts, unquoteName(s.text(s.tok.start, min(s.tok.end, s.tok.start+2*MaxName))))
		s.advance()
		if !s.l.isByte(s.tok, '.') || len(parts) > 8 {
			break
		}
		s.advance()
	}
	return strings.Join(parts, "."), at
}

func unquoteName(b []byte) string {
	if len(b) > 1 && strings.IndexByte("\"`['", b[0]) >= 0 {
		quote := string(b[:1])
		return strings.ReplaceAll(string(b[1:len(b)-1]), quote+quote, quote)
	}
	return string(b)
}

// insert counts an INSERT or REPLACE with its rows.
func (s *sql) insert() {
	from := s.tok.start
	s.advance()
	for !s.accept("INTO") {
		if s.tok.kind != sqlWord {
			s.rest(false)
			return
		}
		s.advance()
	}
	table, _ := s.name()
	rows, depth, values := 0, 0, false
	for s.tok.kind != sqlEnd && s.tok.kind != sqlEOF && !s.d.stopped() {
		switch {
		case s.l.is(s.tok, "VALUES"), s.l.is(s.tok, "VALUE"):
			values = values || depth == 0
		case s.l.isByte(s.tok, '('):
			if depth++; depth == 1 && values {
				rows++
			}
		case s.l.isByte(s.tok, ')'):
			depth--
		case s.l.is(s.tok, "ON") && depth == 0:
			values = false // ON CONFLICT (…), ON DUPLICATE KEY
		}
		s.advance()
	}
	s.rest(false)
	s.inserted("INSERT INTO ", table, from, rows)
}

func (s *sql) inserted(verb, table string, from, rows int) {
	if table == "" {
		return
	}
	if name := verb + cutName(table); s.inserts.name != name {
		s.flushInserts()
		s.inserts = insertRun{name: name, start: s.d.lines.at(from)}
	}
	s.inserts.n++
	s.inserts.rows += rows
	s.inserts.end = s.d.lines.at(max(s.last, from))
}

// flushInserts adds the symbol of a run of inserts.
func (s *sql) flushInserts() {
	r := s.inserts
	s.inserts = insertRun{}
	if r.n == 0 {
		return
	}
	signature := count(r.n, "statement")
	if r.rows > 0 {
		signature += ", " + count(r.rows, "row")
	}
	s.d.tree.leaf(symbol.Symbol{
		Name: r.name, Kind: symbol.Record, Start: r.start, End: r.end, NameLine: r.start, Signature: signature,
	})
}

// copy handles COPY … FROM stdin, whose data follow the statement up to a line
// with \. alone.
func (s *sql) copy() {
	from := s.tok.start
	s.advance()
	table, _ := s.name()
	stdin := false
	for s.tok.kind != sqlEnd && s.tok.kind != sqlEOF && !s.d.stopped() {
		stdin = stdin || s.l.is(s.tok, "STDIN")
		s.advance()
	}
	if !stdin || s.tok.kind == sqlEOF {
		s.rest(false)
		return
	}
	at := lineEndFrom(s.d.src, s.tok.end)
	end := bytes.Index(s.d.src[at:], []byte("\n\\."))
	if end < 0 {
		s.bad = true
		s.rest(false)
		return
	}
	rows := bytes.Count(s.d.src[at:at+end], []byte("\n"))
	s.last = at + end + 2
	s.l.i = at + end + len("\n\\.")
	s.inserted("COPY ", table, from, rows)
	s.tok = sqlToken{}
	s.advance()
}
