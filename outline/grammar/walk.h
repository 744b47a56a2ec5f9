// The interface between parse.go and walk.c.
#ifndef MAPD_WALK_H
#define MAPD_WALK_H

#include <stdint.h>

// What to do with a node, by its type. The bits are those of parse.go.
enum {
	ACT_VISIT = 1,      // look at the children
	ACT_KEEP = 2,       // make a record
	ACT_FIELDS = 4,     // make records of the children in a listed field
	ACT_GATE = 8,       // ignore it if its text holds no trigger
	ACT_LOCAL_GATE = 16, // the same, but only inside a function
	ACT_FUNC = 32,      // it is a function
	ACT_ALL = 64,       // make records of all named children
	ACT_TYPE = 128,     // it is a class: what lies directly inside is not in a function
};

// Flags of a record, above the bits of its depth.
#define REC_HAS_ERROR 0x80000000u
#define REC_ERROR 0x40000000u
#define REC_MISSING 0x20000000u
#define REC_DEPTH 0x1fffffffu

typedef struct {
	uint32_t start, end; // bytes, end is exclusive
	uint32_t depth;      // number of records around it, and flags
	uint16_t type, field;
} mapd_record;

typedef struct {
	const void *language;
	const uint8_t *actions;    // by node type
	uint32_t action_count;
	uint8_t error_action;      // of ERROR nodes
	const uint8_t *fields;     // by field id: listed or not
	uint32_t field_count;
	const uint8_t *triggers;   // by byte: bit i set = trigger i starts with it
	const char *trigger_text;  // up to 8 triggers, each NUL-terminated in 16 bytes
	uint32_t trigger_count;
} mapd_table;

typedef struct {
	mapd_record *records; // from malloc; the caller frees it
	uint32_t count;
	int32_t status;       // 0 ok, 1 language refused, 2 no tree
	int32_t has_error;
} mapd_result;

void mapd_init(void);
void mapd_die_on_cpu_limit(void);
void mapd_trim(void);
void mapd_reset_lua(void);
void mapd_parse(const mapd_table *table, const char *src, uint32_t len, mapd_result *result);
double mapd_bare_parse(const void *language, const char *src, uint32_t len);
uint32_t mapd_symbol_count(const void *language);
uint32_t mapd_field_count(const void *language);
const char *mapd_symbol_name(const void *language, uint16_t id);
int mapd_symbol_type(const void *language, uint16_t id);
const char *mapd_field_name(const void *language, uint16_t id);

#endif
