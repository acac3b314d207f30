/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Intercommunicators: made of the two halves of the world, used, duplicated, cut, split, merged.
 */
#include "test/conform/check.h"

static int me, n, low, half;

static int rank_of(MPI_Comm comm)
{
    int rank;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    return rank;
}

static int size_of(MPI_Comm comm)
{
    int size;
    CHECK_OK(MPI_Comm_size(comm, &size));
    return size;
}

static int remote_of(MPI_Comm comm)
{
    int size;
    CHECK_OK(MPI_Comm_remote_size(comm, &size));
    return size;
}

/* Everybody sends its world rank to remote rank 0 and hears from it. */
static void talk(MPI_Comm inter)
{
    int in, rank = rank_of(inter), size = remote_of(inter);
    MPI_Request request;
    CHECK_OK(MPI_Isend(&me, 1, MPI_INT, 0, 11, inter, &request));
    for (int i = 0; rank == 0 && i < size; i++) {
        MPI_Status status;
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 11, inter, &status));
        CHECK((in < half) != low);
        CHECK_OK(MPI_Send(&in, 1, MPI_INT, status.MPI_SOURCE, 12, inter));
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 12, inter, MPI_STATUS_IGNORE));
    CHECK(in == me);
}

static void test_questions(MPI_Comm inter, MPI_Comm local)
{
    int flag, result;
    MPI_Group remote;
    CHECK_OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag);
    CHECK_OK(MPI_Comm_test_inter(local, &flag));
    CHECK(!flag);
    CHECK(size_of(inter) == size_of(local) && rank_of(inter) == rank_of(local));
    CHECK(remote_of(inter) == n - size_of(local));
    CHECK_OK(MPI_Comm_remote_group(inter, &remote));
    CHECK_OK(MPI_Group_size(remote, &result));
    CHECK(result == remote_of(inter));
    MPI_Group_free(&remote);
    CHECK_OK(MPI_Comm_compare(inter, local, &result));
    CHECK(result == MPI_UNEQUAL);
    CHECK_ERROR(MPI_Comm_remote_size(local, &result), MPI_ERR_COMM);
}

static void test_dup(MPI_Comm inter)
{
    MPI_Comm dup;
    int result;
    CHECK_OK(MPI_Comm_dup(inter, &dup));
    CHECK_OK(MPI_Comm_compare(inter, dup, &result));
    CHECK(result == MPI_CONGRUENT);
    talk(dup);
    CHECK_OK(MPI_Comm_free(&dup));
    MPI_Request request;
    CHECK_OK(MPI_Comm_idup(inter, &dup, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    talk(dup);
    CHECK_OK(MPI_Comm_free(&dup));
}

static void test_collective(MPI_Comm inter)
{
    int mine = me, sum, expect = 0, all[64];
    for (int i = 0; i < n; i++)
        if ((i < half) != low)
            expect += i;
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
    CHECK(sum == expect);
    CHECK_OK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, inter));
    for (int i = 0; i < remote_of(inter); i++)
        CHECK(all[i] == (low ? half + i : i));
    CHECK_OK(MPI_Barrier(inter));
}

static void test_merge(MPI_Comm inter, int high)
{
    MPI_Comm all;
    int rank, one = 1, sum;
    CHECK_OK(MPI_Intercomm_merge(inter, high, &all));
    CHECK(size_of(all) == n);
    rank = rank_of(all);
    CHECK(rank == (high ? n - size_of(inter) : 0) + rank_of(inter));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK(sum == n);
    CHECK_OK(MPI_Comm_free(&all));
}

/* Equal `high` on both sides: any order, but one. */
static void test_merge_equal(MPI_Comm inter)
{
    MPI_Comm all;
    int rank, sum;
    CHECK_OK(MPI_Intercomm_merge(inter, 1, &all));
    rank = rank_of(all);
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK(sum == n * (n - 1) / 2);
    CHECK_OK(MPI_Comm_free(&all));
}

