/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a collective operation, drawn by coll_random.c, has to do.
 *
 * Its two ends are sides: blocks of elements, anywhere in a buffer.  A rank has for each other one, or
 * for all the same, elements that follow from the operation and the two ranks (sent), so every rank
 * knows what it has to receive (received).  Each buffer has an image: what all of its bytes must be
 * afterwards.
 *
 *     fill        BLANK everywhere but for the input; buffer and image are the same
 *     verify      the result into the image alone, which then is what MPI has made of the buffer
 */
#ifndef COLL_ORACLE_H
#define COLL_ORACLE_H

#include "chance.h"

enum {
    MOST_RANKS = 64,
    MOST_TURNS = 3,
    MARGIN = 32 /* at both ends of a buffer */,
    BLANK = 0x5a
};
static int seed, rounds,
    max_count; /* the arguments, as they are said when something is wrong */

/* ---- datatypes and reductions ---- */

enum { INT32, INT64, PAIR, FAMILIES };
enum { DENSE, GAPS, NEGATIVE, VARIANTS };

static struct type {
    const char *name;
    MPI_Datatype handle;
    int bytes, offset, extent; /* of one element: its data are at its address + offset */
} types[FAMILIES][VARIANTS] = {
    { { .name = "int32" }, { .name = "int32 with gaps" }, { .name = "int32 below" } },
    { { .name = "int64" }, { .name = "int64 with gaps" }, { .name = "int64 below" } },
    { { .name = "pair" }, { .name = "pair with gaps" }, { .name = "pair below" } },
};

/* The variants of a dense type. */
static void make_family(struct type *t, MPI_Datatype dense, int bytes)
{
    MPI_Datatype shifted;
    t[DENSE] = (struct type){ t[DENSE].name, dense, bytes, 0, bytes };
    t[GAPS] = (struct type){ t[GAPS].name, MPI_DATATYPE_NULL, bytes, 0, 3 * bytes };
    MPI_Type_create_resized(dense, 0, 3 * bytes, &t[GAPS].handle);
    t[NEGATIVE] =
        (struct type){ t[NEGATIVE].name, MPI_DATATYPE_NULL, bytes, -bytes, 2 * bytes };
    MPI_Type_create_hindexed_block(1, 1, &(MPI_Aint){ -bytes }, dense, &shifted);
    MPI_Type_create_resized(shifted, -bytes, 2 * bytes, &t[NEGATIVE].handle);
    MPI_Type_free(&shifted);
    MPI_Type_commit(&t[GAPS].handle);
    MPI_Type_commit(&t[NEGATIVE].handle);
}

static void make_types(void)
{
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT32_T, &pair);
    MPI_Type_commit(&pair);
    make_family(types[INT32], MPI_INT32_T, 4);
    make_family(types[INT64], MPI_INT64_T, 8);
    make_family(types[PAIR], pair, 8);
}

/* A pair (a, b) is the function a x + b of integers modulo 2^32. */
struct pair {
    uint32_t a, b;
};

static uint64_t composed(uint64_t left, uint64_t right)
{
    struct pair x, y;
    memcpy(&x, &left, sizeof x);
    memcpy(&y, &right, sizeof y);
    y.b = x.a * y.b + x.b;
    y.a = x.a * y.a;
    memcpy(&right, &y, sizeof y);
    return right;
}

static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint lb, extent, bytes;
    MPI_Type_get_extent(*type, &lb, &extent);
    MPI_Type_get_true_extent(*type, &lb, &bytes);
    for (int i = 0; i < *n; i++) {
        uint64_t left, right;
        memcpy(&left, (char *)in + lb + i * extent, sizeof left);
        memcpy(&right, (char *)inout + lb + i * extent, sizeof right);
        right = composed(left, right);
        memcpy((char *)inout + lb + i * extent, &right, sizeof right);
    }
}

enum { SUM, MAX, MIN, BXOR, COMPOSE, REDUCTIONS };
static struct reduction {
    const char *name;
    MPI_Op handle;
} reductions[REDUCTIONS] = { { .name = "sum" },
                             { .name = "max" },
                             { .name = "min" },
                             { .name = "bxor" },
                             { .name = "compose (not commutative)" } };

static void make_reductions(void)
{
    reductions[SUM].handle = MPI_SUM;
    reductions[MAX].handle = MPI_MAX;
    reductions[MIN].handle = MPI_MIN;
    reductions[BXOR].handle = MPI_BXOR;
    MPI_Op_create(compose, 0, &reductions[COMPOSE].handle);
}

