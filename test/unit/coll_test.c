/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives with data: several processes, every algorithm, random counts, types, roots and
 * operations, blocking, nonblocking and persistent, in place and not, within one group and
 * between two.  All ranks draw the same random numbers, so each knows what it must receive.
 *
 * Results are compared as whole memory images: gaps of types, the space between blocks and
 * before and behind the buffer must be untouched.
 */
#include "coll/choose.h"
#include "coll/coll.h"
#include "coll/forced.h"
#include "coll/roll.h"
#include "coll/tiny.h"
#include "mpi.h"
#include "pml/pml.h"
#include "runtime/clock.h"
#include "runtime/fail.h"

#include "test/plan/spots.h"
#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

/* ---- random numbers that all ranks share, and data that follows from them ---- */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((state >> 33) % below);
}

static uint32_t value(int from, int to, int i)
{
    uint64_t x = state + (uint64_t)from * 0x9e3779b97f4a7c15ull + (uint64_t)to * 1000003u +
                 (uint64_t)i * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 29)) * 0x94d049bb133111ebull;
    return (uint32_t)(x >> 32);
}

/* ---- types: each is some 32-bit integers ---- */

#ifdef __SANITIZE_ADDRESS__
enum { MIXTURES = 2 }; /* of each algorithm; ten times slower */
#else
enum { MIXTURES = 6 };
#endif
enum { TYPES = 4, MOST = 16, MARGIN = 256 };
static struct {
    const struct layout *layout;
    int ints;
} types[TYPES];

static struct layout *affine_layout; /* two integers and a gap */

static void make_types(void)
{
    const struct layout *one = layout_basic(BASIC_UINT32, 4, 4);
    const struct layout *gapped = layout_vector(2, 1, 12, one);
    size_t lengths[] = { 1, 1 };
    ptrdiff_t offsets[] = { 4, -8 };
    const struct layout *backward = layout_blocks(2, lengths, offsets, &one, true);
    types[0].layout = one;
    types[1].layout = layout_contiguous(3, one);
    types[2].layout = layout_resized(gapped, 0, 20);
    types[3].layout = layout_resized(backward, -8, 24);
    types[0].ints = 1;
    types[1].ints = 3;
    types[2].ints = types[3].ints = 2;
    affine_layout = layout_resized(layout_contiguous(2, one), -4, 16);
}

/* x -> a x + b, composed: associative, does not commute. */
static void compose(const struct reduction *r, const void *in, void *inout, size_t count)
{
    (void)r;
    for (size_t i = 0; i < count; i++) {
        const uint32_t *f = (const void *)((const char *)in + 16 * i);
        uint32_t *g = (void *)((char *)inout + 16 * i);
        uint32_t a = f[0] * g[0], b = f[0] * g[1] + f[1];
        g[0] = a;
        g[1] = b;
    }
}

/* ---- a buffer of blocks, and what it should look like ---- */

struct vec {
    int n;
    int counts[MOST], displs[MOST]; /* elements; displs are bytes with `each` */
    const struct layout *layout;
    const struct layout *each[MOST];
    bool varied, typed;
    char *raw, *image, *base;
    size_t bytes;
};

static struct buffer vec_block(const struct vec *v, int i)
{
    const struct layout *l = v->typed ? v->each[i] : v->layout;
    ptrdiff_t at = v->typed ? v->displs[i] : v->displs[i] * l->extent;
    return (struct buffer){ v->base + at, (size_t)v->counts[i], l, HERE };
}

