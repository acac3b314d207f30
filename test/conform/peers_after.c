/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What comes after MPI_Finalize: sessions that find each other although the world is over, late
 * receivers of messages that were sent before, and a forked child that ends by itself.
 * conform-shadow: on a GPU the forked child ends by SIGSEGV when it exits, and why is not known yet
 */
#include "test/conform/check.h"

#include <sys/wait.h>
#include <unistd.h>

/* The send is complete for the program; the receiver comes later than MPI_Finalize. */
static void send_and_go(char *data, int bytes)
{
    MPI_Request request;
    if (world_rank() == 0 && world_size() > 1) {
        memset(data, 7, (size_t)bytes);
        CHECK_OK(MPI_Isend(data, bytes, MPI_CHAR, 1, bytes % 1000, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Request_free(&request));
    } else if (world_rank() == 1) {
        usleep(50000);
        CHECK_OK(MPI_Recv(data, bytes, MPI_CHAR, 0, bytes % 1000, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
        CHECK(data[0] == 7 && data[bytes - 1] == 7);
    }
}

/* A child of the process that shares all memory with the others must leave it alone. */
static void fork_and_end(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit(0);
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

#if MPI_VERSION >= 4
static void use_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int one = 1, sum = 0, size;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group) == MPI_SUCCESS);
    CHECK(MPI_Comm_create_from_group(group, "after", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
          MPI_SUCCESS);
    CHECK(MPI_Comm_size(comm, &size) == MPI_SUCCESS);
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS && sum == size);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    CHECK(MPI_Group_free(&group) == MPI_SUCCESS);
    CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
}
#else
static void use_session(void)
{
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    int rank = world_rank();
    char *small = malloc(100), *large = malloc(3000000);
    send_and_go(small, 100);
    send_and_go(large, 3000000);
    CHECK(MPI_Finalize() == MPI_SUCCESS);
    fork_and_end();
    for (int i = 0; i < 3; i++)
        use_session();
    fork_and_end();
    use_session();
    free(small);
    free(large);
    if (rank == 0)
        printf("ok\n");
    return 0;
}
