/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What threads of MPI_THREAD_MULTIPLE reach together, in messages of 8 bytes.  Even ranks send, odd
 * ones receive.
 *
 *     own     windows of 64 Isend and Irecv, Waitall, and one byte back; each thread has a
 *             communicator of its own
 *     tags    the same on one communicator, each thread with a tag of its own
 *     pong    ping-pongs, each thread with a communicator of its own
 *     self    windows of 64 Irecv and Isend to oneself, Waitall; a communicator for each thread
 *     same    the same on one communicator, each thread with a tag of its own
 *
 *     threads KIND THREADS [single|idle|blocked|polling]
 *
 *     single    MPI_THREAD_SINGLE, for what being ready for threads costs
 *     idle      one more thread of the program, which never calls MPI
 *     blocked   one more thread sits in MPI_Recv all the while
 *     polling   one more thread calls MPI_Iprobe all the while
 *
 * Prints messages per microsecond of all threads and all pairs of ranks together, the most and the
 * median of the batches; and how many this rank has for a microsecond of CPU time, which other
 * programs on the machine hardly change.  threads.py runs it beside other MPIs.
 */
#include <mpi.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 30, MOST_THREADS = 16, WINDOW = 64, WINDOWS = 200, PONGS = 2000 };

static int rank, size, nthreads;
static const char *beside = ""; /* what one more thread does */
static MPI_Comm comms[MOST_THREADS], beside_comm;
static int tags[MOST_THREADS];
static pthread_barrier_t gate;
static double rates[BATCHES], cpu_us;

