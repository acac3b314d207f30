/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Broken programs, the classic ones, one per name: hang NAME.  What has to be said about each is in
 * hang.sh, which finds the lines by the words behind the two slashes.
 */
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
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

static void buffered(void)
{
    MPI_Send(data, 10, MPI_INT, (rank + 1) % size, 5, world); // buffered
    MPI_Recv(more, 10, MPI_INT, (rank + size - 1) % size, 5, world, MPI_STATUS_IGNORE);
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

static void strange_name(void)
{
    MPI_Comm_set_name(world, "two\nlines\t\033[31m\xff \xc3\xbc");
    MPI_Recv(data, 10, MPI_INT, (rank + 1) % size, 5, world, MPI_STATUS_IGNORE);
}

static void missing(void)
{
    if (rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 9, world, MPI_STATUS_IGNORE); // missing
    MPI_Allreduce(MPI_IN_PLACE, data, LONG, MPI_INT, MPI_SUM, world);
}

/* What waits is MPI_Allreduce, whatever its operation calls. */
static void asks_size(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int bytes;
    MPI_Type_size(*type, &bytes);
    MPI_Reduce_local(in, inout, *count, *type, MPI_SUM);
}

static void fold_calls(void)
{
    MPI_Op op;
    MPI_Op_create(asks_size, 1, &op);
    if (rank == 2)
        MPI_Recv(data, 1, MPI_INT, 0, 9, world, MPI_STATUS_IGNORE);
    MPI_Allreduce(data, more, 4, MPI_INT, op, world);
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

static void different_long(void)
{
    MPI_Allreduce(MPI_IN_PLACE, data, rank ? 40000 : 50000, MPI_INT, MPI_SUM, world);
}

static void ways(void)
{
    MPI_Allreduce(MPI_IN_PLACE, data, 1, MPI_INT, MPI_SUM, world); // ways
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

/* A receive that MPI_Finalize waits for, as its message may still come. */
static void freed(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(data, 10, MPI_INT, 1, 7, world, &request);
        MPI_Request_free(&request);
    } else {
        MPI_Recv(data, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    }
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

/* The process lives on. */
static void finalized(void)
{
    if (rank == 1) {
        MPI_Finalize();
        sleep(60);
        exit(0);
    }
    MPI_Recv(data, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE); // finalized
}

/* To one that has left, and that has never talked to anybody. */
static void unmet(void)
{
    if (rank != 0)
        return;
    usleep(300000);
    MPI_Ssend(data, 1, MPI_INT, 1, 0, world); // unmet
}

/* Nor is it stuck. */
static void unmet_dup(void)
{
    MPI_Comm dup;
    if (rank != 0)
        return;
    usleep(300000);
    MPI_Comm_dup(world, &dup);
}

static void leave(void)
{
    if (rank == 1)
        exit(0);
    MPI_Recv(data, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
}

/* One frees many communicators; the others still call on the first one. */
static void left_many(void)
{
    enum { MANY = 30 };
    MPI_Comm comms[MANY];
    for (int i = 0; i < MANY; i++)
        MPI_Comm_dup(world, &comms[i]);
    if (rank > 0)
        MPI_Barrier(comms[0]);
    for (int i = 0; i < MANY; i++)
        MPI_Comm_free(&comms[i]);
}

static void anybody(void)
{
    MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE); // any
}

static void ring(void)
{
    MPI_Request request;
    MPI_Irecv(data, 10, MPI_INT, (rank + 1) % size, 8, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); // ring
    MPI_Send(data, 10, MPI_INT, (rank + size - 1) % size, 8, world);
}

static void wrong_source(void)
{
    if (rank == 0)
        MPI_Send(data, 10, MPI_INT, 2, 5, world);
    if (rank == 2)
        MPI_Recv(data, 10, MPI_INT, 1, 5, world, MPI_STATUS_IGNORE); // wrong source
    MPI_Barrier(world);
}

/* Each is right by itself. */
static void crossed(void)
{
    MPI_Comm one, two;
    MPI_Comm_dup(world, &one);
    MPI_Comm_dup(world, &two);
    MPI_Comm_set_name(one, "one");
    MPI_Comm_set_name(two, "two");
    if (rank == 0) {
        MPI_Allreduce(MPI_IN_PLACE, data, LONG, MPI_INT, MPI_SUM, one); // crossed one
        MPI_Allreduce(MPI_IN_PLACE, data, LONG, MPI_INT, MPI_SUM, two);
    } else {
        MPI_Allreduce(MPI_IN_PLACE, data, LONG, MPI_INT, MPI_SUM, two); // crossed two
        MPI_Allreduce(MPI_IN_PLACE, data, LONG, MPI_INT, MPI_SUM, one);
    }
}

/* The same, and neither has a name. */
static void crossed_unnamed(void)
{
    MPI_Comm both[2];
    MPI_Comm_dup(world, &both[0]);
    MPI_Comm_dup(world, &both[1]);
    MPI_Barrier(both[rank]); // crossed unnamed
    MPI_Barrier(both[1 - rank]);
}

static void bcast_roots(void)
{
    MPI_Bcast(data, LONG, MPI_INT, rank % 2, world); // bcast roots
}

/* Short ones do not wait for each other: the next collective finds what has stayed behind. */
static void bcast_roots_small(void)
{
    MPI_Bcast(data, 2, MPI_INT, rank % 2, world);
    MPI_Barrier(world);
}

/* Nor does who begins one and ends: wrong, but no crash. */
static void unfinished(void)
{
    static int counts[8], displs[8];
    MPI_Request request;
    for (int i = 0; i < size; i++)
        counts[i] = 1, displs[i] = 2 * i;
    MPI_Iallgatherv(&rank, 1, MPI_INT, data, counts, displs, MPI_INT, world, &request);
}

/* Who gives its part and ends waits for nobody. */
static void reduce_last(void)
{
    if (rank > 0)
        MPI_Reduce(data, more, 1, MPI_INT, MPI_SUM, 0, world);
}

/* And where there is no next one, the end does. */
static void bcast_roots_last(void)
{
    MPI_Bcast(data, 2, MPI_INT, rank % 2, world);
}

/* Each is its own root and gives its part to nobody. */
static void iscatter_roots_last(void)
{
    MPI_Request request;
    MPI_Iscatter(data, 1, MPI_INT, more, 1, MPI_INT, rank % 2, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void fold(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)n, (void)type;
}

static void raised(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

/* One of each is left; of the others, some live on in communicators that do not end either. */
static void objects_left(MPI_Comm comm)
{
    MPI_Group group, inside, sub;
    MPI_Info info, copy, used;
    MPI_Errhandler errhandler, same;
    MPI_Comm made;
    MPI_Comm_group(comm, &group);
    MPI_Group_incl(group, 1, &rank, &inside);
    MPI_Comm_create(comm, inside, &made);
    MPI_Comm_group(made, &sub);
    MPI_Group_free(&inside);
    MPI_Group_free(&sub);
    MPI_Comm_create_errhandler(raised, &errhandler);
    MPI_Comm_set_errhandler(comm, errhandler);
    MPI_Comm_get_errhandler(comm, &same);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_create_errhandler(raised, &errhandler);
    MPI_Comm_set_errhandler(made, errhandler);
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&made);
    MPI_Info_create(&info);
    MPI_Info_set(info, "xmpi_coll", "allreduce=ring");
    MPI_Comm_set_info(comm, info);
    MPI_Info_dup(info, &copy);
    MPI_Info_free(&copy);
    MPI_Comm_get_info(comm, &used);
    MPI_Info_free(&used);
}

/* What should have been ended before MPI_Finalize, and beside each its like that was. */
static void left_behind(void)
{
    MPI_Comm left, freed;
    MPI_Request requests[4];
    MPI_Datatype pair, quad;
    MPI_Op op;
    MPI_Comm_dup(world, &left);
    MPI_Comm_set_name(left, "dup");
    MPI_Comm_dup(world, &freed);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_contiguous(2, pair, &quad);
    MPI_Op_create(fold, 1, &op);
    MPI_Send(data, 1, MPI_INT, size - 1 - rank, 5, left);
    MPI_Send(data, 1, MPI_INT, size - 1 - rank, 6, left);
    MPI_Irecv(data, 1, MPI_INT, size - 1 - rank, 7, left, &requests[0]);
    MPI_Irecv(more, 1, MPI_INT, size - 1 - rank, 8, freed, &requests[1]);
    MPI_Isend(data, 1, MPI_INT, size - 1 - rank, 8, freed, &requests[2]);
    MPI_Send_init(data, 1, MPI_INT, size - 1 - rank, 9, freed, &requests[3]);
    MPI_Waitall(2, &requests[1], MPI_STATUSES_IGNORE);
    MPI_Type_free(&pair);
    MPI_Comm_free(&freed);
    objects_left(left);
    MPI_Barrier(world);
}

/* Who has begun the one after it cannot see it yet; and the next is one that came again and again, whose
 * slots know of the one before alone. */
static void bcast_roots_kept(void)
{
    for (int i = 0; i < 5; i++)
        MPI_Barrier(world);
    MPI_Bcast(data, 1000, MPI_INT, rank % 2, world);
    MPI_Bcast(data, 1000, MPI_INT, 0, world);
    for (int i = 0; i < 5; i++)
        MPI_Barrier(world);
}

/* While another one is under way nobody looks, so it is found two collectives later. */
static void bcast_roots_before(void)
{
    MPI_Request request;
    MPI_Ibarrier(world, &request);
    MPI_Bcast(data, 2, MPI_INT, rank % 2, world);
    MPI_Bcast(data, 2, MPI_INT, 0, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}

static void bcast_allreduce(void)
{
    if (rank == 0)
        MPI_Bcast(data, LONG, MPI_INT, 0, world); // bcast, not allreduce
    else
        MPI_Allreduce(data, more, LONG, MPI_INT, MPI_SUM, world); // allreduce, not bcast
}

/* Through shared slots: one that does not come, and two that are not the same. */
static void slots_missing(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Iallreduce(data, more, 1, MPI_INT, MPI_SUM, world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); // slots
    } else {
        MPI_Recv(data, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    }
}

static void slots_differ(void)
{
    MPI_Request request;
    if (rank == 0)
        MPI_Iallreduce(data, more, 1, MPI_INT, MPI_SUM, world, &request);
    else
        MPI_Ibarrier(world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void init_differs(void)
{
    MPI_Request request;
    if (rank == 0)
        MPI_Allreduce_init(data, more, 1, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &request);
    else
        MPI_Allreduce(data, more, 1, MPI_INT, MPI_SUM, world);
}

static void operations(void)
{
    MPI_Allreduce(data, more, 100, MPI_INT, rank ? MPI_SUM : MPI_MAX, world);
}

static void bytes(void)
{
    MPI_Allreduce(data, more, rank ? 50 : 100, MPI_INT, MPI_SUM, world);
}

/* As many bytes, but of something else. */
static void kinds(void)
{
    MPI_Bcast(data, 100, rank ? MPI_INT : MPI_FLOAT, 0, world);
}

/* 20000 and 20646 integers: a short hash of their bytes would be the same. */
static void bytes_alike(void)
{
    MPI_Allreduce(data, more, rank ? 20000 : 20646, MPI_INT, MPI_SUM, world);
}

/* One has so much more that another algorithm serves it. */
static void bytes_long(void)
{
    int n = rank ? LONG / 4 : 2;
    MPI_Alltoall(data, n, MPI_INT, more, n, MPI_INT, world); // bytes
}

static void waitall(void)
{
    MPI_Request request[3];
    if (rank == 0) {
        MPI_Irecv(data, 10, MPI_INT, 1, 1, world, &request[0]);
        MPI_Irecv(more, 10, MPI_INT, 1, 2, world, &request[1]);
        MPI_Isend(data + 99, 1, MPI_INT, 1, 3, world, &request[2]);
        MPI_Waitall(3, request, MPI_STATUSES_IGNORE); // waitall
    } else {
        MPI_Send(data, 10, MPI_INT, 0, 1, world);
        MPI_Recv(data, 1, MPI_INT, 0, 3, world, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(world);
}

static void probe(void)
{
    MPI_Status status;
    if (rank == 1)
        MPI_Send(data, 10, MPI_INT, 0, 2, world);
    if (rank == 0)
        MPI_Probe(1, 3, world, &status); // probe
    MPI_Barrier(world);
}

/* One leaves the loop before the last barrier. */
static int early_return(void)
{
    for (int step = 0; step < 10; step++) {
        if (rank == 1 && step == 7)
            return step;
        MPI_Barrier(world); // early
    }
    return 0;
}

static void early(void)
{
    if (early_return() == 7)
        MPI_Recv(data, 1, MPI_INT, 0, 4, world, MPI_STATUS_IGNORE); // returned
}

/* Two threads of each rank: one waits for what the other rank's second thread would send, and the
 * other way round. */
static void *second_thread(void *unused)
{
    MPI_Recv(more, 1, MPI_INT, 1 - rank, 2, world, MPI_STATUS_IGNORE); // second thread
    MPI_Send(more, 1, MPI_INT, 1 - rank, 1, world);
    return unused;
}

static void threads(void)
{
    pthread_t second;
    pthread_create(&second, NULL, second_thread, NULL);
    MPI_Recv(data, 1, MPI_INT, 1 - rank, 1, world, MPI_STATUS_IGNORE); // first thread
    MPI_Send(data, 1, MPI_INT, 1 - rank, 2, world);
    pthread_join(second, NULL);
}

/* The main thread waits, outside of MPI, for one whose message would come only after that. */
static void threads_joined(void)
{
    pthread_t second;
    pthread_create(&second, NULL, second_thread, NULL);
    pthread_join(second, NULL);
    MPI_Send(data, 1, MPI_INT, 1 - rank, 2, world);
}

/* Not broken: while one thread waits another one will act, though it sleeps now. */
static void *late_thread(void *unused)
{
    sleep(4);
    MPI_Send(more, 1, MPI_INT, 1 - rank, 1, world);
    return unused;
}

static void threads_late(void)
{
    pthread_t second;
    if (rank == 0)
        pthread_create(&second, NULL, late_thread, NULL);
    else
        MPI_Recv(data, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
    if (rank == 0)
        pthread_join(second, NULL);
}

/* Not broken: computes, and looks at nothing meanwhile. */
static void computes(void)
{
    double until = MPI_Wtime() + 4;
    volatile double x = 1;
    while (rank == 0 && MPI_Wtime() < until)
        x = x * 1.0000001;
    if (rank == 0)
        MPI_Send(data, 1, MPI_INT, 1, 0, world);
    if (rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
}

/* The same as recv_recv by those who do not wait but ask. */
static void test_ring(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Irecv(data, 10, MPI_INT, (rank + 1) % size, 5, world, &request);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE); // test-ring
    MPI_Send(data, 10, MPI_INT, (rank + size - 1) % size, 5, world);
}

static void test_all(void)
{
    MPI_Request requests[2];
    int done = 0;
    if (rank == 1)
        MPI_Send(data, 1, MPI_INT, 0, 1, world);
    for (int i = 0; rank == 0 && i < 2; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 1, 1 + i, world, &requests[i]);
    while (rank == 0 && !done) {
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE); // test-all
        usleep(1000);
    }
    MPI_Barrier(world); // all-barrier
}

static void iprobe(void)
{
    int found = 0;
    while (rank == 0 && !found)
        MPI_Iprobe(MPI_ANY_SOURCE, 3, world, &found, MPI_STATUS_IGNORE); // iprobe
    MPI_Barrier(world);
}

/* Two questions in turns: what is told is both. */
static void test_both(void)
{
    MPI_Request requests[2];
    int done[2] = { 0, 0 }, found = 0;
    for (int i = 0; rank == 0 && i < 2; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 1 + i, 4, world, &requests[i]);
    while (rank == 0 && !(done[0] && done[1] && found)) {
        MPI_Test(&requests[0], &done[0], MPI_STATUS_IGNORE); // test-both
        MPI_Test(&requests[1], &done[1], MPI_STATUS_IGNORE);
        MPI_Iprobe(1, 6, world, &found, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(world);
}

/* Not broken: one of two is to come. */
static void test_either(void)
{
    MPI_Request requests[2];
    int done[2] = { 0, 0 };
    for (int i = 0; rank == 0 && i < 2; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, 1 + i, 4, world, &requests[i]);
    while (rank == 0 && !done[1]) {
        MPI_Test(&requests[0], &done[0], MPI_STATUS_IGNORE);
        MPI_Test(&requests[1], &done[1], MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        MPI_Send(data, 1, MPI_INT, 1, 4, world);
    if (rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 4, world, MPI_STATUS_IGNORE);
    if (rank == 2)
        sleep(4);
    if (rank > 0)
        MPI_Send(data, 1, MPI_INT, 0, 4, world);
    MPI_Barrier(world);
}

/* Not broken: computes, with a test now and then, for what comes only when it has done. */
static void rare_tests(void)
{
    MPI_Request request;
    int done = 0;
    double until = MPI_Wtime() + 4;
    if (rank == 0)
        MPI_Irecv(data, 1, MPI_INT, 1, 0, world, &request);
    while (rank == 0 && MPI_Wtime() < until) {
        volatile double x = 1;
        for (int i = 0; i < 1000000; i++)
            x = x * 1.0000001;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        MPI_Send(data, 1, MPI_INT, 1, 0, world);
    if (rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(data, 1, MPI_INT, 0, 0, world);
    if (rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Not broken: the same with little to compute, often. */
static void close_tests(void)
{
    MPI_Request request;
    int done = 0;
    double until = MPI_Wtime() + 3;
    if (rank == 0)
        MPI_Irecv(data, 1, MPI_INT, 1, 0, world, &request);
    while (rank == 0 && MPI_Wtime() < until) {
        volatile double x = 1;
        for (int i = 0; i < 20000; i++)
            x = x * 1.0000001;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        MPI_Send(data, 1, MPI_INT, 1, 0, world);
    if (rank == 1)
        MPI_Recv(data, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(data, 1, MPI_INT, 0, 0, world);
    if (rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Not broken: one tests again and again, and so does call. */
static void tests(void)
{
    MPI_Request request;
    int done = 0;
    if (rank == 0) {
        sleep(4);
        MPI_Send(data, 1, MPI_INT, 1, 0, world);
    } else if (rank == 1) {
        MPI_Irecv(data, 1, MPI_INT, 0, 0, world, &request);
        while (!done)
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(world);
}

/* The buffer is free only when the other one has received what is in it. */
static void detach(void)
{
    static char room[200000];
    void *buffer;
    int bytes;
    MPI_Buffer_attach(room, sizeof room);
    if (rank == 0) {
        MPI_Bsend(data, 25000, MPI_INT, 1, 1, world);
        MPI_Buffer_detach(&buffer, &bytes); // detach
        MPI_Send(data, 1, MPI_INT, 1, 2, world);
    } else {
        MPI_Recv(data, 1, MPI_INT, 0, 2, world, MPI_STATUS_IGNORE); // detached
        MPI_Recv(data, 25000, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    }
}

/* One partition of a send is never made ready. */
static void unready(void)
{
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(data, 2, 1, MPI_INT, 1, 6, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); // unready
    } else if (rank == 1) {
        MPI_Precv_init(data, 2, 1, MPI_INT, 0, 6, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Not broken: stopped by a signal in the middle of it. */
static void stopped(void)
{
    if (rank == 1)
        raise(SIGSTOP);
    MPI_Barrier(world);
}

/* Not broken: one rank computes for long. */
static void slow(void)
{
    if (rank == 0)
        sleep(4);
    MPI_Barrier(world);
}

/* One looks for a message in vain, and gives up; then they wait for each other. */
static void later(void)
{
    double until = MPI_Wtime() + 3;
    int found;
    while (rank == 0 && MPI_Wtime() < until)
        MPI_Iprobe(1, 3, world, &found, MPI_STATUS_IGNORE);
    MPI_Recv(data, 1, MPI_INT, 1 - rank, 0, world, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    { "send-send", send_send },
    { "buffered", buffered },
    { "recv-recv", recv_recv },
    { "wrong-tag", wrong_tag },
    { "wrong-comm", wrong_comm },
    { "strange-name", strange_name },
    { "missing", missing },
    { "fold-calls", fold_calls },
    { "different", different },
    { "roots", roots },
    { "ways", ways },
    { "different-small", different_small },
    { "different-long", different_long },
    { "irecv", irecv },
    { "freed", freed },
    { "barrier-recv", barrier_recv },
    { "ssend-self", ssend_self },
    { "truncate", truncate_it },
    { "finalize", finalize },
    { "finalized", finalized },
    { "unmet", unmet },
    { "unmet-dup", unmet_dup },
    { "leave", leave },
    { "left-many", left_many },
    { "anybody", anybody },
    { "slow", slow },
    { "ring", ring },
    { "wrong-source", wrong_source },
    { "crossed", crossed },
    { "crossed-unnamed", crossed_unnamed },
    { "bcast-roots", bcast_roots },
    { "bcast-roots-small", bcast_roots_small },
    { "bcast-roots-last", bcast_roots_last },
    { "reduce-last", reduce_last },
    { "iscatter-roots-last", iscatter_roots_last },
    { "left-behind", left_behind },
    { "unfinished", unfinished },
    { "bcast-roots-kept", bcast_roots_kept },
    { "bcast-roots-before", bcast_roots_before },
    { "bcast-allreduce", bcast_allreduce },
    { "slots-missing", slots_missing },
    { "slots-differ", slots_differ },
    { "init-differs", init_differs },
    { "operations", operations },
    { "bytes", bytes },
    { "kinds", kinds },
    { "bytes-alike", bytes_alike },
    { "bytes-long", bytes_long },
    { "waitall", waitall },
    { "probe", probe },
    { "unready", unready },
    { "early", early },
    { "threads", threads },
    { "threads-late", threads_late },
    { "threads-joined", threads_joined },
    { "detach", detach },
    { "computes", computes },
    { "stopped", stopped },
    { "tests", tests },
    { "test-ring", test_ring },
    { "test-all", test_all },
    { "iprobe", iprobe },
    { "test-both", test_both },
    { "test-either", test_either },
    { "rare-tests", rare_tests },
    { "close-tests", close_tests },
    { "later", later },
};

int main(int argc, char **argv)
{
    int level, wanted = argc > 1 && strncmp(argv[1], "threads", 7) == 0 ? MPI_THREAD_MULTIPLE
                                                                        : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof programs[0]; i++)
        if (strcmp(programs[i].name, argv[1]) == 0)
            programs[i].run();
    MPI_Finalize();
    return 0;
}
