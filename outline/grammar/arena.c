// A tree has about as many blocks as nodes. Taking them from chunks costs a few
// instructions each, and the whole tree goes at once: freeing it node by node
// costs a tenth of the parse.

#include "arena.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALL 1024        // blocks up to here have a class every 16 bytes
#define SMALL_CLASSES (SMALL / 16)
#define CLASSES (SMALL_CLASSES + 11) // then one for each power of two up to 1 MiB
#define FIRST_CHUNK ((size_t)256 << 10)
#define CHUNK ((size_t)4 << 20)

enum { PLAIN = 0xfe, HUGE = 0xff }; // in place of a class

// What stands in front of each block. The size of a HUGE or PLAIN block is that
// of its payload.
typedef struct { uint64_t class_and_size; } header;

typedef struct chunk {
	struct chunk *next;
	size_t size; // of all of it
} chunk;

typedef struct huge {
	struct huge *next, *prev;
} huge;

typedef struct {
	char *at, *end;          // the free part of the newest chunk
	chunk *chunks;
	huge *huges;
	void *free[CLASSES + 1]; // blocks given back, by class
} arena;

static __thread arena *current;

static pthread_mutex_t spare_mutex = PTHREAD_MUTEX_INITIALIZER;
static chunk *spare;       // chunks of CHUNK bytes, guarded by spare_mutex
static chunk *spare_first; // chunks of FIRST_CHUNK bytes, guarded by spare_mutex

static chunk **spares(size_t size) { return size == CHUNK ? &spare : &spare_first; }

static void no_memory(void) { _exit(EXIT_NO_MEMORY); }

static header *header_of(void *p) { return (header *)p - 1; }

static unsigned class_of(size_t total) {
	if (total <= SMALL) return (unsigned)((total + 15) / 16);
	unsigned class = SMALL_CLASSES + 1;
	for (size_t size = 2 * SMALL; size < total; size *= 2) class++;
	return class;
}

static size_t size_of_class(unsigned class) {
	return class <= SMALL_CLASSES ? 16 * (size_t)class : (size_t)SMALL << (class - SMALL_CLASSES);
}

static chunk *new_chunk(size_t size) {
	pthread_mutex_lock(&spare_mutex);
	chunk **list = spares(size);
	chunk *c = *list;
	if (c) *list = c->next;
	pthread_mutex_unlock(&spare_mutex);
	if (c) return c;
	c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c == MAP_FAILED) no_memory();
#ifdef MADV_HUGEPAGE
	if (size == CHUNK) madvise(c, size, MADV_HUGEPAGE);
#endif
	c->size = size;
	return c;
}

static void *bump(arena *a, size_t total) {
	if ((size_t)(a->end - a->at) < total) {
		// Small files stay small; the rest of the old chunk is lost.
		size_t size = a->chunks || total > FIRST_CHUNK - 64 ? CHUNK : FIRST_CHUNK;
		chunk *c = new_chunk(size);
		c->next = a->chunks;
		a->chunks = c;
		a->at = (char *)c + 24; // so that what follows a header is aligned to 16
		a->end = (char *)c + size;
	}
	void *p = a->at;
	a->at += total;
	return p;
}

static void *plain(size_t n) {
	header *h = malloc(n + sizeof(header));
	if (!h) no_memory();
	h->class_and_size = (uint64_t)n << 8 | PLAIN;
	return h + 1;
}

static void *huge_block(arena *a, size_t n) {
	huge *g = malloc(sizeof(huge) + sizeof(header) + n);
	if (!g) no_memory();
	g->next = a->huges;
	g->prev = NULL;
	if (g->next) g->next->prev = g;
	a->huges = g;
	header *h = (header *)(g + 1);
	h->class_and_size = (uint64_t)n << 8 | HUGE;
	return h + 1;
}

void *arena_malloc(size_t n) {
	arena *a = current;
	if (!a) return plain(n);
	size_t total = n + sizeof(header);
	if (total > size_of_class(CLASSES)) return huge_block(a, n);
	unsigned class = class_of(total);
	void *p = a->free[class];
	if (p) {
		a->free[class] = *(void **)p;
		return p;
	}
	header *h = bump(a, size_of_class(class));
	h->class_and_size = class;
	return h + 1;
}

void *arena_calloc(size_t n, size_t size) {
	if (size && n > SIZE_MAX / 2 / size) no_memory();
	void *p = arena_malloc(n * size);
	memset(p, 0, n * size);
	return p;
}

static size_t payload(void *p) {
	uint64_t v = header_of(p)->class_and_size;
	unsigned class = v & 0xff;
	return class >= PLAIN ? (size_t)(v >> 8) : size_of_class(class) - sizeof(header);
}

void arena_free(void *p) {
	if (!p) return;
	unsigned class = header_of(p)->class_and_size & 0xff;
	if (class == PLAIN) {
		free(header_of(p));
		return;
	}
	arena *a = current;
	if (!a) return; // it went with its arena
	if (class == HUGE) {
		huge *g = (huge *)header_of(p) - 1;
		if (g->next) g->next->prev = g->prev;
		if (g->prev) g->prev->next = g->next;
		else a->huges = g->next;
		free(g);
		return;
	}
	*(void **)p = a->free[class];
	a->free[class] = p;
}

void *arena_realloc(void *p, size_t n) {
	if (!p) return arena_malloc(n);
	size_t have = payload(p);
	if (n <= have && have - n < have / 2 + 16) return p;
	void *q = arena_malloc(n);
	memcpy(q, p, n < have ? n : have);
	arena_free(p);
	return q;
}

void arena_begin(void) {
	current = calloc(1, sizeof *current);
	if (!current) no_memory();
}

void arena_end(void) {
	arena *a = current;
	current = NULL;
	while (a->huges) {
		huge *g = a->huges;
		a->huges = g->next;
		free(g);
	}
	while (a->chunks) {
		chunk *c = a->chunks;
		a->chunks = c->next;
		pthread_mutex_lock(&spare_mutex);
		chunk **list = spares(c->size);
		c->next = *list;
		*list = c;
		pthread_mutex_unlock(&spare_mutex);
	}
	free(a);
}

static void unmap_all(chunk *c) {
	while (c) {
		chunk *next = c->next;
		munmap(c, c->size);
		c = next;
	}
}

void arena_trim(void) {
	pthread_mutex_lock(&spare_mutex);
	chunk *large = spare, *small = spare_first;
	spare = spare_first = NULL;
	pthread_mutex_unlock(&spare_mutex);
	unmap_all(large);
	unmap_all(small);
}
