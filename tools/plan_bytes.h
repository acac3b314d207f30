/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How many bytes a span of blocks is, to the byte, as bind.c cuts the data of a call whose elements
 * are bytes.  The blocks of a room are all of it, whether or not they divide it evenly:
 *
 *     10 bytes in 3 pieces      3, 3, 4
 *      8 bytes for 32 ranks     0, 0, 0, 1, 0, 0, 0, 1, ..
 */
#ifndef XMPI_TOOLS_PLAN_BYTES_H
#define XMPI_TOOLS_PLAN_BYTES_H

#include "coll/call.h"
#include "coll/plan.h"

struct plan_bytes {
    const struct plan *plan;
    enum collective what;
    size_t bytes; /* as of a price_query: the vector, or one block of what moves blocks */
    bool numbers; /* blocks are numbers of eight bytes, their sizes (sized.c) */
};

size_t plan_bytes_of(const struct plan_bytes *bytes, struct span span);

#endif
