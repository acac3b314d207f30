/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The network is opened by those who need it, when they do.   lazy none|talk|answer, lazy early|late|gone|silent|cut FILE
 *
 *     none, talk   the first and the last rank exchange a message, the others have none: libfabric is
 *                  in the first two processes after that (talk), or in nobody's (none); what comes
 *                  of a signal is as before
 *     answer       the same, but the last one is silent until it has the first one's
 *     early        a short message goes off although its receiver does not call MPI, until FILE is there
 *     gone         what was sent before the network was open arrives although the sender does not
 *                  call MPI any more, until FILE is there; soon no thread is left over from that
 *     late         a message to a process that has left MPI, where nobody receives it, keeps nobody
 *     silent       a receive that was freed, whose message nobody sends, keeps nobody when its sender has
 *                  left MPI, although that does not end, until FILE is there
 *     cut          two such receives, of which one has its message, but not all of it: when FILE is there
 *                  the way is cut, and then they keep nobody either
 */
#include "test/conform/check.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

static int rank, last;

/* Not check_done: its barrier is a message to everybody. */
static int leave(void)
{
    MPI_Finalize();
    return 0;
}

static int is_loaded(void)
{
    char line[1000];
    int there = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        there |= strstr(line, "libfabric") != NULL;
    fclose(maps);
    return there;
}

static void file_make(const char *name)
{
    FILE *file = fopen(name, "w");
    CHECK(file != NULL);
    fclose(file);
}

static void file_await(const char *name)
{
    while (access(name, F_OK) != 0)
        usleep(1000);
}

static void on_interrupt(int signal)
{
    (void)signal;
}

static void check_handlers(const struct sigaction *before, int n)
{
    for (int s = 1; s < n; s++) {
        struct sigaction now;
        CHECK(sigaction(s, NULL, &now) != 0 || now.sa_handler == before[s].sa_handler);
    }
}

static int talk(int loads)
{
    enum { N = 32 };
    struct sigaction before[N];
    int got = -1, flag, other = last - rank;
    CHECK(!is_loaded());
    signal(SIGINT, on_interrupt);
    for (int s = 1; s < N; s++)
        sigaction(s, NULL, &before[s]);
    if (rank == 0 || rank == last) {
        MPI_Sendrecv(&rank, 1, MPI_INT, other, 0, &got, 1, MPI_INT, other, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(got == other);
        CHECK(is_loaded() == loads);
        check_handlers(before, N);
        return leave();
    }
    for (int i = 0; i < 1000; i++) { /* they hear of the others' cards, and have none */
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(200);
    }
    leave();
    CHECK(!is_loaded());
    return 0;
}

static int answer(void)
{
    int value = rank, other = last - rank;
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    if (rank == 0 || rank == last)
        MPI_Recv(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == last)
        MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    return leave();
}

static int early(const char *name)
{
    int value = 7;
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, last, 0, MPI_COMM_WORLD);
        file_make(name);
        value = 8;
        MPI_Send(&value, 1, MPI_INT, last, 0, MPI_COMM_WORLD);
    } else if (rank == last) {
        file_await(name);
        for (int wanted = 7; wanted <= 8; wanted++) {
            MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(value == wanted);
        }
    }
    return leave();
}

static int nthreads(void)
{
    int n = -2; /* "." and ".." */
    DIR *tasks = opendir("/proc/self/task");
    while (readdir(tasks))
        n++;
    closedir(tasks);
    return n;
}

static int gone(const char *name)
{
    enum { MANY = 100, LONG = 1000 };
    static int values[LONG];
    MPI_Request request = MPI_REQUEST_NULL;
    int flag = 0, before = nthreads();
    if (rank == 0) {
        for (int i = 0; i < MANY; i++)
            MPI_Send(values, i ? LONG : 1, MPI_INT, last, i, MPI_COMM_WORLD);
        file_await(name);
        MPI_Irecv(values, 1, MPI_INT, last, 0, MPI_COMM_WORLD, &request);
    } else if (rank == last) {
        usleep(300000);
        for (int i = 0; i < MANY; i++)
            MPI_Recv(values, LONG, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        file_make(name);
        MPI_Send(values, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 10000 && (!flag || nthreads() > before); i++) {
        int found;
        MPI_Iprobe(MPI_ANY_SOURCE, MANY, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    CHECK(flag);
    CHECK(nthreads() == before);
    return leave();
}

/* Nobody ends before the message has gone. */
static int late(const char *name)
{
    char over[1000];
    snprintf(over, sizeof over, "%s.over", name);
    if (rank != 0) {
        leave();
        if (rank == last)
            file_make(name);
        file_await(over);
        return 0;
    }
    file_await(name);
    MPI_Send(&rank, 1, MPI_INT, last, 0, MPI_COMM_WORLD);
    leave();
    file_make(over);
    return 0;
}

/* The first one does not leave before the last one is about to, which has no such receive. */
static int silent(const char *name)
{
    static int value = 7;
    int got = -1;
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_INT, last, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Recv(&got, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        leave();
        CHECK(value == 7);
        file_make(name);
        return 0;
    }
    if (rank == last)
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    leave();
    file_await(name);
    return 0;
}

/* What a long message is made of is handed over by its sender's calls. */
static int cut(const char *name)
{
    enum { LONG = 4 << 20 };
    static int room[LONG];
    char over[1000];
    int got = -1;
    MPI_Request request;
    snprintf(over, sizeof over, "%s.over", name);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == last) {
        MPI_Isend(room, LONG, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        file_await(over);
        return leave();
    }
    for (int tag = 0; tag <= 2; tag += 2) {
        MPI_Irecv(room, LONG, MPI_INT, last, tag, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    MPI_Recv(&got, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    file_make(name);
    leave();
    file_make(over);
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    rank = world_rank();
    last = world_size() - 1;
    if (strcmp(how, "answer") == 0)
        return answer();
    if (strcmp(how, "early") == 0)
        return early(argv[2]);
    if (strcmp(how, "gone") == 0)
        return gone(argv[2]);
    if (strcmp(how, "late") == 0)
        return late(argv[2]);
    if (strcmp(how, "silent") == 0)
        return silent(argv[2]);
    if (strcmp(how, "cut") == 0)
        return cut(argv[2]);
    return talk(strcmp(how, "talk") == 0);
}