static uint64_t reduced(int reduction, uint64_t x, uint64_t y)
{
    switch (reduction) {
    case SUM:
        return x + y;
    case MAX:
        return (int64_t)x > (int64_t)y ? x : y;
    case MIN:
        return (int64_t)x < (int64_t)y ? x : y;
    case BXOR:
        return x ^ y;
    default:
        return composed(x, y);
    }
}

/* ---- communicators ---- */

enum {
    WORLD,
    DUP,
    REVERSED,
    EVEN_ODD,
    NEIGHBORS,
    EVENS_TO_ODDS,
    FIRST_TO_REST,
    INTER_DUP,
    COMMS
};
static struct group {
    const char *name;
    MPI_Comm comm;
    int color, rank, size;
    int far_color,
        peers; /* of those whose data this rank gets: of the other group if `inter` */
    bool inter;
} groups[COMMS] = { { .name = "the world" },
                    { .name = "a duplicate of the world" },
                    { .name = "the world backwards" },
                    { .name = "even or odd ranks, backwards" },
                    { .name = "two neighbors, backwards" },
                    { .name = "even to odd ranks, backwards" },
                    { .name = "the first to the others, backwards" },
                    { .name = "a duplicate of that" } };
static int ngroups;

/* The last rank of this process's color leads its side. */
static void make_inter(struct group *g, int first, int second)
{
    MPI_Comm side;
    g->inter = true;
    g->far_color = !g->color;
    MPI_Comm_split(MPI_COMM_WORLD, g->color, -world_rank(), &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, g->color ? first : second, 3, &g->comm);
    MPI_Comm_free(&side);
}

static void make_groups(void)
{
    int me = world_rank(), last = world_size() - 1;
    groups[EVEN_ODD].color = groups[EVENS_TO_ODDS].color = me % 2;
    groups[NEIGHBORS].color = me / 2;
    groups[FIRST_TO_REST].color = groups[INTER_DUP].color = me > 0;
    groups[WORLD].comm = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &groups[DUP].comm);
    for (int g = REVERSED; g <= NEIGHBORS; g++)
        MPI_Comm_split(MPI_COMM_WORLD, groups[g].color, -me, &groups[g].comm);
    ngroups = last ? COMMS : EVENS_TO_ODDS;
    if (last) {
        make_inter(&groups[EVENS_TO_ODDS], last - last % 2, last - 1 + last % 2);
        make_inter(&groups[FIRST_TO_REST], 0, last);
        groups[INTER_DUP] = groups[FIRST_TO_REST];
        MPI_Comm_dup(groups[FIRST_TO_REST].comm, &groups[INTER_DUP].comm);
    }
    for (int g = 0; g < ngroups; g++) {
        MPI_Comm_rank(groups[g].comm, &groups[g].rank);
        MPI_Comm_size(groups[g].comm, &groups[g].size);
        groups[g].peers = groups[g].size;
        if (groups[g].inter)
            MPI_Comm_remote_size(groups[g].comm, &groups[g].peers);
        else
            groups[g].far_color = groups[g].color;
    }
}

static void free_all(void)
{
    for (int f = 0; f < FAMILIES; f++)
        for (int v = 0; v < VARIANTS; v++)
            if (f == PAIR || v != DENSE)
                MPI_Type_free(&types[f][v].handle);
    MPI_Op_free(&reductions[COMPOSE].handle);
    for (int g = DUP; g < ngroups; g++)
        MPI_Comm_free(&groups[g].comm);
}

/* ---- operations ---- */

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum kind {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    SCAN,
    EXSCAN,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    KINDS
};

