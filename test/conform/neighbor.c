/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives between neighbours: grids that wrap round and grids that end, graphs, distributed
 * graphs with several edges between two processes, edges to oneself, and none at all.
 *
 * Every process learns all lists of neighbours, so it knows which block of which process each of
 * its own blocks comes from: on grids what is sent down comes from above, elsewhere the k-th
 * edge from a process is the k-th that this process has to here.  Buffers are compared whole:
 * gaps, blocks of no message and blocks of nobody must be untouched.
 */
#include "topologies.h"

enum what { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, WHATS };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static int me, n;
static MPI_Datatype pair; /* two integers and a gap of one */

/* ---- data ---- */

/* A call with its buffers: blocks of 2 * c integers, sent as integers or pairs, received as the
 * other. */
struct exchange {
    enum what what;
    int base; /* pairs of a block, or a measure of them in the v and w forms */
    int salt;
    int out_counts[MOST_EDGES], out_displs[MOST_EDGES], in_counts[MOST_EDGES],
        in_displs[MOST_EDGES];
    MPI_Count out_counts_c[MOST_EDGES], in_counts_c[MOST_EDGES];
    MPI_Aint out_bytes[MOST_EDGES], in_bytes[MOST_EDGES]; /* alltoallw */
    MPI_Aint out_displs_c[MOST_EDGES], in_displs_c[MOST_EDGES];
    MPI_Datatype out_types[MOST_EDGES], in_types[MOST_EDGES];
    int *out, *in, *expected;
    size_t length; /* integers of a buffer */
};

static int varies(enum what what)
{
    return what == ALLTOALLV || what == ALLTOALLW || what == ALLGATHERV;
}

/* Pairs in the message that leaves as block b of a process. */
static int pairs_of(const struct exchange *x, int from, int block)
{
    if (x->what == ALLGATHERV)
        return x->base * (from % 4);
    return varies(x->what) ? x->base * ((3 * from + block) % 4) : x->base;
}

static int value(const struct exchange *x, int from, int block, int i)
{
    if (x->what == ALLGATHER || x->what == ALLGATHERV)
        block = 0;
    return (x->salt * 31 + from) * 100003 + block * 1009 + i;
}

static int sent_as_pairs(const struct exchange *x, int block)
{
    return x->what == ALLTOALLW ? block % 2 : x->salt % 2;
}

/* Where integer i of a block is, in integers from its start. */
static int spot(int i, int as_pairs)
{
    return as_pairs ? i / 2 * 3 + i % 2 : i;
}

enum { GAP = 3 }; /* integers between blocks of the v and w forms: the extent of a pair */

/* Lay a side out: its blocks lie last to first in the v and w forms. */
static void lay_out(const struct exchange *x, int nblocks, const int *pairs, const int *typed,
                    int *counts, int *displs, MPI_Datatype *types)
{
    int at = 0;
    for (int k = 0; k < nblocks; k++) {
        int b = varies(x->what) ? nblocks - 1 - k : k, unit = typed[b] ? 3 : 1;
        types[b] = typed[b] ? pair : MPI_INT;
        counts[b] = typed[b] ? pairs[b] : 2 * pairs[b];
        displs[b] = at;
        at += counts[b] * unit + (varies(x->what) ? GAP : 0);
        at += (3 - at % 3) % 3 * varies(x->what);
    }
}

static size_t side_length(const int *pairs, int nblocks)
{
    size_t sum = 8;
    for (int b = 0; b < nblocks; b++)
        sum += (size_t)(3 * pairs[b] + GAP + 3);
    return sum;
}

static void widen(struct exchange *x)
{
    int out_unit = x->out_types[0] == pair ? 3 : 1, in_unit = x->in_types[0] == pair ? 3 : 1;
    for (int b = 0; b < MOST_EDGES; b++) {
        x->out_bytes[b] = x->out_displs[b] * (MPI_Aint)sizeof(int);
        x->in_bytes[b] = x->in_displs[b] * (MPI_Aint)sizeof(int);
        x->out_displs_c[b] = x->out_displs[b] /= out_unit;
        x->in_displs_c[b] = x->in_displs[b] /= in_unit;
        x->out_counts_c[b] = x->out_counts[b];
        x->in_counts_c[b] = x->in_counts[b];
    }
}

static int *buffer_new(size_t length)
{
    int *buffer = malloc(length * sizeof(int));
    CHECK(buffer != NULL);
    for (size_t i = 0; i < length; i++)
        buffer[i] = -7;
    return buffer;
}

