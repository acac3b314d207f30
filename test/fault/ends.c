/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One rank ends in the way that the first argument names; the others wait for it in a barrier.
 *     ends WAY RANK [FILE]      FILE gets a line from every rank that has passed MPI_Init
 */
#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *memory_kinds(void)
{
    static char value[MPI_MAX_INFO_VAL];
    int flag, room = sizeof value;
    MPI_Info_get_string(MPI_INFO_ENV, "mpi_memory_alloc_kinds", &room, value, &flag);
    return flag ? value : "none";
}

static int end(const char *way)
{
    if (strcmp(way, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    else if (strcmp(way, "abort0") == 0)
        MPI_Abort(MPI_COMM_SELF, 0);
    else if (strcmp(way, "exit5") == 0)
        _exit(5);
    else if (strcmp(way, "exit0") == 0)
        _exit(0);
    else if (strcmp(way, "wrong") == 0)
        fprintf(stderr, "wrong: class %d\n", MPI_Send(NULL, 0, MPI_INT, -7, 0, MPI_COMM_WORLD));
    else if (strcmp(way, "kinds") == 0)
        fprintf(stderr, "kinds: %s\n", memory_kinds());
    else if (strcmp(way, "sleep") == 0)
        sleep(100);
    else if (strncmp(way, "signal", 6) == 0)
        raise(atoi(way + 6));
    else
        return 0;
    return 1;
}

/* Two sessions, one after the other; the chosen rank ends in the second. */
static int sessions(int chosen)
{
    for (int i = 0; i < 2; i++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        int rank;
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "ends", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Comm_rank(comm, &rank);
        if (i == 1 && rank == chosen)
            exit(5);
        MPI_Barrier(comm);
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
    }
    return 0;
}

/* Rank 0 sends what the chosen rank never receives; that one ends without a word to us. */
static int unread(int chosen)
{
    static char data[300000];
    int rank;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Isend(data, sizeof data, MPI_CHAR, chosen, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    MPI_Finalize();
    if (rank == chosen)
        _exit(0);
    return 0;
}

/* The chosen rank dies, and another one makes a fatal mistake a while later. */
static int die_then_err(bool is_chosen)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (is_chosen)
        raise(SIGKILL);
    sleep(1);
    return MPI_Start(&request);
}

static void say_there(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0 || write(fd, "\n", 1) != 1)
        _exit(99);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 99;
    const char *way = argv[1], *rank_text = getenv("RANK");
    int chosen = atoi(argv[2]), rank;
    if (strcmp(way, "before") == 0 && rank_text && atoi(rank_text) == chosen)
        return 4;
    if (strcmp(way, "session5") == 0)
        return sessions(chosen);
    MPI_Init(&argc, &argv);
    if (strcmp(way, "unread") == 0)
        return unread(chosen);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(way, "both") == 0)
        return die_then_err(rank == chosen);
    if (argc > 3)
        say_there(argv[3]);
    if (rank == chosen)
        end(way);
    if (strcmp(way, "after") != 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (strcmp(way, "after") == 0 && rank == chosen)
        return 6;
    if (strcmp(way, "after") == 0)
        usleep(300000);
    printf("rank %d finished\n", rank);
    return 0;
}
