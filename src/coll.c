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
    struct again_key key = again_key(COLL_BARRIER, 0, NULL, NULL, 0);
    struct again *again = again_find(comm, &key);
    if (again)
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_barrier(&asked, comm);
    return again_first(&asked, rc, &key);
}

int xmpi_bcast(inout_t buffer, part_count_t count, part_type_t datatype, root_t root,
               comm_t comm)
{
    struct again_key key = again_key(COLL_BCAST, count, datatype, NULL, root);
    struct again *again = again_find(comm, &key);
    if (again && again_takes_one(&again->repeat.call.recv, buffer))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_bcast(&asked, comm, side(buffer, count, datatype), root);
    return again_first(&asked, rc, &key);
}

int xmpi_gather(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                root_count_t recvcount, root_type_t recvtype, root_t root, comm_t comm)
{
    struct again_key key = { .what = COLL_GATHER,
                             .root = root,
                             .counts = { sendcount, recvcount },
                             .types = { sendtype, recvtype } };
    struct again *again = again_find(comm, &key);
    if (again && again_takes_rooted(&again->repeat.call.send, sendbuf, &again->repeat.call.recv,
                                    recvbuf, comm_rank(comm), root))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_gather(&asked, comm, side(sendbuf, sendcount, sendtype),
                          side(recvbuf, recvcount, recvtype), root);
    return again_first(&asked, rc, &key);
}

int xmpi_gatherv(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                 counts_t recvcounts, displs_t displs, root_type_t recvtype, root_t root,
                 comm_t comm)
{
    struct again_key key = { .what = COLL_GATHERV,
                             .root = root,
                             .counts = { sendcount, 0 },
                             .types = { sendtype, recvtype } };
    struct side *recv = side_v(recvbuf, recvcounts, displs, recvtype, "recvcounts");
    struct again *again = again_find(comm, &key);
    if (again && again_takes_listed(&again->repeat.call.send, sendbuf, &again->repeat.call.recv,
                                    recv, comm, root))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_gather(&asked, comm, side(sendbuf, sendcount, sendtype), recv, root);
    return again_first(&asked, rc, &key);
}

int xmpi_scatter(in_t sendbuf, root_count_t sendcount, root_type_t sendtype, out_t recvbuf,
                 mine_count_t recvcount, mine_type_t recvtype, root_t root, comm_t comm)
{
    struct again_key key = { .what = COLL_SCATTER,
                             .root = root,
                             .counts = { sendcount, recvcount },
                             .types = { sendtype, recvtype } };
    struct again *again = again_find(comm, &key);
    if (again && again_takes_rooted(&again->repeat.call.recv, recvbuf, &again->repeat.call.send,
                                    sendbuf, comm_rank(comm), root))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_scatter(&asked, comm, side(sendbuf, sendcount, sendtype),
                           side(recvbuf, recvcount, recvtype), root);
    return again_first(&asked, rc, &key);
}

int xmpi_scatterv(in_t sendbuf, counts_t sendcounts, displs_t displs, root_type_t sendtype,
                  out_t recvbuf, mine_count_t recvcount, mine_type_t recvtype, root_t root,
                  comm_t comm)
{
    struct again_key key = { .what = COLL_SCATTERV,
                             .root = root,
                             .counts = { 0, recvcount },
                             .types = { sendtype, recvtype } };
    struct side *send = side_v(sendbuf, sendcounts, displs, sendtype, "sendcounts");
    struct again *again = again_find(comm, &key);
    if (again && again_takes_listed(&again->repeat.call.recv, recvbuf, &again->repeat.call.send,
                                    send, comm, root))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_scatter(&asked, comm, send, side(recvbuf, recvcount, recvtype), root);
    return again_first(&asked, rc, &key);
}

int xmpi_allgather(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                   count_t recvcount, committed_t recvtype, comm_t comm)
{
    struct again_key key = { .what = COLL_ALLGATHER,
                             .counts = { sendcount, recvcount },
                             .types = { sendtype, recvtype } };
    struct again *again = again_find(comm, &key);
    if (again && again_takes_blocks(&again->repeat.call.send, sendbuf, &again->repeat.call.recv,
                                    recvbuf, comm_rank(comm)))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_allgather(&asked, comm, side(sendbuf, sendcount, sendtype),
                             side(recvbuf, recvcount, recvtype));
    return again_first(&asked, rc, &key);
}

