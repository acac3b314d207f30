/* SPDX-License-Identifier: BSD-3-Clause */
#include "pml/shelf.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
enum { FOREIGN = 1 }; /* who uses a piece too late is found by the sanitizer's malloc */
#else
enum { FOREIGN = 0 };
#endif

struct piece {
    struct piece *next;
};
static struct {
    struct piece *unused;
    size_t fresh; /* bytes from here on were never used */
} shelves[SHELVES];
static char *all; /* NULL: none are open */
static bool missing;

static bool shelves_open(void)
{
    size_t bytes = (size_t)SHELVES * SHELF_BYTES;
    if (all || missing)
        return all != NULL;
    void *range = FOREIGN ? MAP_FAILED
                          : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    missing = range == MAP_FAILED;
    all = missing ? NULL : range;
    return !missing;
}

bool shelf_is_foreign(const void *piece)
{
    return !all || (uintptr_t)piece - (uintptr_t)all >= (size_t)SHELVES * SHELF_BYTES;
}

void *shelf_take(int shelf, size_t bytes)
{
    struct piece *piece = shelves[shelf].unused;
    if (piece) {
        shelves[shelf].unused = piece->next;
        return piece;
    }
    if (!shelves_open() || shelves[shelf].fresh + bytes > SHELF_BYTES)
        return malloc(bytes);
    char *at = all + (size_t)shelf * SHELF_BYTES + shelves[shelf].fresh;
    shelves[shelf].fresh += bytes;
    return at;
}

void shelf_put(int shelf, void *memory)
{
    struct piece *piece = memory;
    if (shelf_is_foreign(memory)) {
        free(memory);
        return;
    }
    piece->next = shelves[shelf].unused;
    shelves[shelf].unused = piece;
}

void shelves_close(void)
{
    if (all)
        munmap(all, (size_t)SHELVES * SHELF_BYTES);
    all = NULL;
    missing = false;
    for (int i = 0; i < SHELVES; i++) {
        shelves[i].unused = NULL;
        shelves[i].fresh = 0;
    }
}
