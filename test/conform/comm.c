/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators: duplicates keep traffic apart, creation with and without the others, names,
 * hints, comparison, freeing with messages in flight, and that ids do not run out.
 */
#include "test/conform/check.h"

static int me, n;

static int compare(MPI_Comm a, MPI_Comm b)
{
    int result;
    CHECK_OK(MPI_Comm_compare(a, b, &result));
    return result;
}

static int sum_over(MPI_Comm comm, int value)
{
    int sum = -1;
    CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

/* The same source and tag on two communicators: each receive takes its own. */
static void test_isolation(void)
{
    MPI_Comm dup;
    int to = (me + 1) % n, from = (me + n - 1) % n, out[2] = { 100 + me, 200 + me }, in[2];
    MPI_Request requests[2];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK(compare(dup, MPI_COMM_WORLD) == MPI_CONGRUENT);
    CHECK_OK(MPI_Isend(&out[0], 1, MPI_INT, to, 5, MPI_COMM_WORLD, &requests[0]));
    CHECK_OK(MPI_Isend(&out[1], 1, MPI_INT, to, 5, dup, &requests[1]));
    CHECK_OK(MPI_Recv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    CHECK(in[0] == 100 + from && in[1] == 200 + from);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK(dup == MPI_COMM_NULL);
}

static void test_create(void)
{
    MPI_Group world, part;
    MPI_Comm comm;
    int last = n - 1, rank;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_excl(world, n > 1, &last, &part));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, part, &comm));
    CHECK((comm == MPI_COMM_NULL) == (n > 1 && me == last));
    if (comm != MPI_COMM_NULL) {
        CHECK(sum_over(comm, 1) == (n > 1 ? n - 1 : 1));
        CHECK_OK(MPI_Comm_rank(comm, &rank));
        CHECK(rank == me);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL);
    MPI_Group_free(&part);
    MPI_Group_free(&world);
}

/* Disjoint groups in one call, each in reverse order. */
static void test_create_disjoint(void)
{
    MPI_Group world, mine;
    MPI_Comm comm;
    int half = (n + 1) / 2, low = me < half, rank;
    int ranges[1][3] = { { low ? half - 1 : n - 1, low ? 0 : half, -1 } };
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_range_incl(world, 1, ranges, &mine));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, mine, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK(rank == (low ? half - 1 - me : n - 1 - me));
    CHECK(sum_over(comm, 1) == (low ? half : n - half));
    CHECK_OK(MPI_Comm_free(&comm));
    MPI_Group_free(&mine);
    MPI_Group_free(&world);
}

/* Only members call; two at once with different tags, in different orders. */
static void test_create_group(void)
{
    MPI_Group world, even;
    MPI_Comm comm;
    int ranges[1][3] = { { 0, (n - 1) / 2 * 2, 2 } };
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_range_incl(world, 1, ranges, &even));
    if (me % 2 == 0)
        for (int tag = 0; tag < 3; tag++) {
            CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, even, tag, &comm));
            CHECK(sum_over(comm, 1) == (n + 1) / 2);
            CHECK_OK(MPI_Comm_free(&comm));
        }
    MPI_Group_free(&even);
    MPI_Group_free(&world);
}

/* Two at once, with traffic on the old one in between; freed in another order. */
static void test_idup(void)
{
    MPI_Comm first, second;
    MPI_Request requests[2];
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &first, &requests[0]));
    CHECK(sum_over(MPI_COMM_WORLD, 1) == n);
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &second, &requests[1]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(compare(first, second) == MPI_CONGRUENT);
    CHECK(sum_over(first, 2) == 2 * n && sum_over(second, 3) == 3 * n);
    CHECK_OK(MPI_Comm_free(&first));
    CHECK_OK(MPI_Comm_idup(second, &first, &requests[0]));
    CHECK_OK(MPI_Comm_free(&second));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(sum_over(first, 1) == n);
    CHECK_OK(MPI_Comm_free(&first));
}

/* Wildcard receives of the user do not see our messages. */
static void test_unseen(void)
{
    MPI_Request request;
    MPI_Comm dup;
    int in = -1;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, me, &dup));
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Send(&me, 1, MPI_INT, (me + 1) % n, 9, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == (me + n - 1) % n);
}

static void test_names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longest[3 * MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm dup;
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14);
#if MPI_VERSION >= 5
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_NULL, name, &length));
    CHECK(!strcmp(name, "MPI_COMM_NULL") && length == 13);
#endif
    CHECK_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
    CHECK(!strcmp(name, "MPI_WIN_NULL") && length == 12);
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
    CHECK(!strcmp(name, "MPI_COMM_SELF"));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    CHECK_OK(MPI_Comm_get_name(dup, name, &length));
    CHECK(length == 0 && name[0] == 0);
    CHECK_OK(MPI_Comm_set_name(dup, "mesh"));
    CHECK_OK(MPI_Comm_get_name(dup, name, &length));
    CHECK(!strcmp(name, "mesh") && length == 4);
    memset(longest, 'x', sizeof longest);
    longest[MPI_MAX_OBJECT_NAME - 1] = 0;
    CHECK_OK(MPI_Comm_set_name(dup, longest));
    CHECK_OK(MPI_Comm_get_name(dup, name, &length));
    CHECK(length == MPI_MAX_OBJECT_NAME - 1);
    CHECK_OK(MPI_Comm_free(&dup));
}

