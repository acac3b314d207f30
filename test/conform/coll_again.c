/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives that come again and again as they were, between others, with other buffers, in place,
 * with errors, on communicators that come and go: what was found out the last time must not be
 * used where it is not true.
 */
#include "check.h"

#include <stdbool.h>

static int rank, size;
enum { MOST = 300 };

/* Element i of what rank r gives in call n. */
static int given(int r, int n, int i)
{
    return r * 7 + n * 3 + i;
}

static int sum_of(int n, int i)
{
    int sum = 0;
    for (int r = 0; r < size; r++)
        sum += given(r, n, i);
    return sum;
}

static void sum(MPI_Comm comm, int n, int count, bool in_place)
{
    static int out[2][MOST], in[2][MOST];
    int *from = out[n % 2], *to = in[n / 2 % 2];
    for (int i = 0; i < count; i++)
        from[i] = to[i] = given(rank, n, i);
    CHECK_OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : from, to, count, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < count; i++)
        CHECK(to[i] == sum_of(n, i) && from[i] == given(rank, n, i));
}

static void largest(MPI_Comm comm, int n)
{
    int mine = given(rank, n, 0), most = -1;
    CHECK_OK(MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, comm));
    CHECK(most == given(size - 1, n, 0));
}

static void sum_of_doubles(MPI_Comm comm, int n)
{
    double mine = given(rank, n, 0), all = -1;
    CHECK_OK(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm));
    CHECK(all == sum_of(n, 0));
}

static void test_same(MPI_Comm comm)
{
    for (int n = 0; n < 20; n++)
        sum(comm, n, 1, n % 5 == 3);
    for (int n = 0; n < 20; n++)
        sum(comm, n, 1, true);
    for (int n = 0; n < 200; n++) {
        sum(comm, n, 2, false);
        MPI_Barrier(comm);
    }
}

/* ---- the other kinds, with roots that change now and then, and buffers that do each time ---- */

static int blocks[2][64 * 2], block[2][2];

static void gathers(MPI_Comm comm, int n, int root)
{
    int *all = blocks[n % 2], *mine = block[n / 2 % 2];
    memset(all, -1, sizeof blocks[0]);
    mine[0] = given(rank, n, 0);
    mine[1] = given(rank, n, 1);
    CHECK_OK(MPI_Gather(mine, 2, MPI_INT, all, 2, MPI_INT, root, comm));
    for (int i = 0; i < 2 * size; i++)
        CHECK(all[i] == (rank == root ? given(i / 2, n, i % 2) : -1));
    memset(all, -1, sizeof blocks[0]);
    CHECK_OK(MPI_Allgather(mine, 2, MPI_INT, all, 1, MPI_2INT, comm));
    for (int i = 0; i < 2 * size; i++)
        CHECK(all[i] == given(i / 2, n, i % 2));
    if (n % 6 == 5) {
        all[2 * rank] = given(rank, n + 1, 0);
        CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 2, MPI_INT, all, 2, MPI_INT, comm));
        for (int i = 0; i < size; i++)
            CHECK(all[2 * i] == given(i, n + 1, 0));
    }
}

