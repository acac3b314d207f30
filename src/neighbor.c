/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The collectives between neighbours (MPI 5.0, 8.6 to 8.8), blocking, nonblocking and persistent:
 * ask (src/asked.c) and run, start or prepare.  The neighbours come with the topology
 * (src/topo.c).  Arrays of counts and displacements are copied where the call returns before the
 * operation is over.  No info key is understood.
 */
#include "src/again.h"
#include "src/api/topology.h"
#include "src/asked.h"

/* Byte displacements, the same in both forms of a call. */
static struct counts bytes(const MPI_Aint *displs)
{
    return (struct counts){ NULL, displs };
}

/* Blocks of one type on each side. */
static int exchange_again(struct comm *comm, enum collective what, struct side *send,
                          struct side *recv)
{
    struct again_key key = { .what = what,
                             .counts = { send->count, recv->count }, /* of lists 0 */
                             .types = { send->type, recv->type } };
    struct again *again = again_find(comm, &key);
    if (again && again_takes_edges(&again->repeat.call, send, recv, comm))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_neighbor(&asked, what, comm, send, recv);
    return again_first(&asked, rc, &key);
}

int xmpi_neighbor_allgather(in_t sendbuf, count_t sendcount, committed_t sendtype,
                            out_t recvbuf, count_t recvcount, committed_t recvtype,
                            intra_t comm)
{
    return exchange_again(comm, COLL_NEIGHBOR_ALLGATHER, side(sendbuf, sendcount, sendtype),
                          side(recvbuf, recvcount, recvtype));
}

int xmpi_ineighbor_allgather(in_t sendbuf, count_t sendcount, committed_t sendtype,
                             out_t recvbuf, count_t recvcount, committed_t recvtype,
                             intra_t comm, request_out_t *request)
{
    struct asked asked;
    int rc =
        asked_neighbor(&asked, COLL_NEIGHBOR_ALLGATHER, comm,
                       side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype));
    return asked_start(&asked, rc, request);
}

int xmpi_neighbor_allgather_init(in_t sendbuf, count_t sendcount, committed_t sendtype,
                                 out_t recvbuf, count_t recvcount, committed_t recvtype,
                                 intra_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc =
        asked_neighbor(&asked, COLL_NEIGHBOR_ALLGATHER, comm,
                       side(sendbuf, sendcount, sendtype), side(recvbuf, recvcount, recvtype));
    return asked_init(&asked, rc, request);
}

int xmpi_neighbor_allgatherv(in_t sendbuf, count_t sendcount, committed_t sendtype,
                             out_t recvbuf, counts_t recvcounts, displs_t displs,
                             committed_t recvtype, intra_t comm)
{
    return exchange_again(comm, COLL_NEIGHBOR_ALLGATHERV, side(sendbuf, sendcount, sendtype),
                          side_v(recvbuf, recvcounts, displs, recvtype, "recvcounts"));
}

int xmpi_ineighbor_allgatherv(in_t sendbuf, count_t sendcount, committed_t sendtype,
                              out_t recvbuf, counts_t recvcounts, displs_t displs,
                              committed_t recvtype, intra_t comm, request_out_t *request)
{
    struct asked asked;
    int rc = asked_neighbor(&asked, COLL_NEIGHBOR_ALLGATHERV, comm,
                            side(sendbuf, sendcount, sendtype),
                            side_v(recvbuf, recvcounts, displs, recvtype, "recvcounts"));
    return asked_start(&asked, rc, request);
}

int xmpi_neighbor_allgatherv_init(in_t sendbuf, count_t sendcount, committed_t sendtype,
                                  out_t recvbuf, counts_t recvcounts, displs_t displs,
                                  committed_t recvtype, intra_t comm, info_t info,
                                  request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_neighbor(&asked, COLL_NEIGHBOR_ALLGATHERV, comm,
                            side(sendbuf, sendcount, sendtype),
                            side_v(recvbuf, recvcounts, displs, recvtype, "recvcounts"));
    return asked_init(&asked, rc, request);
}

int xmpi_neighbor_alltoall(in_t sendbuf, count_t sendcount, committed_t sendtype, out_t recvbuf,
                           count_t recvcount, committed_t recvtype, intra_t comm)
{
    return exchange_again(comm, COLL_NEIGHBOR_ALLTOALL, side(sendbuf, sendcount, sendtype),
                          side(recvbuf, recvcount, recvtype));
}

