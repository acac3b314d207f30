/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How near a mistyped word is to the right one: for "did you mean ...?".
 */
#ifndef XMPI_TYPO_H
#define XMPI_TYPO_H

#include <stddef.h>

/* Letters to change, add, drop or swap with a neighbour to make b of the first n of a; of either the
 * first 40 count. */
int typo_distance(const char *a, size_t n, const char *b);

#endif
