/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pieces of memory that are as long as each other, made again and again: each length has a shelf of SHELF_BYTES of
 * address space, so whatever has its first need late allocates nothing, as persistent operations promise.  Only
 * what was used has memory: pieces are taken last in first out.
 */
#ifndef XMPI_SHELF_H
#define XMPI_SHELF_H

#include <stdbool.h>
#include <stddef.h>

enum { SHELVES = 10, SHELF_BYTES = 4 << 20 };

/* A piece of that shelf, whose pieces are all of so many bytes, a multiple of 8; by malloc when it is empty.  NULL:
 * no memory is left. */
void *shelf_take(int shelf, size_t bytes);

/* A piece of that shelf, or of malloc's. */
void shelf_put(int shelf, void *piece);

/* Did malloc make it? */
bool shelf_is_foreign(const void *piece);

/* All pieces are there, or nobody needs them. */
void shelves_close(void);

#endif
