/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The blocking collectives (MPI 5.0, 6.3 to 6.11): ask (src/asked.c) and run to the end.
 */
#include "src/again.h"
#include "src/api/collective.h"
#include "src/asked.h"
#include "src/fuse.h"

int xmpi_barrier(comm_t comm)
{
    struct again *again = again_find(comm, AGAIN_BARRIER, 0, NULL, NULL);
    if (again)
        return repeat_run(&again->repeat, &comm->team);
    struct asked asked;
    int rc = asked_barrier(&asked, comm);
    rc = asked_run(&asked, rc);
    if (!rc)
        again_learn(&asked, AGAIN_BARRIER, 0, NULL, NULL);
    return rc;
}

int xmpi_bcast(inout_t buffer, part_count_t count, part_type_t datatype, root_t root,
               comm_t comm)
{
    struct asked asked;
    int rc = asked_bcast(&asked, comm, side(buffer, count, datatype), root);
    return asked_run(&asked, rc);
}

int xmpi_gather(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                root_count_t recvcount, root_type_t recvtype, root_t root, comm_t comm)
{
    struct asked asked;
    int rc = asked_gather(&asked, comm, side(sendbuf, sendcount, sendtype),
                          side(recvbuf, recvcount, recvtype), root);
    return asked_run(&asked, rc);
}

int xmpi_gatherv(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                 counts_t recvcounts, displs_t displs, root_type_t recvtype, root_t root,
                 comm_t comm)
{
    struct asked asked;
    int rc = asked_gatherv(&asked, comm, side(sendbuf, sendcount, sendtype),
                           side_v(recvbuf, recvcounts, displs, recvtype, "recvcounts"), root);
    return asked_run(&asked, rc);
}

int xmpi_scatter(in_t sendbuf, root_count_t sendcount, root_type_t sendtype, out_t recvbuf,
                 mine_count_t recvcount, mine_type_t recvtype, root_t root, comm_t comm)
{
    struct asked asked;
    int rc = asked_scatter(&asked, comm, side(sendbuf, sendcount, sendtype),
                           side(recvbuf, recvcount, recvtype), root);
    return asked_run(&asked, rc);
}

int xmpi_scatterv(in_t sendbuf, counts_t sendcounts, displs_t displs, root_type_t sendtype,
                  out_t recvbuf, mine_count_t recvcount, mine_type_t recvtype, root_t root,
                  comm_t comm)
{
    struct asked asked;
    int rc = asked_scatterv(&asked, comm,
                            side_v(sendbuf, sendcounts, displs, sendtype, "sendcounts"),
                            side(recvbuf, recvcount, recvtype), root);
    return asked_run(&asked, rc);
}

int xmpi_allgather(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                   count_t recvcount, committed_t recvtype, comm_t comm)
{
    struct asked asked;
    int rc = asked_allgather(&asked, comm, side(sendbuf, sendcount, sendtype),
                             side(recvbuf, recvcount, recvtype));
    return asked_run(&asked, rc);
}

int xmpi_allgatherv(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                    counts_t recvcounts, displs_t displs, committed_t recvtype, comm_t comm)
{
    struct asked asked;
    int rc = asked_allgatherv(&asked, comm, side(sendbuf, sendcount, sendtype),
                              side_v(recvbuf, recvcounts, displs, recvtype, "recvcounts"));
    return asked_run(&asked, rc);
}

int xmpi_alltoall(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                  count_t recvcount, committed_t recvtype, comm_t comm)
{
    struct asked asked;
    int rc = asked_alltoall(&asked, comm, side(sendbuf, sendcount, sendtype),
                            side(recvbuf, recvcount, recvtype));
    return asked_run(&asked, rc);
}

int xmpi_alltoallv(in_t sendbuf, counts_t sendcounts, displs_t sdispls, mine_type_t sendtype,
                   out_t recvbuf, counts_t recvcounts, displs_t rdispls, committed_t recvtype,
                   comm_t comm)
{
    struct asked asked;
    int rc = asked_alltoallv(&asked, comm,
                             side_v(sendbuf, sendcounts, sdispls, sendtype, "sendcounts"),
                             side_v(recvbuf, recvcounts, rdispls, recvtype, "recvcounts"));
    return asked_run(&asked, rc);
}

int xmpi_alltoallw(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                   const MPI_Datatype sendtypes[], out_t recvbuf, counts_t recvcounts,
                   displs_t rdispls, const MPI_Datatype recvtypes[], comm_t comm)
{
    struct asked asked;
    int rc = asked_alltoallw(&asked, comm,
                             side_w(sendbuf, sendcounts, sdispls, sendtypes, "sendcounts"),
                             side_w(recvbuf, recvcounts, rdispls, recvtypes, "recvcounts"));
    return asked_run(&asked, rc);
}

int xmpi_reduce(in_t sendbuf, out_t recvbuf, part_count_t count, part_type_t datatype,
                part_op_t op, root_t root, comm_t comm)
{
    struct asked asked;
    int rc = asked_reduce(&asked, comm, sendbuf, side(recvbuf, count, datatype), op, root);
    return asked_run(&asked, rc);
}

int xmpi_allreduce(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                   comm_t comm)
{
    bool fuses = fuse_is_open();
    struct again *again = fuses ? NULL : again_find(comm, AGAIN_ALLREDUCE, count, datatype, op);
    if (again && again_takes(again, sendbuf, recvbuf))
        return repeat_run(&again->repeat, &comm->team);
    struct asked asked;
    int rc =
        asked_fold(&asked, COLL_ALLREDUCE, comm, sendbuf, side(recvbuf, count, datatype), op);
    if (fuses)
        return fuse_run(&asked, rc);
    rc = asked_run(&asked, rc);
    if (!rc)
        again_learn(&asked, AGAIN_ALLREDUCE, count, datatype, op);
    return rc;
}

int xmpi_reduce_scatter_block(in_t sendbuf, out_t recvbuf, count_t recvcount,
                              committed_t datatype, op_t op, comm_t comm)
{
    struct asked asked;
    int rc = asked_fold(&asked, COLL_REDUCE_SCATTER_BLOCK, comm, sendbuf,
                        side(recvbuf, recvcount, datatype), op);
    return asked_run(&asked, rc);
}

int xmpi_reduce_scatter(in_t sendbuf, out_t recvbuf, counts_t recvcounts, committed_t datatype,
                        op_t op, comm_t comm)
{
    struct asked asked;
    int rc = asked_fold(&asked, COLL_REDUCE_SCATTER, comm, sendbuf,
                        side_v(recvbuf, recvcounts, NO_COUNTS, datatype, "recvcounts"), op);
    return asked_run(&asked, rc);
}

int xmpi_scan(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
              intra_t comm)
{
    struct asked asked;
    int rc = asked_fold(&asked, COLL_SCAN, comm, sendbuf, side(recvbuf, count, datatype), op);
    return asked_run(&asked, rc);
}

int xmpi_exscan(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                intra_t comm)
{
    struct asked asked;
    int rc = asked_fold(&asked, COLL_EXSCAN, comm, sendbuf, side(recvbuf, count, datatype), op);
    return asked_run(&asked, rc);
}
