/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exchanges with neighbours that come again and again: with other buffers, other counts and types between them, after
 * errors, beside messages and other collectives, on communicators that come and go.  What was kept of the last
 * one must not be used where it is not true.
 */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3000, EDGES = 8, PAIR = 2 };

static int rank, size;
static int out[2][EDGES * MOST * PAIR], in[2][EDGES * MOST * PAIR];

/* Where the blocks of this process come from, and which block of that process each was. */
struct edges {
    MPI_Comm comm;
    int nin, nout, from[EDGES], block[EDGES];
};

static int given(int from, int block, int n, int i)
{
    return from * 1000 + block * 100 + n * 7 + i;
}

/* Call n with blocks of so many elements of one or two integers. */
static void exchange_once(const struct edges *e, int n, int count, bool pairs, bool gathers)
{
    int *send = out[n % 2], *recv = in[n / 2 % 2], items = count * (pairs ? PAIR : 1);
    MPI_Datatype type = pairs ? MPI_2INT : MPI_INT;
    for (int b = 0; b < (gathers ? 1 : e->nout); b++)
        for (int i = 0; i < items; i++)
            send[b * items + i] = given(rank, b, n, i);
    memset(recv, -1, sizeof in[0]);
    if (gathers)
        CHECK_OK(MPI_Neighbor_allgather(send, count, type, recv, count, type, e->comm));
    else
        CHECK_OK(MPI_Neighbor_alltoall(send, count, type, recv, count, type, e->comm));
    for (int b = 0; b < e->nin; b++)
        for (int i = 0; i < items; i++)
            CHECK(recv[b * items + i] == given(e->from[b], gathers ? 0 : e->block[b], n, i));
    CHECK(recv[e->nin * items] == -1);
}

/* The same with as many elements in each block as it likes, and a gap between them. */
static int length_of(int from, int block, int n, int most)
{
    return (from + 2 * block + n) % 3 * most / 2;
}

struct lists {
    int counts[EDGES], displs[EDGES];
};

static void lists_fill(struct lists *l, const int *froms, const int *blocks, int edges, int n,
                       int most)
{
    for (int b = 0, at = n % 2; b < edges; b++) {
        l->counts[b] = length_of(froms[b], blocks[b], n, most);
        l->displs[b] = at;
        at += l->counts[b] + n % 2;
    }
}

static void listed_once(const struct edges *e, int n, int most, bool gathers)
{
    static const int own_blocks[EDGES] = { 0, 1, 2, 3, 4, 5, 6, 7 }, none[EDGES] = { 0 };
    int self[EDGES], *send = out[n % 2], *recv = in[n / 2 % 2];
    static struct lists lists[4]; /* not at the same place each time */
    struct lists *to = &lists[n % 2], *from = &lists[2 + n / 2 % 2];
    for (int b = 0; b < EDGES; b++)
        self[b] = rank;
    lists_fill(to, self, gathers ? none : own_blocks, gathers ? 1 : e->nout, n, most);
    lists_fill(from, e->from, gathers ? none : e->block, e->nin, n, most);
    for (int b = 0; b < (gathers ? 1 : e->nout); b++)
        for (int i = 0; i < to->counts[b]; i++)
            send[to->displs[b] + i] = given(rank, b, n, i);
    memset(recv, -1, sizeof in[0]);
    if (gathers)
        CHECK_OK(MPI_Neighbor_allgatherv(send + to->displs[0], to->counts[0], MPI_INT, recv,
                                         from->counts, from->displs, MPI_INT, e->comm));
    else
        CHECK_OK(MPI_Neighbor_alltoallv(send, to->counts, to->displs, MPI_INT, recv,
                                        from->counts, from->displs, MPI_INT, e->comm));
    for (int b = 0; b < e->nin; b++) {
        for (int i = 0; i < from->counts[b]; i++)
            CHECK(recv[from->displs[b] + i] ==
                  given(e->from[b], gathers ? 0 : e->block[b], n, i));
        CHECK(n % 2 == 0 || recv[from->displs[b] + from->counts[b]] == -1);
    }
}

static void exchange_lists(const struct edges *e)
{
    for (int n = 0; n < 60; n++) /* at times too long for what is kept */
        listed_once(e, n, n % 11 == 10 ? MOST : 2 + n / 20 * 2, n % 5 == 4);
    for (int n = 0; n < 20; n++)
        listed_once(e, n, 2, true);
}

static void exchange(const struct edges *e)
{
    static const int counts[] = { 1, 1, 1, 1,    2,    2,    2, 1, 1, 0,
                                  0, 0, 1, MOST, MOST, MOST, 1, 1, 1 };
    for (int n = 0; n < (int)(sizeof counts / sizeof *counts); n++)
        for (int what = 0; what < 2; what++)
            exchange_once(e, n, counts[n], false, what);
    for (int n = 0; n < 40; n++)
        exchange_once(e, n, 1 + n / 10, n / 5 % 2, n % 7 == 3);
}

