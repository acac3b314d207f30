/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that run ahead of a late one: roots that only send, and ranks that need nobody else, are many
 * collectives ahead of it, and none may write over what it has not read yet.
 */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 24, OPERATIONS = 1500, ROOTS = 2, DUPLICATES = 16 };

static MPI_Comm comm; /* all are performed on it */

static void be_late(long microseconds)
{
    struct timespec time = { 0, microseconds * 1000 };
    nanosleep(&time, NULL);
}

static int word(int rank, int time, int i)
{
    return rank * 1000003 + time * 1009 + i;
}

static void check_words(const int *words, int n, int from, int time)
{
    for (int i = 0; i < n; i++)
        CHECK(words[i] == word(from, time, i));
}

static int *words_of_all(int n, int time)
{
    int *all = malloc(sizeof(int) * (size_t)(world_size() * n + 1));
    for (int r = 0; r < world_size(); r++)
        for (int i = 0; i < n; i++)
            all[r * n + i] = word(r, time, i);
    return all;
}

static void bcast(int root, int n, int time)
{
    int words[WORDS];
    for (int i = 0; i < n; i++)
        words[i] = world_rank() == root ? word(root, time, i) : -1;
    MPI_Bcast(words, n, MPI_INT, root, comm);
    check_words(words, n, root, time);
}

static void scatter(int root, int n, int time)
{
    int *all = words_of_all(n, time), mine[WORDS] = { -1 };
    MPI_Scatter(all, n, MPI_INT, mine, n, MPI_INT, root, comm);
    check_words(mine, n, world_rank(), time);
    free(all);
}

/* Rank r has r % 3 words less. */
static void scatterv(int root, int n, int time)
{
    int size = world_size(), *counts = malloc(2 * sizeof(int) * (size_t)size);
    int *displs = counts + size, *all = words_of_all(n, time), mine[WORDS];
    for (int r = 0; r < size; r++) {
        counts[r] = n > 2 ? n - r % 3 : n;
        displs[r] = r * n;
    }
    int own = counts[world_rank()];
    MPI_Scatterv(all, counts, displs, MPI_INT, mine, own, MPI_INT, root, comm);
    check_words(mine, own, world_rank(), time);
    free(counts);
    free(all);
}

static void gather(int root, int n, int time)
{
    int mine[WORDS], *all = malloc(sizeof(int) * (size_t)(world_size() * n + 1));
    for (int i = 0; i < n; i++)
        mine[i] = word(world_rank(), time, i);
    MPI_Gather(mine, n, MPI_INT, all, n, MPI_INT, root, comm);
    for (int r = 0; r < world_size() && world_rank() == root; r++)
        check_words(all + r * n, n, r, time);
    free(all);
}

static void gatherv(int root, int n, int time)
{
    int size = world_size(), mine[WORDS], *all = malloc(3 * sizeof(int) * (size_t)(size * n));
    int *counts = all + size * n, *displs = counts + size, own = n - (n > 1) * world_rank() % 2;
    for (int i = 0; i < n; i++)
        mine[i] = word(world_rank(), time, i);
    for (int r = 0; r < size; r++) {
        counts[r] = n - (n > 1) * r % 2;
        displs[r] = r * n;
    }
    MPI_Gatherv(mine, own, MPI_INT, all, counts, displs, MPI_INT, root, comm);
    for (int r = 0; r < size && world_rank() == root; r++)
        check_words(all + r * n, counts[r], r, time);
    free(all);
}

/* Several at a time, on slots of their own. */
static void iscatter(int root, int n, int time)
{
    enum { TOGETHER = 3 };
    int mine[TOGETHER][WORDS], *all[TOGETHER];
    MPI_Request requests[TOGETHER];
    for (int k = 0; k < TOGETHER; k++) {
        all[k] = words_of_all(n, time + k);
        MPI_Iscatter(all[k], n, MPI_INT, mine[k], n, MPI_INT, root, comm, &requests[k]);
    }
    MPI_Waitall(TOGETHER, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < TOGETHER; k++) {
        check_words(mine[k], n, world_rank(), time + k);
        free(all[k]);
    }
}

static void igather(int root, int n, int time)
{
    int mine[WORDS], *all = malloc(sizeof(int) * (size_t)(world_size() * n));
    MPI_Request request;
    for (int i = 0; i < n; i++)
        mine[i] = word(world_rank(), time, i);
    MPI_Igather(mine, n, MPI_INT, all, n, MPI_INT, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < world_size() && world_rank() == root; r++)
        check_words(all + r * n, n, r, time);
    free(all);
}

