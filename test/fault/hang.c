/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Broken programs, the classic ones, one per name: hang NAME.  What has to be said about each is in
 * hang.sh, which finds the lines by the words behind the two slashes.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 1 << 20 };
static int data[LONG], more[LONG];
static int rank, size;
static MPI_Comm world;

static void send_send(void)
{
    MPI_Send(data, LONG, MPI_INT, (rank + 1) % size, 5, world); // send-send
    MPI_Recv(more, LONG, MPI_INT, (rank + size - 1) % size, 5, world, MPI_STATUS_IGNORE);
}

static void recv_recv(void)
{
    MPI_Recv(data, 10, MPI_INT, (rank + 1) % size, 5, world, MPI_STATUS_IGNORE); // recv-recv
    MPI_Send(data, 10, MPI_INT, (rank + 1) % size, 5, world);
}

static void wrong_tag(void)
{
    if (rank == 0)
        MPI_Send(data, 10, MPI_INT, 1, 5, world);
    if (rank == 1)
        MPI_Recv(data, 10, MPI_INT, 0, 6, world, MPI_STATUS_IGNORE); // wrong tag
    MPI_Barrier(world);                                              // barrier
}

static void wrong_comm(void)
{
    MPI_Comm other;
    MPI_Comm_dup(world, &other);
    MPI_Comm_set_name(other, "other");
    if (rank == 0)
        MPI_Send(data, 10, MPI_INT, 1, 5, other);
    if (rank == 1)
        MPI_Recv(data, 10, MPI_INT, 0, 5, world, MPI_STATUS_IGNORE); // wrong comm
    MPI_Barrier(world);
}

static void missing(void)
{
    if (rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 9, world, MPI_STATUS_IGNORE); // missing
    MPI_Allreduce(MPI_IN_PLACE, data, LONG, MPI_INT, MPI_SUM, world);
}

static void different(void)
{
    if (rank == 0)
        MPI_Bcast(data, LONG, MPI_INT, 0, world); // bcast
    else
        MPI_Barrier(world); // other
}

static void different_small(void)
{
    if (rank == 0)
        MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, world); // allreduce
    else
        MPI_Barrier(world); // other small
}

static void roots(void)
{
    MPI_Reduce(data, more, LONG, MPI_INT, MPI_SUM, rank % 2, world); // roots
    MPI_Reduce(data, more, LONG, MPI_INT, MPI_SUM, rank % 2, world);
}

static void irecv(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(data, 10, MPI_INT, 1, 7, world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); // irecv
    }
    MPI_Barrier(world);
}

static void barrier_recv(void)
{
    if (rank == 0)
        MPI_Barrier(world); // barrier-recv
    else
        MPI_Recv(data, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); // recv-barrier
}

static void ssend_self(void)
{
    MPI_Ssend(data, 1, MPI_INT, rank, 0, world); // ssend
}

static void truncate_it(void)
{
    if (rank == 0)
        MPI_Send(data, 20, MPI_INT, 1, 3, world);
    if (rank == 1)
        MPI_Recv(data, 10, MPI_INT, 0, 3, world, MPI_STATUS_IGNORE); // truncate
}

static void finalize(void)
{
    if (rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); // finalize
}

static void leave(void)
{
    if (rank == 1)
        exit(0);
    MPI_Recv(data, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
}

static void anybody(void)
{
    MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE); // any
}

/* Not broken: one rank computes for long. */
static void slow(void)
{
    if (rank == 0)
        sleep(4);
    MPI_Barrier(world);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    { "send-send", send_send },   { "recv-recv", recv_recv },
    { "wrong-tag", wrong_tag },   { "wrong-comm", wrong_comm },
    { "missing", missing },       { "different", different },
    { "roots", roots },           { "different-small", different_small },
    { "irecv", irecv },           { "barrier-recv", barrier_recv },
    { "ssend-self", ssend_self }, { "truncate", truncate_it },
    { "finalize", finalize },     { "leave", leave },
    { "anybody", anybody },       { "slow", slow },
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof programs[0]; i++)
        if (strcmp(programs[i].name, argv[1]) == 0)
            programs[i].run();
    MPI_Finalize();
    return 0;
}
