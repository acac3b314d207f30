/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives on one node without messages, through slots that the ranks share.
 *
 *     tiny     little data, in the slots: barrier, bcast, gather, scatter, allgather, alltoall,
 *              reduce, allreduce, reduce_scatter_block, scan, exscan
 *     attach   much data, in each other's memory; slots say where: gather, allgather, alltoall,
 *              reduce, allreduce, reduce_scatter_block
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
    TINY_HEAD = 32
};

/* Draw a block in this process's area for n ranks: its name for a ticket, 0 when there is no
 * room, or too many ranks. */
uint64_t tiny_draw(int n);

/* The block of MPI_COMM_WORLD, which needs no drawing; 0 when there is none. */
uint64_t tiny_world(void);

/* Use the block.  NULL: out of memory, or `name` is 0. */
struct tiny *tiny_open(uint64_t name, const struct channel *channel);
void tiny_close(struct tiny *tiny);

/* What a slot has to hold, at most TINY_BYTES; `bytes` as rules count them. */
size_t tiny_needs(enum collective what, int ranks, size_t bytes);

/* Why it cannot perform this blocking call; NULL = it can.  `bytes` as rules count them.  The
 * same on every rank. */
const char *tiny_objection(const struct team *team, const struct call *call, size_t bytes);

/* Perform it.  MPIX_ERR_PROC_FAILED when a process is lost while we wait. */
struct telling;
int tiny_run(struct tiny *tiny, const struct telling *telling);

/* ---- attach ---- */

/* Why it cannot perform this blocking call; NULL = it can.  The same on every rank. */
const char *attach_objection(const struct team *team, const struct call *call);

/* What is left to be done by messages, as there was memory that could not be reached: of a vector
 * these elements, of all else the whole call, as one part.  The same on every rank. */
struct rest {
    int n;
    struct {
        size_t first, count;
    } part[TINY_RANKS];
};

/* Perform it, but for the rest.  MPIX_ERR_PROC_FAILED when a process is lost while we wait. */
int attach_run(struct tiny *tiny, const struct telling *telling, struct rest *rest);

#endif
