package grammar

// #include <stdlib.h>
// #include "walk.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// An action says what the walk does with a node of some type. The bits are
// those of walk.h.
type action uint8

const (
	visit     action = 1 << iota // look at the children
	keep                         // make a record
	fields                       // make records of the children in a listed field
	gate                         // ignore it if its text holds no trigger
	localGate                    // the same, but only inside a function
	function                     // it is a function
	all                          // make records of all named children
	typeBody                     // it is a class: what lies directly inside is not in a function
)

// errorType is the type of a node that stands for text the parser could not
// place.
const errorType = 0xffff

// node is a record of the walk: a node of the syntax tree that the table asked
// for. Nodes are in the order of the text, parents before children; the nodes
// between i and nodes[i].next lie inside node i.
type node struct {
	start, end int // bytes; end is exclusive
	next       int
	typ, field uint16
	hasError   bool
	missing    bool
	isError    bool
}

// table is a language's grammar with the actions of its node types, made once.
type table struct {
	lang *language
	c    C.mapd_table
	// by node type and by field id
	types  []string
	rules  []*rule
	fields []string
}

var initAllocator = sync.OnceFunc(func() { C.mapd_init() })

// newTable resolves the names in l against the grammar. A name that the grammar
// does not know is an error: it would be a rule that never applies.
func newTable(l *language) (*table, error) {
	t := &table{lang: l}
	t.c.language = l.grammar()
	if t.c.language == nil {
		return nil, fmt.Errorf("grammar %s is not linked", l.name)
	}
	if err := t.setTypes(); err != nil {
		return nil, err
	}
	if err := t.setFields(); err != nil {
		return nil, err
	}
	t.setTriggers(l.triggers)
	return t, nil
}

// setTypes gives each node type its rule and action.
func (t *table) setTypes() error {
	l, symbols := t.lang, int(C.mapd_symbol_count(t.c.language))
	t.types = make([]string, symbols)
	t.rules = make([]*rule, symbols)
	actions := make([]byte, symbols)
	known := make(map[string]bool)
	for id := range symbols {
		kind := C.mapd_symbol_type(t.c.language, C.uint16_t(id))
		name := C.GoString(C.mapd_symbol_name(t.c.language, C.uint16_t(id)))
		if kind != 0 {
			name = "'" + name // a token of punctuation or a keyword
		}
		t.types[id] = name
		known[name] = true
		a, ok := l.actions[name]
		if !ok && kind == 0 {
			a = l.otherwise
		}
		if r := l.rules[name]; r != nil {
			t.rules[id] = r
			a = r.act | keep
		}
		actions[id] = byte(a)
	}
	for name := range l.actions {
		if !known[name] {
			return fmt.Errorf("grammar %s has no node type %s", l.name, name)
		}
	}
	for name := range l.rules {
		if !known[name] {
			return fmt.Errorf("grammar %s has no node type %s", l.name, name)
		}
	}
	t.c.actions = (*C.uint8_t)(C.CBytes(actions))
	t.c.action_count = C.uint32_t(symbols)
	t.c.error_action = C.uint8_t(visit | keep)
	return nil
}

// setFields notes the names of the fields, and which of them the walk keeps.
func (t *table) setFields() error {
	n := int(C.mapd_field_count(t.c.language)) + 1
	t.fields = make([]string, n)
	listed := make([]byte, n)
	want := make(map[string]bool)
	for _, f := range t.lang.fields {
		want[f] = true
	}
	for id := 1; id < n; id++ {
		t.fields[id] = C.GoString(C.mapd_field_name(t.c.language, C.uint16_t(id)))
		if want[t.fields[id]] {
			listed[id] = 1
			delete(want, t.fields[id])
		}
	}
	for f := range want {
		return fmt.Errorf("grammar %s has no field %s", t.lang.name, f)
	}
	t.c.fields = (*C.uint8_t)(C.CBytes(listed))
	t.c.field_count = C.uint32_t(n)
	return nil
}

