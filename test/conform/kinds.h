/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Blocking collectives by number, with data that say whose they are: once performs a call and checks what became of
 * both buffers, keep does so until the call is known.
 */
#ifndef KINDS_H
#define KINDS_H

#include "check.h"

#include <stdbool.h>

enum kind {
    BARRIER,
    BCAST,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    REDUCE,
    ALLREDUCE,
    BLOCKS,
    SCAN,
    EXSCAN,
    KINDS
};

/* By which name: MPI_X, MPI_X_c or PMPI_X. */
enum way { PLAIN, WIDE, PROFILED, WAYS };

/* Arguments as they are given: of kinds with one count and datatype, they are those that are sent. */
struct given {
    const void *out;
    void *in;
    int counts[2];
    MPI_Datatype types[2];
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

/* What is called, and how much of it. */
struct call {
    enum kind kind;
    int count;
    MPI_Datatype type;
    MPI_Op op;
    int root;
    bool in_place;
};

enum { ITEMS = 64 * 4, KEPT = 5 };
static MPI_Comm comm;
static int rank, size;           /* in comm */
static double room[2][2][ITEMS]; /* two places to send from, two to receive in */
static int calls;

static inline void use(MPI_Comm used)
{
    comm = used;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
}

#define BY(way, Name, ...)                                                                     \
    ((way) == PLAIN  ? MPI_##Name(__VA_ARGS__)                                                 \
     : (way) == WIDE ? MPI_##Name##_c(__VA_ARGS__)                                             \
                     : PMPI_##Name(__VA_ARGS__))
#define SIDES(g)   g->out, g->counts[0], g->types[0], g->in, g->counts[1], g->types[1]
#define VECTORS(g) g->out, g->in, g->counts[0], g->types[0], g->op

static inline int perform(enum kind kind, enum way way, const struct given *g)
{
    switch (kind) {
    case BARRIER:
        return way == PROFILED ? PMPI_Barrier(g->comm) : MPI_Barrier(g->comm);
    case BCAST:
        return BY(way, Bcast, g->in, g->counts[0], g->types[0], g->root, g->comm);
    case GATHER:
        return BY(way, Gather, SIDES(g), g->root, g->comm);
    case SCATTER:
        return BY(way, Scatter, SIDES(g), g->root, g->comm);
    case ALLGATHER:
        return BY(way, Allgather, SIDES(g), g->comm);
    case ALLTOALL:
        return BY(way, Alltoall, SIDES(g), g->comm);
    case REDUCE:
        return BY(way, Reduce, VECTORS(g), g->root, g->comm);
    case ALLREDUCE:
        return BY(way, Allreduce, VECTORS(g), g->comm);
    case BLOCKS:
        return BY(way, Reduce_scatter_block, VECTORS(g), g->comm);
    case SCAN:
        return BY(way, Scan, VECTORS(g), g->comm);
    default:
        return BY(way, Exscan, VECTORS(g), g->comm);
    }
}

/* ---- the data: small whole numbers, of any type ---- */

static inline void put(void *data, MPI_Datatype type, int i, int value)
{
    if (type == MPI_INT)
        ((int *)data)[i] = value;
    else if (type == MPI_FLOAT)
        ((float *)data)[i] = (float)value;
    else
        ((double *)data)[i] = value;
}

static inline double get(const void *data, MPI_Datatype type, int i)
{
    return type == MPI_INT     ? ((const int *)data)[i]
           : type == MPI_FLOAT ? (double)((const float *)data)[i]
                               : ((const double *)data)[i];
}

/* Element i of what rank r sends in this call. */
static inline int sent(int r, int i)
{
    return (r * 5 + calls * 3 + i * 7) % 101;
}

/* Of these ranks' elements. */
static inline int folded(MPI_Op op, int ranks, int i)
{
    int all = sent(0, i);
    for (int r = 1; r < ranks; r++) {
        int one = sent(r, i);
        all = op == MPI_SUM ? all + one : all > one ? all : one;
    }
    return all;
}

static inline bool has_blocks_in(enum kind kind)
{
    return kind == GATHER || kind == ALLGATHER || kind == ALLTOALL;
}

static inline bool has_blocks_out(enum kind kind)
{
    return kind == SCATTER || kind == ALLTOALL || kind == BLOCKS;
}

static inline bool is_rooted(enum kind kind)
{
    return kind == BCAST || kind == GATHER || kind == SCATTER || kind == REDUCE;
}

static inline bool is_reduction(enum kind kind)
{
    return kind >= REDUCE;
}

/* Element i of what this rank has received; -1: nothing, as before. */
static inline int wanted(const struct call *c, int i)
{
    int other = i / c->count, mine = rank * c->count + i;
    switch (c->kind) {
    case BCAST:
        return sent(c->root, i);
    case GATHER:
        return rank == c->root ? sent(other, i % c->count) : -1;
    case SCATTER:
        return sent(c->root, mine);
    case ALLGATHER:
        return sent(other, i % c->count);
    case ALLTOALL:
        return sent(other, rank * c->count + i % c->count);
    case REDUCE:
        return rank == c->root ? folded(c->op, size, i) : -1;
    case ALLREDUCE:
        return folded(c->op, size, i);
    case BLOCKS:
        return folded(c->op, size, mine);
    case SCAN:
        return folded(c->op, rank + 1, i);
    case EXSCAN:
        return rank > 0 ? folded(c->op, rank, i) : -1;
    default:
        return -1;
    }
}

/* Fill both places: what is sent, also where it is received, if in place. */
static inline struct given fill(const struct call *c)
{
    double *out = room[0][calls % 2], *in = room[1][calls / 2 % 2];
    struct given g = { out,     in,  { c->count, c->count }, { c->type, c->type }, c->op,
                       c->root, comm };
    bool here = c->in_place && (!is_rooted(c->kind) || rank == c->root);
    int blocks = has_blocks_out(c->kind) ? size : 1;
    int at = c->kind == GATHER || c->kind == ALLGATHER ? rank * c->count : 0;
    for (int i = 0; i < ITEMS; i++)
        put(in, c->type, i, -1);
    for (int i = 0; i < blocks * c->count; i++) {
        put(out, c->type, i, sent(rank, i));
        if ((here && c->kind != SCATTER) || (c->kind == BCAST && rank == c->root))
            put(in, c->type, at + i, sent(rank, i));
    }
    if (here && c->kind == SCATTER)
        g.in = MPI_IN_PLACE;
    else if (here && c->kind != BCAST)
        g.out = MPI_IN_PLACE;
    return g;
}

static inline void check(const struct call *c, const struct given *g)
{
    const double *out = room[0][calls % 2], *in = room[1][calls / 2 % 2];
    int n = has_blocks_in(c->kind) ? size * c->count : c->count;
    bool left = g->out == MPI_IN_PLACE && (c->kind == BLOCKS || c->kind == EXSCAN);
    for (int i = 0; i < (has_blocks_out(c->kind) ? size : 1) * c->count; i++)
        CHECK(get(out, c->type, i) == sent(rank, i));
    for (int i = 0; i < n && g->in != MPI_IN_PLACE; i++)
        CHECK(get(in, c->type, i) == wanted(c, i) || (left && c->kind == EXSCAN && rank == 0));
    for (int i = n; i < ITEMS && !left; i++)
        CHECK(get(in, c->type, i) == -1);
}

static inline void once_by(struct call c, enum way way)
{
    calls++;
    struct given g = fill(&c);
    CHECK_OK(perform(c.kind, way, &g));
    check(&c, &g);
}

static inline void once(struct call c)
{
    once_by(c, PLAIN);
}

/* So often that it is known. */
static inline void keep(struct call c)
{
    for (int i = 0; i < KEPT; i++)
        once(c);
}

static inline struct call call_of(enum kind kind)
{
    return (struct call){ kind, 2, MPI_INT, MPI_SUM, 0, false };
}

#endif
