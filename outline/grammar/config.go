package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

// The languages of configuration and interfaces: HCL, CUE, Protobuf, Dockerfile.

func init() {
	remark := &rule{role: comment, act: keep}
	register(hcl(remark))
	register(cue(remark))
	register(protobuf(remark))
	register(dockerfile(remark))
}

func hcl(remark *rule) *language {
	return &language{
		name: "hcl", grammar: hclGrammar,
		rules: map[string]*rule{
			"comment":   remark,
			"block":     {do: hclBlock, act: visit | all},
			"attribute": {do: hclAttribute, act: visit | all},
		},
		actions: map[string]action{
			"config_file": visit, "body": visit, "identifier": 0, "expression": 0, "string_lit": 0, "block_start": 0, "block_end": 0,
		},
		otherwise: 0, braces: true,
		longStrings: true, split: regexp.MustCompile(`^[a-z_]\w* *(?:"|\{|=)`).Match,
		inner:    membersAre(hclInner),
		wrappers: map[place]wrapper{inType: {open: wrapperName + " {", close: "}"}},
	}
}

func cue(remark *rule) *language {
	return &language{
		name: "cue", grammar: cueGrammar,
		rules: map[string]*rule{
			"comment":        remark,
			"package_clause": {do: cuePackage, act: visit | all},
			"import_spec":    {do: cueImport, act: visit | fields},
			"field":          {do: cueField, act: visit | all},
			"let_clause":     {kind: symbol.Variable, name: "left"},
		},
		actions: map[string]action{
			"source_file": visit, "import_declaration": visit, "import_spec_list": visit, "value": visit, "struct_lit": visit,
			"binary_expression": visit, "comprehension": visit, "identifier": 0, "string": 0, "label": 0, "list_lit": 0,
			"call_expression": 0, "for_clause": 0, "guard_clause": 0, "number": 0,
		},
		otherwise: visit, braces: true,
		fields: []string{"path", "name", "left"},
		split:  regexp.MustCompile(`^(?:[#_\w]+[?!]?:|"|import|package|let)`).Match, finish: cueFinish,
	}
}

func protobuf(remark *rule) *language {
	return &language{
		name: "protobuf", grammar: protobufGrammar,
		rules: map[string]*rule{
			"comment":     remark,
			"package":     {kind: symbol.Package, nameTypes: []string{"full_ident", "identifier"}, act: visit | all, bodyTypes: []string{"none"}},
			"import":      {do: protoImport, act: visit | fields},
			"message":     {kind: symbol.Struct, nameTypes: []string{"message_name"}, bodyTypes: []string{"message_body"}, act: visit | all},
			"field":       {kind: symbol.Field, nameTypes: []string{"identifier"}, bodyTypes: []string{"none"}, act: visit | all},
			"map_field":   {kind: symbol.Field, nameTypes: []string{"identifier"}, bodyTypes: []string{"none"}, act: visit | all},
			"oneof":       {do: protoOneof, act: visit | all},
			"oneof_field": {kind: symbol.Field, nameTypes: []string{"identifier"}, bodyTypes: []string{"none"}, act: visit | all},
			"enum":        {kind: symbol.Enum, nameTypes: []string{"enum_name"}, bodyTypes: []string{"enum_body"}, act: visit | all},
			"enum_field":  {kind: symbol.EnumMember, nameTypes: []string{"identifier"}, bodyTypes: []string{"none"}, act: visit | all},
			"service":     {do: protoService, act: visit | all},
			"rpc":         {kind: symbol.Method, nameTypes: []string{"rpc_name"}, bodyTypes: []string{"option"}, act: visit | all},
		},
		actions: map[string]action{
			"source_file": visit, "message_body": visit, "enum_body": visit, "type": 0, "identifier": 0, "option": 0, "reserved": 0,
		},
		otherwise: visit, braces: true,
		fields:  []string{"path"},
		prepare: protoPrepare, preamble: protoPreamble,
		split:    regexp.MustCompile(`^(?:message|enum|service|import|package|extend)\b`).Match,
		inner:    membersAre(protoInner),
		wrappers: map[place]wrapper{inType: {open: "message " + wrapperName + " {", close: "}"}},
	}
}

