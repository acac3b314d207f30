/* SPDX-License-Identifier: BSD-3-Clause
 *
 * forced COLLECTIVE: the collective through MPI, several lengths, from and to every root, again and
 * again on the same plan.  Prints "cannot: why" when the algorithm that XMPI_COLL names cannot
 * perform any of these calls.  For test/coll_forced.sh.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 6000, RANKS = 16 };
static int me, p, in[MOST * RANKS], out[MOST * RANKS];

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %d of %d: %s\n", me, p, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* What rank r gives rank `to` at place i. */
static int given(int r, int to, int i)
{
    return r * 1000003 + to * 1009 + i;
}

static long sum(int to, int i, int upto)
{
    long s = 0;
    for (int r = 0; r < upto; r++)
        s += given(r, to, i);
    return s;
}

static void fill(int n, int blocks)
{
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < n; i++)
            in[b * n + i] = given(me, b, i);
    memset(out, 0, sizeof(out));
}

static int bcast(int n, int root)
{
    for (int i = 0; i < n; i++)
        out[i] = me == root ? given(root, 0, i) : 0;
    int error = MPI_Bcast(out, n, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < n && !error; i++)
        must(out[i] == given(root, 0, i), "bcast");
    return error;
}

static int gather(int n, int root)
{
    fill(n, 1);
    int error = MPI_Gather(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < n * p && !error && me == root; i++)
        must(out[i] == given(i / n, 0, i % n), "gather");
    return error;
}

static int scatter(int n, int root)
{
    fill(n, p);
    int error = MPI_Scatter(in, n, MPI_INT, out, n, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < n && !error; i++)
        must(out[i] == given(root, me, i), "scatter");
    return error;
}

static int allgather(int n, int root)
{
    (void)root;
    fill(n, 1);
    int error = MPI_Allgather(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n * p && !error; i++)
        must(out[i] == given(i / n, 0, i % n), "allgather");
    return error;
}

static int allgatherv(int n, int root)
{
    int counts[RANKS], displs[RANKS], at = 0;
    fill(n, 1);
    for (int r = 0; r < p; r++) { /* some give nothing */
        counts[r] = (r + root) % 3 == 0 ? 0 : n;
        displs[r] = at;
        at += counts[r];
    }
    int error =
        MPI_Allgatherv(in, counts[me], MPI_INT, out, counts, displs, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < p && !error; r++)
        for (int i = 0; i < counts[r]; i++)
            must(out[displs[r] + i] == given(r, 0, i), "allgatherv");
    return error;
}

static int alltoall(int n, int root)
{
    (void)root;
    fill(n, p);
    int error = MPI_Alltoall(in, n, MPI_INT, out, n, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < n * p && !error; i++)
        must(out[i] == given(i / n, me, i % n), "alltoall");
    return error;
}

/* Blocks of 0, n / 2 and n numbers, one behind the other, by who gives and who takes; returns how
 * many of them rank `from` gives rank `to`. */
static int uneven(int n, int from, int to)
{
    return n * ((from + 2 * to) % 3) / 2;
}

static void deal(int n, int out_of_me, int counts[RANKS], int displs[RANKS])
{
    for (int r = 0, at = 0; r < p; at += counts[r++]) {
        counts[r] = out_of_me ? uneven(n, me, r) : uneven(n, r, me);
        displs[r] = at;
        for (int i = 0; i < counts[r] && out_of_me; i++)
            in[at + i] = given(me, r, i);
    }
    memset(out, 0, sizeof(out));
}

static void took(const int counts[RANKS], const int displs[RANKS], const char *what)
{
    for (int r = 0; r < p; r++)
        for (int i = 0; i < counts[r]; i++)
            must(out[displs[r] + i] == given(r, me, i), what);
}