// setTriggers gives the walk the texts of which a gated node must hold one.
func (t *table) setTriggers(triggers []string) {
	if len(triggers) > 8 {
		panic("grammar: more than 8 triggers")
	}
	first := make([]byte, 256)
	text := make([]byte, 16*8)
	for i, s := range triggers {
		if len(s) > 15 || strings.ContainsRune(s, 0) {
			panic("grammar: bad trigger " + s)
		}
		first[s[0]] |= 1 << i
		copy(text[16*i:], s)
	}
	t.c.triggers = (*C.uint8_t)(C.CBytes(first))
	t.c.trigger_text = (*C.char)(C.CBytes(text))
	t.c.trigger_count = C.uint32_t(len(triggers))
}

// luaMutex lets one parse of Lua run at a time: its scanner has one state for
// all, which is that of the parse before until it is reset.
var luaMutex sync.Mutex

var errNoTree = errors.New("grammar: no tree")

// parse returns the records of src and whether its tree has errors.
func (t *table) parse(src []byte) (nodes []node, hasError bool, err error) {
	initAllocator()
	if t.lang.name == "lua" {
		luaMutex.Lock()
		defer luaMutex.Unlock()
		C.mapd_reset_lua()
	}

	var result C.mapd_result
	C.mapd_parse(&t.c, (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint32_t(len(src)), &result)
	if result.status != 0 {
		return nil, false, errNoTree
	}
	records := unsafe.Slice(result.records, int(result.count))
	nodes = make([]node, len(records))
	var open []int // nodes whose end is not known yet
	for i := range records {
		r := &records[i]
		depth := int(r.depth & C.REC_DEPTH)
		for len(open) > depth {
			nodes[open[len(open)-1]].next = i
			open = open[:len(open)-1]
		}
		start, end := int(r.start), int(r.end)
		for start < end && isSpace(src[start]) {
			start++ // some grammars count the space before a node to it
		}
		if len(open) > 0 { // a name that is missing may stand in that space
			start = max(start, nodes[open[len(open)-1]].start)
			end = max(end, start)
		}
		nodes[i] = node{
			start: start, end: end,
			typ: uint16(r._type), field: uint16(r.field),
			hasError: r.depth&C.REC_HAS_ERROR != 0,
			missing:  r.depth&C.REC_MISSING != 0,
			isError:  r.depth&C.REC_ERROR != 0,
		}
		open = append(open, i)
	}
	for _, i := range open {
		nodes[i].next = len(nodes)
	}
	C.free(unsafe.Pointer(result.records))
	return nodes, result.has_error != 0, nil
}

// parseAfter is parse for a text that follows before in its file.
func (t *table) parseAfter(before, src []byte) ([]node, bool, error) {
	if t.lang.preamble == nil {
		return t.parse(src)
	}
	preamble := t.lang.preamble(before, src)
	if preamble == "" {
		return t.parse(src)
	}
	nodes, hasError, err := t.parse(append([]byte(preamble), src...))
	for len(nodes) > 0 && nodes[0].end <= len(preamble) {
		nodes = nodes[1:] // of the preamble
		for i := range nodes {
			nodes[i].next--
		}
	}
	for i := range nodes {
		nodes[i].start = max(0, nodes[i].start-len(preamble))
		nodes[i].end -= len(preamble)
	}
	return nodes, hasError, err
}

// parseWith is parseAfter for src with a tail that its author left out. No node
// reaches into the tail.
func (t *table) parseWith(before, src []byte, tail string) ([]node, bool, error) {
	if tail == "" {
		return t.parseAfter(before, src)
	}
	whole := append(append(make([]byte, 0, len(src)+len(tail)), src...), tail...)
	nodes, broken, err := t.parseAfter(before, whole)
	for i := range nodes {
		nodes[i].end = min(nodes[i].end, len(src))
		nodes[i].start = min(nodes[i].start, len(src))
	}
	return nodes, broken, err
}

// LimitCPU makes the process die when it reaches the soft limit of its CPU
// time. Only a worker calls it.
func LimitCPU() { C.mapd_die_on_cpu_limit() }

// ReleaseMemory gives what the last parse freed back to the system.
func ReleaseMemory() { C.mapd_trim() }

// BareParse returns the seconds that the parser alone takes for src: the floor
// that benchmarks divide by.
func BareParse(grammar string, src []byte) (float64, error) {
	t, err := lookup(grammar)
	if err != nil {
		return 0, err
	}
	return float64(C.mapd_bare_parse(t.c.language,
		(*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint32_t(len(src)))), nil
}
