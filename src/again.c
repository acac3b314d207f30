/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/again.h"

#include "coll/neighbours.h"
#include "src/asked_check.h"

#include <stdlib.h>

static MPI_Datatype handle_of(const struct type *type)
{
    return type ? type->handle : MPI_DATATYPE_NULL;
}

/* The side that has one block, or the only one. */
static int side_of(enum collective what)
{
    return what == COLL_SCATTER || what == COLL_SCATTERV;
}

static unsigned place_of(const struct again_key *key)
{
    int side = side_of(key->what);
    return again_place((struct again_where){ .what = key->what,
                                             .root = key->root,
                                             .count = key->counts[side],
                                             .datatype = handle_of(key->types[side]),
                                             .op = key->op ? key->op->handle : MPI_OP_NULL,
                                             .in_place = key->in_place });
}

/* NULL: without memory nothing is kept. */
static struct again *place_for(struct comm *comm, const struct again_key *key)
{
    struct again **place = &comm->again[place_of(key)];
    if (!*place)
        *place = calloc(1, sizeof **place);
    return *place;
}

static bool may_come_again(const struct comm *comm, const struct again_key *key)
{
    if (gpu_possible || (!comm->team.tiny && !is_neighbourhood(key->what)))
        return false;
    for (int i = 0; i < 2; i++)
        if (key->types[i] && !key->types[i]->predefined)
            return false;
    return !key->op || key->op->predefined;
}

/* Of a reduction both sides are alike; others are kept if they are not in place. */
static bool keep(struct again *again, const struct asked *asked)
{
    const struct call *call = &asked->call;
    if ((call->in_place && !is_reduction(call->what)) ||
        !repeat_keep(&again->repeat, &asked->comm->team, call))
        return false;
    if (is_reduction(call->what))
        again->repeat.call.send = call->recv;
    return true;
}

static bool counts_same(const struct again *again, struct counts counts, int n)
{
    for (int i = 0; i < n; i++)
        if (again->counts[i] != counts_at(counts, i))
            return false;
    return true;
}

/* Where all ranks know the counts, are they those of the last call?  They are in the next one. */
static bool learn_counts(struct again *again, const struct asked *asked)
{
    struct counts counts = asked->call.recv.counts;
    int n = comm_size(asked->comm);
    if (!has_known_counts(asked->call.what))
        return true;
    if (again->counts && counts_same(again, counts, n))
        return true;
    if (!again->counts)
        again->counts = malloc((size_t)n * sizeof *again->counts);
    for (int i = 0; again->counts && i < n; i++)
        again->counts[i] = counts_at(counts, i);
    return false;
}

static void learn(const struct asked *asked, const struct again_key *key)
{
    struct comm *comm = asked->comm;
    struct again *again = may_come_again(comm, key) ? place_for(comm, key) : NULL;
    if (!again || again->repeat.busy)
        return;
    bool same = learn_counts(again, asked) && again->state != AGAIN_NEVER &&
                again_same(&again->key, key);
    if (!same)
        again->state = AGAIN_ONCE;
    else if (again->state == AGAIN_ONCE || !repeat_holds(&again->repeat, &comm->team))
        again->state = keep(again, asked) ? AGAIN_KEPT : AGAIN_REFUSED;
    again->key = *key;
    for (int i = 0; i < 2; i++)
        again->datatypes[i] = handle_of(key->types[i]);
    again->op = key->op ? key->op->handle : MPI_OP_NULL;
    again->comm = comm;
}

struct again *again_find(struct comm *comm, const struct again_key *key)
{
    struct again *again = comm->again[place_of(key)];
    return again && again_is(again, comm, key) ? again : NULL;
}

int again_first(struct asked *asked, int rc, const struct again_key *key)
{
    rc = asked_run(asked, rc);
    if (!rc)
        learn(asked, key);
    return rc;
}

/* None is negative, nor so large that its bytes may be too many. */
static bool are_counts(const struct side *side, int n)
{
    int64_t all = 0;
    if (side->counts.wide)
        for (int i = 0; i < n; i++)
            all |= side->counts.wide[i];
    else
        for (int i = 0; i < n; i++)
            all |= side->counts.narrow[i];
    return all >> 31 == 0;
}

/* As many bytes as belong there? */
static bool fits_own(const struct part *one, const struct part *all, int me)
{
    return (size_t)counts_at(all->counts, me) * all->layout->size ==
           one->count * one->layout->size;
}

static bool takes_list(struct part *part, const struct side *side, int n)
{
    if (!again_is_memory(side->buf) || counts_missing(side->counts) ||
        counts_missing(side->displs) || !are_counts(side, n))
        return false;
    part->base = (void *)side->buf;
    part->counts = side->counts;
    part->displs = side->displs;
    return true;
}

bool again_takes_lists(struct part *one, const void *buf, struct part *all,
                       const struct side *bufs, const struct comm *comm)
{
    if (!again_is_memory(buf) || !takes_list(all, bufs, comm_size(comm)))
        return false;
    one->base = (void *)buf;
    ptrdiff_t mine =
        steps((ptrdiff_t)counts_at(bufs->displs, comm_rank(comm)), all->layout->extent);
    return buf != buffer_at(bufs->buf, mine) && fits_own(one, all, comm_rank(comm));
}

bool again_takes_counts(struct again *again, const void *buf, const struct side *bufs,
                        const struct comm *comm)
{
    struct call *call = &again->repeat.call;
    return !counts_missing(bufs->counts) && counts_same(again, bufs->counts, comm_size(comm)) &&
           again_takes_lists(&call->send, buf, &call->recv, bufs, comm);
}

bool again_takes_pairs(struct call *call, const struct side *send, const struct side *recv,
                       const struct comm *comm)
{
    int n = comm_size(comm), me = comm_rank(comm);
    if (send->buf == recv->buf || !takes_list(&call->send, send, n) ||
        !takes_list(&call->recv, recv, n))
        return false;
    struct buffer own = block_of(&call->send, me), place = block_of(&call->recv, me);
    return buffer_bytes(&own) == buffer_bytes(&place);
}

static bool takes_side(struct part *part, const struct side *side, int n)
{
    if (side->argument)
        return takes_list(part, side, n);
    part->base = (void *)side->buf;
    return again_is_memory(side->buf);
}

bool again_takes_edges(struct call *call, const struct side *send, const struct side *recv,
                       const struct comm *comm)
{
    const struct neighbours *n = comm->team.neighbours;
    return (recv->argument || send->buf != recv->buf) &&
           takes_side(&call->send, send, n->ndestinations) &&
           takes_side(&call->recv, recv, n->nsources);
}

void again_forget(struct comm *comm)
{
    for (int place = 0; place < COMM_AGAIN; place++) {
        struct again *again = comm->again[place];
        if (again) {
            repeat_forget(&again->repeat);
            free(again->counts);
        }
        free(again);
        comm->again[place] = NULL;
    }
}