static void exchange_open(struct exchange *x, const struct shape *s, enum what what, int base,
                          int salt)
{
    int pairs[2][MOST_EDGES] = { { 0 } }, typed[2][MOST_EDGES] = { { 0 } }, rank;
    *x = (struct exchange){ .what = what, .base = base, .salt = salt };
    CHECK_OK(MPI_Comm_rank(s->comm, &rank));
    int one = what == ALLGATHER || what == ALLGATHERV, nout = one ? 1 : s->out.n;
    for (int b = 0; b < nout; b++) {
        pairs[0][b] = pairs_of(x, rank, b);
        typed[0][b] = sent_as_pairs(x, b);
    }
    for (int b = 0; b < s->in.n; b++) {
        pairs[1][b] = pairs_of(x, s->in.peer[b], s->origin[b]);
        typed[1][b] = s->in.peer[b] == MPI_PROC_NULL ? what != ALLTOALLW && salt % 2 == 0
                                                     : !sent_as_pairs(x, s->origin[b]);
        if (s->in.peer[b] == MPI_PROC_NULL)
            pairs[1][b] = base;
    }
    lay_out(x, nout, pairs[0], typed[0], x->out_counts, x->out_displs, x->out_types);
    lay_out(x, s->in.n, pairs[1], typed[1], x->in_counts, x->in_displs, x->in_types);
    x->length = side_length(pairs[0], nout) + side_length(pairs[1], s->in.n);
    x->out = buffer_new(x->length);
    x->in = buffer_new(x->length);
    x->expected = buffer_new(x->length);
    for (int b = 0; b < nout; b++)
        for (int i = 0; i < 2 * pairs[0][b]; i++)
            x->out[x->out_displs[b] + spot(i, typed[0][b])] = value(x, rank, b, i);
    for (int b = 0; b < s->in.n; b++)
        for (int i = 0; s->in.peer[b] != MPI_PROC_NULL && i < 2 * pairs[1][b]; i++)
            x->expected[x->in_displs[b] + spot(i, typed[1][b])] =
                value(x, s->in.peer[b], s->origin[b], i);
    widen(x);
}

static void exchange_check(const struct exchange *x)
{
    for (size_t i = 0; i < x->length; i++)
        if (x->in[i] != x->expected[i]) {
            fprintf(stderr, "rank %d: collective %d, base %d, integer %zu is %d, not %d\n", me,
                    (int)x->what, x->base, i, x->in[i], x->expected[i]);
            CHECK(x->in[i] == x->expected[i]);
        }
}

static void exchange_close(struct exchange *x)
{
    free(x->out);
    free(x->in);
    free(x->expected);
}

/* ---- the calls ---- */

/* Types of uniform sides; a side without blocks has no first type. */
static MPI_Datatype out_type(const struct exchange *x)
{
    return x->out_types[0] ? x->out_types[0] : MPI_INT;
}

static MPI_Datatype in_type(const struct exchange *x)
{
    return x->in_types[0] ? x->in_types[0] : MPI_INT;
}

#define OUT    x->out, x->out_counts[0], out_type(x)
#define IN     x->in, x->in_counts[0], in_type(x)
#define OUT_V  x->out, x->out_counts, x->out_displs, out_type(x)
#define IN_V   x->in, x->in_counts, x->in_displs, in_type(x)
#define OUT_VC x->out, x->out_counts_c, x->out_displs_c, out_type(x)
#define IN_VC  x->in, x->in_counts_c, x->in_displs_c, in_type(x)
#define OUT_W  x->out, x->out_counts, x->out_bytes, x->out_types
#define IN_W   x->in, x->in_counts, x->in_bytes, x->in_types
#define OUT_WC x->out, x->out_counts_c, x->out_bytes, x->out_types
#define IN_WC  x->in, x->in_counts_c, x->in_bytes, x->in_types

static int run(struct exchange *x, MPI_Comm comm, int wide)
{
    switch (x->what) {
    case ALLGATHER:
        return wide ? MPI_Neighbor_allgather_c(OUT, IN, comm)
                    : MPI_Neighbor_allgather(OUT, IN, comm);
    case ALLGATHERV:
        return wide ? MPI_Neighbor_allgatherv_c(OUT, IN_VC, comm)
                    : MPI_Neighbor_allgatherv(OUT, IN_V, comm);
    case ALLTOALL:
        return wide ? MPI_Neighbor_alltoall_c(OUT, IN, comm)
                    : MPI_Neighbor_alltoall(OUT, IN, comm);
    case ALLTOALLV:
        return wide ? MPI_Neighbor_alltoallv_c(OUT_VC, IN_VC, comm)
                    : MPI_Neighbor_alltoallv(OUT_V, IN_V, comm);
    default:
        return wide ? MPI_Neighbor_alltoallw_c(OUT_WC, IN_WC, comm)
                    : MPI_Neighbor_alltoallw(OUT_W, IN_W, comm);
    }
}

