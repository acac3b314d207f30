/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sessions without the world model: opened, closed and opened again; two at a time.
 */
#include "test/conform/check.h"

static MPI_Comm comm_of(MPI_Session session, const char *pset, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Group_from_session_pset(session, pset, &group));
    CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Group_free(&group));
    return comm;
}

/* The first process and the others make an intercommunicator. */
static void test_intercomm(MPI_Session session, int rank, int size)
{
    MPI_Group all, one, rest;
    MPI_Comm inter;
    int zero = 0, sum = -1, expect = rank == 0 ? size * (size - 1) / 2 : 0;
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_incl(all, 1, &zero, &one));
    CHECK_OK(MPI_Group_excl(all, 1, &zero, &rest));
    CHECK_OK(MPI_Intercomm_create_from_groups(
        rank == 0 ? one : rest, rank == 0 ? 0 : size - 2, rank == 0 ? rest : one,
        rank == 0 ? size - 2 : 0, "first and rest", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    CHECK(sum == expect);
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Group_free(&one));
    CHECK_OK(MPI_Group_free(&rest));
}

/* The send is still under way when its process is through with the session. */
static void test_late_receive(MPI_Comm comm, int rank)
{
    enum { BYTES = 300000 };
    static char data[BYTES];
    MPI_Request request;
    if (rank == 0) {
        CHECK_OK(MPI_Isend(data, BYTES, MPI_CHAR, 1, 5, comm, &request));
        CHECK_OK(MPI_Request_free(&request));
    } else if (rank == 1) {
        double begin = MPI_Wtime();
        while (MPI_Wtime() - begin < 0.05)
            ;
        CHECK_OK(MPI_Recv(data, BYTES, MPI_CHAR, 0, 5, comm, MPI_STATUS_IGNORE));
    }
}

/* Of the predefined attributes a session has the largest tag alone (MPI 5.0, 9.1.2). */
static void test_attributes(MPI_Comm comm)
{
    static const int world_only[] = { MPI_HOST,          MPI_IO,     MPI_WTIME_IS_GLOBAL,
                                      MPI_UNIVERSE_SIZE, MPI_APPNUM, MPI_LASTUSEDCODE };
    MPI_Comm copy;
    int *value, flag;
    CHECK_OK(MPI_Comm_dup(comm, &copy));
    for (size_t i = 0; i < sizeof world_only / sizeof world_only[0]; i++) {
        CHECK_OK(MPI_Comm_get_attr(copy, world_only[i], &value, &flag));
        CHECK(!flag);
    }
    CHECK_OK(MPI_Comm_get_attr(copy, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    CHECK_ERROR(MPI_Comm_get_attr(copy, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Comm_free(&copy));
}

static int round_trip(int last)
{
    MPI_Session first, second;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &first));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second));
    MPI_Comm all = comm_of(first, "mpi://WORLD", "all"),
             more = comm_of(second, "mpi://WORLD", "more");
    MPI_Comm alone = comm_of(second, "mpi://SELF", "alone");
    int rank, size, sum = 0;
    CHECK_OK(MPI_Comm_rank(all, &rank));
    CHECK_OK(MPI_Comm_size(alone, &size));
    CHECK(size == 1);
    CHECK_OK(MPI_Comm_size(more, &size));
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, more));
    CHECK(sum == size * (size - 1) / 2);
    CHECK_OK(MPI_Barrier(all));
    test_attributes(all);
    if (size > 1)
        test_intercomm(first, rank, size);
    if (size > 1)
        test_late_receive(all, rank);
    if (rank == 0 && last)
        printf("ok\n");
    CHECK_OK(MPI_Comm_free(&all));
    CHECK_OK(MPI_Comm_free(&more));
    CHECK_OK(MPI_Comm_free(&alone));
    CHECK_OK(MPI_Session_finalize(&first));
    CHECK_OK(MPI_Session_finalize(&second));
    return 0;
}

int main(void)
{
    int flag;
    for (int i = 0; i < 3; i++)
        round_trip(i == 2);
    MPI_Initialized(&flag);
    CHECK(!flag);
    return 0;
}
