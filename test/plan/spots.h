/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places for p ranks, several kinds: nodes of four in order; three nodes dealt out in turn;
 * two levels, unequal and mixed.
 */
#ifndef XMPI_TEST_SPOTS_H
#define XMPI_TEST_SPOTS_H

#include "coll/plan.h"

#include <stddef.h>

enum { SPOTS_KINDS = 4, SPOTS_RANKS = 4096 };

/* NULL: all together.  What was returned last is overwritten. */
static inline const struct places *spots_make(int kind, int p)
{
    static int outer[SPOTS_RANKS], inner[SPOTS_RANKS];
    static struct places places = { .group = { outer, inner } };
    places.levels = kind == 3 ? 2 : 1;
    for (int r = 0; r < p; r++) {
        outer[r] = kind == 1 ? r / 4 : r % 3;
        inner[r] = r;
        if (kind == 3) {
            outer[r] = (r * 7 % 11 + r / 5) % 11 / 4; /* 0 to 2, in unequal numbers */
            inner[r] = outer[r] + 3 * (r / 3 % 3);
        }
    }
    return kind == 0 ? NULL : &places;
}

#endif