static int start(struct exchange *x, MPI_Comm comm, int wide, MPI_Request *r)
{
    switch (x->what) {
    case ALLGATHER:
        return wide ? MPI_Ineighbor_allgather_c(OUT, IN, comm, r)
                    : MPI_Ineighbor_allgather(OUT, IN, comm, r);
    case ALLGATHERV:
        return wide ? MPI_Ineighbor_allgatherv_c(OUT, IN_VC, comm, r)
                    : MPI_Ineighbor_allgatherv(OUT, IN_V, comm, r);
    case ALLTOALL:
        return wide ? MPI_Ineighbor_alltoall_c(OUT, IN, comm, r)
                    : MPI_Ineighbor_alltoall(OUT, IN, comm, r);
    case ALLTOALLV:
        return wide ? MPI_Ineighbor_alltoallv_c(OUT_VC, IN_VC, comm, r)
                    : MPI_Ineighbor_alltoallv(OUT_V, IN_V, comm, r);
    default:
        return wide ? MPI_Ineighbor_alltoallw_c(OUT_WC, IN_WC, comm, r)
                    : MPI_Ineighbor_alltoallw(OUT_W, IN_W, comm, r);
    }
}

static int prepare(struct exchange *x, MPI_Comm comm, int wide, MPI_Request *r)
{
    MPI_Info info = MPI_INFO_NULL;
    switch (x->what) {
    case ALLGATHER:
        return wide ? MPI_Neighbor_allgather_init_c(OUT, IN, comm, info, r)
                    : MPI_Neighbor_allgather_init(OUT, IN, comm, info, r);
    case ALLGATHERV:
        return wide ? MPI_Neighbor_allgatherv_init_c(OUT, IN_VC, comm, info, r)
                    : MPI_Neighbor_allgatherv_init(OUT, IN_V, comm, info, r);
    case ALLTOALL:
        return wide ? MPI_Neighbor_alltoall_init_c(OUT, IN, comm, info, r)
                    : MPI_Neighbor_alltoall_init(OUT, IN, comm, info, r);
    case ALLTOALLV:
        return wide ? MPI_Neighbor_alltoallv_init_c(OUT_VC, IN_VC, comm, info, r)
                    : MPI_Neighbor_alltoallv_init(OUT_V, IN_V, comm, info, r);
    default:
        return wide ? MPI_Neighbor_alltoallw_init_c(OUT_WC, IN_WC, comm, info, r)
                    : MPI_Neighbor_alltoallw_init(OUT_W, IN_W, comm, info, r);
    }
}

static void perform(struct exchange *x, MPI_Comm comm, enum form form, int wide)
{
    MPI_Request request;
    if (form == BLOCKING) {
        CHECK_OK(run(x, comm, wide));
        return;
    }
    CHECK_OK(form == NONBLOCKING ? start(x, comm, wide, &request)
                                 : prepare(x, comm, wide, &request));
    for (int i = 0; form == PERSISTENT && i < 2; i++) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(form == PERSISTENT ? MPI_Request_free(&request)
                                : MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL);
}

/* ---- the tests ---- */

static void test_one_by_one(const struct shape *shape)
{
    static const int bases[] = { 0, 1, 20, 6000 };
    struct exchange x;
    for (int what = 0; what < WHATS; what++)
        for (int form = 0; form < FORMS; form++)
            for (int i = 0; i < 8; i++) {
                exchange_open(&x, shape, (enum what)what, bases[i / 2], i + form);
                perform(&x, shape->comm, (enum form)form, i % 2);
                exchange_check(&x);
                exchange_close(&x);
            }
}

/* All kinds and lengths in flight at once, started again and again, waited for in any order. */
static void test_overlap(const struct shape *shape)
{
    enum { FLIGHTS = 3 * WHATS };
    static struct exchange x[FLIGHTS];
    MPI_Request requests[FLIGHTS];
    for (int k = 0; k < FLIGHTS; k++) {
        exchange_open(&x[k], shape, (enum what)(k % WHATS), k % 2 ? 5000 : k, k);
        if (k < WHATS)
            CHECK_OK(prepare(&x[k], shape->comm, 0, &requests[k]));
    }
    CHECK_OK(MPI_Startall(WHATS, requests));
    for (int k = WHATS; k < FLIGHTS; k++)
        CHECK_OK(start(&x[k], shape->comm, 0, &requests[k]));
    for (int k = FLIGHTS; k-- > WHATS;)
        CHECK_OK(MPI_Wait(&requests[k], MPI_STATUS_IGNORE));
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPI_Waitall(WHATS, requests, MPI_STATUSES_IGNORE));
        for (int k = 0; k < WHATS; k++) {
            exchange_check(&x[k]);
            CHECK_OK(MPI_Start(&requests[(k + me) % WHATS]));
        }
    }
    CHECK_OK(MPI_Waitall(WHATS, requests, MPI_STATUSES_IGNORE));
    for (int k = 0; k < FLIGHTS; k++) {
        if (k < WHATS)
            CHECK_OK(MPI_Request_free(&requests[k]));
        exchange_check(&x[k]);
        exchange_close(&x[k]);
    }
}

