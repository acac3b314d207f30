/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collective communication and reduction operations (MPI 5.0, chapter 6).  Each collective comes
 * in three forms: blocking, nonblocking (I...) and persistent (..._init).
 */
#ifndef XMPI_API_COLLECTIVE_H
#define XMPI_API_COLLECTIVE_H

#include "src/api/kinds.h"

/* Wait until every process of the communicator has called this function. */
recalled int xmpi_barrier(comm_t comm);

/* Start a barrier; complete it with MPI_Wait. */
int xmpi_ibarrier(comm_t comm, request_out_t *request);

/* Prepare a barrier that MPI_Start can start any number of times. */
int xmpi_barrier_init(comm_t comm, info_t info, request_out_t *request);

/* Hand the root's data to every process of the communicator. */
recalled int xmpi_bcast(inout_t buffer, part_count_t count, part_type_t datatype, root_t root,
                        comm_t comm);

/* Start a broadcast; complete it with MPI_Wait. */
int xmpi_ibcast(inout_t buffer, part_count_t count, part_type_t datatype, root_t root,
                comm_t comm, request_out_t *request);

/* Prepare a broadcast that MPI_Start can start any number of times. */
int xmpi_bcast_init(inout_t buffer, part_count_t count, part_type_t datatype, root_t root,
                    comm_t comm, info_t info, request_out_t *request);

/* Collect one block of every process at the root, in the order of ranks. */
recalled int xmpi_gather(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                         out_t recvbuf, root_count_t recvcount, root_type_t recvtype,
                         root_t root, comm_t comm);

/* Start a gather; complete it with MPI_Wait. */
int xmpi_igather(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                 root_count_t recvcount, root_type_t recvtype, root_t root, comm_t comm,
                 request_out_t *request);

/* Prepare a gather that MPI_Start can start any number of times. */
int xmpi_gather_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                     root_count_t recvcount, root_type_t recvtype, root_t root, comm_t comm,
                     info_t info, request_out_t *request);

/* Collect blocks of different lengths at the root, each at a place the root chooses. */
int xmpi_gatherv(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                 counts_t recvcounts, displs_t displs, root_type_t recvtype, root_t root,
                 comm_t comm);

/* Start a gather of different lengths; complete it with MPI_Wait. */
int xmpi_igatherv(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                  counts_t recvcounts, displs_t displs, root_type_t recvtype, root_t root,
                  comm_t comm, request_out_t *request);

/* Prepare a gather of different lengths that MPI_Start can start any number of times. */
int xmpi_gatherv_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                      counts_t recvcounts, displs_t displs, root_type_t recvtype, root_t root,
                      comm_t comm, info_t info, request_out_t *request);

/* Deal out the root's blocks, one to every process, in the order of ranks. */
recalled int xmpi_scatter(in_t sendbuf, root_count_t sendcount, root_type_t sendtype,
                          out_t recvbuf, mine_count_t recvcount, mine_type_t recvtype,
                          root_t root, comm_t comm);

/* Start a scatter; complete it with MPI_Wait. */
int xmpi_iscatter(in_t sendbuf, root_count_t sendcount, root_type_t sendtype, out_t recvbuf,
                  mine_count_t recvcount, mine_type_t recvtype, root_t root, comm_t comm,
                  request_out_t *request);

/* Prepare a scatter that MPI_Start can start any number of times. */
int xmpi_scatter_init(in_t sendbuf, root_count_t sendcount, root_type_t sendtype, out_t recvbuf,
                      mine_count_t recvcount, mine_type_t recvtype, root_t root, comm_t comm,
                      info_t info, request_out_t *request);

/* Deal out blocks of different lengths from places the root chooses. */
int xmpi_scatterv(in_t sendbuf, counts_t sendcounts, displs_t displs, root_type_t sendtype,
                  out_t recvbuf, mine_count_t recvcount, mine_type_t recvtype, root_t root,
                  comm_t comm);

/* Start a scatter of different lengths; complete it with MPI_Wait. */
int xmpi_iscatterv(in_t sendbuf, counts_t sendcounts, displs_t displs, root_type_t sendtype,
                   out_t recvbuf, mine_count_t recvcount, mine_type_t recvtype, root_t root,
                   comm_t comm, request_out_t *request);

