package golang

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"

	"mapd/outline/symbol"
)

// general adds the symbols of a const, var or type declaration, each spec with
// its own range.
func (u *unit) general(list []symbol.Symbol, d *ast.GenDecl, local bool) []symbol.Symbol {
	for _, spec := range d.Specs {
		// In a group the spec stands for itself; alone, it includes the keyword.
		start, doc := spec.Pos(), specDoc(spec)
		if !d.Lparen.IsValid() {
			start = d.Pos()
			if doc == nil {
				doc = d.Doc
			}
		}
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if s, ok := u.typeSpec(spec, start); ok {
				s.Local = local
				u.document(&s, doc)
				list = append(list, s)
			}
		case *ast.ValueSpec:
			kind := symbol.Variable
			if d.Tok == token.CONST {
				kind = symbol.Constant
			}
			for _, s := range u.valueSpec(spec, start, kind) {
				if s.Local {
					list = append(list, s)
					continue
				}
				if s.Local = local; local && s.Kind != symbol.Function {
					// A local value is no symbol, but what its value defines is one.
					for _, c := range s.Children {
						if c.Local {
							list = append(list, c)
						}
					}
					continue
				}
				u.document(&s, doc)
				list = append(list, s)
			}
		}
	}
	return list
}

func specDoc(spec ast.Spec) *ast.CommentGroup {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Doc
	case *ast.ValueSpec:
		return s.Doc
	}
	return nil
}

func (u *unit) typeSpec(spec *ast.TypeSpec, start token.Pos) (symbol.Symbol, bool) {
	if !named(spec.Name) || spec.Type == nil {
		return symbol.Symbol{}, false
	}
	s := symbol.Symbol{
		Name:     spec.Name.Name,
		Kind:     symbol.Class,
		Start:    u.line(start),
		End:      u.lastLine(spec.End()),
		NameLine: u.line(spec.Name.Pos()),
		Exported: spec.Name.IsExported(),
		Children: u.members(spec.Type),
	}
	switch spec.Type.(type) {
	case *ast.StructType:
		s.Kind = symbol.Struct
	case *ast.InterfaceType:
		s.Kind = symbol.Interface
	}
	s.Signature = u.signature(start, bodyStart(spec.Type, spec.End()))
	return s, true
}

// bodyStart returns where the braces of a struct or interface type start that
// is e or an element of it, and end for other types.
func bodyStart(e ast.Expr, end token.Pos) token.Pos {
	var fields *ast.FieldList
	switch t := element(e).(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	}
	if fields == nil || !fields.Opening.IsValid() || len(fields.List) == 0 {
		return end
	}
	return fields.Opening
}

// element returns the type at the core of pointers, slices, channels, and the
// values of maps.
func element(e ast.Expr) ast.Expr {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.ArrayType:
			e = t.Elt
		case *ast.ChanType:
			e = t.Value
		case *ast.MapType:
			e = t.Value
		default:
			return e
		}
	}
}

// members returns the fields of a struct or the methods of an interface that is
// e or an element of it.
func (u *unit) members(e ast.Expr) []symbol.Symbol {
	switch t := element(e).(type) {
	case *ast.StructType:
		return u.fields(t.Fields, symbol.Field)
	case *ast.InterfaceType:
		return u.fields(t.Methods, symbol.Method)
	}
	return nil
}

// fields returns one symbol for each name, and for each embedded type.
func (u *unit) fields(fields *ast.FieldList, kind symbol.Kind) []symbol.Symbol {
	if fields == nil || len(fields.List) == 0 {
		return nil
	}
	names := 0
	for _, f := range fields.List {
		names += max(len(f.Names), 1)
	}
	list := make([]symbol.Symbol, 0, names)
	for _, f := range fields.List {
		if f.Type == nil {
			continue
		}
		s := symbol.Symbol{Kind: kind, Start: u.line(f.Pos()), End: u.lastLine(f.End())}
		u.document(&s, f.Doc)
		s.Signature = u.signature(f.Pos(), bodyStart(f.Type, f.Type.End()))
		for _, name := range f.Names {
			if !named(name) {
				continue
			}
			s.Name, s.NameLine, s.Exported = name.Name, u.line(name.Pos()), name.IsExported()
			s.Children = u.members(f.Type)
			list = append(list, s)
		}
		if len(f.Names) > 0 {
			continue
		}
		if kind == symbol.Method {
			s.Kind = symbol.Interface
		}
		if s.Name = baseName(f.Type); s.Name != "" && s.Name != "_" {
			s.NameLine, s.Exported = s.Start, token.IsExported(s.Name)
			list = append(list, s)
		}
	}
	return list
}

