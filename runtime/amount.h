/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Amounts of bytes as people write them: 4096, 64k, 64KiB, 1M, 2GB, in either case.  A unit is a
 * power of 1024, k, m, g or t, with B or iB behind if one likes.
 */
#ifndef XMPI_AMOUNT_H
#define XMPI_AMOUNT_H

#include <stdbool.h>
#include <stddef.h>

/* The amount that the text begins with; what follows it, or NULL: it begins with none, or with more
 * than PTRDIFF_MAX bytes.  Signs, fractions and leading blanks are no amounts. */
const char *amount_begin(const char *text, size_t *bytes);

/* A text that is an amount and nothing else. */
bool amount_read(const char *text, size_t *bytes);

#endif
