/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long messages between a device and a link, by way of pinned memory of the host.
 */
#ifndef XMPI_STAGE_H
#define XMPI_STAGE_H

#include "runtime/layout.h"

/* Shorter ones go piece by piece, as the link takes them. */
enum { STAGE_LEAST = 24 << 10 };

struct stage;

/* For a message of this buffer, `bytes` of it.  NULL: the pool is used up, or there is no pinned memory,
 * and pieces are copied one after another. */
struct stage *stage_open(const struct buffer *data, size_t bytes);
void stage_close(struct stage *stage);

/* Out: packed bytes from `offset` on, in memory of the host that stays until the next call; what comes
 * behind them is on its way there. */
struct buffer stage_out(struct stage *stage, size_t offset);

/* In: packed bytes for `offset`, copied at once.  stage_flush: all of them are where they belong. */
void stage_in(struct stage *stage, size_t offset, const char *payload, size_t bytes);
void stage_flush(struct stage *stage);

/* Give pinned memory back to the driver. */
void stages_close(void);

#endif
