/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which device each rank should take: "rank device", and the same after MPI_Init as before.
 */
#include "check.h"

#include <mpix.h>

int main(void)
{
    int before = MPIX_Query_cuda_device(), rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(MPIX_Query_cuda_device() == before);
    printf("%d %d\n", rank, before);
    MPI_Finalize();
    return 0;
}