int xmpi_allgatherv(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                    counts_t recvcounts, displs_t displs, committed_t recvtype, comm_t comm)
{
    struct again_key key = { .what = COLL_ALLGATHERV,
                             .counts = { sendcount, 0 },
                             .types = { sendtype, recvtype } };
    struct side *recv = side_v(recvbuf, recvcounts, displs, recvtype, "recvcounts");
    struct again *again = again_find(comm, &key);
    if (again && again_takes_counts(again, sendbuf, recv, comm))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_allgather(&asked, comm, side(sendbuf, sendcount, sendtype), recv);
    return again_first(&asked, rc, &key);
}

int xmpi_alltoall(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype, out_t recvbuf,
                  count_t recvcount, committed_t recvtype, comm_t comm)
{
    struct again_key key = { .what = COLL_ALLTOALL,
                             .counts = { sendcount, recvcount },
                             .types = { sendtype, recvtype } };
    struct again *again = again_find(comm, &key);
    if (again && sendbuf != MPI_IN_PLACE && again_takes_vectors(again, sendbuf, recvbuf))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_alltoall(&asked, comm, side(sendbuf, sendcount, sendtype),
                            side(recvbuf, recvcount, recvtype));
    return again_first(&asked, rc, &key);
}

int xmpi_alltoallv(in_t sendbuf, counts_t sendcounts, displs_t sdispls, mine_type_t sendtype,
                   out_t recvbuf, counts_t recvcounts, displs_t rdispls, committed_t recvtype,
                   comm_t comm)
{
    struct again_key key = { .what = COLL_ALLTOALLV, .types = { sendtype, recvtype } };
    struct side *send = side_v(sendbuf, sendcounts, sdispls, sendtype, "sendcounts");
    struct side *recv = side_v(recvbuf, recvcounts, rdispls, recvtype, "recvcounts");
    struct again *again = again_find(comm, &key);
    if (again && again_takes_pairs(&again->repeat.call, send, recv, comm))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_alltoall(&asked, comm, send, recv);
    return again_first(&asked, rc, &key);
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
    struct again_key key = again_key(COLL_REDUCE, count, datatype, op, root);
    key.in_place = sendbuf == MPI_IN_PLACE;
    struct again *again = again_find(comm, &key);
    bool is_end = root == comm_rank(comm);
    if (again && (is_end ? again_takes_vectors(again, sendbuf, recvbuf)
                         : again_takes_one(&again->repeat.call.send, sendbuf)))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_reduce(&asked, comm, sendbuf, side(recvbuf, count, datatype), op, root);
    return again_first(&asked, rc, &key);
}

/* Reductions without a root, of equal vectors. */
static int vectors(struct comm *comm, enum collective what, const void *sendbuf,
                   struct side *recv, const struct op *op)
{
    struct again_key key = again_key(what, recv->count, recv->type, op, 0);
    key.in_place = sendbuf == MPI_IN_PLACE;
    struct again *again = again_find(comm, &key);
    if (again && again_takes_vectors(again, sendbuf, (void *)recv->buf))
        return again_run(again, comm);
    struct asked asked;
    int rc = asked_fold(&asked, what, comm, sendbuf, recv, op);
    return again_first(&asked, rc, &key);
}

int xmpi_allreduce(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                   comm_t comm)
{
    if (!fuse_is_open())
        return vectors(comm, COLL_ALLREDUCE, sendbuf, side(recvbuf, count, datatype), op);
    struct asked asked;
    int rc =
        asked_fold(&asked, COLL_ALLREDUCE, comm, sendbuf, side(recvbuf, count, datatype), op);
    return fuse_run(&asked, rc);
}

int xmpi_reduce_scatter_block(in_t sendbuf, out_t recvbuf, count_t recvcount,
                              committed_t datatype, op_t op, comm_t comm)
{
    return vectors(comm, COLL_REDUCE_SCATTER_BLOCK, sendbuf, side(recvbuf, recvcount, datatype),
                   op);
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
    return vectors(comm, COLL_SCAN, sendbuf, side(recvbuf, count, datatype), op);
}

int xmpi_exscan(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype, op_t op,
                intra_t comm)
{
    return vectors(comm, COLL_EXSCAN, sendbuf, side(recvbuf, count, datatype), op);
}
