package grammar

import (
	"bytes"
	"regexp"
	"strings"

	"mapd/outline/symbol"
)

// The languages of web pages. Scripts and styles inside a page are parsed with
// their own tables.

func init() {
	register(&language{
		name: "css", grammar: cssGrammar,
		rules: map[string]*rule{
			"comment":             {role: comment, act: keep},
			"import_statement":    {do: cssImport, act: keep},
			"rule_set":            {do: cssBlock(symbol.Class, ""), act: visit | all},
			"media_statement":     {do: cssBlock(symbol.Namespace, ""), act: visit | all},
			"supports_statement":  {do: cssBlock(symbol.Namespace, ""), act: visit | all},
			"at_rule":             {do: cssBlock(symbol.Namespace, ""), act: visit | all},
			"keyframes_statement": {do: cssBlock(symbol.Function, "keyframe_block_list"), act: visit | all},
			"declaration":         {do: cssDeclaration, act: visit | all},
		},
		actions: map[string]action{
			"stylesheet": visit, "block": visit, "selectors": 0, "keyframe_block_list": 0,
		},
		otherwise: 0, braces: true,
		split: regexp.MustCompile(`^[.#@\w*:\[][^;]*[{,]\s*$`).Match,
	})
	for _, page := range []*language{
		{name: "html", grammar: htmlGrammar, actions: map[string]action{"document": visit}, otherwise: 0},
		{name: "svelte", grammar: svelteGrammar, actions: map[string]action{
			"document": visit, "if_statement": visit, "else_statement": visit, "else_if_statement": visit, "each_statement": visit,
			"else_each_statement": visit, "await_statement": visit, "then_statement": visit, "catch_statement": visit, "key_statement": visit,
		}, otherwise: 0},
	} {
		page.missing = markupMissing
		page.rules = map[string]*rule{
			"comment":        {role: comment, act: keep},
			"element":        {do: htmlElement, act: visit | all},
			"script_element": {do: htmlScript, act: visit | all},
			"style_element":  {do: htmlStyle, act: visit | all},
		}
		register(page)
	}
}

// markupMissing returns the tag that ends the script or style in which src ends.
func markupMissing(src []byte) string {
	for _, tag := range []string{"script", "style"} {
		if bytes.LastIndex(src, []byte("<"+tag)) > bytes.LastIndex(src, []byte("</"+tag)) {
			return "\n</" + tag + ">"
		}
	}
	return ""
}

// cssBlock returns a rule that names a block by what stands before its brace.
func cssBlock(kind symbol.Kind, body string) func(*extraction, int, *scope) {
	return func(x *extraction, i int, sc *scope) {
		n := x.nodes[i]
		block := x.childOf(i, orElse(body, "block"))
		end := n.end
		if block >= 0 {
			end = x.nodes[block].start
		}
		d := def{name: strings.TrimRight(collapse(x.text[n.start:end]), "; {"), nameAt: n.start, kind: kind, start: n.start, end: n.end, sigEnd: end}
		d.children = func(sc *scope) { x.children(i, sc) }
		x.define(sc, i, d)
	}
}

// cssDeclaration defines a custom property.
func cssDeclaration(x *extraction, i int, sc *scope) {
	if name := i + 1; name < x.nodes[i].next && bytes.HasPrefix(x.src[x.nodes[name].start:], []byte("--")) {
		d := x.defAt(i, name, symbol.Variable)
		d.children = nil
		x.define(sc, i, d)
	}
}

func cssImport(x *extraction, i int, sc *scope) {
	if found := stringsIn(x.text[x.nodes[i].start:x.nodes[i].end]); len(found) > 0 {
		x.addImport(found[0], x.nodes[i].start, x.nodes[i].end)
	}
}