/* Blocks of ints[i] integers.  `varied`: gaps between them, last block first. */
static void vec_make(struct vec *v, int n, const int *ints, int type, bool varied, bool typed)
{
    *v = (struct vec){ .n = n, .layout = types[type].layout, .varied = varied, .typed = typed };
    int at = 0;
    for (int k = 0; k < n; k++) {
        int i = varied ? n - 1 - k : k;
        int mine = typed ? (type + i) % TYPES : type;
        const struct layout *l = v->each[i] = types[mine].layout;
        v->counts[i] = ints[i] / types[mine].ints;
        v->displs[i] = at;
        at += typed ? v->counts[i] * (int)l->extent + 32 : v->counts[i] + (varied && k % 2);
    }
    v->bytes = 2 * MARGIN + (size_t)at * (typed ? 1 : 24);
    v->raw = malloc(v->bytes);
    v->image = malloc(v->bytes);
    v->base = v->raw + MARGIN;
    memset(v->raw, 0xa5, v->bytes);
    memset(v->image, 0xa5, v->bytes);
}

static void vec_free(struct vec *v)
{
    free(v->raw);
    free(v->image);
}

/* Put the data of a message into block i, of the buffer or of its image. */
static void vec_put(struct vec *v, int i, int from, int to, bool image)
{
    struct buffer block = vec_block(v, i);
    size_t n = buffer_bytes(&block) / 4;
    uint32_t *flat = malloc(4 * n + 4);
    for (size_t k = 0; k < n; k++)
        flat[k] = value(from, to, (int)k);
    if (image)
        block.base = (char *)block.base + (v->image - v->raw);
    buffer_unpack(&block, 0, flat, 4 * n);
    free(flat);
}

static struct part vec_part(const struct vec *v)
{
    struct part part = { .base = v->base, .layout = v->layout, .count = (size_t)v->counts[0] };
    if (v->varied || v->typed) {
        part.vector = true;
        part.counts.narrow = v->counts;
        part.displs.narrow = v->displs;
        part.count = 12345;
    }
    if (v->typed) {
        part.layouts = v->each;
        part.layout = NULL;
    }
    return part;
}

/* ---- performing and comparing ---- */

struct scene {
    struct team *team;
    int me, n;           /* on the team */
    int near, far, nfar; /* first rank of my group, of the other one; its size */
    int nnear;
    const char *what;
    enum mode mode;
};

static void broken(const struct scene *s, const char *text)
{
    fprintf(stderr, "rank %d of %d (split %d, mode %d): %s: %s\n", s->me, s->n, s->team->split,
            (int)s->mode, s->what, text);
    _exit(20);
}

static void expect_image(const struct scene *s, const struct vec *v)
{
    for (size_t i = 0; i < v->bytes; i++)
        if (v->raw[i] != v->image[i]) {
            char text[100];
            snprintf(text, sizeof(text), "byte %ld of the buffer is %02x instead of %02x",
                     (long)i - MARGIN, (unsigned char)v->raw[i], (unsigned char)v->image[i]);
            broken(s, text);
        }
}

static void perform(const struct scene *s, const struct call *call)
{
    struct request *request;
    int error;
    if (s->mode == BLOCKING)
        error = coll_run(s->team, call);
    else if (s->mode == NONBLOCKING)
        error = coll_start(s->team, call, &request);
    else
        error = coll_init(s->team, call, &request);
    if (error)
        broken(s, fail_text());
    int starts = s->mode == PERSISTENT;
    bool exchanges = call->what >= COLL_ALLTOALL && call->what <= COLL_ALLTOALLW;
    if (starts && !is_reduction(call->what) && !(exchanges && call->in_place))
        starts = 2; /* of which the second changes nothing */
    for (int i = 0; i < starts && !error; i++) {
        error = request->ops->start(request);
        if (!error && i + 1 < starts)
            error = request_wait(request, NULL);
    }
    if (s->mode != BLOCKING && !error)
        error = request_wait(request, NULL);
    if (error)
        broken(s, fail_text());
    if (s->mode == PERSISTENT)
        request->ops->release(request);
}

/* Force an algorithm if it can serve this call; all ranks find alike. */
static void force(const struct scene *s, const struct call *call, const char *text)
{
    struct choice choice;
    forced_read(text);
    if (choose(s->team, call, s->mode, &choice)) {
        forced_read("");
        fail_clear();
    }
}

/* ---- moving ---- */