int xmpi_ineighbor_alltoall(in_t sendbuf, count_t sendcount, committed_t sendtype,
                            out_t recvbuf, count_t recvcount, committed_t recvtype,
                            intra_t comm, request_out_t *request)
{
    struct asked asked;
    int rc =
        asked_neighbor(&asked, COLL_NEIGHBOR_ALLTOALL, comm, side(sendbuf, sendcount, sendtype),
                       side(recvbuf, recvcount, recvtype));
    return asked_start(&asked, rc, request);
}

int xmpi_neighbor_alltoall_init(in_t sendbuf, count_t sendcount, committed_t sendtype,
                                out_t recvbuf, count_t recvcount, committed_t recvtype,
                                intra_t comm, info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc =
        asked_neighbor(&asked, COLL_NEIGHBOR_ALLTOALL, comm, side(sendbuf, sendcount, sendtype),
                       side(recvbuf, recvcount, recvtype));
    return asked_init(&asked, rc, request);
}

int xmpi_neighbor_alltoallv(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                            committed_t sendtype, out_t recvbuf, counts_t recvcounts,
                            displs_t rdispls, committed_t recvtype, intra_t comm)
{
    return exchange_again(comm, COLL_NEIGHBOR_ALLTOALLV,
                          side_v(sendbuf, sendcounts, sdispls, sendtype, "sendcounts"),
                          side_v(recvbuf, recvcounts, rdispls, recvtype, "recvcounts"));
}

int xmpi_ineighbor_alltoallv(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                             committed_t sendtype, out_t recvbuf, counts_t recvcounts,
                             displs_t rdispls, committed_t recvtype, intra_t comm,
                             request_out_t *request)
{
    struct asked asked;
    int rc = asked_neighbor(&asked, COLL_NEIGHBOR_ALLTOALLV, comm,
                            side_v(sendbuf, sendcounts, sdispls, sendtype, "sendcounts"),
                            side_v(recvbuf, recvcounts, rdispls, recvtype, "recvcounts"));
    return asked_start(&asked, rc, request);
}

int xmpi_neighbor_alltoallv_init(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                                 committed_t sendtype, out_t recvbuf, counts_t recvcounts,
                                 displs_t rdispls, committed_t recvtype, intra_t comm,
                                 info_t info, request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc = asked_neighbor(&asked, COLL_NEIGHBOR_ALLTOALLV, comm,
                            side_v(sendbuf, sendcounts, sdispls, sendtype, "sendcounts"),
                            side_v(recvbuf, recvcounts, rdispls, recvtype, "recvcounts"));
    return asked_init(&asked, rc, request);
}

int xmpi_neighbor_alltoallw(in_t sendbuf, counts_t sendcounts, const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], out_t recvbuf, counts_t recvcounts,
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                            intra_t comm)
{
    struct asked asked;
    int rc =
        asked_neighbor(&asked, COLL_NEIGHBOR_ALLTOALLW, comm,
                       side_w(sendbuf, sendcounts, bytes(sdispls), sendtypes, "sendcounts"),
                       side_w(recvbuf, recvcounts, bytes(rdispls), recvtypes, "recvcounts"));
    return asked_run(&asked, rc);
}

int xmpi_ineighbor_alltoallw(in_t sendbuf, counts_t sendcounts, const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], out_t recvbuf, counts_t recvcounts,
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             intra_t comm, request_out_t *request)
{
    struct asked asked;
    int rc =
        asked_neighbor(&asked, COLL_NEIGHBOR_ALLTOALLW, comm,
                       side_w(sendbuf, sendcounts, bytes(sdispls), sendtypes, "sendcounts"),
                       side_w(recvbuf, recvcounts, bytes(rdispls), recvtypes, "recvcounts"));
    return asked_start(&asked, rc, request);
}

int xmpi_neighbor_alltoallw_init(in_t sendbuf, counts_t sendcounts, const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], out_t recvbuf,
                                 counts_t recvcounts, const MPI_Aint rdispls[],
                                 const MPI_Datatype recvtypes[], intra_t comm, info_t info,
                                 request_out_t *request)
{
    struct asked asked;
    (void)info;
    int rc =
        asked_neighbor(&asked, COLL_NEIGHBOR_ALLTOALLW, comm,
                       side_w(sendbuf, sendcounts, bytes(sdispls), sendtypes, "sendcounts"),
                       side_w(recvbuf, recvcounts, bytes(rdispls), recvtypes, "recvcounts"));
    return asked_init(&asked, rc, request);
}