/* What the oracle has to know of a collective. */
static const struct shape {
    const char *name;
    bool many_out, many_in; /* one block for each rank, not one */
    bool uneven;            /* these differ in length */
    bool reduces;
    enum { NO_ROOT, ROOT_SENDS, ROOT_RECEIVES } root;
} shapes[KINDS] = {
    [BARRIER] = { .name = "barrier" },
    [BCAST] = { .name = "bcast", .root = ROOT_SENDS },
    [REDUCE] = { .name = "reduce", .reduces = true, .root = ROOT_RECEIVES },
    [ALLREDUCE] = { .name = "allreduce", .reduces = true },
    [SCAN] = { .name = "scan", .reduces = true },
    [EXSCAN] = { .name = "exscan", .reduces = true },
    [REDUCE_SCATTER_BLOCK] = { "reduce_scatter_block", .many_out = true, .reduces = true },
    [REDUCE_SCATTER] = { "reduce_scatter", .many_out = true, .uneven = true, .reduces = true },
    [GATHER] = { "gather", .many_in = true, .root = ROOT_RECEIVES },
    [GATHERV] = { "gatherv", .many_in = true, .uneven = true, .root = ROOT_RECEIVES },
    [SCATTER] = { "scatter", .many_out = true, .root = ROOT_SENDS },
    [SCATTERV] = { "scatterv", .many_out = true, .uneven = true, .root = ROOT_SENDS },
    [ALLGATHER] = { "allgather", .many_in = true },
    [ALLGATHERV] = { "allgatherv", .many_in = true, .uneven = true },
    [ALLTOALL] = { "alltoall", .many_out = true, .many_in = true },
    [ALLTOALLV] = { "alltoallv", .many_out = true, .many_in = true, .uneven = true },
    [ALLTOALLW] = { "alltoallw", .many_out = true, .many_in = true, .uneven = true },
};

/* The buffer at one end of an operation: blocks of elements, anywhere. */
struct side {
    int blocks;
    int counts[MOST_RANKS], displs[MOST_RANKS]; /* as the call gets them */
    const struct type *types[MOST_RANKS];
    MPI_Datatype handles[MOST_RANKS];
    bool in_bytes; /* so are displs */
    size_t bytes;
    char *memory, *image;
};

struct operation {
    int id, turn, turns, count, root, family, reduction;
    int other_count; /* of what the ranks of color 1 send, between two groups */
    int root_color;  /* and where the root is */
    enum kind kind;
    enum form form;
    const struct group *group;
    bool in_place; /* this rank passes MPI_IN_PLACE */
    bool running;
    struct side out, in;
    int results[MOST_RANKS]; /* elements that each rank of this group gets of a reduction */
};

static const struct shape *shape_of(const struct operation *o)
{
    return &shapes[o->kind];
}

static bool is_root(const struct operation *o)
{
    return o->group->rank == o->root && (!o->group->inter || o->group->color == o->root_color);
}

/* Where element i of a block is. */
static size_t place(const struct side *s, int block, int i)
{
    const struct type *t = s->types[block];
    int unit = s->in_bytes ? 1 : t->extent;
    return (size_t)(MARGIN + t->offset + (long)s->displs[block] * unit + (long)i * t->extent);
}

/* ---- what is wrong ---- */

static void print_side(const char *name, const struct side *s)
{
    fprintf(stderr, "  %s:", name);
    for (int b = 0; b < s->blocks; b++)
        fprintf(stderr, " %d at %d of %s;", s->counts[b], s->displs[b], s->types[b]->name);
    fprintf(stderr, "\n");
}

/* All that was drawn, and how to draw it again. */
static void describe(const struct operation *o, const char *what)
{
    static const char *const forms[FORMS] = { "blocking", "nonblocking", "persistent" };
    fprintf(stderr,
            "coll_random %d %d %d, rank %d of %d: %s\n"
            "  operation %d: %s %s, start %d of %d, on %s as %d of %d to %d, count %d or %d, "
            "root %d of %d%s%s%s\n",
            seed, rounds, max_count, world_rank(), world_size(), what, o->id, forms[o->form],
            shape_of(o)->name, o->turn + 1, o->turns, o->group->name, o->group->rank,
            o->group->size, o->group->peers, o->count, o->other_count, o->root, o->root_color,
            o->in_place ? ", in place" : "", shape_of(o)->reduces ? ", " : "",
            shape_of(o)->reduces ? reductions[o->reduction].name : "");
    print_side("sends", &o->out);
    print_side("receives", &o->in);
}

static void give_up(const struct operation *o, const char *what)
{
    describe(o, what);
    check_failed(__FILE__, __LINE__, "the operation above does what it should");
}

static void compare(const struct operation *o, const char *name, const struct side *s)
{
    char what[200], where[100] = "outside of all elements";
    size_t at = 0;
    if (!memcmp(s->memory, s->image, s->bytes))
        return;
    while (s->memory[at] == s->image[at])
        at++;
    for (int b = 0; b < s->blocks; b++)
        for (int i = 0; i < s->counts[b]; i++)
            if (at >= place(s, b, i) && at < place(s, b, i) + (size_t)s->types[b]->bytes)
                snprintf(where, sizeof where, "in element %d of block %d", i, b);
    snprintf(what, sizeof what, "%s buffer, byte %ld, %s: %02x, not %02x", name,
             (long)at - MARGIN, where, s->memory[at] & 0xff, s->image[at] & 0xff);
    give_up(o, what);
}

