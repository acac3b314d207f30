/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the programs of this folder share: they run a function in THREADS threads at once (first
 * argument of the program, 4 by default), and are plain MPI.
 *
 *     static void work(int me) { ... }
 *     int main(int argc, char **argv)
 *     {
 *         threads_begin(&argc, &argv);   MPI_Init_thread with MPI_THREAD_MULTIPLE
 *         threads_run(work);
 *         return check_done();
 *     }
 */
#ifndef THREADS_H
#define THREADS_H

#include "test/conform/check.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 16 };

static int nthreads = 4;
static int rank, size; /* in MPI_COMM_WORLD */

static inline void threads_begin(int *argc, char ***argv)
{
    int provided;
    nthreads = *argc > 1 ? atoi((*argv)[1]) : 4;
    CHECK(nthreads >= 1 && nthreads <= MOST_THREADS);
    CHECK_OK(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE);
    errors_return();
    rank = world_rank();
    size = world_size();
}

struct thread {
    pthread_t thread;
    void (*work)(int me);
    int me;
};

static inline void *thread_work(void *argument)
{
    struct thread *t = argument;
    t->work(t->me);
    return NULL;
}

static inline void threads_run(void (*work)(int me))
{
    struct thread threads[MOST_THREADS];
    for (int i = 0; i < nthreads; i++) {
        threads[i].work = work;
        threads[i].me = i;
        CHECK(pthread_create(&threads[i].thread, NULL, thread_work, &threads[i]) == 0);
    }
    for (int i = 0; i < nthreads; i++)
        CHECK(pthread_join(threads[i].thread, NULL) == 0);
}

static inline double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void nap_ms(int ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
}

/* A communicator for each thread. */
static inline void comms_make(MPI_Comm comms[])
{
    for (int i = 0; i < nthreads; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
}

static inline void comms_free(MPI_Comm comms[])
{
    for (int i = 0; i < nthreads; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
}

#endif
