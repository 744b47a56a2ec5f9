// Package golang finds the definitions of Go source with go/parser.
//
// Types, functions, constants and variables are top-level symbols, and so are
// methods, named Type.Method; struct fields and interface methods are children
// of their type. Each spec of a parenthesised group has its own range. A
// function literal bound to a name (f := func…, var f = func…, a.f = func…) is a
// function wherever it stands; below a function it is Local, and so is a type
// declared there. Functions without a name are no symbols, but what they define
// is found and belongs to the named function around them. The blank identifier
// is no name.
//
// A file with syntax errors gives the declarations before the first error, and
// after it what parses of each segment by itself: the file is cut at lines that
// start, in column 0, with a word that starts a declaration.
//
// go/parser is memory safe and limits its own depth (100,000 levels), so it
// runs in this process. It cannot be interrupted: the caller bounds the size.
package golang

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"

	"mapd/hashline"
	"mapd/outline/symbol"
)

const mode = parser.ParseComments | parser.SkipObjectResolution

// Extract returns the symbols of a Go file. Its error is that of ctx, which is
// looked at before a parse, or ErrTooLarge.
func Extract(ctx context.Context, text *hashline.Text) (symbol.List, error) {
	if err := ctx.Err(); err != nil {
		return symbol.List{}, err
	}
	list := symbol.List{Source: symbol.Parser}
	if text.Lines() == 0 {
		return list, nil
	}
	if text.Size() >= chunkedFile {
		done, err := chunks(ctx, text, &list)
		if err != nil || done == text.Size() {
			return list, err
		}
		if text.Size() >= largeFile {
			list.Source, list.Why = symbol.Segments, symbol.SyntaxErrors
			return list, segments(ctx, text, done, &list)
		}
		list = symbol.List{Source: symbol.Parser}
	}
	u, failed := parse(text, text.Bytes(), mode)
	if failed < 0 {
		u.decls(u.file.Decls, &list)
		return list, nil
	}
	list.Source, list.Why = symbol.Segments, symbol.SyntaxErrors
	from := u.declsBefore(failed, &list)
	return list, segments(ctx, text, from, &list)
}

// unit is one parse: of the whole file, or of a segment of it.
type unit struct {
	text *hashline.Text
	src  []byte // of the whole file
	file *ast.File
	base int // what is taken from a token.Pos to get an offset in src
	end  int // the offset just past the unit
	last int // the line that was asked for last
	// broken says that the unit has errors: what has no body may have lost it.
	broken bool
}

// parse parses src, the bytes of text or a prefix of them, as a file. It
// returns the offset of the first syntax error, -1 if there is none.
func parse(text *hashline.Text, src []byte, mode parser.Mode) (u *unit, failed int) {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, mode)
	return &unit{text: text, src: text.Bytes(), file: file, base: 1, end: len(src)}, firstError(err)
}

// decls adds the symbols and imports of declarations.
func (u *unit) decls(decls []ast.Decl, list *symbol.List) {
	n := 0
	for _, d := range decls {
		if d, ok := d.(*ast.GenDecl); ok {
			n += len(d.Specs)
		} else {
			n++
		}
	}
	list.Symbols = slices.Grow(list.Symbols, n)
	for _, d := range decls {
		u.decl(d, list)
	}
}

// declsBefore adds the declarations that end before the first error and
// returns the offset where the last of them ends. The parser gives up a file
// with many errors as a whole: then what stands before the segment with the
// first one is parsed again.
func (u *unit) declsBefore(failed int, list *symbol.List) (from int) {
	if len(u.file.Decls) == 0 {
		at, _ := u.text.Span(cutBefore(u.text, failed))
		again, failedAgain := parse(u.text, u.src[:at], mode)
		if failedAgain >= 0 && failedAgain < at {
			return 0
		}
		u = again
	}
	for _, d := range u.file.Decls {
		if u.offset(d.End()) >= failed {
			break
		}
		u.decl(d, list)
		from = u.offset(d.End())
	}
	return from
}

// offset returns the offset of pos in the whole file, within the unit.
func (u *unit) offset(pos token.Pos) int {
	return min(max(int(pos)-u.base, 0), u.end)
}

// line returns the line of pos. Positions asked for are mostly near the one
// before, on its line or one of the next.
func (u *unit) line(pos token.Pos) int {
	const near = 3
	offset := u.offset(pos)
	if u.last > 0 {
		for n := u.last; n < u.last+near && n <= u.text.Lines(); n++ {
			if start, end := u.text.Span(n); offset < start {
				break
			} else if offset < end {
				u.last = n
				return n
			}
		}
	}
	u.last = max(u.text.LineAt(offset), 1)
	return u.last
}

// lastLine returns the line of the byte before pos, the end of a node.
func (u *unit) lastLine(pos token.Pos) int { return u.line(pos - 1) }

// decl adds the symbols and imports of one declaration.
func (u *unit) decl(d ast.Decl, list *symbol.List) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if s, ok := u.function(d); ok {
			list.Symbols = append(list.Symbols, s)
		} else if d.Body != nil {
			list.Symbols = append(list.Symbols, u.locals(d.Body)...)
		}
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			list.Imports = u.imports(list.Imports, d)
			return
		}
		before := len(list.Symbols)
		list.Symbols = u.general(list.Symbols, d, false)
		inLineOrder(list.Symbols[before:])
	}
}

func (u *unit) imports(list []symbol.Import, d *ast.GenDecl) []symbol.Import {
	for _, spec := range d.Specs {
		if s, ok := spec.(*ast.ImportSpec); ok && s.Path != nil && len(s.Path.Value) >= 2 {
			path := s.Path.Value[1 : len(s.Path.Value)-1]
			list = append(list, symbol.Import{Path: clean(path), Start: u.line(s.Pos()), End: u.lastLine(s.End())})
		}
	}
	return list
}

// function returns the symbol of a declared function or method.
func (u *unit) function(d *ast.FuncDecl) (symbol.Symbol, bool) {
	if !named(d.Name) {
		return symbol.Symbol{}, false
	}
	s := symbol.Symbol{
		Name:     d.Name.Name,
		Kind:     symbol.Function,
		Start:    u.line(d.Pos()),
		End:      u.lastLine(d.End()),
		NameLine: u.line(d.Name.Pos()),
		Exported: d.Name.IsExported(),
	}
	u.document(&s, d.Doc)
	if d.Recv != nil && len(d.Recv.List) > 0 {
		s.Kind = symbol.Method
		if recv := baseName(d.Recv.List[0].Type); recv != "" {
			s.Name = recv + "." + s.Name
			s.Exported = s.Exported && token.IsExported(recv)
		}
	}
	if d.Body == nil {
		s.Signature = u.header(d.Pos(), d.End())
		return s, true
	}
	s.Signature = u.signature(d.Pos(), d.Body.Lbrace)
	s.Children = u.locals(d.Body)
	return s, true
}

// baseName returns the name of the type that e uses: of *pkg.T[K] it is T.
func baseName(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.SelectorExpr:
			return t.Sel.Name
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func named(id *ast.Ident) bool { return id != nil && id.Name != "" && id.Name != "_" }
