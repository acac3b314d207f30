/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random collectives, several in flight at a time, against an oracle (coll_oracle.h).
 *
 * Drawn are: the collective; its form (blocking, nonblocking, persistent with up to three starts);
 * the communicator, of some that overlap and some between two groups; root, counts and MPI_IN_PLACE;
 * datatypes, which need not be the same at both ends (dense, with gaps, with a negative lower bound);
 * the reduction, one of them the user's and not commutative; where the blocks of the v and w forms
 * lie; in which order and by which function each rank completes what it began, and starts it again.
 *
 * Compared is every byte of every buffer, those in gaps, between blocks and beside the ends too.
 * Buffers that are sent, and those that a call does not look at on this rank, have to stay as they were.
 *
 *     coll_random SEED ROUNDS MAXCOUNT       for long runs, and to repeat what went wrong
 */
#include "coll_oracle.h"

enum { MOST_FLYING = 6, SEEDS = 4, ROUNDS = 200, MAX_COUNT = 10000 };

/* ---- drawing ---- */

/* None, many, some or a few; not so many where there is a block for each rank. */
static int draw_count(const struct operation *o)
{
    int how = draw(&together, 6), many = draw(&together, max_count), some = draw(&together, 64);
    bool has_blocks = shape_of(o)->many_out || shape_of(o)->many_in;
    switch (how) {
    case 0:
        return 0;
    case 1:
        return has_blocks ? many / (o->group->inter ? world_size() : o->group->size) : many;
    case 2:
    case 3:
        return some;
    default:
        return some % 5;
    }
}

/* What the ranks of a color send, where that is the same for all of them. */
static int count_from(const struct operation *o, int color)
{
    bool other = o->group->inter && !shape_of(o)->reduces && color;
    return other ? o->other_count : o->count;
}

/* Where blocks differ: how long that from one rank to another is, or (to = 0) the one of a rank. */
static int count_between(const struct operation *o, int color, int from, int to)
{
    uint64_t x = ((uint64_t)o->id << 32) + ((uint64_t)from << 16) + (uint64_t)to;
    x = mixed(o->group->inter ? x + ((uint64_t)color << 12) : x);
    return x % 5 == 0 ? 0 : (int)((x >> 8) % (uint64_t)(count_from(o, color) + 1));
}

/* The counts of one end, out or in. */
static void set_counts(const struct operation *o, struct side *s)
{
    const struct shape *shape = shape_of(o);
    bool is_out = s == &o->out, exchange = shape->many_out && shape->many_in;
    bool many = is_out ? shape->many_out : shape->many_in;
    for (int b = 0; b < s->blocks; b++) {
        int me = o->group->rank, other = many ? b : me, from = other, to = 0;
        int color = is_out || o->in_place ? o->group->color : o->group->far_color;
        if (exchange) {
            /* in place as much goes in one direction as in the other */
            from = o->in_place ? (me < other ? me : other) : is_out ? me : other;
            to = me + other - from;
        }
        s->counts[b] = shape->uneven ? count_between(o, color, from, to) : count_from(o, color);
    }
}

/* Where the part of the i-th of n ranks of a color begins. */
static int cut(const struct operation *o, int color, int i, int n)
{
    uint64_t x = mixed(((uint64_t)o->id << 32) + ((uint64_t)color << 16) + (uint64_t)i);
    int even = (int)((long)o->count * i / n);
    return i == 0 || i == n ? even : even - (int)(x % (uint64_t)(o->count / n + 1));
}

/* Reductions whose results are scattered: between two groups both get as much, by ranks of their own. */
static void set_results(struct operation *o)
{
    const struct group *g = o->group;
    bool even = o->kind == REDUCE_SCATTER_BLOCK;
    int each = o->count > 200 ? o->count / (g->size * g->peers) : o->count;
    for (int r = 0; r < g->size; r++)
        o->results[r] = !g->inter ? o->out.counts[r]
                        : even
                            ? each * g->peers
                            : cut(o, g->color, r + 1, g->size) - cut(o, g->color, r, g->size);
    for (int r = 0; r < g->peers && g->inter; r++)
        o->out.counts[r] =
            even ? each * g->size
                 : cut(o, g->far_color, r + 1, g->peers) - cut(o, g->far_color, r, g->peers);
    o->in.counts[0] = o->results[g->rank];
}

