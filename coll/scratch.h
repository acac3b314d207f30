/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XMPI_SCRATCH_H
#define XMPI_SCRATCH_H

#include <stddef.h>

/* Memory for the time of one collective, contents undefined, aligned as malloc does and, where it
 * is worth it, to a cache line; NULL when there is none.  Both under the engine lock. */
void *scratch_take(size_t bytes);
void scratch_give(void *memory); /* NULL is allowed */

/* Free what is kept. */
void scratch_clear(void);

#endif
