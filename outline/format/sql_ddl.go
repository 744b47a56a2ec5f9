package format

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

// sqlKinds maps what CREATE creates to the kinds of symbols.
var sqlKinds = map[string]symbol.Kind{
	"TABLE": symbol.Table, "VIEW": symbol.View,
	"FUNCTION": symbol.Function, "PROCEDURE": symbol.Function, "PROC": symbol.Function, "AGGREGATE": symbol.Function, "MACRO": symbol.Function,
	"TRIGGER": symbol.Event, "EVENT": symbol.Event, "RULE": symbol.Event,
	"TYPE": symbol.Struct, "DOMAIN": symbol.Struct,
	"SCHEMA": symbol.Namespace, "DATABASE": symbol.Namespace, "KEYSPACE": symbol.Namespace,
	"EXTENSION": symbol.Module, "PACKAGE": symbol.Module, "LANGUAGE": symbol.Module,
	"SEQUENCE": symbol.Variable, "SYNONYM": symbol.Variable,
	"INDEX": symbol.Property, "POLICY": symbol.Property, "STATISTICS": symbol.Property, "CAST": symbol.Property,
	"OPERATOR": symbol.Operator,
	"ROLE":     symbol.Object, "USER": symbol.Object, "GROUP": symbol.Object, "SERVER": symbol.Object,
	"PUBLICATION": symbol.Object, "SUBSCRIPTION": symbol.Object, "TABLESPACE": symbol.Object, "COLLATION": symbol.Object,
	"CONVERSION": symbol.Object, "CONFIGURATION": symbol.Object, "DICTIONARY": symbol.Object, "PARSER": symbol.Object,
	"TEMPLATE": symbol.Object, "WRAPPER": symbol.Object, "MAPPING": symbol.Object, "METHOD": symbol.Object, "TRANSFORM": symbol.Object,
}

// create reads a CREATE statement.
func (s *sql) create() {
	from, comment := s.tok.start, s.leadOffset()
	const mostModifiers = 32
	var kind symbol.Kind
	what := ""
	s.advance()
	for range mostModifiers {
		if s.tok.kind == sqlEnd || s.tok.kind == sqlEOF {
			break
		}
		what = s.l.keyword(s.tok)
		if what != "" {
			kind = sqlKinds[what]
		}
		s.advance()
		if kind != "" && !s.moreOfKind(what) {
			break
		}
		kind = ""
	}
	if kind == "" {
		s.rest(false)
		return
	}
	s.skipBeforeName(what)
	name, at := s.name()
	sym := symbol.Symbol{Name: name, Kind: kind, NameLine: s.d.lines.at(at)}
	if name == "" {
		sym.Name, sym.NameLine = "CREATE "+what, 0
	}
	var children []symbol.Symbol
	head := s.tok.start
	switch {
	case what == "TABLE" && s.l.isByte(s.tok, '('):
		if children = s.columns(symbol.Column); !s.l.is(s.tok, "CREATE") {
			s.rest(false)
		}
	case what == "TYPE" && s.l.is(s.tok, "AS"):
		children = s.typeMembers(&sym)
		s.rest(false)
	default:
		head = s.rest(kind == symbol.Function || what == "TRIGGER" || what == "EVENT" || what == "PACKAGE")
	}
	if !s.d.tree.full() {
		const most = 240
		sym.Signature = preview(s.withoutMarks(s.text(from, max(min(head, from+4*most), from))), most)
	}
	s.emit(sym, from, comment, children)
}

// moreOfKind reports whether the name of the kind goes on: OPERATOR CLASS,
// TYPE BODY, USER MAPPING, the TABLE of FOREIGN TABLE is found by itself.
func (s *sql) moreOfKind(what string) bool {
	switch next := s.l.keyword(s.tok); what {
	case "OPERATOR":
		if next == "CLASS" || next == "FAMILY" {
			s.advance()
		}
	case "PACKAGE", "TYPE":
		if next == "BODY" {
			s.advance()
		}
	case "USER":
		return next == "MAPPING"
	case "EVENT":
		return next == "TRIGGER"
	case "LANGUAGE", "SERVER", "TEMPLATE":
		return false
	}
	return false
}

// skipBeforeName passes over IF NOT EXISTS, CONCURRENTLY and the like.
func (s *sql) skipBeforeName(what string) {
	if what == "INDEX" {
		s.accept("CONCURRENTLY")
	}
	if s.l.is(s.tok, "IF") {
		s.advance()
		s.accept("NOT")
		s.accept("EXISTS")
	}
	if what == "MAPPING" {
		s.accept("FOR")
	}
	if what == "INDEX" && s.l.is(s.tok, "ON") {
		s.tok.kind = sqlPunct // an index without a name
	}
	if what == "SCHEMA" {
		s.accept("AUTHORIZATION")
	}
}

// notColumns are the words that start a part of a table that is no column.
var notColumns = map[string]bool{
	"CONSTRAINT": true, "PRIMARY": true, "FOREIGN": true, "UNIQUE": true, "CHECK": true, "EXCLUDE": true, "LIKE": true,
	"KEY": true, "INDEX": true, "FULLTEXT": true, "SPATIAL": true, "PERIOD": true, "PROJECTION": true,
}

// typeWords are types that may follow a column whose name is a key word.
var typeWords = map[string]bool{
	"TEXT": true, "VARCHAR": true, "CHAR": true, "INT": true, "INTEGER": true, "BIGINT": true, "SMALLINT": true, "BLOB": true,
	"BOOLEAN": true, "BOOL": true, "NUMERIC": true, "DECIMAL": true, "REAL": true, "FLOAT": true, "DOUBLE": true, "DATE": true,
	"TIME": true, "TIMESTAMP": true, "TIMESTAMPTZ": true, "DATETIME": true, "UUID": true, "JSON": true, "JSONB": true, "BYTEA": true,
	"CHARACTER": true, "NVARCHAR": true, "TINYINT": true, "SERIAL": true, "BIGSERIAL": true, "INTERVAL": true, "BIT": true,
}

