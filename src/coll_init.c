/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The persistent collectives (MPI 5.0, 6.13): ask as the blocking ones do and bind a request that
 * can be started again and again.  Arrays of counts and displacements are copied.  No info key
 * is understood.
 */
#include "src/api/collective.h"
#include "src/asked.h"

int xmpi_barrier_init(comm_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_barrier(&asked, comm);
    return asked_init(&asked, rc, request);
}

int xmpi_bcast_init(inout_t buffer, part_count_t count, part_type_t datatype, root_t root,
                    comm_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_bcast(&asked, comm, side(buffer, count, datatype), root);
    return asked_init(&asked, rc, request);
}

int xmpi_gather_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                     root_count_t recvcount, root_type_t recvtype, root_t root, comm_t comm,
                     info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_gather(&asked, comm, side(sendbuf, sendcount, sendtype),
                          side(recvbuf, recvcount, recvtype), root);
    return asked_init(&asked, rc, request);
}

int xmpi_gatherv_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                      counts_t recvcounts, displs_t displs, root_type_t recvtype, root_t root,
                      comm_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_gather(&asked, comm, side(sendbuf, sendcount, sendtype),
                          side_v(recvbuf, recvcounts, displs, recvtype, "recvcounts"), root);
    return asked_init(&asked, rc, request);
}

int xmpi_scatter_init(in_t sendbuf, root_count_t sendcount, root_type_t sendtype, out_t recvbuf,
                      mine_count_t recvcount, mine_type_t recvtype, root_t root, comm_t comm,
                      info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_scatter(&asked, comm, side(sendbuf, sendcount, sendtype),
                           side(recvbuf, recvcount, recvtype), root);
    return asked_init(&asked, rc, request);
}

int xmpi_scatterv_init(in_t sendbuf, counts_t sendcounts, displs_t displs, root_type_t sendtype,
                       out_t recvbuf, mine_count_t recvcount, mine_type_t recvtype, root_t root,
                       comm_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc =
        asked_scatter(&asked, comm, side_v(sendbuf, sendcounts, displs, sendtype, "sendcounts"),
                      side(recvbuf, recvcount, recvtype), root);
    return asked_init(&asked, rc, request);
}

int xmpi_allgather_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                        out_t recvbuf, count_t recvcount, committed_t recvtype, comm_t comm,
                        info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_allgather(&asked, comm, side(sendbuf, sendcount, sendtype),
                             side(recvbuf, recvcount, recvtype));
    return asked_init(&asked, rc, request);
}

int xmpi_allgatherv_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                         out_t recvbuf, counts_t recvcounts, displs_t displs,
                         committed_t recvtype, comm_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_allgather(&asked, comm, side(sendbuf, sendcount, sendtype),
                             side_v(recvbuf, recvcounts, displs, recvtype, "recvcounts"));
    return asked_init(&asked, rc, request);
}

int xmpi_alltoall_init(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                       out_t recvbuf, count_t recvcount, committed_t recvtype, comm_t comm,
                       info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_alltoall(&asked, comm, side(sendbuf, sendcount, sendtype),
                            side(recvbuf, recvcount, recvtype));
    return asked_init(&asked, rc, request);
}

int xmpi_alltoallv_init(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                        mine_type_t sendtype, out_t recvbuf, counts_t recvcounts,
                        displs_t rdispls, committed_t recvtype, comm_t comm, info_t info,
                        request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_alltoall(&asked, comm,
                            side_v(sendbuf, sendcounts, sdispls, sendtype, "sendcounts"),
                            side_v(recvbuf, recvcounts, rdispls, recvtype, "recvcounts"));
    return asked_init(&asked, rc, request);
}

int xmpi_alltoallw_init(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                        const MPI_Datatype sendtypes[], out_t recvbuf, counts_t recvcounts,
                        displs_t rdispls, const MPI_Datatype recvtypes[], comm_t comm,
                        info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_alltoallw(&asked, comm,
                             side_w(sendbuf, sendcounts, sdispls, sendtypes, "sendcounts"),
                             side_w(recvbuf, recvcounts, rdispls, recvtypes, "recvcounts"));
    return asked_init(&asked, rc, request);
}

int xmpi_reduce_init(in_t sendbuf, out_t recvbuf, part_count_t count, part_type_t datatype,
                     part_op_t op, root_t root, comm_t comm, info_t info,
                     request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_reduce(&asked, comm, sendbuf, side(recvbuf, count, datatype), op, root);
    return asked_init(&asked, rc, request);
}

int xmpi_allreduce_init(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype,
                        op_t op, comm_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc =
        asked_fold(&asked, COLL_ALLREDUCE, comm, sendbuf, side(recvbuf, count, datatype), op);
    return asked_init(&asked, rc, request);
}

int xmpi_reduce_scatter_block_init(in_t sendbuf, out_t recvbuf, count_t recvcount,
                                   committed_t datatype, op_t op, comm_t comm, info_t info,
                                   request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_fold(&asked, COLL_REDUCE_SCATTER_BLOCK, comm, sendbuf,
                        side(recvbuf, recvcount, datatype), op);
    return asked_init(&asked, rc, request);
}

int xmpi_reduce_scatter_init(in_t sendbuf, out_t recvbuf, counts_t recvcounts,
                             committed_t datatype, op_t op, comm_t comm, info_t info,
                             request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_fold(&asked, COLL_REDUCE_SCATTER, comm, sendbuf,
                        side_v(recvbuf, recvcounts, NO_COUNTS, datatype, "recvcounts"), op);
    return asked_init(&asked, rc, request);
}

int xmpi_scan_init(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                   intra_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_fold(&asked, COLL_SCAN, comm, sendbuf, side(recvbuf, count, datatype), op);
    return asked_init(&asked, rc, request);
}

int xmpi_exscan_init(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                     intra_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_fold(&asked, COLL_EXSCAN, comm, sendbuf, side(recvbuf, count, datatype), op);
    return asked_init(&asked, rc, request);
}
