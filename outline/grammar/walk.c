// One parse and one walk over its tree, without a call back into Go. Calling
// tree-sitter node by node from Go costs several times the parse.
//
// The ts_* functions are those inside the Go binding's package. They are weak
// here because cgo links each package alone once, to learn its imports; in the
// final link they bind to the real ones.

#include "walk.h"

#include "arena.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

typedef struct { uint32_t context[4]; const void *id; const void *tree; } TSNode;
typedef struct { const void *tree, *id; uint32_t context[3]; } TSTreeCursor;

#define WEAK __attribute__((weak))
extern void *ts_parser_new(void) WEAK;
extern void ts_parser_delete(void *) WEAK;
extern bool ts_parser_set_language(void *, const void *) WEAK;
extern void *ts_parser_parse_string(void *, const void *, const char *, uint32_t) WEAK;
extern void ts_tree_delete(void *) WEAK;
extern TSNode ts_tree_root_node(const void *) WEAK;
extern uint16_t ts_node_symbol(TSNode) WEAK;
extern uint32_t ts_node_start_byte(TSNode) WEAK;
extern uint32_t ts_node_end_byte(TSNode) WEAK;
extern bool ts_node_is_named(TSNode) WEAK;
extern bool ts_node_is_missing(TSNode) WEAK;
extern bool ts_node_has_error(TSNode) WEAK;
extern TSTreeCursor ts_tree_cursor_new(TSNode) WEAK;
extern void ts_tree_cursor_delete(TSTreeCursor *) WEAK;
extern TSNode ts_tree_cursor_current_node(const TSTreeCursor *) WEAK;
extern uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *) WEAK;
extern bool ts_tree_cursor_goto_parent(TSTreeCursor *) WEAK;
extern bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *) WEAK;
extern bool ts_tree_cursor_goto_first_child(TSTreeCursor *) WEAK;
extern uint32_t ts_language_symbol_count(const void *) WEAK;
extern uint32_t ts_language_field_count(const void *) WEAK;
extern const char *ts_language_symbol_name(const void *, uint16_t) WEAK;
extern int ts_language_symbol_type(const void *, uint16_t) WEAK;
extern const char *ts_language_field_name_for_id(const void *, uint16_t) WEAK;
extern void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t),
	void *(*)(void *, size_t), void (*)(void *)) WEAK;

// The state of the scanner of Lua, which keeps it in variables of the process
// and does not reset it for a new parse.
extern char ending_char WEAK;
extern uint8_t level_count WEAK;

void mapd_reset_lua(void) {
	if (&ending_char) ending_char = 0;
	if (&level_count) level_count = 0;
}

#define TYPE_ERROR 0xffff

void mapd_init(void) { ts_set_allocator(arena_malloc, arena_calloc, arena_realloc, arena_free); }

// Go's runtime ignores SIGXCPU unless somebody listens.
void mapd_die_on_cpu_limit(void) { signal(SIGXCPU, SIG_DFL); }

