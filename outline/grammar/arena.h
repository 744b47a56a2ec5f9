// The memory of one parse.
#ifndef MAPD_ARENA_H
#define MAPD_ARENA_H

#include <stddef.h>

#define EXIT_NO_MEMORY 86 // of the process, when memory is refused; sandbox knows it

// Blocks that tree-sitter asks for between arena_begin and arena_end, on the
// same thread, belong to the arena and are gone after arena_end, freed or not.
// Outside they come from malloc. A refused allocation ends the process.
void arena_begin(void);
void arena_end(void);

void *arena_malloc(size_t n);
void *arena_calloc(size_t n, size_t size);
void *arena_realloc(void *p, size_t n);
void arena_free(void *p);

// arena_trim gives the system the memory that waits for the next parse.
void arena_trim(void);

#endif
