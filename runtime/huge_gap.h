/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A block of 2 MiB that a mapping has a part of: what malloc maps for a buffer of 1 or 3 MiB mostly begins or ends
 * within one, and such a block cannot be moved to a large page (huge.h).  So the rest is mapped as well, where
 * there is nothing:
 *
 *     block      |              block            |             block             |
 *     mapping              |................................|
 *     made whole |   gap   |                                |        gap         |
 *
 * The kernel makes one mapping of both.  What is mapped so is memory as soon as the block is moved, and stays when
 * the program unmaps its part; so there is an end to it.
 */
#ifndef XMPI_HUGE_GAP_H
#define XMPI_HUGE_GAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    HUGE_GAPS_MOST = 16 << 20, /* bytes that are mapped so */
    HUGE_GAP_LOOKS = 256,      /* blocks that are looked at */
};

/* What was mapped below and above; nothing where `from` is `to`. */
struct huge_gaps {
    struct {
        uintptr_t from, to;
    } below, above;
};

/* Is this a block that one mapping has a part of, private memory without a file or a name, and nobody has the
 * rest, and is it whole now?  Memory of it that was there stays as it is. */
bool huge_gaps_fill(struct huge_gaps *gaps, uintptr_t block, uintptr_t bytes);

/* Give back what was filled, before anybody has used it: it was of no help. */
void huge_gaps_empty(struct huge_gaps *gaps);

/* Map these pages for reading and writing.  False: somebody has one of them. */
bool huge_gap_map(uintptr_t from, uintptr_t to);

#endif