var (
	htmlID      = regexp.MustCompile(`\sid\s*=\s*(?:"([^"{}]+)"|'([^'{}]+)'|([^\s"'>{}]+))`)
	htmlType    = regexp.MustCompile(`\s(?:type|lang)\s*=\s*["']?([^\s"'>]+)`)
	htmlSource  = regexp.MustCompile(`\s(?:src|href)\s*=\s*["']?([^\s"'>]+)`)
	htmlHeading = regexp.MustCompile(`^(?i:<h[1-6][\s>])`)
	htmlTags    = regexp.MustCompile(`<[^>]*>`)
)

// htmlElement defines elements that have an id, and headings.
func htmlElement(x *extraction, i int, sc *scope) {
	n := x.nodes[i]
	tag := x.childOf(i, "start_tag", "self_closing_tag")
	if tag < 0 {
		x.children(i, sc)
		return
	}
	text := x.text[x.nodes[tag].start:x.nodes[tag].end]
	d := def{nameAt: n.start, kind: symbol.Object, start: n.start, end: n.end, sigEnd: x.nodes[tag].end,
		children: func(sc *scope) { x.children(i, sc) }}
	if m := htmlID.FindSubmatch(text); m != nil {
		d.name = "#" + collapse(bytes.Join(m[1:], nil))
	}
	if htmlHeading.Match(text) {
		d.kind = symbol.Heading
		d.name = collapse(htmlTags.ReplaceAll(x.text[n.start:n.end], nil))
	}
	if bytes.HasPrefix(text, []byte("<link")) {
		if m := htmlSource.FindSubmatch(text); m != nil {
			x.addImport(string(m[1]), n.start, n.end)
		}
	}
	x.define(sc, i, d)
}

// htmlScript defines a script and what its code defines.
func htmlScript(x *extraction, i int, sc *scope) {
	tag, code := x.childOf(i, "start_tag"), x.childOf(i, "raw_text")
	if tag < 0 {
		return
	}
	n := x.nodes[i]
	text := x.text[x.nodes[tag].start:x.nodes[tag].end]
	language := "javascript"
	if m := htmlType.FindSubmatch(text); m != nil {
		switch kind := string(m[1]); {
		case kind == "ts" || kind == "typescript" || kind == "text/typescript":
			language = "typescript"
		case kind == "module" || strings.Contains(kind, "javascript") || strings.Contains(kind, "babel") || kind == "js":
		default:
			language = "" // data or a template
		}
	}
	if m := htmlSource.FindSubmatch(text); m != nil {
		x.addImport(string(m[1]), n.start, n.end)
	}
	x.embed(i, tag, code, language, sc)
}

func htmlStyle(x *extraction, i int, sc *scope) {
	if tag := x.childOf(i, "start_tag"); tag >= 0 {
		language := "css"
		if m := htmlType.FindSubmatch(x.text[x.nodes[tag].start:x.nodes[tag].end]); m != nil && !strings.Contains(string(m[1]), "css") {
			language = ""
		}
		x.embed(i, tag, x.childOf(i, "raw_text"), language, sc)
	}
}

// embed defines element i with what its text defines in another language.
func (x *extraction) embed(i, tag, code int, language string, sc *scope) {
	if code < 0 || blank(x.text[x.nodes[code].start:x.nodes[code].end]) {
		return
	}
	n := x.nodes[i]
	name := strings.Trim(strings.Fields(x.str(tag) + " ")[0], "<>")
	d := def{name: name, nameAt: n.start, kind: symbol.Module, start: n.start, end: n.end, sigEnd: x.nodes[tag].end}
	d.children = func(sc *scope) {
		t, err := lookup(language)
		if err != nil {
			return
		}
		start := x.nodes[code].start
		list, err := t.outline(x.text[start:x.nodes[code].end])
		if err != nil {
			return
		}
		p := piece{symbols: list.Symbols, imports: list.Imports}
		p.shift(x.line(start) - 1)
		sc.symbols = append(sc.symbols, p.symbols...)
		x.list.Imports = append(x.list.Imports, p.imports...)
	}
	x.define(sc, i, d)
}
