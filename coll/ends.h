/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two ends of every message in the plans of all ranks: a table by sender, receiver and number.
 * Plans are short where ranks are many, so it grows with the messages, not with pairs of ranks.
 */
#ifndef XMPI_COLL_ENDS_H
#define XMPI_COLL_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ends { /* of one message */
    int32_t from, to;
    uint32_t slot;
    int32_t sent, taken; /* step or act at the sender and at the receiver, + 1; 0: not known */
};

struct ends_table {
    size_t mask;
    struct ends *ends;
};

/* Room for so many messages.  False: there is no memory. */
bool ends_open(struct ends_table *table, size_t messages);
void ends_close(struct ends_table *table);

/* Of the slot-th message between two ranks.  One of which neither end is known is forgotten. */
struct ends *ends_of(const struct ends_table *table, int from, int to, uint32_t slot);

#endif
