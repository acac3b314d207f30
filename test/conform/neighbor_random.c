/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random collectives between neighbours, several in flight at a time, every byte looked at.
 *
 * Topologies are drawn: grids of up to three dimensions, of which some wrap round and some have one
 * process or two (whose neighbours on both sides are the same one); graphs with parallel edges and edges
 * to oneself; distributed graphs, also with ranks that have no neighbours.  Drawn are, too, the collective
 * and its form, the lengths, where blocks lie and their datatypes, which differ at the two ends, and in
 * which order and by which function each rank completes what it began.
 *
 *     neighbor_random SEED ROUNDS MAXUNITS
 */
#include "topologies.h"

enum { SEEDS = 4, ROUNDS = 12, MAX_UNITS = 3000 };
enum { MOST_FLYING = 6, MOST_TURNS = 3, SHAPES = 3, BATCHES = 4 };
enum what { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, WHATS };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static int seed, rounds, max_units, me, n, next_id;

static struct shape shapes[2 * SHAPES]; /* each with a duplicate */

static void draw_shapes(void)
{
    for (int k = 0; k < SHAPES; k++) {
        struct shape *s = &shapes[2 * k];
        int kind = draw(&together, 5), reorder = one_in(&together, 4);
        memset(s, 0, 2 * sizeof *s);
        if (kind < 2)
            draw_grid(s, reorder);
        else if (kind == 2)
            draw_graph(s, reorder);
        else if (kind == 3)
            draw_adjacent(s, reorder);
        else
            draw_contributed(s, reorder);
        if (s->comm == MPI_COMM_NULL) {
            s[1].comm = MPI_COMM_NULL;
            continue;
        }
        learn(s);
        s[1] = s[0];
        CHECK_OK(MPI_Comm_dup(s->comm, &s[1].comm));
        for (int d = 0; d < 2; d++)
            CHECK_OK(MPI_Comm_set_errhandler(s[d].comm, MPI_ERRORS_RETURN));
    }
}

/* ---- operations ---- */

struct side {
    int counts[MOST_EDGES], displs[MOST_EDGES];
    MPI_Aint bytes[MOST_EDGES];
    MPI_Datatype types[MOST_EDGES];
    bool comes[MOST_EDGES]; /* is there somebody? */
    struct buffer data;
};

static struct operation {
    int id, turn, turns, base, units;
    enum what what;
    enum form form;
    const struct shape *shape;
    bool whole, running; /* whole: all lengths are elements of all layouts */
    struct side out, in;
} operations[MOST_FLYING];
static MPI_Request requests[MOST_FLYING];
static int flying;

static bool uneven(const struct operation *o)
{
    return o->what == ALLGATHERV || o->what >= ALLTOALLV;
}

static bool gathers(const struct operation *o)
{
    return o->what == ALLGATHER || o->what == ALLGATHERV;
}

static void print_side(const char *name, const struct side *s, const struct list *l)
{
    fprintf(stderr, "  %s:", name);
    for (int b = 0; b < s->data.n; b++)
        fprintf(stderr, " %d %s at %ld (%d);", s->counts[b], s->data.blocks[b].layout->name,
                s->data.blocks[b].at, b < l->n ? l->peer[b] : -1);
    fprintf(stderr, "\n");
}

static void must(bool good, const struct operation *o, const char *what)
{
    static const char *const forms[] = { "blocking", "nonblocking", "persistent" };
    static const char *const names[] = { "allgather", "allgatherv", "alltoall", "alltoallv",
                                         "alltoallw" };
    if (good)
        return;
    fprintf(stderr,
            "neighbor_random %d %d %d, rank %d of %d: %s\n  operation %d: %s neighbor_%s, "
            "start %d of %d, on %s, units of %d bytes\n",
            seed, rounds, max_units, me, n, what, o->id, forms[o->form], names[o->what],
            o->turn + 1, o->turns, o->shape->name, base_bytes[o->base]);
    print_side("sends", &o->out, &o->shape->out);
    print_side("receives", &o->in, &o->shape->in);
    check_failed(__FILE__, __LINE__, "the operation above does what it should");
}

/* Units in what a rank sends as this block. */
static long units_of(const struct operation *o, int rank, int block)
{
    if (!uneven(o))
        return o->units;
    uint64_t x = key_of((uint64_t)o->id, (uint64_t)rank, gathers(o) ? 0 : (uint64_t)block, 9);
    if (x % 5 == 0)
        return 0;
    return o->whole ? (long)(x >> 8) % (o->units / GRAIN + 1) * GRAIN
                    : (long)((x >> 8) % (uint64_t)(o->units + 1));
}

