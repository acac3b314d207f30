/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of several communicators at the same time, mostly short.  Threads move from one communicator
 * to the next with each round, so that each meets those that another thread had before; what
 * belongs to a round is found by its tag.  Order, wildcards, buffers that are too short, receives that
 * nobody sends to, probes, requests of several communicators together, requests and communicators
 * that are freed early, threads that wait for long, collectives beside all that.  The second argument
 * is how many engines there are.
 */
#include "test/thread/threads.h"

#include <stdbool.h>
#include <stddef.h>

enum { ROUNDS = 60, WINDOW = 40, MOST_INTS = 200, LONG = 30000 };

static MPI_Comm comms[MOST_THREADS], beside;

struct round {
    MPI_Comm comm;
    int to, from, tag;
};

static struct round round_of(int me, int number)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    return (struct round){ comms[(me + number) % nthreads], next, last,
                           1000 * (me + 1) + number };
}

static int value_of(const struct round *r, int source, int i)
{
    return (r->tag << 8) + 31 * source + i;
}

/* As many as fit the ring, and more; received in another order than they are sent, by equal tags in
 * the same. */
static void windows(const struct round *r)
{
    MPI_Request requests[2 * WINDOW];
    MPI_Status statuses[2 * WINDOW];
    int in[WINDOW], out[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        int tag = r->tag + 100 * (i % 3);
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? r->from : MPI_ANY_SOURCE, tag, r->comm,
                           &requests[i]));
    }
    for (int i = 0; i < WINDOW; i++) {
        out[i] = value_of(r, rank, i);
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, r->to, r->tag + 100 * (i % 3), r->comm,
                           &requests[WINDOW + i]));
    }
    CHECK_OK(MPI_Waitall(2 * WINDOW, requests, statuses));
    for (int i = 0; i < WINDOW; i++) {
        CHECK(in[i] == value_of(r, r->from, i));
        CHECK(statuses[i].MPI_SOURCE == r->from &&
              statuses[i].MPI_TAG == r->tag + 100 * (i % 3));
    }
}

/* All lengths of short messages and some that are longer; the receive is there first or not. */
static void lengths(const struct round *r)
{
    static const int ints[] = { 0, 1, 6, 7, 8, 21, 22, 23, 24, 25, 100, 120, 125, 200 };
    for (unsigned i = 0; i < sizeof ints / sizeof ints[0]; i++) {
        int in[MOST_INTS], out[MOST_INTS], n;
        MPI_Request request;
        MPI_Status status;
        for (int k = 0; k < ints[i]; k++)
            out[k] = value_of(r, rank, k);
        if (i % 2)
            CHECK_OK(MPI_Irecv(in, MOST_INTS, MPI_INT, r->from, r->tag, r->comm, &request));
        CHECK_OK(MPI_Send(out, ints[i], MPI_INT, r->to, r->tag, r->comm));
        if (i % 2)
            CHECK_OK(MPI_Wait(&request, &status));
        else
            CHECK_OK(MPI_Recv(in, MOST_INTS, MPI_INT, r->from, r->tag, r->comm, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &n));
        CHECK(n == ints[i] && status.MPI_SOURCE == r->from && status.MPI_TAG == r->tag);
        for (int k = 0; k < n; k++)
            CHECK(in[k] == value_of(r, r->from, k));
    }
}

static bool test_one(MPI_Request *request, MPI_Status *status)
{
    int flag;
    CHECK_OK(MPI_Test(request, &flag, status));
    return flag;
}