static void fail(const char *why)
{
    fprintf(stderr, "threads: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void send_windows(int me, int to)
{
    MPI_Request requests[WINDOW];
    char out[8] = { 0 }, in[1];
    for (int i = 0; i < WINDOWS; i++) {
        for (int j = 0; j < WINDOW; j++)
            MPI_Isend(out, 8, MPI_CHAR, to, tags[me], comms[me], &requests[j]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(in, 1, MPI_CHAR, to, tags[me], comms[me], MPI_STATUS_IGNORE);
    }
}

static void receive_windows(int me, int from)
{
    MPI_Request requests[WINDOW];
    char in[WINDOW][8], out[1] = { 0 };
    for (int i = 0; i < WINDOWS; i++) {
        for (int j = 0; j < WINDOW; j++)
            MPI_Irecv(in[j], 8, MPI_CHAR, from, tags[me], comms[me], &requests[j]);
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        MPI_Send(out, 1, MPI_CHAR, from, tags[me], comms[me]);
    }
}

static void windows_to_oneself(int me)
{
    MPI_Request requests[2 * WINDOW];
    char in[WINDOW][8], out[8] = { 0 };
    for (int i = 0; i < WINDOWS; i++) {
        for (int j = 0; j < WINDOW; j++) {
            MPI_Irecv(in[j], 8, MPI_CHAR, rank, tags[me], comms[me], &requests[2 * j]);
            MPI_Isend(out, 8, MPI_CHAR, rank, tags[me], comms[me], &requests[2 * j + 1]);
        }
        MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
    }
}

static void pong(int me, int other)
{
    char data[8] = { 0 };
    for (int i = 0; i < PONGS; i++) {
        if (rank % 2 == 0)
            MPI_Send(data, 8, MPI_CHAR, other, tags[me], comms[me]);
        MPI_Recv(data, 8, MPI_CHAR, other, tags[me], comms[me], MPI_STATUS_IGNORE);
        if (rank % 2 == 1)
            MPI_Send(data, 8, MPI_CHAR, other, tags[me], comms[me]);
    }
}

static const char *kind;

static bool is_kind(const char *name)
{
    return strcmp(kind, name) == 0;
}

static bool is_to_oneself(void)
{
    return is_kind("self") || is_kind("same");
}

static double batch(int me)
{
    int other = rank ^ 1;
    if (is_kind("pong"))
        pong(me, other);
    else if (is_to_oneself())
        windows_to_oneself(me);
    else if (rank % 2 == 0)
        send_windows(me, other);
    else
        receive_windows(me, other);
    return is_kind("pong") ? 2.0 * PONGS : (double)WINDOW * WINDOWS;
}

static double cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double batch_messages;

static void *work(void *argument)
{
    int me = (int)(size_t)argument;
    for (int i = 0; i < BATCHES; i++) {
        if (me == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime(), cpu = cpu_now();
        pthread_barrier_wait(&gate);
        double messages = batch(me);
        pthread_barrier_wait(&gate);
        if (me != 0)
            continue;
        cpu_us += cpu_now() - cpu;
        batch_messages = messages * nthreads;
        MPI_Barrier(MPI_COMM_WORLD);
        rates[i] = messages * nthreads * (is_to_oneself() ? size : size / 2) /
                   (MPI_Wtime() - begin) / 1e6;
    }
    return NULL;
}

/* ---- one more thread ---- */

static pthread_mutex_t gone = PTHREAD_MUTEX_INITIALIZER;

static void *sit(void *unused)
{
    char in[1];
    int found = 0;
    if (strcmp(beside, "idle") == 0)
        pthread_mutex_lock(&gone);
    while (strcmp(beside, "polling") == 0 && !found)
        MPI_Iprobe(rank, 0, beside_comm, &found, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1, MPI_CHAR, rank, 0, beside_comm, MPI_STATUS_IGNORE);
    return unused;
}

static void sit_begin(pthread_t *thread)
{
    pthread_mutex_lock(&gone);
    if (*beside)
        pthread_create(thread, NULL, sit, NULL);
}

static void sit_end(pthread_t thread)
{
    pthread_mutex_unlock(&gone);
    if (!*beside)
        return;
    MPI_Send("", 1, MPI_CHAR, rank, 0, beside_comm);
    pthread_join(thread, NULL);
}

static void begin(int argc, char **argv)
{
    int provided;
    bool single = argc > 3 && strcmp(argv[3], "single") == 0;
    if (argc > 3 && !single)
        beside = argv[3];
    bool known = !*beside || strcmp(beside, "idle") == 0 || strcmp(beside, "blocked") == 0 ||
                 strcmp(beside, "polling") == 0;
    int wanted = single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    if (provided < wanted)
        fail("MPI_THREAD_MULTIPLE is not provided");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    kind = argc > 2 ? argv[1] : "";
    nthreads = argc > 2 ? atoi(argv[2]) : 0;
    if (!known || nthreads < 1 || nthreads > MOST_THREADS || (single && nthreads > 1))
        fail("usage: threads own|tags|pong|self|same THREADS [single|idle|blocked|polling]");
    if (size % 2 == 1 && !is_to_oneself())
        fail("takes pairs of ranks");
    MPI_Comm_dup(MPI_COMM_WORLD, &beside_comm);
    for (int i = 0; i < nthreads; i++) {
        comms[i] = MPI_COMM_WORLD;
        tags[i] = i;
        if (!is_kind("tags") && !is_kind("same"))
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    pthread_t threads[MOST_THREADS], sitting;
    sit_begin(&sitting);
    pthread_barrier_init(&gate, NULL, (unsigned)nthreads);
    for (int i = 1; i < nthreads; i++)
        pthread_create(&threads[i], NULL, work, (void *)(size_t)i);
    work(NULL);
    for (int i = 1; i < nthreads; i++)
        pthread_join(threads[i], NULL);
    sit_end(sitting);
    qsort(rates, BATCHES, sizeof rates[0], compare);
    if (rank == 0)
        printf("%.3f %.3f %.3f\n", rates[BATCHES - 1], rates[BATCHES / 2],
               BATCHES * batch_messages / cpu_us);
    MPI_Finalize();
    return 0;
}
