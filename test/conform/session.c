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