func dockerfile(remark *rule) *language {
	return &language{
		name: "dockerfile", grammar: dockerfileGrammar,
		rules: map[string]*rule{
			"comment":          remark,
			"source_file":      {do: dockerFile, act: visit},
			"from_instruction": {do: dockerFrom, act: visit | fields | all},
			"arg_instruction":  {kind: symbol.Variable, body: "none"},
			"env_instruction":  {role: inert, act: visit},
			"env_pair":         {kind: symbol.Variable, body: "none"},
		},
		actions:   map[string]action{},
		otherwise: 0,
		fields:    []string{"as", "name"},
		split:     regexp.MustCompile(`^(?i:from) `).Match,
	}
}

var hclInner = regexp.MustCompile(`^[a-z_][\w-]* *(?:=[^=]|\{|"[^"]*" *\{)`)

var protoInner = regexp.MustCompile(`^(?:message|enum|oneof|rpc)\b`)

// hclBlock names a block by its type and labels: resource.aws_instance.web.
func hclBlock(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	var parts []string
	d := def{nameAt: n.start, kind: symbol.Object, start: n.start, end: n.end}
	for j := i + 1; j < n.next; j = x.nodes[j].next {
		if t := x.typ(j); t == "block_start" {
			d.sigEnd = x.nodes[j].start
			break
		} else if t == "identifier" || t == "string_lit" {
			parts = append(parts, unquote(x.str(j)))
		}
	}
	if len(parts) > 1 {
		d.kind = symbol.Class
	}
	if len(parts) > 0 {
		switch parts[0] {
		case "variable":
			d.kind = symbol.Variable
		case "module":
			d.kind = symbol.Module
		case "locals":
			d.kind = symbol.Namespace
		}
	}
	d.name = strings.Join(parts, ".")
	d.children = func(sc *scope) { x.children(i, sc) }
	x.define(sc, i, d)
}

func hclAttribute(x *extraction, i int, sc *scope) {
	if name := x.childOf(i, "identifier"); name >= 0 {
		d := x.defAt(i, name, symbol.Property)
		d.children = nil
		x.define(sc, i, d)
	}
}

func cuePackage(x *extraction, i int, sc *scope) {
	if name := i + 1; name < x.nodes[i].next {
		d := x.defAt(i, name, symbol.Package)
		d.children = nil
		x.define(sc, i, d)
	}
}

func cueImport(x *extraction, i int, sc *scope) {
	if path := x.field(i, "path"); path >= 0 {
		x.addImport(unquote(x.str(path)), x.nodes[i].start, x.nodes[i].end)
	}
}

// cueField defines a field by its label; one with a struct for its value holds
// that one's fields.
func cueField(x *extraction, i int, sc *scope) {
	label := x.childOf(i, "label")
	if label < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, label, symbol.Property)
	d.name = strings.TrimRight(unquote(d.name), "?!")
	value := x.childOf(i, "value")
	first := len(sc.symbols)
	d.children = nil
	if value >= 0 {
		d.children = func(sc *scope) { x.children(value, sc) }
	}
	x.define(sc, i, d)
	if first >= len(sc.symbols) {
		return
	}
	s := &sc.symbols[first]
	switch {
	case strings.HasPrefix(s.Name, "#") || strings.HasPrefix(s.Name, "_#"):
		s.Kind = symbol.Class
	case len(s.Children) > 0:
		s.Kind = symbol.Object
	}
	if len(s.Children) > 0 && value >= 0 {
		s.Signature = signature(x.text[x.nodes[i].start:x.nodes[value].start])
	}
}

func cueFinish(_ []byte, _ []string, list *symbol.List) {
	for i := range list.Symbols {
		s := &list.Symbols[i]
		s.Exported = !strings.HasPrefix(s.Name, "_") && s.Kind != symbol.Package && s.Kind != symbol.Variable
	}
}

