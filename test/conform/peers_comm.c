/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Making communicators in ways that cross: duplicates of duplicates under way, several at once in
 * any order of completion and from several threads, groups that know each other by a string
 * only, and MPI_Comm_disconnect with messages that nobody waits for.
 *
 * conform-shadow: it frees requests of receives, whose data arrive
 */
#include "test/conform/check.h"

#include <pthread.h>
#include <unistd.h>

static int me, n;

static int sum_over(MPI_Comm comm, int value)
{
    int sum = -1;
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

/* Every communicator delivers its own message only. */
static void check_apart(const MPI_Comm *comms, int count)
{
    int to = (me + 1) % n, from = (me + n - 1) % n;
    int out[32], in[32];
    MPI_Request requests[64];
    for (int i = 0; i < count; i++) {
        out[i] = 100 * i + me;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, to, 1, comms[i], &requests[i]));
    }
    for (int i = count - 1; i >= 0; i--)
        CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, from, 1, comms[i], &requests[count + i]));
    CHECK_OK(MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++)
        CHECK(in[i] == 100 * i + from);
}

/* Ten at once of one communicator, a blocking one and a collective between; waited for in another
 * order on every rank. */
static void test_overlapping(void)
{
    enum { N = 10 };
    MPI_Comm comms[N + 1];
    MPI_Request requests[N], barrier;
    for (int i = 0; i < N / 2; i++)
        CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], &requests[i]));
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &barrier));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[N]));
    for (int i = N / 2; i < N; i++)
        CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], &requests[i]));
    CHECK(sum_over(comms[N], 1) == n);
    for (int i = 0; i < N; i++)
        CHECK_OK(MPI_Wait(&requests[(i * 3 + me) % N], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
    check_apart(comms, N + 1);
    for (int i = 0; i <= N; i++)
        CHECK_OK(MPI_Comm_free(&comms[(i + me) % (N + 1)]));
}

/* The old communicator is freed while its duplicate is on the way. */
static void test_freed_parent(void)
{
    MPI_Comm parent, child, grandchild;
    MPI_Request request;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    CHECK_OK(MPI_Comm_idup(parent, &child, &request));
    CHECK_OK(MPI_Comm_free(&parent));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_idup(child, &grandchild, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&child));
    CHECK(sum_over(grandchild, 2) == 2 * n);
    CHECK_OK(MPI_Comm_free(&grandchild));
}

/* The halves of the world and the world itself, under way together. */
static void test_crossing(void)
{
    MPI_Comm half, comms[3];
    MPI_Request requests[2];
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half));
    if (me % 2) {
        CHECK_OK(MPI_Comm_idup(half, &comms[0], &requests[0]));
        CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comms[1], &requests[1]));
    } else {
        CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comms[1], &requests[1]));
        CHECK_OK(MPI_Comm_idup(half, &comms[0], &requests[0]));
    }
    CHECK_OK(MPI_Comm_dup(half, &comms[2]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(sum_over(comms[1], 1) == n);
    CHECK(sum_over(comms[0], 1) == sum_over(comms[2], 1));
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    CHECK_OK(MPI_Comm_free(&half));
}

static void *dup_often(void *data)
{
    MPI_Comm parent = *(MPI_Comm *)data, child;
    MPI_Request request;
    for (int i = 0; i < 50; i++) {
        if (i % 2) {
            CHECK_OK(MPI_Comm_dup(parent, &child));
        } else {
            CHECK_OK(MPI_Comm_idup(parent, &child, &request));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        CHECK(sum_over(child, 1) == n);
        CHECK_OK(MPI_Comm_free(&child));
    }
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, dup_often, &comms[(i + me) % THREADS]));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
}

#if MPI_VERSION >= 4
static MPI_Comm from_group(MPI_Group group, const char *tag)
{
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    return comm;
}

/* Any group: everybody backwards, every second one, single processes, members of a
 * subcommunicator; the same string for groups that do not meet, others where they do. */
static void test_from_group(void)
{
    MPI_Group world, group;
    MPI_Comm comm, part;
    int ranks[64], count = 0, rank;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = n - 1; i >= 0; i--)
        ranks[count++] = i;
    CHECK_OK(MPI_Group_incl(world, count, ranks, &group));
    comm = from_group(group, "backwards");
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK(rank == n - 1 - me && sum_over(comm, me) == n * (n - 1) / 2);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));

    for (int i = count = 0; i < n; i++)
        if (i % 2 == me % 2)
            ranks[count++] = i;
    CHECK_OK(MPI_Group_incl(world, count, ranks, &group));
    for (int i = 0; i < 20; i++) {
        comm = from_group(group, "mine");
        CHECK(sum_over(comm, 1) == count);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &part));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_group(part, &group));
    comm = from_group(group, "of a part");
    CHECK_OK(MPI_Comm_compare(comm, part, &rank));
    CHECK(rank == MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Group_free(&group));

    CHECK_OK(MPI_Group_incl(world, 1, &me, &group));
    comm = from_group(group, "alone");
    CHECK(sum_over(comm, 5) == 5);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    comm = from_group(MPI_GROUP_EMPTY, "nobody");
    CHECK(comm == MPI_COMM_NULL);
    CHECK_OK(MPI_Group_free(&world));
}

struct making {
    MPI_Group group;
    const char *tag;
};

static void *make_from_group(void *data)
{
    struct making *making = data;
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm = from_group(making->group, making->tag);
        CHECK(sum_over(comm, 1) == n);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    return NULL;
}

/* One group and several strings, from threads that start in another order on every rank. */
static void test_from_group_threads(void)
{
    static const char *const tags[] = { "red", "green", "blue" };
    pthread_t threads[3];
    struct making makings[3];
    MPI_Group world;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < 3; i++) {
        makings[i] = (struct making){ world, tags[(i + me) % 3] };
        CHECK(!pthread_create(&threads[i], NULL, make_from_group, &makings[i]));
    }
    for (int i = 0; i < 3; i++)
        CHECK(!pthread_join(threads[i], NULL));
    CHECK_OK(MPI_Group_free(&world));
}
#else
static void test_from_group(void)
{
}
static void test_from_group_threads(void)
{
}
#endif

/* Messages whose requests were freed on both sides have arrived, and their buffers are ours
 * again, when MPI_Comm_disconnect returns. */
static void test_disconnect(int count, int late)
{
    int to = (me + 1) % n, from = (me + n - 1) % n;
    int *out = malloc(sizeof(int) * (size_t)count), *in = calloc((size_t)count, sizeof(int));
    MPI_Comm comm;
    MPI_Request send, receive;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < count; i++)
        out[i] = me + i;
    CHECK_OK(MPI_Irecv(in, count, MPI_INT, from, 4, comm, &receive));
    CHECK_OK(MPI_Request_free(&receive));
    if (me == late)
        usleep(20000);
    CHECK_OK(MPI_Isend(out, count, MPI_INT, to, 4, comm, &send));
    CHECK_OK(MPI_Request_free(&send));
    CHECK_OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL);
    for (int i = 0; i < count; i++) {
        CHECK(in[i] == from + i);
        out[i] = -1;
    }
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    errors_return();
    me = world_rank();
    n = world_size();
    test_overlapping();
    test_freed_parent();
    test_crossing();
    test_from_group();
    if (provided == MPI_THREAD_MULTIPLE) {
        test_threads();
        test_from_group_threads();
    }
    for (int count = 1; count <= 1000000; count *= 100)
        for (int late = 0; late < n; late++)
            test_disconnect(count, late);
    return check_done();
}
