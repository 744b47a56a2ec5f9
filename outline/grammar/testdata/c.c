/*
 * A small key-value store with an event loop around it.
 */
#include <stdint.h>
#include <stdio.h>
#include "store.h"

#ifndef STORE_BUCKETS
#define STORE_BUCKETS 64
#endif

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Keeps the compiler quiet about an unused argument. */
#define UNUSED(x) \
	do {          \
		(void)(x); \
	} while (0)

#define STORE_DEBUG

typedef unsigned int hash_t;
typedef int (*visit_fn)(const char *key, void *value, void *ctx);
typedef struct store store_t, *store_ptr;
typedef char name_buffer[32];

/* One entry of a bucket. */
struct entry {
	char *key;
	void *value; /* owned by the caller */
	struct entry *next;
	hash_t hash : 24, flags : 8;
	struct {
		uint32_t hits;
		uint32_t misses;
	} stats;
	union {
		long as_long;
		double as_double;
	};
	int (*compare)(const void *, const void *);
};

typedef struct {
	int x, y;
	int z[3];
} point_t;

typedef struct list_node {
	struct list_node *next, *prev;
} list_node_t;

enum color { RED, GREEN = 5, BLUE };

enum {
	FLAG_DIRTY = 1 << 0,
	FLAG_PINNED = 1 << 1
};

typedef enum level {
	LEVEL_LOW,
	LEVEL_HIGH,
} level_t;

union word {
	uint32_t bits;
	unsigned char bytes[4];
};

static const char *const level_names[] = {
	"low",
	"high",
};

int debug_level = 0, *debug_target, debug_history[8];
extern volatile int interrupted;
static struct entry *free_list = NULL;
static int (*handlers[4])(int) = { 0 };

struct counter {
	int n;
} global_counter, *counter_cursor;

int store_open(const char *path, store_t **out);
static inline hash_t hash_of(const char *key);
void (*store_on_exit(void (*handler)(int)))(int);
extern int printf_like(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// Mixes one byte into the hash.
// The constant is FNV's.
static inline hash_t
hash_of(const char *key)
{
	hash_t h = 2166136261u;
	while (*key)
		h = (h ^ (unsigned char)*key++) * 16777619u;
	return h;
}

const char *level_name(level_t level)
{
	struct local_pair {
		int a;
		int b;
	} pair = { 1, 2 };
#define LOCAL_LIMIT 4
	UNUSED(pair);
	return level_names[level];
}

/* An old definition, as the library of 1989 has it. */
int
old_style(count, name)
	int count;
	char *name;
{
	return count + (name != 0);
}

struct entry *entry_find(struct entry *head, const char *key)
{
	for (struct entry *e = head; e; e = e->next) {
		if (e->key == key)
			return e;
	}
	return NULL;
}

void (*store_on_exit(void (*handler)(int)))(int)
{
	return handler;
}

#ifdef __linux__
static int wait_for_event(int fd)
{
	return fd;
}
#elif defined(__APPLE__)
static int wait_for_event(int fd)
{
	return fd + 1;
}
#else
#error "no event loop for this system"
#endif

static point_t origin(void) { return (point_t){ .x = 0, .y = 0 }; }

__attribute__((noreturn)) void die(const char *why);

static void __attribute__((unused)) quiet(void)
{
}

unsigned long long big_value = 1ULL << 40;

int main(int argc, char **argv)
{
	int status = 0;
	static int calls;
	calls++;
	UNUSED(argc);
	if (argv[1])
		goto out;
	switch (status) {
	case 0: {
		int nested = 1;
		status = nested;
		break;
	}
	default:
		break;
	}
out:
	return status;
}
