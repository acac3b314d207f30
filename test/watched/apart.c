/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 1 has a network that the others do not have, so each of them loses the others, or it: all calls
 * fail, on all ranks, and the programs end as they like.
 */
#include <mpi.h>
#include <mpix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what, int rank, int error)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(error, &class);
    if (class == MPIX_ERR_PROC_FAILED)
        return 0;
    printf("rank %d: %s returns class %d\n", rank, what, class);
    return 1;
}

int main(int argc, char **argv)
{
    static double mine[1000], sum[1000];
    const char *number = getenv("RANK");
    bool apart = number && strcmp(number, "1") == 0;
    setenv("XMPI_OFI_PROVIDER", apart ? "udp" : "tcp", 1);
    MPI_Init(&argc, &argv);
    int rank, bad = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 2; i++)
        bad |= failed("MPI_Allreduce", rank,
                      MPI_Allreduce(mine, sum, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    MPI_Request request;
    int error = MPI_Iallreduce(mine, sum, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    bad |=
        failed("MPI_Iallreduce", rank, error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Finalize();
    return bad;
}