/* Prepare a scatter of different lengths that MPI_Start can start any number of times. */
int xmpi_scatterv_init(in_t sendbuf, counts_t sendcounts, displs_t displs, root_type_t sendtype,
                       out_t recvbuf, mine_count_t recvcount, mine_type_t recvtype, root_t root,
                       comm_t comm, info_t info, request_out_t *request);

/* Collect one block of every process on all processes. */
recalled int xmpi_allgather(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                            out_t recvbuf, count_t recvcount, committed_t recvtype,
                            comm_t comm);

/* Start an allgather; complete it with MPI_Wait. */
int xmpi_iallgather(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                    count_t recvcount, committed_t recvtype, comm_t comm,
                    request_out_t *request);

/* Prepare an allgather that MPI_Start can start any number of times. */
int xmpi_allgather_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                        out_t recvbuf, count_t recvcount, committed_t recvtype, comm_t comm,
                        info_t info, request_out_t *request);

/* Collect blocks of different lengths on all processes. */
int xmpi_allgatherv(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                    counts_t recvcounts, displs_t displs, committed_t recvtype, comm_t comm);

/* Start an allgather of different lengths; complete it with MPI_Wait. */
int xmpi_iallgatherv(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                     counts_t recvcounts, displs_t displs, committed_t recvtype, comm_t comm,
                     request_out_t *request);

/* Prepare an allgather of different lengths that MPI_Start can start any number of times. */
int xmpi_allgatherv_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                         out_t recvbuf, counts_t recvcounts, displs_t displs,
                         committed_t recvtype, comm_t comm, info_t info,
                         request_out_t *request);

/* Every process sends a block of its own to every process. */
recalled int xmpi_alltoall(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                           out_t recvbuf, count_t recvcount, committed_t recvtype, comm_t comm);

/* Start an all-to-all exchange; complete it with MPI_Wait. */
int xmpi_ialltoall(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                   count_t recvcount, committed_t recvtype, comm_t comm,
                   request_out_t *request);

/* Prepare an all-to-all exchange that MPI_Start can start any number of times. */
int xmpi_alltoall_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                       out_t recvbuf, count_t recvcount, committed_t recvtype, comm_t comm,
                       info_t info, request_out_t *request);

/* Every process sends a block of its own length to every process. */
int xmpi_alltoallv(in_t sendbuf, counts_t sendcounts, displs_t sdispls, mine_type_t sendtype,
                   out_t recvbuf, counts_t recvcounts, displs_t rdispls, committed_t recvtype,
                   comm_t comm);

/* Start an all-to-all exchange of different lengths; complete it with MPI_Wait. */
int xmpi_ialltoallv(in_t sendbuf, counts_t sendcounts, displs_t sdispls, mine_type_t sendtype,
                    out_t recvbuf, counts_t recvcounts, displs_t rdispls, committed_t recvtype,
                    comm_t comm, request_out_t *request);

/* Prepare an all-to-all exchange of different lengths that MPI_Start can start any number of times. */
int xmpi_alltoallv_init(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                        mine_type_t sendtype, out_t recvbuf, counts_t recvcounts,
                        displs_t rdispls, committed_t recvtype, comm_t comm, info_t info,
                        request_out_t *request);

/* Every process exchanges with every other, each pair with its own count, place (in bytes) and
 * datatype. */
int xmpi_alltoallw(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                   const MPI_Datatype sendtypes[], out_t recvbuf, counts_t recvcounts,
                   displs_t rdispls, const MPI_Datatype recvtypes[], comm_t comm);

/* Start an all-to-all exchange of different datatypes; complete it with MPI_Wait. */
int xmpi_ialltoallw(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                    const MPI_Datatype sendtypes[], out_t recvbuf, counts_t recvcounts,
                    displs_t rdispls, const MPI_Datatype recvtypes[], comm_t comm,
                    request_out_t *request);

/* Prepare an all-to-all exchange of different datatypes that MPI_Start can start any number of times. */
int xmpi_alltoallw_init(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                        const MPI_Datatype sendtypes[], out_t recvbuf, counts_t recvcounts,
                        displs_t rdispls, const MPI_Datatype recvtypes[], comm_t comm,
                        info_t info, request_out_t *request);