static void scatters(MPI_Comm comm, int n, int root)
{
    int *all = blocks[n % 2], *mine = block[n / 2 % 2];
    for (int r = 0; r < size; r++)
        for (int i = 0; i < 2; i++)
            all[2 * r + i] = rank == root ? given(r, n, i) : -1;
    mine[0] = mine[1] = -1;
    CHECK_OK(MPI_Scatter(all, 2, MPI_INT, mine, 2, MPI_INT, root, comm));
    CHECK(mine[0] == given(rank, n, 0) && mine[1] == given(rank, n, 1));
    int *to = blocks[1 - n % 2];
    for (int r = 0; r < size; r++)
        all[r] = given(rank, n + r, 0);
    CHECK_OK(MPI_Alltoall(all, 1, MPI_INT, to, 1, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(to[r] == given(r, n + rank, 0));
    mine[0] = rank == root ? n : -1;
    CHECK_OK(MPI_Bcast(mine, 1, MPI_INT, root, comm));
    CHECK(mine[0] == n);
}

static void folds(MPI_Comm comm, int n, int root)
{
    int *all = blocks[n % 2], *mine = block[n / 2 % 2], upto = 0, rest = 0, sum = -1;
    for (int r = 0; r < size; r++)
        all[r] = given(rank, n, r);
    for (int r = 0; r <= rank; r++) {
        rest = upto;
        upto += given(r, n, 0);
    }
    mine[0] = given(rank, n, 0);
    CHECK_OK(MPI_Reduce(mine, &sum, 1, MPI_INT, MPI_SUM, root, comm));
    CHECK(sum == (rank == root ? sum_of(n, 0) : -1));
    CHECK_OK(MPI_Scan(mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == upto);
    CHECK_OK(MPI_Exscan(mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(rank == 0 || sum == rest);
    CHECK_OK(MPI_Reduce_scatter_block(all, mine, 1, MPI_INT, MPI_SUM, comm));
    CHECK(mine[0] == sum_of(n, rank));
    sum = given(rank, n, 0);
    CHECK_OK(MPI_Reduce(rank == root && n % 4 == 1 ? MPI_IN_PLACE : &sum,
                        rank == root && n % 4 == 1 ? &sum : mine, 1, MPI_INT, MPI_SUM, root,
                        comm));
    CHECK(rank != root || (n % 4 == 1 ? sum : mine[0]) == sum_of(n, 0));
}

static void test_kinds(MPI_Comm comm)
{
    for (int n = 0; n < 60; n++) {
        int root = (n < 30 ? n : n / 6) % size;
        gathers(comm, n, root);
        scatters(comm, n, root);
        folds(comm, n, root);
    }
}

/* ---- in place: at first, always, or now and then ---- */

static void rooted_in_place(MPI_Comm comm, int n, int root, bool in_place)
{
    int *all = blocks[n % 2], *mine = block[n % 2];
    bool here = in_place && rank == root;
    memset(all, -1, sizeof blocks[0]);
    for (int i = 0; i < 2; i++)
        (here ? all + 2 * rank : mine)[i] = given(rank, n, i);
    CHECK_OK(MPI_Gather(here ? MPI_IN_PLACE : mine, 2, MPI_INT, all, 2, MPI_INT, root, comm));
    for (int i = 0; i < 2 * size && rank == root; i++)
        CHECK(all[i] == given(i / 2, n, i % 2));
    for (int i = 0; i < 2 * size; i++)
        all[i] = rank == root ? given(i / 2, n + 1, i % 2) : -1;
    mine[0] = mine[1] = -1;
    CHECK_OK(MPI_Scatter(all, 2, MPI_INT, here ? MPI_IN_PLACE : mine, 2, MPI_INT, root, comm));
    for (int i = 0; i < 2; i++) {
        CHECK(mine[i] == (here ? -1 : given(rank, n + 1, i)));
        CHECK(rank != root || all[2 * root + i] == given(root, n + 1, i));
    }
}

static void blocks_in_place(MPI_Comm comm, int n, bool in_place)
{
    int *all = blocks[n % 2], *from = blocks[1 - n % 2];
    for (int r = 0; r < size; r++)
        all[r] = in_place ? given(rank, n + r, 0) : -1;
    for (int r = 0; r < size; r++)
        from[r] = given(rank, n + r, 0);
    CHECK_OK(MPI_Alltoall(in_place ? MPI_IN_PLACE : from, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(all[r] == given(r, n + rank, 0) && from[r] == given(rank, n + r, 0));
    for (int r = 0; r < size; r++)
        all[r] = in_place && r == rank ? given(rank, n, 1) : -1;
    from[0] = given(rank, n, 1);
    CHECK_OK(MPI_Allgather(in_place ? MPI_IN_PLACE : from, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        CHECK(all[r] == given(r, n, 1));
}

static void test_in_place(void)
{
    for (int way = 0; way < 3; way++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int n = 0; n < 24; n++) {
            bool in_place = way == 0 ? n < 8 : way == 1 ? n >= 8 : n % 3 == 2;
            rooted_in_place(comm, n, n < 16 ? size - 1 : 0, in_place);
            blocks_in_place(comm, n, in_place);
        }
        MPI_Comm_free(&comm);
    }
}

/* ---- lists of counts, which change in place: also so that blocks fit no slot ---- */

enum { ITEMS = 2000 };
static int listed[64 * ITEMS], own[ITEMS], arrays[2][2][64], *counts, *displs;

/* Rank r has more than others now and then; the root's own block, and that of who asks, stay as they are. */
static int items_of(int r, int n, int root)
{
    return r == root || r % 2 ? 2 : n / 5 % 3 == 0 ? 2 : n / 5 % 3 == 1 ? ITEMS : 0;
}

static void lists(int n, int root)
{
    int at = n % 7;
    counts = arrays[n / 2 % 2][0]; /* elsewhere, too */
    displs = arrays[n / 2 % 2][1];
    for (int i = 0; i < size; i++) {
        int r = n % 2 ? i : size - 1 - i;
        counts[r] = items_of(r, n, root);
        displs[r] = at;
        at += counts[r] + n % 3;
    }
}

static void check_listed_of(int r, int n)
{
    for (int i = 0; i < counts[r]; i++)
        CHECK(listed[displs[r] + i] == given(r, n, i));
}

static void check_listed(int n, int root)
{
    for (int r = 0; r < size && rank == root; r++)
        check_listed_of(r, n);
}

static void listed_once(MPI_Comm comm, int n, int root, bool in_place)
{
    int mine = items_of(rank, n, root);
    bool here = in_place && rank == root;
    lists(n, root);
    memset(listed, -1, sizeof listed);
    for (int i = 0; i < mine; i++)
        (here ? listed + displs[rank] : own)[i] = given(rank, n, i);
    CHECK_OK(MPI_Gatherv(here ? MPI_IN_PLACE : own, mine, MPI_INT, listed, counts, displs,
                         MPI_INT, root, comm));
    check_listed(n, root);
    memset(own, -1, sizeof own);
    CHECK_OK(MPI_Scatterv(listed, counts, displs, MPI_INT, here ? MPI_IN_PLACE : own, mine,
                          MPI_INT, root, comm));
    for (int i = 0; i < mine && !here; i++)
        CHECK(own[i] == given(rank, n, i));
    CHECK(here || mine == ITEMS || own[mine] == -1);
}

/* Counts that stay for a while, with displacements and arrays that do not, and then others, of which the own one is
 * the same; also so many that no slot has room. */
static void all_listed_once(MPI_Comm comm, int n, bool in_place)
{
    lists(n / 10 * 10, -1);
    for (int r = 0, at = n % 3; r < size; r++) {
        displs[r] = at;
        at += counts[r] + n % 2;
    }
    memset(listed, -1, sizeof listed);
    for (int i = 0; i < counts[rank]; i++)
        (in_place ? listed + displs[rank] : own)[i] = given(rank, n, i);
    CHECK_OK(MPI_Allgatherv(in_place ? MPI_IN_PLACE : own, counts[rank], MPI_INT, listed,
                            counts, displs, MPI_INT, comm));
    for (int r = 0; r < size; r++)
        check_listed_of(r, n);
    CHECK(listed[displs[size - 1] + counts[size - 1]] == -1);
}

static void test_all_listed(MPI_Comm comm)
{
    for (int n = 0; n < 120; n++)
        all_listed_once(comm, n, n >= 60 && n % 7 == 0);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int n = 0; n < 5; n++)
        all_listed_once(comm, n, false);
    CHECK_ERROR(MPI_Allgatherv(own, counts[rank], MPI_INT, listed, counts, NULL, MPI_INT, comm),
                MPI_ERR_ARG);
    CHECK_ERROR(MPI_Allgatherv(own, counts[rank], MPI_INT, listed, NULL, displs, MPI_INT, comm),
                MPI_ERR_ARG);
    CHECK_ERROR(MPI_Allgatherv(listed + displs[rank], counts[rank], MPI_INT, listed, counts,
                               displs, MPI_INT, comm),
                MPI_ERR_BUFFER);
    counts[size - 1] = -1;
    CHECK_ERROR(MPI_Allgatherv(own, 2, MPI_INT, listed, counts, displs, MPI_INT, comm),
                MPI_ERR_COUNT);
    all_listed_once(comm, 5, false);
}

/* A place that is too short for what comes, in a call that was kept. */
static void test_truncation(MPI_Comm comm)
{
    int root = 0, last = size - 1;
    lists(0, root);
    for (int n = 0; n < 6; n++) {
        int rc;
        if (n >= 4 && rank == root)
            counts[last] = n == 4 ? 1 : 2;
        rc = MPI_Gatherv(own, 2, MPI_INT, listed, counts, displs, MPI_INT, root, comm);
        check_class(__FILE__, __LINE__, "MPI_Gatherv", rc,
                    n == 4 && rank == root ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    for (int n = 0; n < 6; n++) {
        int rc;
        if (n >= 4 && rank == root && size > 1)
            counts[last] = n == 4 ? 3 : 2;
        rc = MPI_Scatterv(listed, counts, displs, MPI_INT, own, 2, MPI_INT, root, comm);
        check_class(__FILE__, __LINE__, "MPI_Scatterv", rc,
                    n == 4 && rank == last && size > 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
}

/* Of the root alone, which calls again as it should be. */
static void mistakes_of_root(MPI_Comm comm)
{
    int before = counts[size - 1];
    counts[size - 1] = -1;
    CHECK_ERROR(MPI_Gatherv(own, 2, MPI_INT, listed, counts, displs, MPI_INT, rank, comm),
                MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Scatterv(listed, counts, displs, MPI_INT, own, 2, MPI_INT, rank, comm),
                MPI_ERR_COUNT);
    counts[size - 1] = before;
    before = counts[rank];
    counts[rank] = 1;
    CHECK_ERROR(MPI_Gatherv(own, 2, MPI_INT, listed, counts, displs, MPI_INT, rank, comm),
                MPI_ERR_TRUNCATE);
    counts[rank] = 3;
    CHECK_ERROR(MPI_Scatterv(listed, counts, displs, MPI_INT, own, 2, MPI_INT, rank, comm),
                MPI_ERR_TRUNCATE);
    counts[rank] = before;
    CHECK_ERROR(MPI_Gatherv(listed + displs[rank], 2, MPI_INT, listed, counts, displs, MPI_INT,
                            rank, comm),
                MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Gatherv(own, 2, MPI_INT, listed, counts, NULL, MPI_INT, rank, comm),
                MPI_ERR_ARG);
    CHECK_ERROR(MPI_Scatterv(listed, NULL, displs, MPI_INT, own, 2, MPI_INT, rank, comm),
                MPI_ERR_ARG);
}

static void test_lists(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int n = 0; n < 45; n++)
        listed_once(comm, n, n < 30 ? 0 : size - 1, n >= 20 && n % 4 == 0);
    for (int n = 0; n < 90; n++)
        listed_once(comm, n, n % size, false);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int n = 0; n < 5; n++)
        listed_once(comm, n, 0, false);
    if (rank == 0)
        mistakes_of_root(comm);
    listed_once(comm, 3, 0, false);
    test_truncation(comm);
    listed_once(comm, 4, 0, false);
    test_all_listed(comm);
    MPI_Comm_free(&comm);
}

/* ---- no data: then there need not be memory ---- */

static void nothing(MPI_Comm comm, void *out, void *in)
{
    int root = size - 1;
    CHECK_OK(MPI_Bcast(in, 0, MPI_INT, root, comm));
    CHECK_OK(MPI_Gather(out, 0, MPI_INT, in, 0, MPI_INT, root, comm));
    CHECK_OK(MPI_Scatter(out, 0, MPI_INT, in, 0, MPI_INT, root, comm));
    CHECK_OK(MPI_Allgather(out, 0, MPI_INT, in, 0, MPI_INT, comm));
    CHECK_OK(MPI_Alltoall(out, 0, MPI_INT, in, 0, MPI_INT, comm));
    CHECK_OK(MPI_Reduce(out, in, 0, MPI_INT, MPI_SUM, root, comm));
    CHECK_OK(MPI_Allreduce(out, in, 0, MPI_INT, MPI_SUM, comm));
    CHECK_OK(MPI_Reduce_scatter_block(out, in, 0, MPI_INT, MPI_SUM, comm));
    CHECK_OK(MPI_Scan(out, in, 0, MPI_INT, MPI_SUM, comm));
    CHECK_OK(MPI_Exscan(out, in, 0, MPI_INT, MPI_SUM, comm));
}

static void test_nothing(MPI_Comm comm)
{
    int out = 7, in = 8;
    for (int n = 0; n < 15; n++)
        nothing(comm, n / 5 == 1 ? NULL : &out, n / 5 == 1 ? NULL : &in);
    for (int n = 0; n < 5; n++)
        nothing(comm, n % 2 ? NULL : &out, n % 2 ? &in : NULL);
    CHECK(out == 7 && in == 8);
}

/* The third of its kind has something else beside it, each time something else. */
static void test_others(MPI_Comm comm)
{
    static const int counts[] = { 1, 1, 1, 2, 2, 2, 1, 0, 0, 0, 1, 1, MOST, MOST, MOST, 1, 1 };
    for (int n = 0; n < (int)(sizeof counts / sizeof *counts); n++)
        sum(comm, n, counts[n], false);
    for (int n = 0; n < 12; n++) {
        largest(comm, n);
        if (n % 4 == 3)
            sum(comm, n, 1, false);
    }
    for (int n = 0; n < 12; n++)
        n / 3 % 2 ? sum_of_doubles(comm, n) : sum(comm, n, 1, false);
}

/* (a, b) then (c, d) is (a c, b c + d): it does not commute. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++, a += 2, b += 2) {
        b[1] += a[1] * b[0];
        b[0] *= a[0];
    }
}

/* What a program makes is freed, and the next one may have its address. */
static void test_made(MPI_Comm comm)
{
    for (int n = 0; n < 12; n++) {
        MPI_Datatype pair;
        MPI_Op op;
        int mine[2] = { 2, rank + n }, all[2], wanted[2] = { 1, 0 };
        MPI_Type_contiguous(2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        MPI_Op_create(compose, 0, &op);
        CHECK_OK(MPI_Allreduce(mine, all, 1, pair, op, comm));
        for (int r = 0; r < size; r++) {
            wanted[1] = wanted[1] * 2 + r + n;
            wanted[0] *= 2;
        }
        CHECK(all[0] == wanted[0] && all[1] == wanted[1]);
        MPI_Op_free(&op);
        MPI_Type_free(&pair);
        sum(comm, n, 2, false);
    }
}

/* All ranks make the same mistake, so nobody waits. */
static void test_mistakes(MPI_Comm comm)
{
    int one = 1, all = 0;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int n = 0; n < 8; n++)
        sum(comm, n, 1, false);
    CHECK_ERROR(MPI_Allreduce(&one, NULL, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allreduce(NULL, &all, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allreduce(&all, &all, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allreduce(&one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allreduce(&one, &all, -1, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT);
    CHECK_ERROR(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP);
    for (int n = 0; n < 4; n++)
        gathers(comm, n, 0);
    for (int n = 0; n < 4; n++) {
        scatters(comm, n, 0);
        folds(comm, 4 * n, 0);
    }
    int *mine = blocks[0] + 2 * rank, *to = blocks[1];
    CHECK_ERROR(MPI_Gather(NULL, 2, MPI_INT, to, 2, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Scatter(blocks[0], 2, MPI_INT, NULL, 2, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Bcast(NULL, 1, MPI_INT, 0, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Alltoall(NULL, 1, MPI_INT, to, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Alltoall(to, 1, MPI_INT, to, 1, MPI_INT, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Reduce(NULL, to, 1, MPI_INT, MPI_SUM, 0, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Scan(&one, NULL, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allgather(mine, 2, MPI_INT, blocks[0], 1, MPI_2INT, comm), MPI_ERR_BUFFER);
    CHECK_ERROR(MPI_Allgather(NULL, 2, MPI_INT, blocks[0], 1, MPI_2INT, comm), MPI_ERR_BUFFER);
    for (int n = 0; n < 8; n++)
        sum(comm, n, 1, false);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
}

/* Each has its own, and the next one at its address none. */
static void test_comms(void)
{
    for (int n = 0; n < 10; n++) {
        MPI_Comm dup, part;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Comm_split(dup, rank % 2, 0, &part);
        for (int i = 0; i < 5; i++) {
            int one = 1, all = 0, members;
            sum(dup, n + i, 1, false);
            MPI_Comm_size(part, &members);
            CHECK_OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, part));
            CHECK(all == members);
            MPI_Barrier(part);
        }
        MPI_Comm_free(&part);
        MPI_Comm_free(&dup);
    }
}

/* Other collectives in between are counted: all ranks agree in which one they are. */
static void test_between(MPI_Comm comm)
{
    for (int n = 0; n < 100; n++) {
        int value = rank == n % size ? n : -1;
        MPI_Request request = MPI_REQUEST_NULL;
        if (n % 7 == 0)
            MPI_Ibarrier(comm, &request);
        sum(comm, n, 1, false);
        if (n % 3 == 0)
            CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, n % size, comm));
        CHECK(n % 3 || value == n);
        MPI_Barrier(comm);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    MPI_Comm dup;
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    test_same(MPI_COMM_WORLD);
    test_same(dup);
    test_same(MPI_COMM_WORLD);
    test_others(dup);
    test_kinds(dup);
    test_kinds(MPI_COMM_WORLD);
    test_in_place();
    test_lists();
    test_nothing(dup);
    test_made(dup);
    test_mistakes(dup);
    test_comms();
    test_between(dup);
    MPI_Comm_free(&dup);
    return check_done();
}
