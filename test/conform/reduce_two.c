/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pairs of ranks reduce vectors of 8 to 80 KiB, of elements of all sizes: either root, in place or not, with the
 * root too late, the other one too late, or both in time.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 6, LATE_US = 200 };

static int rank, size; /* in the pair */

static void pass_time(void)
{
    struct timespec begun, now;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begun.tv_sec) * 1000000L + (now.tv_nsec - begun.tv_nsec) / 1000 <
           LATE_US);
}

/* Small integers, so that sums are exact in all types. */
static int term(int from, int i, int round)
{
    return (from * 3 + i * 5 + round) % 13 - 4;
}

#define KIND(name, type)                                                                       \
    static void name##_fill(void *to, int n, int from, int round)                              \
    {                                                                                          \
        for (int i = 0; i < n; i++)                                                            \
            ((type *)to)[i] = (type)term(from, i, round);                                      \
    }                                                                                          \
    static int name##_is_sum(const void *all, int n, int round)                                \
    {                                                                                          \
        for (int i = 0; i < n; i++) {                                                          \
            int sum = 0;                                                                       \
            for (int r = 0; r < size; r++)                                                     \
                sum += term(r, i, round);                                                      \
            if (((const type *)all)[i] != (type)sum)                                           \
                return 0;                                                                      \
        }                                                                                      \
        return 1;                                                                              \
    }
KIND(bytes, signed char)
KIND(shorts, short)
KIND(ints, int)
KIND(floats, float)
KIND(doubles, double)
KIND(longer, long double)

static const struct kind {
    int size;
    void (*fill)(void *to, int n, int from, int round);
    int (*is_sum)(const void *all, int n, int round);
} kinds[] = {
    { sizeof(char), bytes_fill, bytes_is_sum },
    { sizeof(short), shorts_fill, shorts_is_sum },
    { sizeof(int), ints_fill, ints_is_sum },
    { sizeof(float), floats_fill, floats_is_sum },
    { sizeof(double), doubles_fill, doubles_is_sum },
    { sizeof(long double), longer_fill, longer_is_sum },
};

static void reduce(const struct kind *kind, MPI_Datatype type, int n, int round, MPI_Comm pair)
{
    size_t bytes = (size_t)n * (size_t)kind->size;
    char *mine = malloc(bytes), *all = malloc(bytes + 1);
    int root = round % size, in_place = round % 4 >= 2, late = round % 3;
    memset(all, 99, bytes + 1);
    kind->fill(mine, n, rank, round);
    if (in_place && rank == root)
        memcpy(all, mine, bytes);
    if (late == 1 ? rank == root : late == 2 && rank != root)
        pass_time();
    CHECK(!MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : mine, rank == root ? all : NULL,
                      n, type, MPI_SUM, root, pair));
    CHECK(rank != root || kind->is_sum(all, n, round));
    CHECK(rank != root || all[bytes] == 99);
    kind->fill(all, n, rank, round);
    CHECK(memcmp(mine, all, bytes) == 0 || kind->size == sizeof(long double)); /* padding */
    free(mine);
    free(all);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {
        8000, 8200, 12288, 16384, 16400, 32768, 40000, 65520, 80000
    };
    int world;
    MPI_Comm pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, world / 2, world, &pair);
    MPI_Comm_rank(pair, &rank);
    MPI_Comm_size(pair, &size);
    const MPI_Datatype types[] = { MPI_SIGNED_CHAR, MPI_SHORT,  MPI_INT,
                                   MPI_FLOAT,       MPI_DOUBLE, MPI_LONG_DOUBLE };
    for (int round = 0; round < ROUNDS; round++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
                reduce(&kinds[k], types[k], lengths[l] / kinds[k].size, round, pair);
    MPI_Comm_free(&pair);
    return check_done();
}