struct pattern { /* who sends to whom how much */
    enum collective what;
    int root, base; /* team rank; sixfold integers */
    bool varied, in_place;
};

static int message_ints(const struct pattern *p, int from, int to)
{
    if (!p->varied)
        return 6 * p->base;
    if (p->what == COLL_ALLTOALLV || p->what == COLL_ALLTOALLW) /* symmetric, for in place */
        return 6 * ((from * to + from + to + p->base) % 4);
    int block = p->what == COLL_SCATTERV ? to : from;
    return 6 * ((block * 5 + p->base) % 4);
}

static bool moves_from_root(enum collective what)
{
    return what == COLL_BCAST || what == COLL_SCATTER || what == COLL_SCATTERV;
}

static bool moves_to_root(enum collective what)
{
    return what == COLL_GATHER || what == COLL_GATHERV;
}

static bool is_all(enum collective what)
{
    return what >= COLL_ALLGATHER && what <= COLL_ALLTOALLW;
}

/* What identifies the data of a message: to whom it goes matters only if that differs. */
static int addressee(enum collective what, int to)
{
    return what == COLL_BCAST || moves_to_root(what) || what == COLL_ALLGATHER ||
                   what == COLL_ALLGATHERV
               ? 0
               : to;
}

/* What rank s->me has to do with a call that moves data. */
struct role {
    bool root, gives, takes, bystander;
    bool many_out, many_in; /* a block per peer */
    bool here;              /* in place */
};

static struct role role_of(const struct scene *s, const struct pattern *p)
{
    enum collective what = p->what;
    struct role r = { .root = s->me == p->root };
    bool inter = s->team->split > 0, near = p->root >= s->near && p->root < s->near + s->nnear;
    r.bystander = inter && !is_all(what) && near && !r.root;
    r.takes = moves_to_root(what) ? r.root : is_all(what) || !inter || !r.root;
    r.gives = moves_from_root(what) ? r.root : is_all(what) || !inter || !r.root;
    r.takes = r.takes && !r.bystander;
    r.gives = r.gives && !r.bystander;
    r.many_out = what == COLL_SCATTER || what == COLL_SCATTERV || what >= COLL_ALLTOALL;
    r.many_in = moves_to_root(what) || is_all(what);
    r.here = p->in_place && (is_all(what) || r.root);
    return r;
}

/* The buffer with a block per peer, or with one for or from the root. */
static void make_side(const struct scene *s, const struct pattern *p, bool out, bool many,
                      int type, struct vec *v)
{
    int sizes[MOST], peers = many ? s->nfar : 1;
    for (int i = 0; i < peers; i++) {
        int peer = many ? s->far + i : p->root;
        sizes[i] = out ? message_ints(p, s->me, peer) : message_ints(p, peer, s->me);
    }
    vec_make(v, peers, sizes, type, many && p->varied, many && p->what == COLL_ALLTOALLW);
}

static void fill_sides(const struct scene *s, const struct pattern *p, const struct role *r,
                       struct vec *send, struct vec *recv)
{
    enum collective what = p->what;
    for (int i = 0; i < send->n; i++) {
        int to = addressee(what, r->many_out ? s->far + i : 0);
        vec_put(send, i, s->me, to, false);
        vec_put(send, i, s->me, to, true);
    }
    for (int i = 0; i < recv->n; i++) {
        int from = r->many_in ? s->far + i : p->root;
        bool ignored = r->here && moves_from_root(what) && what != COLL_BCAST;
        bool given = r->here && (what >= COLL_ALLTOALL || from == s->me);
        if (!ignored)
            vec_put(recv, i, from, addressee(what, s->me), true);
        if ((given && r->many_in) || (what == COLL_BCAST && r->root))
            vec_put(recv, i, s->me, addressee(what, from), false);
    }
}

