/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XMPI_FORCED_H
#define XMPI_FORCED_H

#include "coll/rules.h"

#include <stddef.h>

struct forced {
    const struct algorithm *algorithm;
    int pieces, radix;
};

/* What XMPI_COLL says about a collective; *forced NULL: nothing.  MPI_ERR_OTHER when XMPI_COLL
 * cannot be understood. */
int forced_get(enum collective what, const struct forced **forced);

/* Read another text than the environment's, for tests. */
int forced_read(const char *text);

/* NULL: there is none of that name. */
const struct algorithm *algorithm_find(enum collective what, bool inter, const char *name);

/* Is the word in a list with commas? */
bool list_has(const char *list, const char *word);

#endif