// valueSpec returns one symbol for each name of a const or var spec. A name
// whose value is a function literal is a function. What the values define has
// the first name for its parent, where values and names do not pair up; of a
// blank name it stands for itself.
func (u *unit) valueSpec(spec *ast.ValueSpec, start token.Pos, kind symbol.Kind) []symbol.Symbol {
	var list []symbol.Symbol
	signature := u.valueSignature(spec, start)
	for i, name := range spec.Names {
		s := symbol.Symbol{
			Name:      name.Name,
			Kind:      kind,
			Start:     u.line(start),
			End:       u.lastLine(spec.End()),
			NameLine:  u.line(name.Pos()),
			Signature: signature,
			Exported:  name.IsExported(),
			Children:  u.members(spec.Type),
		}
		values := spec.Values
		if len(values) == len(spec.Names) {
			values = values[i : i+1]
		} else if i > 0 {
			values = nil
		}
		for _, v := range values {
			if lit, ok := literal(v); ok && len(values) == 1 {
				s.Kind = symbol.Function
				s.Signature = u.signature(start, lit.Body.Lbrace)
				s.Children = append(s.Children, u.locals(lit.Body)...)
				continue
			}
			s.Children = append(s.Children, u.locals(v)...)
		}
		if named(name) {
			list = append(list, s)
			continue
		}
		for _, c := range s.Children {
			if c.Local {
				list = append(list, c)
			}
		}
	}
	return list
}

func literal(e ast.Expr) (*ast.FuncLit, bool) {
	for {
		paren, ok := e.(*ast.ParenExpr)
		if !ok {
			break
		}
		e = paren.X
	}
	lit, ok := e.(*ast.FuncLit)
	return lit, ok && lit.Body != nil
}

// locals returns the functions bound to names and the types declared within n.
func (u *unit) locals(n ast.Node) []symbol.Symbol {
	if !mayDefine(u.src[u.offset(n.Pos()):u.offset(n.End())]) {
		return nil
	}
	var list []symbol.Symbol
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			list = u.assignment(list, n)
			return false
		case *ast.GenDecl:
			list = u.general(list, n, true)
			return false
		}
		return true
	})
	return inLineOrder(list)
}

// inLineOrder sorts what is in line order but for assignments to several names,
// where what a value defines comes before the next name.
func inLineOrder(list []symbol.Symbol) []symbol.Symbol {
	byStart := func(a, b symbol.Symbol) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(list, byStart) {
		slices.SortStableFunc(list, byStart)
	}
	return list
}

// assigned returns the name that an assignment gives a value: x, or the last one
// of a.b.x.
func assigned(left ast.Expr) *ast.Ident {
	switch left := left.(type) {
	case *ast.Ident:
		return left
	case *ast.SelectorExpr:
		return left.Sel
	}
	return nil
}

// assignment adds the functions that an assignment binds to names, and what
// its other values define.
func (u *unit) assignment(list []symbol.Symbol, a *ast.AssignStmt) []symbol.Symbol {
	for _, left := range a.Lhs {
		if _, simple := left.(*ast.Ident); !simple {
			list = append(list, u.locals(left)...)
		}
	}
	for i, right := range a.Rhs {
		lit, isFunc := literal(right)
		var id *ast.Ident
		if len(a.Lhs) == len(a.Rhs) {
			id = assigned(a.Lhs[i])
		}
		if !isFunc || !named(id) {
			list = append(list, u.locals(right)...)
			continue
		}
		start := a.Lhs[i].Pos()
		list = append(list, symbol.Symbol{
			Name:      id.Name,
			Kind:      symbol.Function,
			Start:     u.line(start),
			End:       u.lastLine(lit.End()),
			NameLine:  u.line(id.Pos()),
			Signature: u.signature(start, lit.Body.Lbrace),
			Children:  u.locals(lit.Body),
			Local:     true,
		})
	}
	return list
}