/* Blocks one after the other or, where the call takes displacements, in any order and with gaps. */
static void lay_out(const struct operation *o, struct side *s)
{
    bool anywhere = uneven(o) && s->data.n > 1;
    int order[MOST_EDGES], bytes = base_bytes[o->base];
    long end = 0;
    shuffle(&alone, order, s->data.n);
    for (int k = 0; k < s->data.n; k++) {
        int b = anywhere ? order[k] : k;
        struct block *block = &s->data.blocks[b];
        long extent = block->layout->extent * bytes, low, high;
        if (o->what == ALLTOALLW) {
            span(block, &low, &high);
            block->at = end + draw(&alone, 3) * bytes - low;
            end = high + block->at;
        } else {
            block->at = end + (anywhere ? draw(&alone, 3) * extent : 0);
            end = block->at + s->counts[b] * extent;
        }
        s->bytes[b] = block->at;
        s->displs[b] = (int)(block->at / extent);
    }
}

static void make_side(const struct operation *o, struct side *s, int blocks, const long *units)
{
    const struct layout *l = draw_layout(&alone, o->whole ? 0 : 1);
    s->data.n = blocks;
    s->types[0] = l->types[o->base]; /* a side without blocks has a type all the same */
    for (int b = 0; b < blocks; b++) {
        if (o->what == ALLTOALLW)
            l = draw_layout(&alone, o->whole ? 0 : 1);
        s->counts[b] = (int)(units[b] / l->units);
        s->data.blocks[b] = (struct block){ l, o->base, s->counts[b], 0 };
        s->types[b] = l->types[o->base];
    }
    lay_out(o, s);
    buffer_open(&s->data);
}

static void draw_operation(struct operation *o)
{
    long units[MOST_EDGES + 1];
    int how = draw(&together, 5), many = draw(&together, max_units), few = draw(&together, 20);
    memset(o, 0, sizeof *o);
    o->id = next_id++;
    o->what = (enum what)draw(&together, WHATS);
    o->form = (enum form)draw(&together, FORMS);
    o->shape = &shapes[draw(&together, 2 * SHAPES)];
    o->base = draw(&together, BASES);
    o->turns = 1 + draw(&together, MOST_TURNS);
    o->turns = o->form == PERSISTENT ? o->turns : 1;
    o->whole = draw(&together, 2);
    o->units = how == 0 ? 0 : how == 1 ? many : few;
    o->units = o->whole ? (o->units + GRAIN - 1) / GRAIN * GRAIN : o->units;
    if (o->shape->comm == MPI_COMM_NULL)
        return;
    const struct shape *s = o->shape;
    int nout = gathers(o) ? 1 : s->out.n;
    for (int b = 0; b < nout; b++)
        units[b] = units_of(o, s->rank, b);
    make_side(o, &o->out, nout, units);
    for (int b = 0; b < s->in.n; b++) {
        o->in.comes[b] = s->in.peer[b] != MPI_PROC_NULL;
        units[b] = o->in.comes[b] ? units_of(o, s->in.peer[b], s->origin[b]) : o->units;
    }
    make_side(o, &o->in, s->in.n, units);
}

static uint64_t block_key(const struct operation *o, int rank, int block)
{
    return key_of((uint64_t)(o->id * MOST_TURNS + o->turn), (uint64_t)rank,
                  gathers(o) ? 0 : (uint64_t)block, (uint64_t)seed);
}

static void fill(struct operation *o)
{
    buffer_blank(&o->out.data);
    buffer_blank(&o->in.data);
    for (int b = 0; b < o->out.data.n; b++)
        buffer_put(&o->out.data, b, block_key(o, o->shape->rank, b), 0,
                   units_in(&o->out.data.blocks[b]), true);
}

static void verify(struct operation *o)
{
    char what[200], said[300];
    const struct shape *s = o->shape;
    o->running = false;
    for (int b = 0; b < o->in.data.n; b++)
        if (o->in.comes[b])
            buffer_put(&o->in.data, b, block_key(o, s->in.peer[b], s->origin[b]), 0,
                       units_in(&o->in.data.blocks[b]), false);
    for (int k = 0; k < 2; k++)
        if (!buffer_good(k ? &o->out.data : &o->in.data, what, sizeof what)) {
            snprintf(said, sizeof said, "%s: %s", k ? "sends" : "receives", what);
            must(false, o, said);
        }
}

