/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocking collectives of a communicator that come again and again with the same counts, datatypes,
 * operation and root, of which the inner loops of most programs consist: what asking (src/asked.c) found
 * out the second time is kept, and from the third on only the buffers are looked at.
 *
 *     struct again_key key = again_key(COLL_REDUCE, count, datatype, op, root);
 *     struct again *again = again_find(comm, &key);
 *     if (again && again_takes_...(again, ...))
 *         return again_run(again, comm);
 *     ...ask, then again_first
 *
 * Kept are predefined datatypes and operations only, which nobody frees.
 */
#ifndef XMPI_AGAIN_H
#define XMPI_AGAIN_H

#include "coll/repeat.h"
#include "src/comm.h"

struct asked;
struct op;
struct side; /* src/asked.h */
struct type;

struct again_key {
    enum collective what;
    int root;
    int64_t counts[2]; /* of the send and the receive side; 0, NULL: there is none */
    const struct type *types[2];
    const struct op *op;
    bool in_place; /* of a reduction */
};

struct again {
    struct again_key key; /* of the last call that belongs here */
    enum { AGAIN_NEVER, AGAIN_ONCE, AGAIN_KEPT, AGAIN_REFUSED } state;
    MPI_Datatype datatypes[2]; /* key.types and key.op, as users name them */
    MPI_Op op;
    struct comm *comm;
    int64_t *counts; /* of all ranks in the last call, where all know them: a part of the key */
    struct repeat repeat; /* AGAIN_KEPT: of that call */
};

/* Sides of one count and type, or an only one; not in place. */
static inline struct again_key again_key(enum collective what, int64_t count,
                                         const struct type *type, const struct op *op, int root)
{
    return (struct again_key){ what, root, { count, 0 }, { type, NULL }, op, false };
}

static inline bool again_same(const struct again_key *a, const struct again_key *b)
{
    return a->counts[0] == b->counts[0] && a->counts[1] == b->counts[1] &&
           a->types[0] == b->types[0] && a->types[1] == b->types[1] && a->op == b->op &&
           a->root == b->root && a->what == b->what && a->in_place == b->in_place;
}

/* Is it kept, and may it be used? */
static inline bool again_is(const struct again *again, const struct comm *comm,
                            const struct again_key *key)
{
    return again->state == AGAIN_KEPT && again_same(&again->key, key) &&
           repeat_holds(&again->repeat, &comm->team);
}

/* Where a call is kept: by what all ranks have alike of it, as users name it; roots may have turns, and calls of
 * different lengths or operations. */
struct again_where {
    enum collective what;
    int64_t count; /* of the only side, or of a block where all have one */
    int root; /* not beside `what`: gcc would compare both at once, and wait for them to be stored */
    MPI_Datatype datatype;
    MPI_Op op;
    bool in_place;
};
static inline unsigned again_place(struct again_where w)
{
    uint32_t sum = (uint32_t)w.count ^ (uint32_t)(uintptr_t)w.datatype << 8 ^
                   (uint32_t)(uintptr_t)w.op << 20 ^ (uint32_t)w.root << 12 ^
                   (uint32_t)w.what << 26 ^ (uint32_t)w.in_place << 17;
    return sum * 0x9e3779b1u >> 27;
}
_Static_assert(COMM_AGAIN == 1 << (32 - 27), "five bits of the hash");

/* What is kept of such a call and may be used; NULL: nothing. */
struct again *again_find(struct comm *comm, const struct again_key *key);

/* ---- buffers: false where there is something to be said about them, by whoever asks anew ---- */

static inline bool again_is_memory(const void *buf)
{
    return buf && buf != MPI_IN_PLACE && !gpu_possible;
}

/* The only buffer that counts on this rank. */
ENTRY_INLINE bool again_takes_one(struct part *part, const void *buf)
{
    part->base = (void *)buf;
    return again_is_memory(buf);
}

/* Vectors; in place where what is kept is. */
ENTRY_INLINE bool again_takes_vectors(struct again *again, const void *sendbuf, void *recvbuf)
{
    struct call *call = &again->repeat.call;
    call->send.base = (void *)sendbuf;
    call->recv.base = recvbuf;
    return sendbuf && sendbuf != recvbuf && again_is_memory(recvbuf);
}

/* One block, and those of all ranks. */
ENTRY_INLINE bool again_takes_blocks(struct part *one, const void *buf, struct part *all,
                                     const void *bufs, int me)
{
    ptrdiff_t mine = steps(me * (ptrdiff_t)all->count, all->layout->extent);
    one->base = (void *)buf;
    all->base = (void *)bufs;
    return again_is_memory(buf) && again_is_memory(bufs) && buf != bufs &&
           buf != buffer_at(bufs, mine);
}

/* The same where the root has all of them, and the others one. */
ENTRY_INLINE bool again_takes_rooted(struct part *one, const void *buf, struct part *all,
                                     const void *bufs, int me, int root)
{
    return me == root ? again_takes_blocks(one, buf, all, bufs, me) : again_takes_one(one, buf);
}

/* The same for lists of counts and displacements on the root: nothing of them is kept. */
bool again_takes_lists(struct part *one, const void *buf, struct part *all,
                       const struct side *bufs, const struct comm *comm);
static inline bool again_takes_listed(struct part *one, const void *buf, struct part *all,
                                      const struct side *bufs, const struct comm *comm,
                                      int root)
{
    return comm_rank(comm) == root ? again_takes_lists(one, buf, all, bufs, comm)
                                   : again_takes_one(one, buf);
}

/* The same for lists that all ranks have, and whose counts are those that were kept. */
bool again_takes_counts(struct again *again, const void *buf, const struct side *bufs,
                        const struct comm *comm);

/* The same for lists on both sides, of which nothing is kept. */
bool again_takes_pairs(struct call *call, const struct side *send, const struct side *recv,
                       const struct comm *comm);

/* Blocks that leave along edges, and that come along edges; lists may stand for either. */
bool again_takes_edges(struct call *call, const struct side *send, const struct side *recv,
                       const struct comm *comm);

static inline int again_run(struct again *again, struct comm *comm)
{
    return repeat_run(&again->repeat, &comm->team);
}

/* Perform what was asked for, and keep it if it is the second one of its key. */
int again_first(struct asked *asked, int rc, const struct again_key *key);

#endif