/* A ring: what is sent down comes from above. */
static void ring_open(struct edges *e, bool wraps)
{
    int wrap = wraps;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &wrap, 0, &e->comm);
    int below, above;
    MPI_Cart_shift(e->comm, 0, 1, &below, &above);
    *e = (struct edges){ e->comm, 2, 2, { below, above }, { 1, 0 } };
}

/* From rank 0 to all, from all to the last; nothing else. */
static void star_open(struct edges *e)
{
    int destinations[EDGES], nin = 0, nout = 0;
    memset(e, 0, sizeof *e);
    if (rank != 0)
        e->block[nin++] = rank - 1; /* from rank 0 */
    for (int to = 1; to < size && rank == 0; to++)
        destinations[nout++] = to;
    if (rank != 0 && rank != size - 1)
        destinations[nout++] = size - 1;
    for (int from = 1; from < size - 1 && rank == size - 1; from++)
        e->from[nin++] = from;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, nin, e->from, MPI_UNWEIGHTED, nout,
                                   destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &e->comm);
    e->nin = nin;
    e->nout = nout;
}

static void test_ring(void)
{
    struct edges ring, other;
    ring_open(&ring, true);
    ring_open(&other, true);
    exchange(&ring);
    exchange_lists(&ring);
    for (int n = 0; n < 20; n++) { /* two communicators, and what else goes on there */
        exchange_once(&ring, n, 2, false, false);
        exchange_once(&other, n + 1, 2, false, n % 2);
        int sum = 0, one = 1, above = (rank + 1) % size, below = (rank + size - 1) % size,
            got = -1;
        if (n % 3 == 0)
            CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, ring.comm));
        CHECK(n % 3 != 0 || sum == size);
        CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, above, 0, &got, 1, MPI_INT, below, 0,
                              ring.comm, MPI_STATUS_IGNORE));
        CHECK(got == below);
    }
    MPI_Comm_free(&ring.comm);
    for (int n = 0; n < 5; n++) {
        exchange_once(&other, n, 2, false, false);
        ring_open(&ring, true);
        for (int k = 0; k < 4; k++)
            exchange_once(&ring, k, 2, false, false);
        MPI_Comm_free(&ring.comm);
    }
    MPI_Comm_free(&other.comm);
}

static void test_line(void)
{
    struct edges line;
    ring_open(&line, false);
    for (int n = 0; n < 12; n++) { /* blocks of nobody stay as they are */
        out[0][0] = out[0][1] = rank * 10 + n;
        in[0][0] = in[0][1] = -1;
        CHECK_OK(MPI_Neighbor_allgather(out[0], 1, MPI_INT, in[0], 1, MPI_INT, line.comm));
        CHECK(in[0][0] == (rank > 0 ? (rank - 1) * 10 + n : -1));
        CHECK(in[0][1] == (rank < size - 1 ? (rank + 1) * 10 + n : -1));
    }
    MPI_Comm_free(&line.comm);
}

static void test_star(void)
{
    struct edges star;
    if (size > EDGES)
        return;
    star_open(&star);
    exchange(&star);
    exchange_lists(&star);
    MPI_Comm_free(&star.comm);
}

static void test_errors(void)
{
    struct edges ring;
    ring_open(&ring, true);
    MPI_Comm_set_errhandler(ring.comm, MPI_ERRORS_RETURN);
    for (int n = 0; n < 5; n++)
        exchange_once(&ring, n, 1, false, false);
    CHECK_ERROR(MPI_Neighbor_alltoall(out[0], 1, MPI_INT, out[0], 1, MPI_INT, ring.comm),
                MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, in[0], 1, MPI_INT, ring.comm),
                MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, in[0], 1, MPI_INT, ring.comm),
                MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Neighbor_alltoall(out[0], -1, MPI_INT, in[0], 1, MPI_INT, ring.comm),
                MPI_ERR_COUNT);
    for (int n = 0; n < 5; n++)
        exchange_once(&ring, n, 1, false, false);
    for (int n = 0; n < 5; n++)
        listed_once(&ring, n, 2, false);
    int counts[2] = { 1, -1 }, displs[2] = { 0, 1 };
    CHECK_ERROR(MPI_Neighbor_alltoallv(out[0], counts, displs, MPI_INT, in[0], counts, displs,
                                       MPI_INT, ring.comm),
                MPI_ERR_COUNT);
    counts[1] = 1;
    CHECK_ERROR(MPI_Neighbor_alltoallv(out[0], counts, NULL, MPI_INT, in[0], counts, displs,
                                       MPI_INT, ring.comm),
                MPI_ERR_ARG);
    MPI_Count many[2] = { (MPI_Count)1 << 62, 1 };
    MPI_Aint places[2] = { 0, 1 };
    CHECK_ERROR(MPI_Neighbor_alltoallv_c(out[0], many, places, MPI_INT, in[0], many, places,
                                         MPI_INT, ring.comm),
                MPI_ERR_COUNT);
    for (int n = 0; n < 5; n++)
        listed_once(&ring, n, 2, false);
    MPI_Comm_free(&ring.comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_ring();
    test_line();
    test_star();
    test_errors();
    return check_done();
}
