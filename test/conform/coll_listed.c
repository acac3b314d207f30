/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Gatherv and scatterv whose blocks go different ways in one call: short ones through shared slots, long
 * ones as messages, and nothing at all; and scatters in slots that belong to others.  Ranks that only
 * send run ahead, so many calls in a row, with roots that change, must not mix up.
 */
#include "check.h"

#include <string.h>

enum { MOST = 40000, ROUNDS = 400 };

static MPI_Comm comm;
static int rank, size;

/* Lengths around the ends of slots of one line and of those of two ranks. */
static const int lengths[] = { 0,    8,    1,    79,   80,   81,   83,   84,   85,   91,
                               92,   93,   97,   128,  500,  1023, 1024, 1025, 1100, 1108,
                               1109, 1120, 2036, 2047, 2048, 2049, 2140, 9000, MOST };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static int length(int which, int r, int spread)
{
    return lengths[(which + r * spread) % LENGTHS];
}

static unsigned char value(int r, int i, int round)
{
    return (unsigned char)(r * 37 + i * 11 + round * 101 + 5);
}

static unsigned char *all, *one;
static int counts[64], displs[64], total;

static void lists(int which, int spread)
{
    total = 3;
    for (int r = 0; r < size; r++) {
        counts[r] = length(which, r, spread);
        displs[r] = total;
        total += counts[r] + 3;
    }
}

static void fill(unsigned char *to, int r, int n, int round)
{
    for (int i = 0; i < n; i++)
        to[i] = value(r, i, round);
}

static int is(const unsigned char *what, int r, int n, int round)
{
    int good = 1;
    for (int i = 0; i < n; i++)
        good &= what[i] == value(r, i, round);
    return good;
}

/* All blocks, and the gaps between them. */
static int all_good(int round)
{
    int good = 1, at = 0;
    for (int r = 0; r < size; r++) {
        for (; at < displs[r]; at++)
            good &= all[at] == 0xee;
        good &= is(all + at, r, counts[r], round);
        at += counts[r];
    }
    return good;
}

static void gatherv(int which, int spread, int root, int in_place, int round)
{
    lists(which, spread);
    int n = counts[rank], here = rank == root;
    if (here)
        memset(all, 0xee, (size_t)total);
    fill(one, rank, n, round);
    if (here && in_place)
        fill(all + displs[rank], rank, n, round);
    CHECK(MPI_Gatherv(here && in_place ? MPI_IN_PLACE : one, n, MPI_BYTE, all, counts, displs,
                      MPI_BYTE, root, comm) == MPI_SUCCESS);
    CHECK(!here || all_good(round));
}

static void scatterv(int which, int spread, int root, int in_place, int round)
{
    lists(which, spread);
    int n = counts[rank], here = rank == root;
    for (int r = 0; r < size && here; r++)
        fill(all + displs[r], r, counts[r], round);
    memset(one, 0xee, (size_t)n + 1);
    CHECK(MPI_Scatterv(all, counts, displs, MPI_BYTE, here && in_place ? MPI_IN_PLACE : one, n,
                       MPI_BYTE, root, comm) == MPI_SUCCESS);
    CHECK((here && in_place) || (is(one, rank, n, round) && one[n] == 0xee));
}

static void test_lengths(void)
{
    for (int which = 0; which < LENGTHS; which++)
        for (int spread = 0; spread < 3; spread++) {
            int root = (which + spread) % size;
            gatherv(which, spread, root, which % 2, which);
            scatterv(which, spread, root, which % 2, which);
        }
}

/* Every other byte of the root's. */
static void test_gaps(void)
{
    MPI_Datatype gaps;
    MPI_Type_create_resized(MPI_BYTE, 0, 2, &gaps);
    MPI_Type_commit(&gaps);
    for (int which = 0; which < LENGTHS; which++) {
        int root = which % size, good = 1;
        lists(which, 1);
        fill(one, rank, counts[rank], which);
        memset(all, 0xee, 2 * (size_t)total);
        MPI_Gatherv(one, counts[rank], MPI_BYTE, all, counts, displs, gaps, root, comm);
        for (int r = 0; r < size && rank == root; r++)
            for (int i = 0; i < counts[r]; i++)
                good &= all[2 * (displs[r] + i)] == value(r, i, which) &&
                        all[2 * (displs[r] + i) + 1] == 0xee;
        CHECK(good);
        memset(one, 0xee, MOST);
        MPI_Scatterv(all, counts, displs, gaps, one, counts[rank], MPI_BYTE, root, comm);
        CHECK(is(one, rank, counts[rank], which));
    }
    MPI_Type_free(&gaps);
}