static void move(const struct scene *s, const struct pattern *p, const char *algorithm)
{
    enum collective what = p->what;
    struct role r = role_of(s, p);
    struct vec send = { .n = 0 }, recv = { .n = 0 };
    int mine = ((int)draw(TYPES) + s->me) % TYPES;
    if (r.gives)
        make_side(s, p, true, r.many_out, mine, &send);
    if (r.takes)
        make_side(s, p, false, r.many_in, (mine + 1) % TYPES, &recv);
    fill_sides(s, p, &r, &send, &recv);
    struct call call = { .what = what, .root = p->root, .in_place = r.here };
    if (s->team->split && !is_all(what))
        call.root = r.root ? MPI_ROOT : r.bystander ? MPI_PROC_NULL : p->root - s->far;
    bool bcast = what == COLL_BCAST;
    if (bcast && r.root)
        call.recv = vec_part(s->team->split ? &send : &recv);
    else if (r.takes && !(r.here && moves_from_root(what)))
        call.recv = vec_part(&recv);
    if (r.gives && !bcast && !(r.here && !moves_from_root(what)))
        call.send = vec_part(&send);
    if (algorithm)
        force(s, &call, algorithm);
    perform(s, &call);
    if (send.n)
        expect_image(s, &send);
    if (recv.n)
        expect_image(s, &recv);
    vec_free(&send);
    vec_free(&recv);
}

/* ---- reducing ---- */

static struct reduction sum_of_ints(void)
{
    return (struct reduction){ .commutes = true,
                               .layout = types[0].layout,
                               .kernel = reduce_find(REDUCE_SUM, BASIC_UINT32) };
}

static struct reduction composition(void)
{
    return (struct reduction){ .commutes = false, .layout = affine_layout, .user = compose };
}

static void put_operand(const struct reduction *op, void *base, int from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *x = (uint32_t *)((char *)base + (ptrdiff_t)i * op->layout->extent);
        for (size_t k = 0; k < op->layout->size / 4; k++)
            x[k] = value(from, (int)k, (int)i);
    }
}

/* result = operands of ranks first .. first + n - 1, elements skip .. skip + count - 1 */
static void put_result(const struct reduction *op, void *base, int first, int n, size_t skip,
                       size_t count)
{
    size_t ints = op->layout->size / 4;
    for (size_t i = 0; i < count; i++) {
        uint32_t sum[4] = { 0 }, next[4] = { 0 };
        for (int r = first; r < first + n; r++) {
            for (size_t k = 0; k < ints; k++)
                next[k] = value(r, (int)k, (int)(skip + i));
            if (r == first)
                memcpy(sum, next, sizeof(sum));
            else if (op->user)
                sum[1] = sum[0] * next[1] + sum[1], sum[0] *= next[0];
            else
                sum[0] += next[0];
        }
        memcpy((char *)base + (ptrdiff_t)i * op->layout->extent, sum, 4 * ints);
    }
}

struct operand {
    char *raw, *image, *base;
    size_t bytes;
};

static struct operand operand_make(size_t count)
{
    struct operand o = { .bytes = count * 16 + 2 * MARGIN };
    o.raw = memset(malloc(o.bytes), 0xa5, o.bytes);
    o.image = memset(malloc(o.bytes), 0xa5, o.bytes);
    o.base = o.raw + MARGIN;
    return o;
}

static void operand_check(const struct scene *s, struct operand *o, bool ignore)
{
    struct vec v = { .raw = o->raw, .image = o->image, .bytes = o->bytes };
    if (!ignore)
        expect_image(s, &v);
    free(o->raw);
    free(o->image);
}

