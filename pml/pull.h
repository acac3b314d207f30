/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long messages that need no copy in between.
 */
#ifndef XMPI_PULL_H
#define XMPI_PULL_H

#include "pml/recv.h"

void pulls_open(void);
void pulls_close(void);

/* The sender's data lie at the address in `payload`: read them, from pulls_flush, and complete the
 * receive. */
void pull_begin(struct recv *recv, struct peer *peer, uint32_t sender, const char *payload);

/* A receive from this peer that is being read; NULL: none.  take: taken out. */
struct recv *pull_of(const struct peer *peer);
struct recv *pull_take(const struct peer *peer);

/* Stop reading this one, if it is being read. */
void pull_leave(struct recv *recv);

/* For progress: some of what is to be read; the number of pieces. */
int pulls_flush(void);
bool pulls_have_work(void);

#endif
