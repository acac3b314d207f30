/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of coll/attach*.c have in common: two rounds through the shared slots, and
 * the memory of others between them.
 *
 *     attach_offer     my buffers are here                      first round
 *     (work on one's own memory, while the others come)
 *     attach_meet      where are theirs?  Nobody is closed?
 *     attach_read, attach_write
 *     attach_end       so much is done; of whom how much?       second round
 */
#ifndef XMPI_ATTACH_H
#define XMPI_ATTACH_H

#include "coll/tiny_slot.h"

struct offer {         /* in a slot */
    uint64_t in, out;  /* addresses: to be read, to be written */
    uint64_t openness; /* enum openness */
};
enum openness { CLOSED, OPEN, ON_DEVICE }; /* out of memory: do not begin; the device folds */

struct attached { /* one call on this rank */
    struct tiny *tiny;
    struct channel *channel;
    uint64_t said, before; /* see tiny_slot.h */
    size_t bytes;          /* of a block, or of the vector */
    struct round met, over;
    bool is_open;              /* everybody's memory */
    bool away;                 /* somebody's is that of a device */
    bool other_way;            /* there is another way to reach the rest, from now on */
    uint64_t done[TINY_RANKS]; /* what the ranks said at the end */
};

/* The others are about to read or write these bytes of ours; NULL: nothing is there.  Before the offer. */
void attach_share(const void *memory, size_t bytes);

/* Each returns MPIX_ERR_PROC_FAILED when a process is lost; afterwards nobody touches this
 * rank's memory any more.  attach_meet also returns the error of a rank that is in another
 * collective. */
int attach_offer(struct attached *a, const struct offer *offer);
int attach_meet(struct attached *a);
int attach_end(struct attached *a, uint64_t done);

/* Hear everybody; afterwards everybody is known to have begun this round.  MPIX_ERR_PROC_FAILED. */
int attach_hear_all(struct round *round);

const struct offer *attach_offered(const struct attached *a, int rank);

/* Copy from or to the memory of another rank.  False: it cannot be reached. */
bool attach_read(const struct attached *a, int rank, void *to, uint64_t from, size_t bytes);
bool attach_write(const struct attached *a, int rank, uint64_t to, const void *from,
                  size_t bytes);

/* Where they can be looked at in place, as link->view has it, or NULL. */
const char *attach_view(const struct attached *a, int rank, uint64_t from, size_t bytes);

/* The collectives: attach_blocks.c, attach_fold.c, attach_scan.c, attach_pull.c. */
struct telling; /* coll/tell.h */
int attach_blocks(struct attached *a, const struct telling *telling, struct rest *rest);
int attach_fold(struct attached *a, const struct telling *telling, struct rest *rest);
int attach_fold_scatter(struct attached *a, const struct telling *telling, struct rest *rest);
int attach_scan(struct attached *a, const struct telling *telling, struct rest *rest);
int attach_pull(struct attached *a, const struct telling *telling, struct rest *rest);

#endif
