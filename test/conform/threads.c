/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that make communicators at the same time, each from one of its own, and all from one
 * with different tags: none gets another's messages.
 */
#include "test/conform/check.h"

#include <pthread.h>
#include <stdint.h>

enum { THREADS = 4, ROUNDS = 40 };

static MPI_Comm own[THREADS], shared;
static MPI_Group everybody;

/* The sum over ranks of what only threads of this number know. */
static void check_mine(MPI_Comm comm, int number, int round)
{
    int mine = 1000 * number + round, sum = -1, size;
    CHECK_OK(MPI_Comm_size(comm, &size));
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * mine);
}

static void *work(void *argument)
{
    int number = (int)(intptr_t)argument, rank;
    CHECK_OK(MPI_Comm_rank(own[number], &rank));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm dup, part, group;
        CHECK_OK(MPI_Comm_dup(own[number], &dup));
        check_mine(dup, number, round);
        CHECK_OK(MPI_Comm_split(dup, rank % 2, -rank, &part));
        check_mine(part, number, round);
        CHECK_OK(MPI_Comm_create_group(shared, everybody, number, &group));
        check_mine(group, number, round);
        CHECK_OK(MPI_Comm_free(&dup));
        CHECK_OK(MPI_Comm_free(&part));
        CHECK_OK(MPI_Comm_free(&group));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("skip: the library has no MPI_THREAD_MULTIPLE\n");
        return check_done();
    }
    errors_return();
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &shared));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]));
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&own[i]));
    CHECK_OK(MPI_Comm_free(&shared));
    CHECK_OK(MPI_Group_free(&everybody));
    return check_done();
}