static void fold(const struct scene *s, enum collective what, const struct reduction *op,
                 int root, size_t base, bool in_place, const char *algorithm)
{
    bool inter = s->team->split > 0,
         scatters = what == COLL_REDUCE_SCATTER || what == COLL_REDUCE_SCATTER_BLOCK;
    bool is_root = s->me == root, takes = what != COLL_REDUCE || is_root;
    bool near_root =
        what == COLL_REDUCE && inter && (root >= s->near && root < s->near + s->nnear);
    bool gives = !near_root, here = in_place && takes && !inter;
    int counts[MOST];
    size_t count = base, skip = 0, all = base;
    if (scatters) {
        size_t whole = base * (size_t)s->nnear * (size_t)s->nfar;
        all = 0;
        for (int i = 0; i < s->nnear; i++) {
            counts[i] = inter || what == COLL_REDUCE_SCATTER_BLOCK
                            ? (int)(whole / (size_t)s->nnear) / (inter ? 1 : s->nfar)
                            : (int)((base + 3 * (size_t)i) % 7);
            skip += s->near + i < s->me ? (size_t)counts[i] : 0;
            all += (size_t)counts[i];
        }
        count = (size_t)counts[s->me - s->near];
    }
    struct operand send = operand_make(all), recv = operand_make(all);
    put_operand(op, here ? recv.base : send.base, s->me, all);
    put_operand(op, here ? recv.image + MARGIN : send.image + MARGIN, s->me, all);
    int first = s->far, n = s->nfar;
    if (what == COLL_SCAN || what == COLL_EXSCAN)
        n = s->me + (what == COLL_SCAN);
    if (takes && n > 0)
        put_result(op, recv.image + MARGIN, first, n, skip, count);
    struct call call = { .what = what, .root = root, .in_place = here, .reduction = *op };
    call.send = (struct part){ .base = here || !gives ? NULL : send.base,
                               .layout = op->layout,
                               .count = base };
    call.recv = (struct part){ .base = takes ? recv.base : NULL,
                               .layout = op->layout,
                               .count = what == COLL_REDUCE_SCATTER_BLOCK ? count : base };
    if (what == COLL_REDUCE_SCATTER) {
        call.recv.vector = true;
        call.recv.counts.narrow = counts;
        call.recv.count = 777;
    }
    if (what == COLL_REDUCE && inter)
        call.root = is_root ? MPI_ROOT : near_root ? MPI_PROC_NULL : root - s->far;
    if (call.root == MPI_PROC_NULL && near_root)
        call.reduction.layout = call.send.layout = call.recv.layout = NULL;
    if (algorithm)
        force(s, &call, algorithm);
    perform(s, &call);
    bool leftover = here && scatters; /* behind the result the input is spoilt or not */
    if (leftover) {
        size_t from = MARGIN + count * (size_t)op->layout->extent;
        memcpy(recv.image + from, recv.raw + from, recv.bytes - from - MARGIN);
    }
    operand_check(s, &send, false);
    operand_check(s, &recv, what == COLL_EXSCAN && s->me == 0);
}

/* ---- the tests ---- */

static struct team world, plain, inter;

static void open_teams(int rank, int n)
{
    struct ranks *all = ranks_range(n, 0, 1);
    struct ticket ticket;
    static struct places spots;
    ticket_world(&ticket);
    team_open(&world, &ticket, rank, all, 0);
    spots = *spots_make(3, n);
    world.places = &spots; /* as if they were not all on one node */
    team_open(&plain, &(struct ticket){ 100, 0 }, rank, all, 0);
    if (n > 1)
        team_open(&inter, &(struct ticket){ 102, 0 }, rank, all, n / 2 + (n > 4));
    ranks_drop(all);
}

static struct scene scene_of(struct team *team, int rank, int n)
{
    bool first = rank < team->split;
    struct scene s = { .team = team, .me = rank, .n = n, .nfar = n, .nnear = n };
    if (team->split) {
        s.near = first ? 0 : team->split;
        s.far = first ? team->split : 0;
        s.nnear = first ? team->split : n - team->split;
        s.nfar = n - s.nnear;
    }
    return s;
}

static const size_t folds[] = { 0, 1, 2, 5, 11, 12, 13, 100, 700, 3000, 40000 };

