/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Short messages of programs with MPI_THREAD_MULTIPLE, apart from the entry points, which would have each short way
 * twice.  Windows of 8 bytes of one thread pass 1.13 times as many messages so, of two threads as well.
 */
#include "src/quick_p2p.h"

int xmpi_send_shared(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm)
{
    return xmpi_send_quick(buf, count, datatype, dest, tag, comm);
}

int xmpi_isend_shared(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return xmpi_isend_quick(buf, count, datatype, dest, tag, comm, request);
}

int xmpi_irecv_shared(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return xmpi_irecv_quick(buf, count, datatype, source, tag, comm, request);
}