/* Combine the data of all processes, element by element; the root gets the result. */
recalled int xmpi_reduce(in_t sendbuf, out_t recvbuf, part_count_t count, part_type_t datatype,
                         part_op_t op, root_t root, comm_t comm);

/* Start a reduction; complete it with MPI_Wait. */
int xmpi_ireduce(in_t sendbuf, out_t recvbuf, part_count_t count, part_type_t datatype,
                 part_op_t op, root_t root, comm_t comm, request_out_t *request);

/* Prepare a reduction that MPI_Start can start any number of times. */
int xmpi_reduce_init(in_t sendbuf, out_t recvbuf, part_count_t count, part_type_t datatype,
                     part_op_t op, root_t root, comm_t comm, info_t info,
                     request_out_t *request);

/* Combine the data of all processes, element by element; everybody gets the result. */
recalled int xmpi_allreduce(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype,
                            op_t op, comm_t comm);

/* Start an allreduce; complete it with MPI_Wait. */
int xmpi_iallreduce(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                    comm_t comm, request_out_t *request);

/* Prepare an allreduce that MPI_Start can start any number of times. */
int xmpi_allreduce_init(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype,
                        op_t op, comm_t comm, info_t info, request_out_t *request);

/* Combine vectors of size x recvcount elements; every process gets the block of its rank. */
recalled int xmpi_reduce_scatter_block(in_t sendbuf, out_t recvbuf, count_t recvcount,
                                       committed_t datatype, op_t op, comm_t comm);

/* Start a reduce-scatter of equal blocks; complete it with MPI_Wait. */
int xmpi_ireduce_scatter_block(in_t sendbuf, out_t recvbuf, count_t recvcount,
                               committed_t datatype, op_t op, comm_t comm,
                               request_out_t *request);

/* Prepare a reduce-scatter of equal blocks that MPI_Start can start any number of times. */
int xmpi_reduce_scatter_block_init(in_t sendbuf, out_t recvbuf, count_t recvcount,
                                   committed_t datatype, op_t op, comm_t comm, info_t info,
                                   request_out_t *request);

/* Combine vectors; process i gets recvcounts[i] elements of the result. */
int xmpi_reduce_scatter(in_t sendbuf, out_t recvbuf, counts_t recvcounts, committed_t datatype,
                        op_t op, comm_t comm);

/* Start a reduce-scatter; complete it with MPI_Wait. */
int xmpi_ireduce_scatter(in_t sendbuf, out_t recvbuf, counts_t recvcounts, committed_t datatype,
                         op_t op, comm_t comm, request_out_t *request);

/* Prepare a reduce-scatter that MPI_Start can start any number of times. */
int xmpi_reduce_scatter_init(in_t sendbuf, out_t recvbuf, counts_t recvcounts,
                             committed_t datatype, op_t op, comm_t comm, info_t info,
                             request_out_t *request);

/* Combine the data of the processes 0 to my own rank. */
recalled int xmpi_scan(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype,
                       op_t op, intra_t comm);

/* Start a prefix reduction; complete it with MPI_Wait. */
int xmpi_iscan(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
               intra_t comm, request_out_t *request);

/* Prepare a prefix reduction that MPI_Start can start any number of times. */
int xmpi_scan_init(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                   intra_t comm, info_t info, request_out_t *request);

/* Combine the data of the processes before mine; rank 0 gets nothing. */
recalled int xmpi_exscan(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype,
                         op_t op, intra_t comm);

/* Start an exclusive prefix reduction; complete it with MPI_Wait. */
int xmpi_iexscan(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                 intra_t comm, request_out_t *request);

/* Prepare an exclusive prefix reduction that MPI_Start can start any number of times. */
int xmpi_exscan_init(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                     intra_t comm, info_t info, request_out_t *request);

/* ---- operations ---- */

/* Combine two local buffers: inoutbuf = inbuf op inoutbuf. */
int xmpi_reduce_local(in_t inbuf, inout_t inoutbuf, count_t count, committed_t datatype,
                      op_t op);

/* Make an operation of a function of the program; `commute` says whether the order of operands
 * may be changed. */
int xmpi_op_create(user_function_t user_fn, int commute, op_out_t *op);

/* Give an operation back. */
int xmpi_op_free(op_free_t *op);

/* Does the operation commute? */
int xmpi_op_commutative(op_t op, flag_t *commute);

#endif
