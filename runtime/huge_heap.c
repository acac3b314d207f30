/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/huge_heap.h"

#include "runtime/huge_gap.h"
#include "runtime/system_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct heap {
    uintptr_t first, end;
};

/* The mappings with this name: one, or in a process that was forked several, one behind the other. */
static bool heap_find(struct heap *heap)
{
    struct system_lines maps;
    uintptr_t from, to;
    bool found = false;
    system_lines_open(&maps, "/proc/self/maps");
    for (const char *line; (line = system_line(&maps));)
        if (strstr(line, "[heap]") && sscanf(line, "%lx-%lx rw-p", &from, &to) == 2) {
            heap->first = found ? heap->first : from;
            heap->end = to;
            found = true;
        }
    system_lines_close(&maps);
    return found;
}

/* Growing the heap by sbrk would do, but the allocator could not use what it did not ask for.  What it was asked for
 * last lies at the end and is kept, so that it does not give the end back.  Other allocators, and those of
 * other threads, have their memory elsewhere. */
static bool fill_above(uintptr_t to)
{
    enum { STEP = 64 << 10, MOST = 64 };
    static void *last; /* kept, which holds where the one before is */
    void *taken[MOST];
    int n = 0;
    uintptr_t end = (uintptr_t)sbrk(0);
    while (end < to && n < MOST && (taken[n] = malloc(STEP))) {
        n++;
        end = (uintptr_t)sbrk(0);
    }
    bool keeps = end >= to && n > 0;
    if (keeps) { /* found by those who look for what was lost */
        *(void **)taken[n - 1] = last;
        last = taken[n - 1];
    }
    for (int i = 0; i < n - keeps; i++)
        free(taken[i]);
    return end >= to;
}

bool huge_heap_fill(uintptr_t block, uintptr_t bytes)
{
    struct heap heap;
    uintptr_t end = block + bytes;
    if ((uintptr_t)sbrk(0) <= block || !heap_find(&heap) || heap.first >= end ||
        heap.end <= block || (heap.first <= block && heap.end >= end))
        return false;
    return huge_gap_map(block, heap.first) && fill_above(end);
}