/* Freed by the user while an exchange is in flight. */
static void test_comm(MPI_Comm comm)
{
    struct shape shape = { 0 };
    struct exchange x;
    MPI_Request request;
    MPI_Comm dup;
    shape.comm = comm;
    learn(&shape);
    test_one_by_one(&shape);
    CHECK_OK(MPI_Comm_dup(comm, &dup));
    CHECK_OK(MPI_Comm_free(&comm));
    shape.comm = dup;
    test_overlap(&shape);
    exchange_open(&x, &shape, ALLTOALL, 3000, 5);
    CHECK_OK(start(&x, dup, 0, &request));
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    exchange_check(&x);
    exchange_close(&x);
}

static void test_grids(void)
{
    for (int ndims = 1; ndims <= 3; ndims++)
        for (int wraps = 0; wraps < 1 << ndims; wraps++) {
            int dims[3] = { 0 }, periods[3];
            MPI_Comm grid;
            CHECK_OK(MPI_Dims_create(n, ndims, dims));
            for (int d = 0; d < ndims; d++)
                periods[d] = wraps >> d & 1;
            CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &grid));
            test_comm(grid);
        }
    MPI_Comm point;
    int dummy = 1;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 0, &dummy, &dummy, 0, &point));
    if (point != MPI_COMM_NULL)
        test_comm(point);
}

static void test_graphs(void)
{
    void (*const draws[])(struct shape *, int) = { draw_graph, draw_adjacent,
                                                   draw_contributed };
    seed_chance(1);
    for (int i = 0; i < 12; i++) {
        struct shape drawn;
        draws[i % 3](&drawn, 0);
        test_comm(drawn.comm);
    }
}

static void test_errors(void)
{
    int out[4] = { 0 }, in[4], one[1] = { 1 }, zero[1] = { 0 }, minus[2] = { -1, -1 };
    MPI_Aint at[2] = { 0, 0 };
    MPI_Datatype types[2] = { MPI_INT, MPI_DATATYPE_NULL };
    MPI_Request request;
    MPI_Comm ring, self = MPI_COMM_SELF;
    CHECK_ERROR(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, self),
                MPI_ERR_TOPOLOGY);
    CHECK_ERROR(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, self, &request),
                MPI_ERR_TOPOLOGY);
    CHECK_ERROR(MPI_Neighbor_alltoallv_init(out, one, zero, MPI_INT, in, one, zero, MPI_INT,
                                            self, MPI_INFO_NULL, &request),
                MPI_ERR_TOPOLOGY);
    CHECK_OK(MPI_Cart_create(self, 1, one, one, 0, &ring));
    CHECK_ERROR(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, in, 1, MPI_INT, ring),
                MPI_ERR_BUFFER);
    CHECK_ERROR(
        MPI_Neighbor_alltoallv(out, minus, minus, MPI_INT, in, minus, minus, MPI_INT, ring),
        MPI_ERR_COUNT);
    int counts[2] = { 1, 1 };
    CHECK_ERROR(MPI_Neighbor_alltoallw(out, counts, at, types, in, counts, at, types, ring),
                MPI_ERR_TYPE);
    CHECK_OK(MPI_Comm_free(&ring));
    CHECK_OK(MPI_Dist_graph_create_adjacent(self, 1, zero, MPI_UNWEIGHTED, 0, zero,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring));
    CHECK_ERROR(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring), MPI_ERR_TOPOLOGY);
    CHECK_OK(MPI_Comm_free(&ring));
}

/* Every process knows that the edge from 0 to 1 has none back; both ends are told. */
static void test_one_way_graph(void)
{
    int index[RANKS], edge = 1, out = 0, in[1];
    MPI_Comm graph;
    if (n < 2)
        return;
    for (int i = 0; i < n; i++)
        index[i] = 1;
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, n, index, &edge, 0, &graph));
    if (me < 2)
        CHECK_ERROR(MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, graph),
                    MPI_ERR_TOPOLOGY);
    CHECK_OK(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    CHECK_OK(MPI_Type_vector(1, 2, 3, MPI_INT, &pair));
    MPI_Datatype bare = pair;
    CHECK_OK(MPI_Type_create_resized(bare, 0, 3 * sizeof(int), &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Type_free(&bare));
    test_grids();
    test_graphs();
    test_errors();
    test_one_way_graph();
    CHECK_OK(MPI_Type_free(&pair));
    return check_done();
}