/* The first process of each side makes a smaller one; then one side gives nobody. */
static void test_create(MPI_Comm inter)
{
    MPI_Group local, one;
    MPI_Comm small;
    int zero = 0;
    CHECK_OK(MPI_Comm_group(inter, &local));
    CHECK_OK(MPI_Group_incl(local, 1, &zero, &one));
    CHECK_OK(MPI_Comm_create(inter, one, &small));
    CHECK((small == MPI_COMM_NULL) == (rank_of(inter) > 0));
    if (small != MPI_COMM_NULL) {
        CHECK(remote_of(small) == 1);
        talk(small);
        CHECK_OK(MPI_Comm_free(&small));
    }
    CHECK_OK(MPI_Comm_create(inter, low ? one : MPI_GROUP_EMPTY, &small));
    CHECK(small == MPI_COMM_NULL);
    MPI_Group_free(&one);
    MPI_Group_free(&local);
}

static void test_split(MPI_Comm inter)
{
    MPI_Comm part;
    int rank = rank_of(inter), color = rank % 2, others = remote_of(inter);
    int there = (others + 1 - color) / 2;
    CHECK_OK(MPI_Comm_split(inter, color, -rank, &part));
    CHECK((part == MPI_COMM_NULL) == (there == 0));
    if (part != MPI_COMM_NULL) {
        CHECK(remote_of(part) == there);
        CHECK(rank_of(part) == size_of(part) - 1 - rank / 2);
        talk(part);
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Comm_split(inter, low ? 1 : 2, 0, &part));
    CHECK(part == MPI_COMM_NULL);
}

static void test_errors(MPI_Comm local)
{
    MPI_Comm inter;
    if (n > 1)
        return;
    CHECK_ERROR(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, n, 1, &inter), MPI_ERR_RANK);
    CHECK_ERROR(MPI_Intercomm_create(local, 0, MPI_COMM_NULL, 0, 1, &inter), MPI_ERR_COMM);
}

/* What is said of buffers that are the same must not lead to the next error. */
static void test_same_buffer(MPI_Comm inter)
{
    int a[2] = { 0 }, length, error;
    char text[MPI_MAX_ERROR_STRING] = "";
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    CHECK_ERROR(MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, a, 1, MPI_INT, inter), MPI_ERR_BUFFER);
    error = MPI_Allreduce(a, a, 2, MPI_INT, MPI_SUM, inter);
    CHECK_ERROR(error, MPI_ERR_BUFFER);
    MPI_Error_string(error, text, &length);
    CHECK(!strstr(text, "say MPI_IN_PLACE"));
}

/* An error handler given before the new one is there stays; groups that share memory stay whole. */
static void test_early_handler_and_types(MPI_Comm inter)
{
    MPI_Comm made;
    MPI_Request request;
    MPI_Errhandler handler;
    int ours, theirs, one_node = world_is_one_node();
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_ARE_FATAL));
    CHECK_OK(MPI_Comm_idup(inter, &made, &request));
    CHECK_OK(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_get_errhandler(made, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, -me, MPI_INFO_NULL, &made));
    CHECK(made != MPI_COMM_NULL || !one_node);
    if (made != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_size(made, &ours));
        CHECK_OK(MPI_Comm_remote_size(made, &theirs));
        if (one_node)
            CHECK(ours == (low ? half : n - half) && theirs == n - ours);
        talk(made);
        CHECK_OK(MPI_Comm_free(&made));
    }
    CHECK_OK(MPI_Comm_split_type(inter, low ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                                 MPI_INFO_NULL, &made));
    CHECK(made == MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    MPI_Comm local, inter;
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    half = (n + 1) / 2;
    low = me < half;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, low, me, &local));
    test_errors(local);
    if (n > 1) {
        /* The leader is the last process of each half. */
        CHECK_OK(MPI_Intercomm_create(local, size_of(local) - 1, MPI_COMM_WORLD,
                                      low ? n - 1 : half - 1, 77, &inter));
        test_questions(inter, local);
        talk(inter);
        test_collective(inter);
        test_dup(inter);
        test_merge(inter, low);
        test_merge(inter, !low);
        test_merge_equal(inter);
        test_create(inter);
        test_split(inter);
        test_same_buffer(inter);
        test_early_handler_and_types(inter);
        CHECK_OK(MPI_Comm_free(&inter));
    }
    CHECK_OK(MPI_Comm_free(&local));
    return check_done();
}