static void scatter(int n, int root, int round)
{
    for (int r = 0; r < size && rank == root; r++)
        fill(all + r * n, r, n, round);
    memset(one, 0xee, (size_t)n + 1);
    CHECK(MPI_Scatter(all, n, MPI_BYTE, one, n, MPI_BYTE, root, comm) == MPI_SUCCESS);
    CHECK(is(one, rank, n, round) && one[n] == 0xee);
}

static void gather(int n, int root, int round)
{
    fill(one, rank, n, round);
    CHECK(MPI_Gather(one, n, MPI_BYTE, all, n, MPI_BYTE, root, comm) == MPI_SUCCESS);
    for (int r = 0; r < size && rank == root; r++)
        CHECK(is(all + r * n, r, n, round));
}

/* The same root for a while, so that others run ahead of it or it of them; then another one. */
static void test_ahead(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        int root = round / 60 % size, short_ones = 6;
        switch (round * 7 / 3 % 5) {
        case 0:
            gatherv(round % short_ones, round % 2, root, 0, round);
            break;
        case 1:
            scatterv(round % short_ones, round % 2, root, 0, round);
            break;
        case 2:
            scatter(round % 97, root, round);
            break;
        case 3:
            gather(round % 97, root, round);
            break;
        default:
            scatter(8, round % size, round);
        }
    }
}

/* Nonblocking ones have slots of their own. */
static void test_tracks(void)
{
    enum { UNDER_WAY = 24, BYTES = 8 };
    MPI_Request requests[2 * UNDER_WAY];
    unsigned char *to = all + MOST, *from = one + UNDER_WAY * BYTES;
    int root = size - 1, n = BYTES;
    for (int i = 0; i < UNDER_WAY; i++) {
        for (int r = 0; r < size && rank == root; r++)
            fill(all + (i * size + r) * n, r, n, i);
        fill(from + i * n, rank, n, i);
        MPI_Iscatter(all + i * size * n, n, MPI_BYTE, one + i * n, n, MPI_BYTE, root, comm,
                     &requests[2 * i]);
        MPI_Igather(from + i * n, n, MPI_BYTE, to + i * size * n, n, MPI_BYTE, 0, comm,
                    &requests[2 * i + 1]);
    }
    MPI_Waitall(2 * UNDER_WAY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < UNDER_WAY; i++) {
        CHECK(is(one + i * n, rank, n, i));
        for (int r = 0; r < size && rank == 0; r++)
            CHECK(is(to + (i * size + r) * n, r, n, i));
    }
}

/* A block that is longer than its place is an error of whom it does not fit, and of nobody else. */
static void test_truncation(int n)
{
    int root = 0, last = size - 1, error, class = MPI_SUCCESS;
    if (size == 1)
        return;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int r = 0; r < size; r++)
        counts[r] = n, displs[r] = r * n;
    error = MPI_Gatherv(one, rank == last ? n + 1 : n, MPI_BYTE, all, counts, displs, MPI_BYTE,
                        root, comm);
    MPI_Error_class(error, &class);
    CHECK(class == (rank == root ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
    class = MPI_SUCCESS;
    error = MPI_Scatterv(all, counts, displs, MPI_BYTE, one, rank == last ? n - 1 : n, MPI_BYTE,
                         root, comm);
    MPI_Error_class(error, &class);
    CHECK(class == (rank == last ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
    CHECK(MPI_Barrier(comm) == MPI_SUCCESS);
}

static void test_all(void)
{
    test_lengths();
    test_gaps();
    test_ahead();
    test_tracks();
    test_truncation(8);
    test_truncation(2000);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    one = calloc(MOST + 8, 1);
    all = calloc((size_t)size * 2 * (MOST + 8) + 2 * MOST, 1);
    comm = MPI_COMM_WORLD;
    test_all();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* has fewer slots */
    test_all();
    MPI_Comm_free(&comm);
    free(all);
    free(one);
    return check_done();
}
