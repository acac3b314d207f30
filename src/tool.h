/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tools interface: how often it was started.
 */
#ifndef XMPI_TOOL_H
#define XMPI_TOOL_H

extern int tool_users; /* calls of MPI_T_init_thread without MPI_T_finalize */

#endif