/* One type for all blocks or, where the call takes several, one for each. */
static void draw_types(const struct operation *o, struct side *s, int variant)
{
    for (int b = 0; b < s->blocks; b++) {
        if (!shape_of(o)->reduces && (b == 0 || o->kind == ALLTOALLW))
            variant = draw(&alone, VARIANTS);
        s->types[b] = &types[o->family][variant];
        s->handles[b] = s->types[b]->handle;
    }
}

/* Block after block or, where the call takes displacements, in any order and with gaps. */
static void lay_out(const struct operation *o, struct side *s)
{
    bool anywhere = shape_of(o)->uneven && !shape_of(o)->reduces && s->blocks > 1;
    int order[MOST_RANKS], end = 0, unit = 1;
    shuffle(&alone, order, s->blocks);
    s->in_bytes = o->kind == ALLTOALLW;
    for (int k = 0; k < s->blocks; k++) {
        int b = anywhere ? order[k] : k, below = s->in_bytes ? -s->types[b]->offset : 0;
        unit = s->in_bytes ? s->types[b]->extent : 1;
        end += anywhere ? draw(&alone, 3) * unit : 0;
        s->displs[b] = end + below; /* data of another type would lie there */
        end += s->counts[b] * unit;
    }
    unit = s->in_bytes || s->blocks == 0 ? 1 : s->types[0]->extent;
    s->bytes = 2 * MARGIN + (size_t)end * (size_t)unit;
}

static void make_sides(struct operation *o, int variant)
{
    int n = o->group->peers;
    o->out.blocks = o->kind == BARRIER || o->kind == BCAST ? 0 : shape_of(o)->many_out ? n : 1;
    o->in.blocks = o->kind == BARRIER ? 0 : shape_of(o)->many_in ? n : 1;
    set_counts(o, &o->out);
    set_counts(o, &o->in);
    if (shape_of(o)->reduces && shape_of(o)->many_out)
        set_results(o);
    for (int k = 0; k < 2; k++) {
        struct side *s = k ? &o->in : &o->out;
        draw_types(o, s, variant);
        lay_out(o, s);
    }
    if (shape_of(o)->reduces && o->in.bytes < o->out.bytes) /* in place, the input lies there */
        o->in.bytes = o->out.bytes;
    for (int k = 0; k < 2; k++) {
        struct side *s = k ? &o->in : &o->out;
        s->memory = malloc(s->bytes);
        s->image = malloc(s->bytes);
        CHECK(s->memory && s->image);
    }
}

static void free_sides(struct operation *o)
{
    free(o->out.memory);
    free(o->out.image);
    free(o->in.memory);
    free(o->in.image);
}

static void draw_operation(struct operation *o, int id)
{
    memset(o, 0, sizeof *o);
    o->id = id;
    o->kind = (enum kind)draw(&together, KINDS);
    o->form = (enum form)draw(&together, FORMS);
    o->group = &groups[draw(&together, ngroups)];
    if (o->group->inter && (o->kind == SCAN || o->kind == EXSCAN))
        o->kind = o->kind == SCAN ? ALLREDUCE : REDUCE;
    o->family = draw(&together, FAMILIES);
    o->root_color = draw(&together, 2);
    bool near = !o->group->inter || o->root_color == o->group->color;
    o->root = draw(&together, 1 << 20) % (near ? o->group->size : o->group->peers);
    o->turns = 1 + draw(&together, MOST_TURNS);
    o->turns = o->form == PERSISTENT ? o->turns : 1;
    o->reduction = draw(&together, COMPOSE);
    o->reduction = o->family == PAIR ? COMPOSE : o->reduction;
    int variant = draw(&together, VARIANTS); /* of reductions */
    variant = o->family == PAIR ? variant : DENSE;
    bool in_place = draw(&together, 2) && !o->group->inter;
    bool rooted = shape_of(o)->root != NO_ROOT;
    in_place = in_place || o->kind == BCAST; /* whose one buffer holds input and result */
    o->in_place = o->kind != BARRIER && in_place && (!rooted || is_root(o));
    o->count = draw_count(o);
    o->other_count = draw_count(o);
    make_sides(o, variant);
}