static void any_call(struct scene *s, enum collective what, const char *algorithm)
{
    static char name[100];
    bool alltoallish = what == COLL_ALLTOALLV || what == COLL_ALLTOALLW;
    snprintf(name, sizeof(name), "%s", algorithm ? algorithm : collective_name(what));
    s->what = name;
    s->mode = (enum mode)draw(3);
    int root = (int)draw((uint32_t)s->n);
    bool in_place = draw(3) == 0 && !s->team->split;
    if (what >= COLL_REDUCE) {
        struct reduction op = draw(2) ? sum_of_ints() : composition();
        size_t base = folds[draw(sizeof(folds) / sizeof(*folds))];
        fold(s, what, &op, root, base, in_place, algorithm);
        return;
    }
    struct pattern p = { .what = what, .root = root, .in_place = in_place };
    static const int bases[] = { 0, 1, 2, 3, 40, 900, 5000 };
    p.base = bases[draw(7)];
    p.varied =
        alltoallish || what == COLL_GATHERV || what == COLL_SCATTERV || what == COLL_ALLGATHERV;
    if (what == COLL_BCAST)
        p.in_place = false;
    if (what == COLL_BARRIER) {
        if (algorithm)
            force(s, &(struct call){ .what = what }, algorithm);
        perform(s, &(struct call){ .what = what });
    } else {
        move(s, &p, algorithm);
    }
}

/* Every algorithm of the table, forced, a few times. */
static void each_algorithm(int rank, int n)
{
    make_types();
    open_teams(rank, n);
    state = (uint64_t)n * 77;
    for (const struct algorithm *a = algorithms; a->name; a++) {
        struct scene s = scene_of(a->inter ? &inter : &world, rank, n);
        char text[80];
        if ((a->inter && n < 2) || is_neighbourhood(a->what))
            continue; /* neighbours: test/conform/neighbor.c */
        for (int i = 0; i < MIXTURES; i++) {
            snprintf(text, sizeof(text), "%s=%s%s%s%s", collective_name(a->what), a->name,
                     algorithm_cuts(a) && i % 3 == 2 ? ":pieces=3" : "",
                     a->radix && i % 2 == 1 ? ":radix=3" : "",
                     a->program && i % 4 >= 2 ? ":throttle=2" : "");
            any_call(&s, a->what, a->inter ? NULL : text);
        }
    }
    forced_read("");
}

/* Whatever the rules choose, on all teams, mixed. */
static void any_mixture(int rank, int n)
{
    make_types();
    open_teams(rank, n);
    state = (uint64_t)n * 1313;
    for (int i = 0; i < 300; i++) {
        struct team *team = draw(3) == 0 ? &plain : draw(2) && n > 1 ? &inter : &world;
        struct scene s = scene_of(team, rank, n);
        enum collective what = (enum collective)draw(COLL_KINDS);
        if (!rules_of(what, team->split > 0) || is_neighbourhood(what))
            continue;
        any_call(&s, what, NULL);
    }
}

/* Many at once, and persistent ones started again and again, in different orders. */
static void fly(struct team *team, int rank, int n, int count)
{
    enum { FLIGHTS = 20, ROUNDS = 10, COUNT = 5000 };
    struct request *requests[FLIGHTS];
    static uint32_t in[FLIGHTS][COUNT], out[FLIGHTS][COUNT];
    struct reduction op = sum_of_ints();
    for (int f = 0; f < FLIGHTS; f++) {
        struct call call = { .what = COLL_ALLREDUCE, .reduction = op };
        call.send = (struct part){ .base = in[f], .layout = op.layout, .count = (size_t)count };
        call.recv =
            (struct part){ .base = out[f], .layout = op.layout, .count = (size_t)count };
        if (coll_init(team, &call, &requests[f]))
            _exit(30);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int f = 0; f < FLIGHTS; f++)
            for (int i = 0; i < count; i++)
                in[f][i] = value(rank, f + 100 * round, i);
        for (int f = 0; f < FLIGHTS; f++)
            requests[(f * 7 + rank) % FLIGHTS]->ops->start(requests[(f * 7 + rank) % FLIGHTS]);
        for (int f = 0; f < FLIGHTS; f++)
            if (request_wait(requests[f], NULL))
                _exit(31);
        for (int f = 0; f < FLIGHTS; f++)
            for (int i = 0; i<count; i += count> 97 ? 97 : 1) {
                uint32_t sum = 0;
                for (int r = 0; r < n; r++)
                    sum += value(r, f + 100 * round, i);
                if (out[f][i] != sum)
                    _exit(32);
            }
    }
    for (int f = 0; f < FLIGHTS; f++)
        requests[f]->ops->release(requests[f]);
}