static void ibcast(int root, int n, int time)
{
    int words[WORDS];
    MPI_Request request;
    for (int i = 0; i < n; i++)
        words[i] = world_rank() == root ? word(root, time, i) : -1;
    MPI_Ibcast(words, n, MPI_INT, root, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_words(words, n, root, time);
}

/* Made once for each of two roots, started again and again. */
static struct made {
    MPI_Request scatter, bcast;
    int *all, mine[WORDS], words[WORDS];
} made[ROOTS];

static void make(int root)
{
    struct made *m = &made[root];
    m->all = words_of_all(WORDS, 0);
    MPI_Scatter_init(m->all, WORDS, MPI_INT, m->mine, WORDS, MPI_INT, root, comm, MPI_INFO_NULL,
                     &m->scatter);
    MPI_Bcast_init(m->words, WORDS, MPI_INT, root, comm, MPI_INFO_NULL, &m->bcast);
}

static void unmake(int root)
{
    MPI_Request_free(&made[root].scatter);
    MPI_Request_free(&made[root].bcast);
    free(made[root].all);
}

static void started(int root, int n, int time)
{
    struct made *m = &made[root % ROOTS];
    bool is_root = world_rank() == root % ROOTS;
    (void)n;
    for (int r = 0; r < world_size(); r++)
        for (int i = 0; i < WORDS; i++)
            m->all[r * WORDS + i] = word(r, time, i);
    for (int i = 0; i < WORDS; i++)
        m->words[i] = is_root ? word(root % ROOTS, time, i) : -1;
    MPI_Start(&m->scatter);
    MPI_Start(&m->bcast);
    MPI_Wait(&m->scatter, MPI_STATUS_IGNORE);
    MPI_Wait(&m->bcast, MPI_STATUS_IGNORE);
    check_words(m->mine, WORDS, world_rank(), time);
    check_words(m->words, WORDS, root % ROOTS, time);
}

static void scan(int root, int n, int time)
{
    int mine = root + time, sum = -1;
    (void)n;
    MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == (world_rank() + 1) * mine);
}

static void (*const operations[])(int root, int n, int time) = {
    bcast,    scatter, scatterv, gather, gatherv,  scan,
    iscatter, igather, ibcast,   bcast,  iscatter, started,
};

/* The last rank is late while rank 0 follows rank 1, and then needs nobody.  How many operations fit
 * before slots are written again is not said anywhere, so all likely numbers are tried. */
static void one_is_late(int ahead, void (*last)(int, int, int))
{
    MPI_Barrier(comm);
    for (int i = 0; i < ahead; i++) {
        if (i == 1 && world_rank() == world_size() - 1)
            be_late(3000);
        bcast(1, WORDS, i);
    }
    bcast(0, 1, ahead);
    last(0, WORDS, ahead);
}

static unsigned random_below(unsigned n)
{
    static unsigned long long state = 88172645463325252ull; /* the same on all ranks */
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

static void anything(int times)
{
    unsigned size = (unsigned)world_size(), kinds = sizeof operations / sizeof operations[0];
    for (int root = 0; root < ROOTS; root++)
        make(root);
    for (int time = 0; time < times; time++) {
        unsigned kind = random_below(kinds), root = random_below(size);
        unsigned n = 1 + random_below(WORDS), late = random_below(40 * size);
        if (late == (unsigned)world_rank())
            be_late(1000);
        operations[kind]((int)root, (int)n, time);
    }
    for (int root = 0; root < ROOTS; root++)
        unmake(root);
}

/* Each gets less room for its slots than the one before, the last as little as will do. */
static void on_duplicates(void)
{
    MPI_Comm duplicates[DUPLICATES];
    for (int i = 0; i < DUPLICATES; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &duplicates[i]);
    for (int i = 0; i < DUPLICATES; i += DUPLICATES / 4 - 1) {
        comm = duplicates[i];
        one_is_late(i + 2, scatter);
        one_is_late(i + 2, scatterv);
        anything(OPERATIONS / 10);
    }
    for (int i = 0; i < DUPLICATES; i++)
        MPI_Comm_free(&duplicates[i]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    if (world_size() == 1)
        return check_done();
    for (int around = 4; around <= 64; around *= 2)
        for (int ahead = around - 2; ahead <= around + 1; ahead++) {
            one_is_late(ahead, scatter);
            one_is_late(ahead, scatterv);
        }
    anything(OPERATIONS);
    on_duplicates();
    return check_done();
}