// protoOld matches (the statement of the syntax too: its place is the preamble's) what the grammar, which knows proto3 alone, cannot read, and
// protoLabel the labels of which it knows one.
var (
	protoOld   = regexp.MustCompile(`(?m)^[ \t]*(?:(?:edition|syntax)\s*=\s*["'][^"'\n]*["']\s*;|(?:extensions|reserved)\b[^;{}]*;)`)
	protoLabel = regexp.MustCompile(`\brequired\s`)
	protoGroup = regexp.MustCompile(`\b(?:optional|required|repeated)\s+group\s+\w+(\s*=\s*\d+)\s*(?:\[[^\]]*\]\s*)?\{`)
)

// protoPreamble returns the statement that the grammar wants first.
func protoPreamble(_, _ []byte) string {
	return "syntax = \"proto3\";\n"
}

// protoPrepare makes proto2 and later editions proto3: names of reserved fields
// and ranges are blanked, required becomes repeated, a group a message.
func protoPrepare(text []byte) []byte {
	var out []byte
	blankRange := func(from, to int) {
		if out == nil {
			out = bytes.Clone(text)
		}
		for i := from; i < to; i++ {
			if !isSpace(out[i]) {
				out[i] = ' '
			}
		}
	}
	for _, m := range protoGroup.FindAllSubmatchIndex(text, -1) {
		at := m[0] + bytes.Index(text[m[0]:m[1]], []byte("group"))
		blankRange(m[0], at+len("group"))
		blankRange(m[2], m[1]-1)
		copy(out[m[0]:], "message")
	}
	for _, m := range protoOld.FindAllIndex(text, -1) {
		blankRange(m[0], m[1])
	}
	for _, m := range protoLabel.FindAllIndex(text, -1) {
		if out == nil {
			out = bytes.Clone(text)
		}
		if out[m[0]] == 'r' {
			copy(out[m[0]:], "repeated")
		}
	}
	if out == nil {
		return text
	}
	return out
}

func protoImport(x *extraction, i int, sc *scope) {
	if path := x.field(i, "path"); path >= 0 {
		x.addImport(unquote(x.str(path)), x.nodes[i].start, x.nodes[i].end)
	}
}

func protoService(x *extraction, i int, sc *scope) {
	name := x.childOf(i, "service_name")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Interface)
	d.sigEnd = x.nodes[name].end
	x.define(sc, i, d)
}

func protoOneof(x *extraction, i int, sc *scope) {
	name := x.childOf(i, "identifier")
	if name < 0 {
		x.children(i, sc)
		return
	}
	d := x.defAt(i, name, symbol.Field)
	d.sigEnd = x.nodes[name].end
	x.define(sc, i, d)
}

// dockerFile gives each stage what follows its FROM.
func dockerFile(x *extraction, i int, sc *scope) {
	all := &scope{}
	x.children(i, all)
	for _, s := range all.symbols {
		if k := len(sc.symbols) - 1; k >= 0 && sc.symbols[k].Kind == symbol.Module {
			if s.Kind != symbol.Module {
				sc.symbols[k].Children = append(sc.symbols[k].Children, s)
				continue
			}
			x.endStage(&sc.symbols[k], s.FirstLine())
		}
		sc.symbols = append(sc.symbols, s)
	}
	if k := len(sc.symbols) - 1; k >= 0 && sc.symbols[k].Kind == symbol.Module {
		x.endStage(&sc.symbols[k], len(x.lines)+1)
	}
}

// endStage ends s on the last line before line next that is not empty.
func (x *extraction) endStage(s *symbol.Symbol, next int) {
	for next--; next > s.End && blank(x.lineText(next-1)); next-- {
	}
	s.End = max(s.End, next)
}

// dockerFrom defines a stage, by its alias or by its image.
func dockerFrom(x *extraction, i int, sc *scope) {
	image, as := x.childOf(i, "image_spec"), x.field(i, "as")
	if image < 0 {
		return
	}
	n := x.nodes[i]
	x.addImport(x.str(image), n.start, n.end)
	name := image
	if as >= 0 {
		name = as
	}
	d := x.defAt(i, name, symbol.Module)
	d.children = nil
	x.define(sc, i, d)
}