/* ---- calls ---- */

#define IN_FORM(name, ...)                                                                     \
    (o->form == BLOCKING ? MPI_Neighbor_##name(__VA_ARGS__, comm)                              \
     : o->form == NONBLOCKING                                                                  \
         ? MPI_Ineighbor_##name(__VA_ARGS__, comm, request)                                    \
         : MPI_Neighbor_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request))

static int call(struct operation *o, MPI_Request *request)
{
    MPI_Comm comm = o->shape->comm;
    void *s = o->out.data.start, *r = o->in.data.start;
    const int *sn = o->out.counts, *sd = o->out.displs, *rn = o->in.counts, *rd = o->in.displs;
    const MPI_Datatype *st = o->out.types, *rt = o->in.types;
    switch (o->what) {
    case ALLGATHER:
        return IN_FORM(allgather, s, *sn, *st, r, *rn, *rt);
    case ALLGATHERV:
        return IN_FORM(allgatherv, s, *sn, *st, r, rn, rd, *rt);
    case ALLTOALL:
        return IN_FORM(alltoall, s, *sn, *st, r, *rn, *rt);
    case ALLTOALLV:
        return IN_FORM(alltoallv, s, sn, sd, *st, r, rn, rd, *rt);
    default:
        return IN_FORM(alltoallw, s, sn, o->out.bytes, st, r, rn, o->in.bytes, rt);
    }
}

static void begin(int k, int turn)
{
    struct operation *o = &operations[k];
    o->turn = turn;
    if (o->shape->comm == MPI_COMM_NULL)
        return;
    fill(o);
    must(turn || !call(o, &requests[k]), o, "the call returns an error");
    must(o->form != PERSISTENT || !MPI_Start(&requests[k]), o, "MPI_Start returns an error");
    o->running = true;
    if (o->form == BLOCKING)
        verify(o);
}

static bool any_running(void)
{
    for (int k = 0; k < flying; k++)
        if (operations[k].running)
            return true;
    return false;
}

/* In any order, by one function or another; each buffer is looked at as soon as it may be. */
static void complete(void)
{
    int order[MOST_FLYING], how = draw(&alone, 3), at, done = 0;
    shuffle(&alone, order, flying);
    for (int i = 0; i < flying && how == 0; i++)
        if (operations[order[i]].running) {
            must(!MPI_Wait(&requests[order[i]], MPI_STATUS_IGNORE), &operations[order[i]],
                 "MPI_Wait returns an error");
            verify(&operations[order[i]]);
        }
    while (how == 1 && any_running()) {
        must(!MPI_Testany(flying, requests, &at, &done, MPI_STATUS_IGNORE), &operations[0],
             "MPI_Testany returns an error");
        if (done)
            must(at >= 0 && operations[at].running, &operations[0],
                 "MPI_Testany completes another one");
        if (done)
            verify(&operations[at]);
    }
    if (how == 2)
        must(!MPI_Waitall(flying, requests, MPI_STATUSES_IGNORE), &operations[0],
             "MPI_Waitall returns an error");
    for (int k = 0; k < flying; k++)
        if (operations[k].running)
            verify(&operations[k]);
}

static void play_batch(void)
{
    int order[MOST_FLYING];
    flying = 1 + draw(&together, MOST_FLYING);
    for (int k = 0; k < flying; k++) {
        draw_operation(&operations[k]);
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
        buffer_close(&operations[k].out.data);
        buffer_close(&operations[k].in.data);
    }
}

static void play(void)
{
    seed_chance(seed);
    for (int round = 0; round < rounds; round++) {
        draw_shapes();
        for (int b = 0; b < BATCHES; b++)
            play_batch();
        for (int k = 0; k < 2 * SHAPES; k++)
            if (shapes[k].comm != MPI_COMM_NULL)
                CHECK_OK(MPI_Comm_free(&shapes[k].comm));
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    CHECK(n <= RANKS);
    make_layouts();
    rounds = ROUNDS;
    max_units = MAX_UNITS;
    play_seeds(argc, argv, (struct game){ &seed, &rounds, &max_units, SEEDS, play });
    free_layouts();
    return check_done();
}
