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

/* Call groups by their lowest rank. */
static inline void spots_name(int *group, int p)
{
    int lowest[SPOTS_RANKS];
    for (int r = p - 1; r >= 0; r--)
        lowest[group[r]] = r;
    for (int r = 0; r < p; r++)
        group[r] = lowest[group[r]];
}

/* NULL: all together.  What was returned last is overwritten. */
static inline const struct places *spots_make(int kind, int p)
{
    static int outer[SPOTS_RANKS], inner[SPOTS_RANKS];
    static struct places places = { .first = { outer, inner } };
    places.levels = kind == 3 ? 2 : 1;
    for (int r = 0; r < p; r++) {
        outer[r] = kind == 1 ? r / 4 : kind == 2 ? r % 3 : (r * 7 % 11 + r / 5) % 11 / 4;
        inner[r] = outer[r] + 3 * (r / 3 % 3);
    }
    spots_name(outer, p);
    spots_name(inner, p);
    return kind == 0 ? NULL : &places;
}

#endif