static int gatherv(int n, int root)
{
    int counts[RANKS], displs[RANKS], mine = uneven(n, me, root);
    deal(n, 0, counts, displs);
    for (int i = 0; i < mine; i++)
        in[i] = given(me, root, i);
    int error =
        MPI_Gatherv(in, mine, MPI_INT, out, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
    if (!error && me == root)
        took(counts, displs, "gatherv");
    return error;
}

static int scatterv(int n, int root)
{
    int counts[RANKS], displs[RANKS], mine = uneven(n, root, me);
    deal(n, 1, counts, displs);
    int error =
        MPI_Scatterv(in, counts, displs, MPI_INT, out, mine, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < mine && !error; i++)
        must(out[i] == given(root, me, i), "scatterv");
    return error;
}

static int alltoallv(int n, int root)
{
    int give[RANKS], from[RANKS], take[RANKS], to[RANKS];
    (void)root;
    deal(n, 1, give, from);
    deal(n, 0, take, to);
    int error = MPI_Alltoallv(in, give, from, MPI_INT, out, take, to, MPI_INT, MPI_COMM_WORLD);
    if (!error)
        took(take, to, "alltoallv");
    return error;
}

static int alltoallw(int n, int root)
{
    int give[RANKS], from[RANKS], take[RANKS], to[RANKS], bytes[2][RANKS];
    MPI_Datatype types[RANKS];
    (void)root;
    deal(n, 1, give, from);
    deal(n, 0, take, to);
    for (int r = 0; r < p; r++) {
        bytes[0][r] = from[r] * (int)sizeof(int);
        bytes[1][r] = to[r] * (int)sizeof(int);
        types[r] = MPI_INT;
    }
    int error =
        MPI_Alltoallw(in, give, bytes[0], types, out, take, bytes[1], types, MPI_COMM_WORLD);
    if (!error)
        took(take, to, "alltoallw");
    return error;
}

static int reduce(int n, int root)
{
    fill(n, 1);
    int error = MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    for (int i = 0; i < n && !error && me == root; i++)
        must(out[i] == (int)sum(0, i, p), "reduce");
    return error;
}

static int allreduce(int n, int root)
{
    fill(n, 1);
    if (root % 2)
        memcpy(out, in, (size_t)n * sizeof(int));
    int error =
        MPI_Allreduce(root % 2 ? MPI_IN_PLACE : in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n && !error; i++)
        must(out[i] == (int)sum(0, i, p), "allreduce");
    return error;
}

static int reduce_scatter(int n, int root)
{
    int counts[RANKS];
    (void)root;
    for (int r = 0; r < p; r++)
        counts[r] = n;
    fill(n, p);
    int error = MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n && !error; i++)
        must(out[i] == (int)sum(me, i, p), "reduce_scatter");
    return error;
}

static int reduce_scatter_block(int n, int root)
{
    (void)root;
    fill(n, p);
    int error = MPI_Reduce_scatter_block(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n && !error; i++)
        must(out[i] == (int)sum(me, i, p), "reduce_scatter_block");
    return error;
}

static int scan(int n, int root)
{
    (void)root;
    fill(n, 1);
    int error = MPI_Scan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n && !error; i++)
        must(out[i] == (int)sum(0, i, me + 1), "scan");
    return error;
}

static int exscan(int n, int root)
{
    (void)root;
    fill(n, 1);
    int error = MPI_Exscan(in, out, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n && !error && me > 0; i++)
        must(out[i] == (int)sum(0, i, me), "exscan");
    return error;
}

static int barrier(int n, int root)
{
    (void)n;
    (void)root;
    return MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    int (*perform)(int n, int root);
} collectives[] = { { "barrier", barrier },
                    { "bcast", bcast },
                    { "gather", gather },
                    { "scatter", scatter },
                    { "allgather", allgather },
                    { "allgatherv", allgatherv },
                    { "alltoall", alltoall },
                    { "gatherv", gatherv },
                    { "scatterv", scatterv },
                    { "alltoallv", alltoallv },
                    { "alltoallw", alltoallw },
                    { "reduce", reduce },
                    { "allreduce", allreduce },
                    { "reduce_scatter", reduce_scatter },
                    { "reduce_scatter_block", reduce_scatter_block },
                    { "scan", scan },
                    { "exscan", exscan },
                    { NULL, NULL } };

/* Several lengths and roots; it may be that some of them cannot be performed. */
static void perform_all(int (*perform)(int n, int root))
{
    static const int lengths[] = { 1, 7, 0, 300, MOST, 8 };
    char text[MPI_MAX_ERROR_STRING];
    int done = 0, length;
    for (int i = 0; i < 6; i++)
        for (int root = 0; root < p; root++) {
            int error = perform(lengths[i], root);
            if (error)
                MPI_Error_string(error, text, &length);
            must(!error || strstr(text, "cannot perform this call"), error ? text : "");
            done += error == 0;
        }
    if (!done && me == 0)
        printf("cannot: %s\n", text);
}

int main(int argc, char **argv)
{
    int known = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    must(argc == 2 && p <= RANKS, "usage: forced COLLECTIVE, on 16 ranks at most");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; collectives[i].name; i++)
        if (strcmp(argv[1], collectives[i].name) == 0) {
            perform_all(collectives[i].perform);
            known = 1;
        }
    must(known, "no such collective");
    MPI_Finalize();
    return 0;
}
