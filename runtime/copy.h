/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copying many short pieces of memory: what packing consists of.  Three patterns
 *
 *     pieces   `count` of them, a fixed distance apart on each side
 *     rows     the same again and again: rows of pieces, the rows a fixed distance apart
 *     list     pieces anywhere in memory, one behind the other in the packed form
 *
 * The two sides never overlap, but for copy_whole.
 */
#ifndef XMPI_COPY_H
#define XMPI_COPY_H

#include "runtime/layout.h"

/* Where pieces lie: the first one and the distance to the next. */
struct side {
    char *at;
    ptrdiff_t step;
};

struct rows {
    size_t count;
    ptrdiff_t to_step, from_step; /* from row to row */
};

/* Copy `count` pieces of `length` bytes, and that for each row. */
void copy_rows(struct side to, struct side from, size_t length, size_t count, struct rows rows);

static inline void copy_pieces(struct side to, struct side from, size_t length, size_t count)
{
    copy_rows(to, from, length, count, (struct rows){ 1, 0, 0 });
}

/* Pieces [first, end) of a list, of which the first begins at `flat`; `mem` is the element's
 * origin. */
void copy_list(const struct spot_list *list, size_t first, size_t end, char *mem, char *flat,
               bool pack);

/* memmove.  What does not fit this process's share of the last cache is stored past the caches: a
 * store into a line that is not there would fetch it first, for nothing. */
void copy_whole(void *to, const void *from, size_t bytes);

/* Bytes from which a copy, both of its sides, exceeds the share that one of so many ranks of a node has
 * of the last cache of a CPU, as the files under root/sys tell. */
size_t copy_limit(const char *root, int cpu, int ranks);

/* The same with another limit, from which bytes pass the caches; and memcpy past the caches. */
void copy_limited(void *to, const void *from, size_t bytes, size_t limit);
void copy_streamed(char *to, const char *from, size_t bytes);

/* The same by lines; what is behind the bytes in the last one may be overwritten.  `to` begins a line, and has room. */
enum { COPY_LINE = 64 };
void copy_streamed_lines(char *to, const char *from, size_t bytes);

#endif