/* What is not usual, between messages that are. */
static void oddities(const struct round *r)
{
    int in[4] = { 0 }, out[4] = { 1, 2, 3, 4 }, flag, class;
    static int long_in[MOST_THREADS][LONG], long_out[MOST_THREADS][LONG];
    int me = r->tag / 1000 - 1, *more_in = long_in[me], *more_out = long_out[me];
    MPI_Request never, request, requests[3];
    MPI_Status status;
    CHECK_OK(MPI_Irecv(in, 1, MPI_INT, r->from, 999000, r->comm, &never));
    /* a buffer that is too short: here before the message, and after it */
    CHECK_OK(MPI_Irecv(in, 2, MPI_INT, r->from, r->tag, r->comm, &request));
    CHECK_OK(MPI_Send(out, 4, MPI_INT, r->to, r->tag, r->comm));
    int rc = MPI_Wait(&request, &status);
    CHECK_OK(MPI_Error_class(rc, &class));
    CHECK(class == MPI_ERR_TRUNCATE && in[1] == 2 && in[2] == 0);
    CHECK_OK(MPI_Send(out, 4, MPI_INT, r->to, r->tag, r->comm));
    rc = MPI_Recv(in, 3, MPI_INT, r->from, r->tag, r->comm, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_Error_class(rc, &class));
    CHECK(class == MPI_ERR_TRUNCATE && in[2] == 3 && in[3] == 0);
    /* freed while it goes on; the message is known to be here by the one behind it */
    in[0] = 0;
    CHECK_OK(MPI_Irecv(in, 1, MPI_INT, r->from, r->tag, r->comm, &request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Send(&out[2], 1, MPI_INT, r->to, r->tag, r->comm));
    CHECK_OK(MPI_Cancel(&never));
    CHECK_OK(MPI_Wait(&never, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    /* a long one among short ones, in order */
    for (int i = 0; i < LONG; i++)
        more_out[i] = value_of(r, rank, i);
    CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, r->from, r->tag, r->comm, &requests[0]));
    CHECK_OK(MPI_Irecv(more_in, LONG, MPI_INT, r->from, r->tag, r->comm, &requests[1]));
    CHECK_OK(MPI_Irecv(&in[2], 1, MPI_INT, r->from, r->tag, r->comm, &requests[2]));
    CHECK_OK(MPI_Isend(&out[0], 1, MPI_INT, r->to, r->tag, r->comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Isend(more_out, LONG, MPI_INT, r->to, r->tag, r->comm, &request));
    CHECK_OK(MPI_Send(&out[3], 1, MPI_INT, r->to, r->tag, r->comm));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    while (!test_one(&request, MPI_STATUS_IGNORE))
        continue;
    CHECK(in[0] == 3 && in[1] == 1 && in[2] == 4);
    for (int i = 0; i < LONG; i++)
        CHECK(more_in[i] == value_of(r, r->from, i));
}

/* Requests of two communicators at the same time, in four ways. */
static void together(const struct round *r, MPI_Comm other, int way)
{
    int in[2] = { 0 }, out[2] = { value_of(r, rank, 1), value_of(r, rank, 2) };
    MPI_Request requests[4];
    int index, count = 0, flag = 0, indices[4], done = 0;
    CHECK_OK(MPI_Irecv(&in[0], 1, MPI_INT, r->from, r->tag, r->comm, &requests[0]));
    CHECK_OK(MPI_Irecv(&in[1], 1, MPI_INT, r->from, r->tag + 500, other, &requests[1]));
    CHECK_OK(MPI_Isend(&out[1], 1, MPI_INT, r->to, r->tag + 500, other, &requests[2]));
    CHECK_OK(MPI_Isend(&out[0], 1, MPI_INT, r->to, r->tag, r->comm, &requests[3]));
    if (way == 0)
        CHECK_OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    for (; way == 1 && done < 4; done++)
        CHECK_OK(MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE));
    for (; way == 2 && done < 4; done += count)
        CHECK_OK(MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE));
    while (way == 3 && !flag)
        CHECK_OK(MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(in[0] == value_of(r, r->from, 1) && in[1] == value_of(r, r->from, 2));
}

static void probes(const struct round *r, bool matched)
{
    int in = 0, out = value_of(r, rank, 7), flag = 0;
    MPI_Message message;
    MPI_Status status;
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, r->to, r->tag, r->comm));
    if (matched) {
        CHECK_OK(MPI_Mprobe(r->from, r->tag, r->comm, &message, &status));
        CHECK_OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    } else {
        while (!flag)
            CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, r->tag, r->comm, &flag, &status));
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, r->tag, r->comm, &status));
    }
    CHECK(in == value_of(r, r->from, 7) && status.MPI_SOURCE == r->from);
}

/* A derived type on one side. */
static void columns(const struct round *r)
{
    int in[8] = { 0 }, out[8];
    MPI_Datatype column;
    CHECK_OK(MPI_Type_vector(4, 1, 2, MPI_INT, &column));
    CHECK_OK(MPI_Type_commit(&column));
    for (int i = 0; i < 8; i++)
        out[i] = value_of(r, rank, i);
    MPI_Request request;
    CHECK_OK(MPI_Irecv(in, 1, column, r->from, r->tag, r->comm, &request));
    CHECK_OK(MPI_Type_free(&column));
    CHECK_OK(MPI_Send(out, 4, MPI_INT, r->to, r->tag, r->comm));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 4; i++)
        CHECK(in[2 * i] == value_of(r, r->from, i) && in[2 * i + 1] == 0);
}

static void work(int me)
{
    for (int number = 0; number < ROUNDS; number++) {
        struct round r = round_of(me, number);
        windows(&r);
        lengths(&r);
        together(&r, comms[me], number % 4);
        probes(&r, number % 2);
        if (number % 4 == 3)
            oddities(&r);
        if (number % 5 == 4)
            columns(&r);
        if (number % 16 == me % 16)
            nap_ms(2); /* somebody waits for long */
    }
}

/* One thread more, for what is not a message; and one that is freed under its receive. */
static void *collect(void *unused)
{
    for (int i = 0; i < ROUNDS / 4; i++) {
        int one = 1, all = 0, in = 0;
        MPI_Comm comm;
        MPI_Request request, send;
        CHECK_OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, beside));
        CHECK(all == size);
        CHECK_OK(MPI_Comm_dup(beside, &comm));
        CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, (rank + 1) % size, 5, comm, &request));
        CHECK_OK(MPI_Isend(&one, 1, MPI_INT, (rank + size - 1) % size, 5, comm, &send));
        CHECK_OK(MPI_Comm_free(&comm));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK(in == 1);
        nap_ms(1);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t collector;
    if (argc > 2)
        setenv("XMPI_ENGINES", argv[2], 1);
    threads_begin(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &beside));
    comms_make(comms);
    CHECK(pthread_create(&collector, NULL, collect, NULL) == 0);
    threads_run(work);
    CHECK(pthread_join(collector, NULL) == 0);
    comms_free(comms);
    CHECK_OK(MPI_Comm_free(&beside));
    return check_done();
}