/* ---- the oracle ---- */

/* Element i of what one rank of a color has for another, or for all (to = 0). */
static uint64_t sent(const struct operation *o, int color, int from, int to, int i)
{
    uint64_t call = mixed((uint64_t)(o->id * MOST_TURNS + o->turn) << 8 | (uint64_t)color);
    uint64_t x = mixed(call + ((uint64_t)from << 48) + ((uint64_t)to << 32) + (uint64_t)i);
    return o->family == PAIR ? x | 1 /* odd: products do not vanish */
                             : (uint64_t)((int64_t)(x % 2000) - 1000);
}

/* Element i of a block that this rank receives. */
static uint64_t received(const struct operation *o, int block, int i)
{
    int me = o->group->rank, to = shape_of(o)->many_out ? me : 0;
    int last = o->kind == SCAN ? me : o->kind == EXSCAN ? me - 1 : o->group->peers - 1;
    int color = o->group->far_color;
    if (!shape_of(o)->reduces)
        return sent(o, color, shape_of(o)->root == ROOT_SENDS ? o->root : block, to, i);
    uint64_t x = sent(o, color, 0, to, i);
    for (int from = 1; from <= last; from++)
        x = reduced(o->reduction, x, sent(o, color, from, to, i));
    return x;
}

static void put(const struct type *type, char *to, uint64_t value)
{
    int32_t number = (int32_t)value;
    memcpy(to, type->bytes == 4 ? (void *)&number : &value, (size_t)type->bytes);
}

static void blank(struct side *s)
{
    memset(s->memory, BLANK, s->bytes);
    memset(s->image, BLANK, s->bytes);
}

/* What this rank sends, into the buffer where the call looks for it. */
static void fill(struct operation *o)
{
    const struct shape *shape = shape_of(o);
    bool has_own_buffer = !o->in_place || o->kind == SCATTER || o->kind == SCATTERV;
    struct side *to = has_own_buffer ? &o->out : &o->in;
    const struct side *as = has_own_buffer || shape->reduces ? &o->out : &o->in;
    bool only_mine = as == &o->in && shape->many_in && !shape->many_out;
    blank(&o->out);
    blank(&o->in);
    if (shape->root == ROOT_SENDS && !is_root(o))
        return;
    for (int b = 0; b < as->blocks; b++)
        for (int i = 0; i < as->counts[b] && (!only_mine || b == o->group->rank); i++) {
            uint64_t value =
                sent(o, o->group->color, o->group->rank, shape->many_out ? b : 0, i);
            put(as->types[b], to->memory + place(as, b, i), value);
            put(as->types[b], to->image + place(as, b, i), value);
        }
}

/* These elements of the buffer of the result are nobody's concern. */
static void accept_any(struct operation *o)
{
    const struct side *s = &o->out; /* in place: how the input lies there */
    for (int b = 0; b < s->blocks; b++)
        for (int i = 0; i < s->counts[b]; i++)
            memcpy(o->in.image + place(s, b, i), o->in.memory + place(s, b, i),
                   (size_t)s->types[b]->bytes);
}

/* Complete the image of the buffer of the result. */
static void expect(struct operation *o)
{
    const struct shape *shape = shape_of(o);
    struct side *s = &o->in;
    if ((shape->root == ROOT_RECEIVES && !is_root(o)) ||
        (shape->root == ROOT_SENDS &&
         (o->in_place || (o->group->inter && o->group->color == o->root_color))))
        return;
    if (o->kind == EXSCAN && o->group->rank == 0) { /* undefined */
        accept_any(o);
        return;
    }
    if (shape->reduces && shape->many_out && o->in_place) /* so is what follows the result */
        accept_any(o);
    for (int b = 0; b < s->blocks; b++)
        for (int i = 0; i < s->counts[b]; i++)
            put(s->types[b], s->image + place(s, b, i), received(o, b, i));
}

static void verify(struct operation *o)
{
    o->running = false;
    expect(o);
    compare(o, "receive", &o->in);
    compare(o, "send", &o->out);
}

#endif
