/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What reordering does for a grid on these ranks.
 */
#ifndef XMPI_TOOLS_GRID_H
#define XMPI_TOOLS_GRID_H

#include <stdbool.h>

/* `shape` is "4x4" or "2x3x4".  Prints on the first rank of the job; 0, or an exit code. */
int grid_show(const char *shape, bool periodic, bool json);

#endif
