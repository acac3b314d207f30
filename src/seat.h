/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where processes sit, for reorder.h.
 */
#ifndef XMPI_SEAT_H
#define XMPI_SEAT_H

#include "runtime/bootseg.h"
#include "src/reorder.h"

struct seat seat_at(int node, const struct boot_place *place);

/* This process's: as the launcher has bound it, or else as it finds itself bound. */
struct seat seat_here(void);

#endif