static void many_in_flight(int rank, int n)
{
    make_types();
    open_teams(rank, n);
    state = 5;
    fly(&plain, rank, n, 5000);
    fly(&world, rank, n, 3); /* through shared slots */
}

/* Blocks of shared slots are drawn, used, given back and drawn again. */
static void slots_come_back(int rank, int n)
{
    open_teams(rank, n);
    make_types();
    struct ranks *all = ranks_range(n, 0, 1);
    struct reduction op = sum_of_ints();
    for (int round = 0; round < 400; round++) {
        struct ticket ticket = { 0, 0 };
        struct team team;
        int drawer = round % n;
        if (rank == drawer)
            ticket_draw(&ticket, n, all);
        uint32_t words[4], sum = 0, one = (uint32_t)(rank + round);
        memcpy(words, &ticket, sizeof(words));
        struct call bcast = { .what = COLL_BCAST, .root = drawer };
        bcast.recv = (struct part){ .base = words, .layout = types[0].layout, .count = 4 };
        if (coll_run(&world, &bcast))
            _exit(40);
        memcpy(&ticket, words, sizeof(words));
        if (n > 1 && ticket.tiny == 0)
            _exit(41);
        team_open(&team, &ticket, rank, all, 0);
        struct call call = { .what = COLL_ALLREDUCE, .reduction = op };
        call.send = (struct part){ .base = &one, .layout = op.layout, .count = 1 };
        call.recv = (struct part){ .base = &sum, .layout = op.layout, .count = 1 };
        for (int k = 0; k < 3; k++)
            if (coll_run(&team, &call) || sum != (uint32_t)(n * round + n * (n - 1) / 2))
                _exit(42);
        team_close(&team);
    }
}

/* Ranks run ahead of each other as far as their slots allow, and are late by turns. */
static void slots_are_not_written_too_soon(int rank, int n)
{
    enum { CALLS = 1200, IN_A_ROW = 75, WHATS = 8 };
    static const enum collective whats[WHATS] = { COLL_SCAN,      COLL_BCAST,    COLL_EXSCAN,
                                                  COLL_REDUCE,    COLL_GATHER,   COLL_SCATTER,
                                                  COLL_ALLREDUCE, COLL_ALLGATHER };
    boot.crowded = n > 2;
    open_teams(rank, n);
    make_types();
    state = 11;
    struct scene s = scene_of(&world, rank, n);
    struct reduction op = sum_of_ints();
    for (int call = 0; call < CALLS; call++) {
        enum collective what = whats[draw(8) ? (uint32_t)call / IN_A_ROW % WHATS : draw(WHATS)];
        int base = (int)(draw(4) ? draw(4) : draw(43)); /* up to 1032 bytes */
        int root = draw(4) ? 0 : (int)draw((uint32_t)n);
        uint32_t pauses = draw(20) ? 0u : draw(3000u);
        for (; pauses && call % n == rank; pauses--)
            cpu_pause();
        if (is_reduction(what))
            fold(&s, what, &op, root, 6 * (size_t)base, draw(2), NULL);
        else
            move(&s, &(struct pattern){ .what = what, .root = root, .base = base }, NULL);
    }
}

