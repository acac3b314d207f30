/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives on one node without messages, through slots that the ranks share.
 *
 *     tiny     little data, in the slots: barrier, bcast, gather(v), scatter(v), allgather(v),
 *              alltoall(v, w), reduce, allreduce, reduce_scatter(_block), scan, exscan
 *     later    the same where all know all lengths, nonblocking and persistent; and attach, nonblocking
 *     attach   much data, in each other's memory; slots say where: bcast, gather, scatter,
 *              allgather(v), alltoall, reduce, allreduce, reduce_scatter(_block), scan, exscan
 */
#ifndef XMPI_TINY_H
#define XMPI_TINY_H

#include "coll/call.h"

#include <stddef.h>
#include <stdint.h>

struct team;    /* coll/coll.h */
struct channel; /* pml/pml.h */

enum {
    TINY_RANKS = 64,
    TINY_BYTES = 1024, /* of one rank; less where there are many ranks or communicators */
    TINY_LISTED_BYTES = 2048, /* the same of a block of a gatherv or scatterv of two ranks */
    TINY_HEAD = 32,
    TINY_TRACKS = 8, /* nonblocking ones at the same time; less where there are many ranks */
    TINY_TRACK_RANKS = 32, /* then there is one for so many */
    TINY_TRACK_BYTES = 96  /* of one rank */
};

/* Draw a block in this process's area for n ranks: its name for a ticket, 0 when there is no
 * room, or too many ranks. */
uint64_t tiny_draw(int n);

/* The block of MPI_COMM_WORLD, which needs no drawing; 0 when there is none. */
uint64_t tiny_world(void);

/* One for a persistent collective of n ranks, of which each has so many bytes to say; `together`:
 * everybody hears everybody, so that nobody runs ahead.  0: no room is left for it. */
uint64_t tiny_draw_bound(int n, size_t bytes, bool together);

/* Use the block.  NULL: out of memory, or `name` is 0. */
struct tiny *tiny_open(uint64_t name, const struct channel *channel);
void tiny_close(struct tiny *tiny);

/* The slots are not used any more: says on stderr when the last operation was another one elsewhere, and nobody read
 * it there (two roots of one MPI_Bcast). */
void tiny_stray_say(struct tiny *tiny);

/* Slots for one nonblocking collective at a time, number i of those in the block; they are closed
 * before it.  NULL: out of memory. */
struct tiny *tiny_track(const struct tiny *of, int i);

/* What a slot has to hold, at most TINY_BYTES; `bytes` as rules count them. */
size_t tiny_needs(enum collective what, int ranks, size_t bytes);

/* Those bytes of a call that the rules count as `bytes`. */
size_t tiny_says(const struct call *call, int ranks, size_t bytes);

/* Does everybody hear everybody in it? */
bool tiny_is_together(enum collective what);

/* Of it, and of attach: nothing of the call's own nature, so a new communicator may do. */
#define TINY_NO_SLOTS "the ranks have no shared slots"

/* Why it cannot perform this call; NULL = it can.  `bytes` as rules count them; `tracked`: a
 * nonblocking one.  The same on every rank. */
const char *tiny_objection(const struct team *team, const struct call *call, bool tracked,
                           size_t bytes);

/* Perform it.  MPIX_ERR_PROC_FAILED when a process is lost while we wait. */
struct telling;
struct unfit;
int tiny_run(struct tiny *tiny, const struct telling *telling, struct unfit *unfit);

/* Of those whose ends alone know how long a block is, else NULL; of gatherv and scatterv also the blocks that this
 * rank sends or gets as messages, since they do not fit a slot. */
struct unfit {
    int error; /* MPI_ERR_TRUNCATE: a block was longer than its place */
    bool any;
    int64_t counts[TINY_RANKS]; /* on the root, of all ranks; 0: it was in a slot */
};

/* Send and get them (coll.c).  The error of the collective. */
int coll_unfit(struct team *team, const struct telling *telling, struct unfit *unfit);

/* ---- whichever way was chosen (coll.c) ---- */

struct choice; /* coll/choose.h */

/* Perform a blocking call; where attach was chosen perhaps by its rival (rival.h). */
int coll_chosen(struct team *team, const struct choice *choice, const struct telling *telling);

/* ---- those whose end is asked for later: nonblocking and persistent ones (later.c) ---- */

struct request; /* pml/pml.h */
struct tracks;  /* of a team */

/* The next nonblocking one of a team, told already, that tiny_objection lets pass, or attach_objection
 * (attaches): a request in flight, which may be done.  0 or MPI_ERR_NO_MEM. */
int later_start(struct team *team, const struct telling *telling, bool attaches,
                struct request **request);

/* Slots for a persistent one, drawn by rank 0 of the team, for which the others wait here: their
 * name, 0 when there is no room.  The error of tiny_run. */
int later_draw(struct team *team, const struct telling *telling, uint64_t *name);

/* An inactive request that has them.  0 or MPI_ERR_NO_MEM. */
int later_init(struct team *team, const struct telling *telling, uint64_t name,
               struct request **request);

/* Nothing may be in flight; NULL is fine. */
void tracks_close(struct tracks *tracks);

/* ---- attach ---- */

enum { ATTACH_PIECE = 512 << 10 }; /* of a vector: what stays in the cache */

/* Why it cannot perform this call; NULL = it can.  `tracked`: a nonblocking one.  The same on every rank. */
const char *attach_objection(const struct team *team, const struct call *call, bool tracked);

/* Are nonblocking ones among those it performs? */
bool attach_serves_nonblocking(enum collective what);

/* What is left to be done by messages, as there was memory that could not be reached: of a vector
 * these elements, of all else the whole call, as one part.  The same on every rank. */
struct rest {
    int n;
    bool away; /* all of it, as some data are on a device: only this call */
    struct {
        size_t first, count;
    } part[TINY_RANKS]; /* n of them; nothing is there behind these */
};

/* All of the call is left. */
static inline void rest_whole(struct rest *rest, const struct call *call, bool away)
{
    rest->n = 1;
    rest->away = away;
    rest->part[0].first = 0;
    rest->part[0].count = call->recv.count;
}

/* Begin a plan for elements [first, first + count) of a nonblocking call, as in struct rest (coll.c). */
int coll_start_rest(struct team *team, const struct telling *telling, size_t first,
                    size_t count, struct request **request);

/* Perform it, but for the rest.  MPIX_ERR_PROC_FAILED when a process is lost while we wait. */
int attach_run(struct team *team, const struct telling *telling, struct rest *rest);

#endif
