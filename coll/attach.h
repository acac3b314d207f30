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
 *
 * A collective says in a struct attach_way what it does there; attach_run and attach_later.c perform that,
 * the one waiting between the rounds, the other coming again.
 */
#ifndef XMPI_ATTACH_H
#define XMPI_ATTACH_H

#include "coll/tiny_slot.h"
#include "runtime/means.h"

#include <stddef.h>

/* A rank that gives a collective up waits until nobody touches its memory any more.  A blocking call stays in the
 * library until it is through, so it is waited for: is_outside is 0.  A nonblocking one (attach_later.c) does a piece
 * and goes back to its program, which may compute for hours: while it is there it is 1, and nobody waits, since it
 * looks whether somebody has given up before it touches anything again. */
struct offer {                   /* in a slot */
    uint64_t in;                 /* address: to be read */
    _Atomic uint64_t is_outside; /* see above */
    uint64_t out;                /* address: to be written */
    uint64_t openness;           /* enum openness */
};
enum { OFFER_HEAD = offsetof(struct offer, out) };
enum openness {
    CLOSED, /* out of memory: do not begin */
    OPEN,
    OPEN_TO_READ, /* the same, where all are to read what else they would write */
    ON_DEVICE     /* the device folds */
};

struct told {       /* of a rank at the end, in a slot */
    uint64_t done;  /* what of its part; each collective has its own measure */
    uint64_t ticks; /* what that took, */
    uint64_t moved; /* and how many bytes it moved, where that is asked for */
};

/* Who moves a block, where either could: of tiny->movers, see attach_blocks.c. */
static const enum means TAKER_READS = MEANS_FIRST, GIVER_WRITES = MEANS_SECOND;

struct attached { /* one call on this rank */
    struct tiny *tiny;
    struct channel *channel;
    uint64_t said, before; /* see tiny_slot.h */
    size_t bytes;          /* of a block, or of the vector */
    struct round met, over;
    bool is_open;              /* everybody's memory */
    bool away;                 /* somebody's is that of a device */
    bool other_way;            /* there is another way to reach the rest, from now on */
    uint64_t ticks, moved;     /* sums of what the ranks said at the end, */
    uint64_t longest;          /* the most ticks of a rank, */
    uint64_t done[TINY_RANKS]; /* and what each has done; the last, see attach_begin */
};

/* The others are about to read or write these bytes of ours; NULL: nothing is there.  Before the offer. */
void attach_share(const void *memory, size_t bytes);

/* Each returns MPIX_ERR_PROC_FAILED when a process is lost; afterwards nobody touches this
 * rank's memory any more.  attach_meet also returns the error of a rank that is in another
 * collective. */
int attach_offer(struct attached *a, const struct offer *offer);
int attach_meet(struct attached *a);
int attach_end(struct attached *a, struct told told);

/* Offers that have a form of their own, and lie elsewhere or behind OFFER_HEAD; of struct offer only `is_outside` is
 * used, and set here.  Before it is shown. */
void attach_stay(const struct round *met);
/* After an error in that round, for all in it: who has no offer says so, the others wait until nobody touches
 * theirs. */
void attach_leave(const struct round *met, bool has_offered);
/* Our offer is out: whoever gives up is seen from now on, or sees it. */
static inline void attach_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

/* Hear everybody; afterwards everybody is known to have begun this round.  MPIX_ERR_PROC_FAILED. */
int attach_hear_all(struct round *round);

const struct offer *attach_offered(const struct attached *a, int rank);

/* Copy from or to the memory of another rank.  False: it cannot be reached. */
bool attach_read(const struct attached *a, int rank, void *to, uint64_t from, size_t bytes);
bool attach_write(const struct attached *a, int rank, uint64_t to, const void *from,
                  size_t bytes);

/* Where they can be looked at in place, as link->view has it, or NULL. */
const char *attach_view(const struct attached *a, int rank, uint64_t from, size_t bytes);

/* A call of a team that begins, in these slots. */
void attach_begin(struct attached *a, struct team *team, struct tiny *tiny,
                  const struct telling *telling);

/* The same in parts, for those that do not wait (attach_later.c).  Once all are heard: is everybody open? */
void attach_look(struct attached *a);
/* This rank shows what it has done. */
int attach_say_end(struct attached *a, struct told told);
/* All are heard again: what they have done. */
void attach_learn(struct attached *a);
/* After and before a piece, of a rank that comes again: `is_outside` of its offer. */
void attach_set_outside(const struct attached *a, bool is_outside);
/* This rank leaves; it may, once all are through. */
void attach_say_leave(struct attached *a);
bool attach_all_through(const struct attached *a);

/* What a collective does between and beside the rounds; `state` is its own memory. */
enum { ATTACH_STATE = 256 };
struct attach_way {
    /* What we offer.  `a` and `call` stay where they are. */
    void (*open)(void *state, const struct attached *a, const struct call *call,
                 struct offer *offer);
    /* Our own part, while the others come; NULL: there is none. */
    void (*own)(void *state);
    /* Once everybody is open: one piece.  True: there may be more of them; false: *told is what attach_end is
     * to say.  It comes zeroed. */
    bool (*go_on)(void *state, struct told *told);
    /* After the second round, or any error.  0, `error`, or an error of its own. */
    int (*close)(void *state, struct attached *a, int error, struct rest *rest);
};
extern const struct attach_way attach_blocks, attach_fold; /* attach_blocks.c, attach_fold.c */
const struct attach_way *
attach_way_of(enum collective what); /* NULL: these perform it, all at once: */

struct telling; /* coll/tell.h */
int attach_scan(struct attached *a, const struct telling *telling, struct rest *rest);
int attach_pull(struct attached *a, const struct telling *telling, struct rest *rest);

#endif