void mapd_trim(void) {
	arena_trim();
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

// triggers finds out whether a range holds a trigger. Ranges come in order of
// their starts, so the text is read once.
typedef struct {
	const mapd_table *table;
	const char *src;
	uint32_t len, at; // at is the first trigger at or after every start so far
	bool found;
} triggers;

static bool trigger_at(const triggers *t, uint32_t at) {
	uint8_t set = t->table->triggers[(uint8_t)t->src[at]];
	for (uint32_t i = 0; set != 0 && i < t->table->trigger_count; i++, set >>= 1) {
		if (!(set & 1)) continue;
		const char *text = t->table->trigger_text + 16 * i;
		size_t n = strlen(text);
		if (n <= t->len - at && memcmp(t->src + at, text, n) == 0) return true;
	}
	return false;
}

static bool has_trigger(triggers *t, uint32_t start, uint32_t end) {
	if (!t->found || t->at < start) {
		uint32_t at = t->at < start ? start : t->at;
		while (at < t->len && !(t->table->triggers[(uint8_t)t->src[at]] && trigger_at(t, at))) at++;
		t->at = at;
		t->found = true;
	}
	return t->at < end;
}

// A frame is what the walk must restore when it leaves a node.
typedef struct { uint8_t action; bool kept; uint32_t funcs; } frame;

typedef struct {
	const mapd_table *table;
	triggers trig;
	mapd_record *records;
	uint32_t count, cap;
	frame *stack;
	uint32_t depth, stack_cap;
	uint32_t kept, funcs; // frames on the stack; functions since the last class
} walk;

static void *grow(void *p, size_t size) {
	p = realloc(p, size);
	if (!p) _exit(EXIT_NO_MEMORY);
	return p;
}

static void record(walk *w, TSNode node, uint16_t type, uint16_t field, uint32_t start, uint32_t end) {
	if (w->count == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 1024;
		w->records = grow(w->records, (size_t)w->cap * sizeof *w->records);
	}
	mapd_record *r = &w->records[w->count++];
	r->start = start;
	r->end = end;
	r->type = type;
	r->field = field;
	r->depth = w->kept & REC_DEPTH;
	if (ts_node_has_error(node)) r->depth |= REC_HAS_ERROR;
	if (ts_node_is_missing(node)) r->depth |= REC_MISSING;
	if (type == TYPE_ERROR) r->depth |= REC_ERROR;
}

// enter looks at the node under the cursor and says whether to visit its
// children; then its frame is on the stack.
static bool enter(walk *w, TSTreeCursor *cursor) {
	const mapd_table *t = w->table;
	TSNode node = ts_tree_cursor_current_node(cursor);
	uint16_t type = ts_node_symbol(node);
	uint8_t action = type == TYPE_ERROR ? t->error_action : type < t->action_count ? t->actions[type] : 0;
	uint8_t parent = w->depth ? w->stack[w->depth - 1].action : 0;
	uint16_t field = 0;
	bool keep = action & ACT_KEEP;
	if (parent & ACT_FIELDS) {
		field = ts_tree_cursor_current_field_id(cursor);
		if (field < t->field_count && t->fields[field]) keep = true;
	}
	bool forced = (parent & ACT_ALL) && ts_node_is_named(node);
	if (forced) keep = true;
	if (!keep && !(action & ACT_VISIT)) return false;

	uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
	bool gated = (action & ACT_GATE) || ((action & ACT_LOCAL_GATE) && w->funcs);
	if (gated && t->trigger_count && !has_trigger(&w->trig, start, end)) {
		if (forced || (field && keep)) record(w, node, type, field, start, end);
		return false;
	}
	if (keep) record(w, node, type, field, start, end);
	if (!(action & ACT_VISIT)) return false;
	if (w->depth == w->stack_cap) {
		w->stack_cap = w->stack_cap ? 2 * w->stack_cap : 256;
		w->stack = grow(w->stack, (size_t)w->stack_cap * sizeof *w->stack);
	}
	frame *f = &w->stack[w->depth++];
	f->action = action;
	f->kept = keep;
	f->funcs = w->funcs;
	w->kept += f->kept;
	if (action & ACT_FUNC) w->funcs++;
	if (action & ACT_TYPE) w->funcs = 0;
	return true;
}

static void leave(walk *w) {
	frame *f = &w->stack[--w->depth];
	w->kept -= f->kept;
	w->funcs = f->funcs;
}

static void walk_tree(walk *w, TSNode root) {
	TSTreeCursor cursor = ts_tree_cursor_new(root);
	bool descend = enter(w, &cursor);
	if (w->depth > 0) w->stack[0].action |= ACT_ALL; // what the file is made of
	for (;;) {
		if (descend) {
			if (ts_tree_cursor_goto_first_child(&cursor)) {
				descend = enter(w, &cursor);
				continue;
			}
			leave(w);
		}
		while (w->depth > 0 && !ts_tree_cursor_goto_next_sibling(&cursor)) {
			ts_tree_cursor_goto_parent(&cursor);
			leave(w);
		}
		if (w->depth == 0) break;
		descend = enter(w, &cursor);
	}
	ts_tree_cursor_delete(&cursor);
}

static void walk_all(const mapd_table *table, const char *src, uint32_t len, const void *tree, mapd_result *result) {
	walk w = {0};
	w.table = table;
	w.trig.table = table;
	w.trig.src = src;
	w.trig.len = len;
	TSNode root = ts_tree_root_node(tree);
	result->has_error = ts_node_has_error(root);
	walk_tree(&w, root);
	free(w.stack);
	result->records = w.records;
	result->count = w.count;
}

void mapd_parse(const mapd_table *table, const char *src, uint32_t len, mapd_result *result) {
	memset(result, 0, sizeof *result);
	arena_begin();
	void *parser = ts_parser_new();
	if (!ts_parser_set_language(parser, table->language)) {
		result->status = 1;
	} else {
		void *tree = ts_parser_parse_string(parser, NULL, src, len);
		if (tree == NULL) result->status = 2;
		else walk_all(table, src, len, tree, result);
	}
	ts_parser_delete(parser); // some scanners have memory of their own
	arena_end();              // the tree
}

// mapd_bare_parse returns the seconds of a parse alone, for benchmarks.
double mapd_bare_parse(const void *language, const char *src, uint32_t len) {
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	void *parser = ts_parser_new();
	ts_parser_set_language(parser, language);
	void *tree = ts_parser_parse_string(parser, NULL, src, len);
	clock_gettime(CLOCK_MONOTONIC, &b);
	if (tree) ts_tree_delete(tree);
	ts_parser_delete(parser);
	return (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9;
}

uint32_t mapd_symbol_count(const void *l) { return ts_language_symbol_count(l); }
uint32_t mapd_field_count(const void *l) { return ts_language_field_count(l); }
const char *mapd_symbol_name(const void *l, uint16_t id) { return ts_language_symbol_name(l, id); }
int mapd_symbol_type(const void *l, uint16_t id) { return ts_language_symbol_type(l, id); }
const char *mapd_field_name(const void *l, uint16_t id) { return ts_language_field_name_for_id(l, id); }