static int is_hinted(MPI_Comm comm)
{
    MPI_Info used;
    char value[8] = "";
    int flag, length = sizeof value;
    CHECK_OK(MPI_Comm_get_info(comm, &used));
    CHECK_OK(MPI_Info_get_string(used, "mpi_assert_no_any_tag", &length, value, &flag));
    CHECK_OK(MPI_Info_free(&used));
    return flag && !strcmp(value, "true");
}

/* Hints stay with the communicator they were given to (MPI 5.0, 7.4.2). */
static void test_hints(void)
{
    MPI_Info info;
    MPI_Comm dup, plain[3];
    MPI_Request request;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &dup));
    CHECK(is_hinted(dup));
    CHECK_OK(MPI_Comm_dup_with_info(dup, MPI_INFO_NULL, &plain[0]));
    CHECK_OK(MPI_Comm_dup(dup, &plain[1]));
    CHECK_OK(MPI_Comm_idup(dup, &plain[2], &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(is_hinted(dup));
    for (int i = 0; i < 3; i++) {
        CHECK(!is_hinted(plain[i]));
        CHECK_OK(MPI_Comm_free(&plain[i]));
    }
    MPI_Info_free(&info);
    CHECK_OK(MPI_Comm_free(&dup));
}

static void test_compare(void)
{
    MPI_Comm backward, self;
    CHECK(compare(MPI_COMM_WORLD, MPI_COMM_WORLD) == MPI_IDENT);
    CHECK(compare(MPI_COMM_WORLD, MPI_COMM_SELF) == (n == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &backward));
    CHECK(compare(MPI_COMM_WORLD, backward) == (n == 1 ? MPI_CONGRUENT : MPI_SIMILAR));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
    CHECK(compare(self, MPI_COMM_SELF) == MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_free(&self));
    CHECK_OK(MPI_Comm_free(&backward));
}

/* Freed while messages are in flight: they arrive. */
static void test_free_early(void)
{
    MPI_Comm dup;
    MPI_Request requests[2];
    int in = -1, out = me;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, (me + n - 1) % n, 3, dup, &requests[0]));
    CHECK_OK(MPI_Isend(&out, 1, MPI_INT, (me + 1) % n, 3, dup, &requests[1]));
    CHECK_OK(MPI_Comm_free(&dup));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(in == (me + n - 1) % n);
}

static void test_many(void)
{
    MPI_Comm dup, few[40];
    for (int i = 0; i < 2000; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        CHECK_OK(MPI_Comm_free(&dup));
    }
    for (int i = 0; i < 40; i++)
        CHECK_OK(MPI_Comm_dup(i ? few[i - 1] : MPI_COMM_WORLD, &few[i]));
    for (int i = 0; i < 40; i++)
        CHECK(sum_over(few[i], i) == n * i);
    for (int i = 0; i < 40; i++)
        CHECK_OK(MPI_Comm_free(&few[(i * 7) % 40]));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    CHECK_OK(MPI_Comm_disconnect(&dup));
    CHECK(dup == MPI_COMM_NULL);
}

/* Bits of the error handler called by us. */
static int handled;
static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

static void test_inherits_errhandler(void)
{
    MPI_Comm first, second;
    MPI_Errhandler mine;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    CHECK_OK(MPI_Comm_create_errhandler(handler, &mine));
    CHECK_OK(MPI_Comm_set_errhandler(first, mine));
    CHECK_OK(MPI_Errhandler_free(&mine));
    CHECK_OK(MPI_Comm_split(first, 0, me, &second));
    CHECK_OK(MPI_Comm_free(&first));
    MPI_Send(&me, 1, MPI_INT, n, 0, second);
    CHECK(handled == 1);
    CHECK_OK(MPI_Comm_free(&second));
}

static void test_errors(void)
{
    MPI_Comm comm = MPI_COMM_WORLD, self = MPI_COMM_SELF, null = MPI_COMM_NULL, made;
    MPI_Group one, world;
    int rank, zero = 0;
    CHECK_ERROR(MPI_Comm_free(&comm), MPI_ERR_COMM);
    CHECK_ERROR(MPI_Comm_free(&self), MPI_ERR_COMM);
    CHECK_ERROR(MPI_Comm_free(&null), MPI_ERR_COMM);
    CHECK_ERROR(MPI_Comm_rank(MPI_COMM_NULL, &rank), MPI_ERR_COMM);
    CHECK_ERROR(MPI_Comm_dup(MPI_COMM_NULL, &made), MPI_ERR_COMM);
    CHECK_ERROR(MPI_Comm_split(MPI_COMM_WORLD, -7, 0, &made), MPI_ERR_ARG);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, &zero, &one));
    if (me > 0)
        CHECK_ERROR(MPI_Comm_create(MPI_COMM_SELF, one, &made), MPI_ERR_GROUP);
    MPI_Group_free(&one);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    test_isolation();
    test_create();
    test_create_disjoint();
    test_create_group();
    test_idup();
    test_unseen();
    test_names();
    test_hints();
    test_compare();
    test_free_early();
    test_many();
    test_inherits_errhandler();
    test_errors();
    return check_done();
}
