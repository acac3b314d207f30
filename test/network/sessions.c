/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages for somebody who is between two sessions arrive, although their sender leaves MPI and ends before
 * he is back.   sessions met|alone MESSAGES
 *
 *     met      in the first session the two have talked
 *     alone    each was in a session of its own, and nobody has opened the network
 */
#include "test/conform/check.h"

#include <unistd.h>

enum { LONG = 60000 };

static MPI_Session session;
static MPI_Comm comm;
static int rank;

static void begin(const char *set)
{
    MPI_Group group;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, set, &group);
    MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
}

static void end(void)
{
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    static char data[LONG];
    int many = argc > 2 ? atoi(argv[2]) : 0;
    begin(argc > 1 && strcmp(argv[1], "met") == 0 ? "mpi://WORLD" : "mpi://SELF");
    MPI_Barrier(comm);
    end();
    usleep(300000);
    if (atoi(getenv("RANK")) == 1)
        sleep(2);
    begin("mpi://WORLD");
    for (int i = 0; i < many; i++) {
        memset(data, i, LONG);
        if (rank == 0)
            MPI_Send(data, LONG, MPI_BYTE, 1, i, comm);
        else
            MPI_Recv(data, LONG, MPI_BYTE, 0, i, comm, MPI_STATUS_IGNORE);
        CHECK(data[0] == (char)i && data[LONG - 1] == (char)i);
    }
    end();
    return 0;
}