/* ---- calls ---- */

#define IN_FORM(name, iname, ...)                                                              \
    (o->form == BLOCKING      ? MPI_##name(__VA_ARGS__, comm)                                  \
     : o->form == NONBLOCKING ? MPI_##iname(__VA_ARGS__, comm, request)                        \
                              : MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request))

/* What this rank says of the root. */
static int root_said(const struct operation *o)
{
    if (!o->group->inter || o->group->color != o->root_color)
        return o->root;
    return is_root(o) ? MPI_ROOT : MPI_PROC_NULL;
}

static int call_reduction(const struct operation *o, void *s, void *r, MPI_Request *request)
{
    MPI_Comm comm = o->group->comm;
    MPI_Datatype type = o->in.handles[0];
    MPI_Op op = reductions[o->reduction].handle;
    switch (o->kind) {
    case REDUCE:
        return IN_FORM(Reduce, Ireduce, s, r, o->count, type, op, root_said(o));
    case ALLREDUCE:
        return IN_FORM(Allreduce, Iallreduce, s, r, o->count, type, op);
    case SCAN:
        return IN_FORM(Scan, Iscan, s, r, o->count, type, op);
    case EXSCAN:
        return IN_FORM(Exscan, Iexscan, s, r, o->count, type, op);
    case REDUCE_SCATTER_BLOCK:
        return IN_FORM(Reduce_scatter_block, Ireduce_scatter_block, s, r, *o->results, type,
                       op);
    default:
        return IN_FORM(Reduce_scatter, Ireduce_scatter, s, r, o->results, type, op);
    }
}

static int call_even(const struct operation *o, void *s, void *r, MPI_Request *request)
{
    MPI_Comm comm = o->group->comm;
    MPI_Datatype st = o->out.handles[0], rt = o->in.handles[0];
    int sn = count_from(o, o->group->color), rn = count_from(o, o->group->far_color);
    int root = root_said(o);
    switch (o->kind) {
    case BCAST:
        return IN_FORM(Bcast, Ibcast, r, is_root(o) ? sn : rn, rt, root);
    case GATHER:
        return IN_FORM(Gather, Igather, s, sn, st, r, rn, rt, root);
    case SCATTER:
        return IN_FORM(Scatter, Iscatter, s, sn, st, r, rn, rt, root);
    case ALLGATHER:
        return IN_FORM(Allgather, Iallgather, s, sn, st, r, rn, rt);
    default:
        return IN_FORM(Alltoall, Ialltoall, s, sn, st, r, rn, rt);
    }
}

static int call_uneven(const struct operation *o, void *s, void *r, MPI_Request *request)
{
    MPI_Comm comm = o->group->comm;
    const MPI_Datatype *st = o->out.handles, *rt = o->in.handles;
    const int *sn = o->out.counts, *sd = o->out.displs, *rn = o->in.counts, *rd = o->in.displs;
    int root = root_said(o);
    switch (o->kind) {
    case GATHERV:
        return IN_FORM(Gatherv, Igatherv, s, *sn, *st, r, rn, rd, *rt, root);
    case SCATTERV:
        return IN_FORM(Scatterv, Iscatterv, s, sn, sd, *st, r, *rn, *rt, root);
    case ALLGATHERV:
        return IN_FORM(Allgatherv, Iallgatherv, s, *sn, *st, r, rn, rd, *rt);
    case ALLTOALLV:
        return IN_FORM(Alltoallv, Ialltoallv, s, sn, sd, *st, r, rn, rd, *rt);
    default:
        return IN_FORM(Alltoallw, Ialltoallw, s, sn, sd, st, r, rn, rd, rt);
    }
}

static int call_barrier(const struct operation *o, MPI_Request *request)
{
    MPI_Comm comm = o->group->comm;
    if (o->form == BLOCKING)
        return MPI_Barrier(comm);
    return o->form == NONBLOCKING ? MPI_Ibarrier(comm, request)
                                  : MPI_Barrier_init(comm, MPI_INFO_NULL, request);
}

