/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks with a session each, as some launchers give them: yields do not reach other sessions, so where
 * ranks exceed CPUs they sleep.  Who sleeps in a collective is woken for what it waits for: not by each
 * of those who come to a barrier, but once, by the last.  Counted in switches, since those do not
 * depend on what else the machine does.
 *
 * conform-device: it counts how often collectives on shared slots sleep, those of devices take other ways
 * conform-shadow: it counts how often collectives sleep, and copies to a device sleep as well
 */
#define _GNU_SOURCE 1 /* RUSAGE_THREAD */
#include "check.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 100, TRIES = 6 };

/* As setsid(1) does. */
static void have_own_session(void)
{
    if (setsid() >= 0)
        return;
    pid_t child = fork();
    if (child > 0) {
        int status = 0;
        waitpid(child, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    CHECK(child == 0 && setsid() >= 0);
}

static double switches(void)
{
    struct rusage use;
    getrusage(RUSAGE_THREAD, &use);
    return (double)use.ru_nvcsw;
}

/* Are barriers performed in shared slots? */
static int have_slots(MPI_T_pvar_session session)
{
    int index, count, mine, all;
    unsigned long long slots = 0;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle handle;
    CHECK(MPI_T_pvar_get_index("xmpi_coll_barrier_tiny", MPI_T_PVAR_CLASS_COUNTER, &index) ==
          MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count) == MPI_SUCCESS);
    MPI_T_pvar_start(session, handle);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_pvar_read(session, handle, &slots);
    mine = slots > 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

static void barriers(void)
{
    for (int i = 0; i < TIMES; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void sums(void)
{
    for (int i = 0; i < TIMES; i++) {
        int mine = i + world_rank(), sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == world_size() * i + world_size() * (world_size() - 1) / 2);
    }
}

static void others(void)
{
    int n = world_size(), me = world_rank(), *all = calloc((size_t)n, sizeof *all);
    for (int i = 0; i < TIMES; i++) {
        int word = me == i % n ? i : -1, below = -1, mine = me + i, blocks = -1;
        MPI_Bcast(&word, 1, MPI_INT, i % n, MPI_COMM_WORLD);
        MPI_Scan(&mine, &below, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, (i + 1) % n, MPI_COMM_WORLD);
        MPI_Scatter(all, 1, MPI_INT, &blocks, 1, MPI_INT, (i + 1) % n, MPI_COMM_WORLD);
        CHECK(word == i && blocks == mine && below == (me + 1) * i + me * (me + 1) / 2);
    }
    free(all);
}

/* Others that are under way at the same time: nonblocking ones, and messages. */
static void mixtures(void)
{
    int n = world_size(), me = world_rank();
    for (int i = 0; i < TIMES; i++) {
        int mine = me + i, sum = -1, got = -1;
        MPI_Request requests[3];
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&got, 1, MPI_INT, (me + n - 1) % n, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(&mine, 1, MPI_INT, (me + 1) % n, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        CHECK(sum == n - 1 + i && got == (me + n - 1) % n + i);
    }
}

/* Voluntary switches of all ranks, for each time: the fewest of some tries, as whoever waits for longer
 * than a nap, on a machine that does other things, is switched to once more. */
static double switches_of(void (*work)(void))
{
    double fewest = 0;
    for (int try = 0; try < TRIES; try++) {
        double before = switches(), mine, all;
        work();
        mine = switches() - before;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        fewest = try == 0 || all < fewest ? all : fewest;
    }
    return fewest / TIMES;
}

int main(int argc, char **argv)
{
    int provided;
    have_own_session();
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session session;
    MPI_T_pvar_session_create(&session);
    int slots = have_slots(session);
    double each = switches_of(barriers), most = 1.25 * world_size() + 1;
    if (slots && each > most)
        printf("%.1f switches for a barrier of %d ranks\n", each, world_size());
    CHECK(!slots || each <= most); /* n * (n - 1) / 2 if each wakes all who are there */
    each = switches_of(sums);
    CHECK(!slots || each <= most);
    others();
    mixtures();
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
