/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Control variables: tool_cvar.c has those of the process, tool_cvar_comm.c the one of communicators,
 * behind them.
 */
#ifndef XMPI_TOOL_CVAR_H
#define XMPI_TOOL_CVAR_H

#include "mpi.h"

#include <stdbool.h>

enum { TEXT_ROOM = 256 }; /* of a text that can be set */

/* `object` is the address of an MPI_Comm. */
int tool_comm_alloc(void *object, MPI_T_cvar_handle *handle);

/* Is it a handle of tool_comm_alloc?  The others want one that is. */
bool tool_comm_has(MPI_T_cvar_handle handle);
void tool_comm_free(MPI_T_cvar_handle handle);
int tool_comm_read(MPI_T_cvar_handle handle, char *text);
int tool_comm_write(MPI_T_cvar_handle handle, const char *text);

#endif
