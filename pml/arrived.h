/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A message that came before its receive: its header and the bytes that are here so far.
 */
#ifndef XMPI_ARRIVED_H
#define XMPI_ARRIVED_H

#include "pml/match.h"
#include "pml/peer.h"

enum { ARRIVED_SMALL = 96 };

struct arrived {
    struct match_arrived match; /* first: match.c hands this back */
    struct peer *peer;
    struct wire header;
    size_t have; /* bytes of the message in `data` */
    char *data;  /* room for all of an EAGER message, for the first piece of an RTS */
    struct arrived *next;
    struct arrived **home; /* list of unused ones that it goes back to */
    struct recv *recv;     /* solo.c: that has taken it already */
    char small[ARRIVED_SMALL];
};

/* Keep a message.  Ends the job when memory is out: nobody could be told. */
struct arrived *arrived_new(struct peer *peer, const struct wire *header, const char *payload);

/* The same for one who has an engine alone, from a list of its own, for a message that is all here and no
 * longer than BLOCK_LARGEST. */
struct arrived *arrived_new_solo(struct arrived **home, struct peer *peer,
                                 const struct wire *header, const char *payload);
void arrived_free_solo(struct arrived *arrived);
void arrived_free_list(struct arrived **list);

/* Somebody may want to know that it is unexpected. */
void arrived_tell(const struct arrived *arrived);

/* Forget it.  Pieces that are still to come will be dropped. */
void arrived_free(struct arrived *arrived);

/* What a probe says about it. */
void arrived_result(const struct arrived *arrived, struct result *result);

void arrived_close(void);

/* Is it the message that this peer calls by this name? */
static inline bool arrived_is(const struct peer *peer, uint32_t name,
                              const struct arrived *arrived)
{
    return arrived->peer == peer && arrived->header.request == name;
}

static inline struct envelope wire_envelope(const struct wire *header)
{
    return (struct envelope){ .peer = (int)header->source,
                              .tag = header->tag,
                              .step = header->step,
                              .signature = header->signature };
}

static inline struct match_key wire_key(const struct wire *header)
{
    return (struct match_key){ (int32_t)header->source, header->tag, header->step };
}

static inline struct match_key envelope_key(const struct envelope *from)
{
    return (struct match_key){ from->peer, from->tag, from->step };
}

#endif