/* The other rank's block of so many integers, to and from the root, rank 0.  How many messages this rank has sent. */
static uint64_t sent_for_block(enum collective what, int rank, int64_t ints)
{
    enum { MOST_INTS = 1024 };
    uint32_t block[MOST_INTS] = { 0 }, all[MOST_INTS] = { 0 };
    bool gathers = what == COLL_GATHERV;
    int64_t counts[2] = { 0, ints }, displs[2] = { 0, 0 };
    struct part one = { .base = block,
                        .layout = types[0].layout,
                        .count = (size_t)counts[rank] };
    struct part list = { .base = all, .layout = types[0].layout, .vector = true };
    list.counts.wide = counts;
    list.displs.wide = displs;
    struct call call = { .what = what,
                         .send = gathers ? one : list,
                         .recv = gathers ? list : one };
    uint32_t *from = gathers ? block : all, *to = gathers ? all : block;
    for (int i = 0; i < ints; i++)
        from[i] = value(1, 0, i);
    uint64_t before = pml_counters.sent;
    if (coll_run(&world, &call))
        _exit(50);
    for (int i = 0; i < ints && rank == (gathers ? 0 : 1); i++)
        if (to[i] != value(1, 0, i))
            _exit(51);
    return pml_counters.sent - before;
}

static void blocks_go_by_slots(int rank, int n)
{
    open_teams(rank, n);
    make_types();
    for (int64_t ints = 0; ints <= TINY_LISTED_BYTES / 4 + 1; ints++)
        for (int gathers = 0; gathers < 2; gathers++) {
            bool gives = rank == gathers, is_long = ints > TINY_LISTED_BYTES / 4;
            uint64_t sent = sent_for_block(gathers ? COLL_GATHERV : COLL_SCATTERV, rank, ints);
            if (gives && (sent > 0) != is_long)
                _exit(52);
        }
}

START_TEST(blocks_of_two_ranks_are_no_messages)
{
    ck_assert(job_run(2, blocks_go_by_slots));
}
END_TEST

START_TEST(every_algorithm_moves_the_right_bytes)
{
    for (int n = 1; n <= 4; n++)
        ck_assert_msg(job_run(n, each_algorithm), "%d ranks", n);
}
END_TEST

START_TEST(on_five_ranks_too)
{
    roll_bounds = (struct roll_bounds){ 3, 5 }; /* plans rolled up, performed in windows */
    ck_assert(job_run(5, each_algorithm));
}
END_TEST

START_TEST(on_six_ranks_too)
{
    ck_assert(job_run(6, each_algorithm));
}
END_TEST

START_TEST(on_seven_ranks_too)
{
    ck_assert(job_run(7, each_algorithm));
}
END_TEST

START_TEST(on_eight_ranks_too)
{
    roll_bounds = (struct roll_bounds){ 7, 8 };
    ck_assert(job_run(8, each_algorithm));
}
END_TEST

START_TEST(rules_choose_what_works)
{
    for (int n = 1; n <= 8; n++)
        ck_assert_msg(job_run(n, any_mixture), "%d ranks", n);
}
END_TEST

START_TEST(collectives_overlap)
{
    for (int n = 1; n <= 5; n++)
        ck_assert_msg(job_run(n, many_in_flight), "%d ranks", n);
}
END_TEST

START_TEST(shared_slots_are_used_again)
{
    for (int n = 1; n <= 5; n++)
        ck_assert_msg(job_run(n, slots_come_back), "%d ranks", n);
}
END_TEST

START_TEST(slots_are_not_written_before_they_are_read)
{
    static const int ranks[] = { 2, 3, 5, 16 };
    for (int i = 0; i < 4; i++)
        ck_assert_msg(job_run(ranks[i], slots_are_not_written_too_soon), "%d ranks", ranks[i]);
}
END_TEST

UNIT_MAIN("coll", every_algorithm_moves_the_right_bytes, on_five_ranks_too, on_six_ranks_too,
          on_seven_ranks_too, on_eight_ranks_too, rules_choose_what_works, collectives_overlap,
          shared_slots_are_used_again, slots_are_not_written_before_they_are_read,
          blocks_of_two_ranks_are_no_messages)
