/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XMPI_SCRATCH_H
#define XMPI_SCRATCH_H

#include "runtime/layout.h"

/* Memory for the time of one collective, contents undefined, aligned as malloc does and, where it
 * is worth it, to a cache line; NULL when there is none.  Both under the engine lock. */
void *scratch_take(size_t bytes);
void scratch_give(void *memory); /* NULL is allowed */

/* Memory for the data of count elements; *base is where element 0 would be.  0 or MPI_ERR_NO_MEM. */
int scratch_typed(char **memory, void **base, const struct layout *layout, size_t count);

/* MPI_ERR_NO_MEM, with a text. */
int scratch_fail(size_t bytes);

/* Free what is kept, on devices as well. */
void scratch_clear(void);

#endif
