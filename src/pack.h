/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What MPI_Pack and MPI_Pack_external check alike: that the packed bytes fit where they go to or
 * come from.
 */
#ifndef XMPI_PACK_H
#define XMPI_PACK_H

#include <stddef.h>
#include <stdint.h>

/* Do `bytes` behind `position` lie in memory of `size` bytes?  MPI_ERR_BUFFER, MPI_ERR_ARG or
 * MPI_ERR_TRUNCATE; memory and size are called what these arguments of the call are called. */
int pack_check(const void *memory, int64_t position, int64_t bytes, int64_t size,
               const char *buffer, const char *argument);

#endif
