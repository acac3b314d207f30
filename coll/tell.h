/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a collective says about itself: to the flight recorder while it waits, and to its peers
 * in the signature of its messages, so that whoever meets another collective can name both.
 */
#ifndef XMPI_COLL_TELL_H
#define XMPI_COLL_TELL_H

#include "coll/coll.h"

struct telling { /* of a collective under way; lives as long as its waits */
    struct record_scope scope;
    const struct team *team;
    const struct call *call;
    uint32_t number; /* of the collectives begun on the team */
    int root;        /* on the team, -1 = none */
};

/* The next collective of a team begins: count it, record it. */
void telling_begin(struct telling *telling, struct team *team, const struct call *call);

/* What waits of this collective belong to. */
void telling_tell(const struct telling *telling, struct record_wait *wait);

/* One thing that a wait of a collective waits for: that this rank of the team takes part. */
void part_tell(struct record_wait *wait, int peer, int world);

/* A message of a plan, to this peer or from it; one item for all of them. */
void message_tell(struct record_wait *wait, const struct channel *channel, int peer, bool to);

/* What messages of a collective say they are; never 0. */
static inline uint32_t call_signature(enum collective what, int root)
{
    return 1u << 31 | (uint32_t)what << 24 | ((uint32_t)root & 0xffffff);
}

/* "MPI_Bcast with root 2" */
void signature_tell(uint32_t signature, char *text, size_t room);

/* Has this collective a root? */
bool is_rooted(enum collective what);

#endif