// columns reads the parenthesized list of columns that starts at the current
// token.
func (s *sql) columns(kind symbol.Kind) (columns []symbol.Symbol) {
	s.advance()
	for s.tok.kind != sqlEOF && s.tok.kind != sqlEnd && !s.d.stopped() {
		if s.l.isByte(s.tok, ')') {
			s.advance()
			return columns
		}
		if s.l.is(s.tok, "CREATE") && startsLine(s.d.src, s.tok.start) {
			break // the list is not closed
		}
		if c, ok := s.column(kind); ok && len(columns) <= MaxChildren && !s.d.tree.full() {
			columns = append(columns, c)
		}
		if s.l.isByte(s.tok, ',') {
			s.advance()
		}
	}
	s.bad = true
	return columns
}

// column reads up to the next comma of the list, or its end.
func (s *sql) column(kind symbol.Kind) (symbol.Symbol, bool) {
	first := s.tok
	word := ""
	if first.kind == sqlWord {
		word = s.l.keyword(first)
	}
	ok := first.kind == sqlWord || first.kind == sqlName || first.kind == sqlString
	s.advance()
	if notColumns[word] && !typeWords[s.l.keyword(s.tok)] {
		ok = false
	}
	typeFrom, typeTo := s.tok.start, s.tok.start
	for depth := 0; s.tok.kind != sqlEOF && s.tok.kind != sqlEnd && !s.d.stopped(); s.advance() {
		switch {
		case s.l.isByte(s.tok, '('):
			depth++
		case s.l.is(s.tok, "CREATE") && startsLine(s.d.src, s.tok.start):
			return s.columnSymbol(first, kind, typeFrom, typeTo), ok
		case depth == 0 && (s.l.isByte(s.tok, ',') || s.l.isByte(s.tok, ')')):
			return s.columnSymbol(first, kind, typeFrom, typeTo), ok
		case s.l.isByte(s.tok, ')'):
			depth--
		}
		typeTo = s.tok.end
	}
	return s.columnSymbol(first, kind, typeFrom, typeTo), ok
}

func (s *sql) columnSymbol(first sqlToken, kind symbol.Kind, from, to int) symbol.Symbol {
	if s.d.tree.full() {
		return symbol.Symbol{}
	}
	line := s.d.lines.at(first.start)
	return symbol.Symbol{
		Name: cutName(unquoteName(s.text(first.start, min(first.end, first.start+2*MaxName)))), Kind: kind,
		Start: line, NameLine: line, End: s.d.lines.at(max(to-1, first.start)),
		Signature: preview(s.text(from, max(min(to, from+4*MaxPreview), from)), MaxPreview),
	}
}

// typeMembers reads AS ENUM ('a', 'b') or AS (field type, …).
func (s *sql) typeMembers(sym *symbol.Symbol) (members []symbol.Symbol) {
	s.advance()
	switch {
	case s.accept("ENUM"):
		sym.Kind = symbol.Enum
		if !s.l.isByte(s.tok, '(') {
			return nil
		}
		for s.tok.kind != sqlEOF && s.tok.kind != sqlEnd && !s.l.isByte(s.tok, ')') && !s.d.stopped() {
			if s.tok.kind == sqlString && len(members) <= MaxChildren {
				line := s.d.lines.at(s.tok.start)
				members = append(members, symbol.Symbol{
					Name: cutName(unquoteName(s.text(s.tok.start, s.tok.end))), Kind: symbol.EnumMember,
					Start: line, End: s.d.lines.at(s.tok.end - 1), NameLine: line,
				})
			}
			s.advance()
		}
		return members
	case s.l.isByte(s.tok, '('):
		return s.columns(symbol.Field)
	}
	return nil
}

// change reads an ALTER or DROP statement: a constraint that it adds is named
// by itself, others by what they change.
func (s *sql) change() {
	from, comment := s.tok.start, s.leadOffset()
	var words []string
	words = append(words, s.l.keyword(s.tok))
	s.advance()
	for len(words) < 4 && s.tok.kind == sqlWord && !s.l.is(s.tok, "IF") {
		word := s.l.keyword(s.tok)
		words = append(words, word)
		s.advance()
		if sqlKinds[word] != "" {
			break
		}
	}
	if s.accept("IF") {
		s.accept("NOT")
		s.accept("EXISTS")
	}
	s.accept("ONLY")
	name, at := s.name()
	sym := symbol.Symbol{Name: strings.Join(append(words, name), " "), Kind: symbol.Event, NameLine: s.d.lines.at(at)}
	if words[0] == "ALTER" && s.accept("ADD") && s.accept("CONSTRAINT") {
		if constraint, at := s.name(); constraint != "" {
			sym.Name, sym.Kind, sym.NameLine = constraint, symbol.Property, s.d.lines.at(at)
		}
	}
	s.rest(false)
	const most = 240
	sym.Signature = preview(s.text(from, min(s.last+1, from+4*most)), most)
	s.emit(sym, from, comment, nil)
}

// withoutMarks blanks out the marks of MySQL's conditional comments.
func (s *sql) withoutMarks(b []byte) []byte {
	if !s.l.mysql || !bytes.Contains(b, []byte("*/")) {
		return b
	}
	return conditionalMarks.ReplaceAll(b, []byte(" "))
}

var conditionalMarks = regexp.MustCompile(`/\*!\d*|\*/`)