static int call(const struct operation *o, MPI_Request *request)
{
    void *s = o->out.memory + MARGIN, *r = o->in.memory + MARGIN;
    if (o->in_place && (o->kind == SCATTER || o->kind == SCATTERV))
        r = MPI_IN_PLACE;
    else if (o->in_place)
        s = MPI_IN_PLACE;
    if (o->kind == BARRIER)
        return call_barrier(o, request);
    if (shape_of(o)->reduces)
        return call_reduction(o, s, r, request);
    return shape_of(o)->uneven ? call_uneven(o, s, r, request) : call_even(o, s, r, request);
}

/* ---- rounds: some operations that fly together ---- */

static struct operation operations[MOST_FLYING];
static MPI_Request requests[MOST_FLYING];
static int flying;

static void begin(int k, int turn)
{
    struct operation *o = &operations[k];
    o->turn = turn;
    fill(o);
    if (turn == 0 && call(o, &requests[k]) != MPI_SUCCESS)
        give_up(o, "the call returns an error");
    if (o->form == PERSISTENT && MPI_Start(&requests[k]) != MPI_SUCCESS)
        give_up(o, "MPI_Start returns an error");
    o->running = true;
    if (o->form == BLOCKING)
        verify(o);
}

/* Of a call that completes one operation or another: all that it may be about. */
static void must(bool good, const char *what)
{
    for (int k = 0; k < flying && !good; k++)
        describe(&operations[k], what);
    if (!good)
        check_failed(__FILE__, __LINE__, "operations above do what they should");
}

static bool any_running(void)
{
    bool any = false;
    for (int k = 0; k < flying; k++)
        any |= operations[k].running;
    return any;
}

/* In any order, by one function or another; each buffer is looked at as soon as it may be. */
static void complete(void)
{
    int order[MOST_FLYING], how = draw(&alone, 3), at, done = 0, rc;
    shuffle(&alone, order, flying);
    for (int i = 0; i < flying && how == 0; i++)
        if (operations[order[i]].running) {
            rc = MPI_Wait(&requests[order[i]], MPI_STATUS_IGNORE);
            must(rc == MPI_SUCCESS, "MPI_Wait returns an error");
            verify(&operations[order[i]]);
        }
    while (how == 1 && any_running()) {
        rc = MPI_Testany(flying, requests, &at, &done, MPI_STATUS_IGNORE);
        must(rc == MPI_SUCCESS, "MPI_Testany returns an error");
        must(!done || (at >= 0 && at < flying && operations[at].running),
             "MPI_Testany completes what was not running");
        if (done)
            verify(&operations[at]);
    }
    if (how == 2)
        must(MPI_Waitall(flying, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS,
             "MPI_Waitall returns an error");
    for (int k = 0; k < flying; k++)
        if (operations[k].running)
            verify(&operations[k]);
}

static void play_round(int round)
{
    int order[MOST_FLYING];
    flying = 1 + draw(&together, MOST_FLYING);
    for (int k = 0; k < flying; k++) {
        draw_operation(&operations[k], round * MOST_FLYING + k);
        requests[k] = MPI_REQUEST_NULL;
        order[k] = k;
    }
    for (int turn = 0; turn < MOST_TURNS; turn++) {
        for (int i = 0; i < flying; i++)
            if (turn < operations[order[i]].turns)
                begin(order[i], turn);
        complete();
        shuffle(&alone, order, flying); /* persistent ones may be started in any order */
    }
    for (int k = 0; k < flying; k++) {
        if (requests[k] != MPI_REQUEST_NULL)
            CHECK_OK(MPI_Request_free(&requests[k]));
        free_sides(&operations[k]);
    }
}

static void play(void)
{
    CHECK(max_count <= 1000000);
    seed_chance(seed);
    for (int round = 0; round < rounds; round++)
        play_round(round);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    CHECK(world_size() <= MOST_RANKS);
    make_types();
    make_reductions();
    make_groups();
    rounds = ROUNDS;
    max_count = MAX_COUNT;
    play_seeds(argc, argv, (struct game){ &seed, &rounds, &max_count, SEEDS, play });
    free_all();
    return check_done();
}
