/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every collective in its three forms under one name: a test calls all_bcast(form, ...) and runs
 * once per form.  The persistent form is started twice, so the second start must find everything
 * as the first one did; tests
 * whose data do not survive a repetition (in place) set form_starts to 1.
 */
#ifndef FORMS_H
#define FORMS_H

#include <mpi.h>

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static inline int form_wait(MPI_Request *request)
{
    return MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int form_starts = 2; /* of a persistent collective; 1 for tests in place */

static inline int form_start(MPI_Request *request)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < form_starts && rc == MPI_SUCCESS; i++) {
        MPI_Start(request);
        rc = MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(request);
    return rc;
}

static inline int all_barrier(enum form form, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Barrier(comm);
    if (form == NONBLOCKING)
        return MPI_Ibarrier(comm, &request) || form_wait(&request);
    return MPI_Barrier_init(comm, MPI_INFO_NULL, &request) || form_start(&request);
}

static inline int all_bcast(enum form form, void *buf, int n, MPI_Datatype t, int root,
                            MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Bcast(buf, n, t, root, comm);
    if (form == NONBLOCKING)
        return MPI_Ibcast(buf, n, t, root, comm, &request) || form_wait(&request);
    return MPI_Bcast_init(buf, n, t, root, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_gather(enum form form, const void *s, int sn, MPI_Datatype st, void *r,
                             int rn, MPI_Datatype rt, int root, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Gather(s, sn, st, r, rn, rt, root, comm);
    if (form == NONBLOCKING)
        return MPI_Igather(s, sn, st, r, rn, rt, root, comm, &request) || form_wait(&request);
    return MPI_Gather_init(s, sn, st, r, rn, rt, root, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_gatherv(enum form form, const void *s, int sn, MPI_Datatype st, void *r,
                              const int rn[], const int rd[], MPI_Datatype rt, int root,
                              MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Gatherv(s, sn, st, r, rn, rd, rt, root, comm);
    if (form == NONBLOCKING)
        return MPI_Igatherv(s, sn, st, r, rn, rd, rt, root, comm, &request) ||
               form_wait(&request);
    return MPI_Gatherv_init(s, sn, st, r, rn, rd, rt, root, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_scatter(enum form form, const void *s, int sn, MPI_Datatype st, void *r,
                              int rn, MPI_Datatype rt, int root, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Scatter(s, sn, st, r, rn, rt, root, comm);
    if (form == NONBLOCKING)
        return MPI_Iscatter(s, sn, st, r, rn, rt, root, comm, &request) || form_wait(&request);
    return MPI_Scatter_init(s, sn, st, r, rn, rt, root, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_scatterv(enum form form, const void *s, const int sn[], const int sd[],
                               MPI_Datatype st, void *r, int rn, MPI_Datatype rt, int root,
                               MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Scatterv(s, sn, sd, st, r, rn, rt, root, comm);
    if (form == NONBLOCKING)
        return MPI_Iscatterv(s, sn, sd, st, r, rn, rt, root, comm, &request) ||
               form_wait(&request);
    return MPI_Scatterv_init(s, sn, sd, st, r, rn, rt, root, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_allgather(enum form form, const void *s, int sn, MPI_Datatype st, void *r,
                                int rn, MPI_Datatype rt, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Allgather(s, sn, st, r, rn, rt, comm);
    if (form == NONBLOCKING)
        return MPI_Iallgather(s, sn, st, r, rn, rt, comm, &request) || form_wait(&request);
    return MPI_Allgather_init(s, sn, st, r, rn, rt, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_allgatherv(enum form form, const void *s, int sn, MPI_Datatype st,
                                 void *r, const int rn[], const int rd[], MPI_Datatype rt,
                                 MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Allgatherv(s, sn, st, r, rn, rd, rt, comm);
    if (form == NONBLOCKING)
        return MPI_Iallgatherv(s, sn, st, r, rn, rd, rt, comm, &request) || form_wait(&request);
    return MPI_Allgatherv_init(s, sn, st, r, rn, rd, rt, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_alltoall(enum form form, const void *s, int sn, MPI_Datatype st, void *r,
                               int rn, MPI_Datatype rt, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Alltoall(s, sn, st, r, rn, rt, comm);
    if (form == NONBLOCKING)
        return MPI_Ialltoall(s, sn, st, r, rn, rt, comm, &request) || form_wait(&request);
    return MPI_Alltoall_init(s, sn, st, r, rn, rt, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_alltoallv(enum form form, const void *s, const int sn[], const int sd[],
                                MPI_Datatype st, void *r, const int rn[], const int rd[],
                                MPI_Datatype rt, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Alltoallv(s, sn, sd, st, r, rn, rd, rt, comm);
    if (form == NONBLOCKING)
        return MPI_Ialltoallv(s, sn, sd, st, r, rn, rd, rt, comm, &request) ||
               form_wait(&request);
    return MPI_Alltoallv_init(s, sn, sd, st, r, rn, rd, rt, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_alltoallw(enum form form, const void *s, const int sn[], const int sd[],
                                const MPI_Datatype st[], void *r, const int rn[],
                                const int rd[], const MPI_Datatype rt[], MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Alltoallw(s, sn, sd, st, r, rn, rd, rt, comm);
    if (form == NONBLOCKING)
        return MPI_Ialltoallw(s, sn, sd, st, r, rn, rd, rt, comm, &request) ||
               form_wait(&request);
    return MPI_Alltoallw_init(s, sn, sd, st, r, rn, rd, rt, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_reduce(enum form form, const void *s, void *r, int n, MPI_Datatype t,
                             MPI_Op op, int root, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Reduce(s, r, n, t, op, root, comm);
    if (form == NONBLOCKING)
        return MPI_Ireduce(s, r, n, t, op, root, comm, &request) || form_wait(&request);
    return MPI_Reduce_init(s, r, n, t, op, root, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_allreduce(enum form form, const void *s, void *r, int n, MPI_Datatype t,
                                MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Allreduce(s, r, n, t, op, comm);
    if (form == NONBLOCKING)
        return MPI_Iallreduce(s, r, n, t, op, comm, &request) || form_wait(&request);
    return MPI_Allreduce_init(s, r, n, t, op, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_reduce_scatter(enum form form, const void *s, void *r, const int n[],
                                     MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Reduce_scatter(s, r, n, t, op, comm);
    if (form == NONBLOCKING)
        return MPI_Ireduce_scatter(s, r, n, t, op, comm, &request) || form_wait(&request);
    return MPI_Reduce_scatter_init(s, r, n, t, op, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_reduce_scatter_block(enum form form, const void *s, void *r, int n,
                                           MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Reduce_scatter_block(s, r, n, t, op, comm);
    if (form == NONBLOCKING)
        return MPI_Ireduce_scatter_block(s, r, n, t, op, comm, &request) || form_wait(&request);
    return MPI_Reduce_scatter_block_init(s, r, n, t, op, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

static inline int all_scan(enum form form, const void *s, void *r, int n, MPI_Datatype t,
                           MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Scan(s, r, n, t, op, comm);
    if (form == NONBLOCKING)
        return MPI_Iscan(s, r, n, t, op, comm, &request) || form_wait(&request);
    return MPI_Scan_init(s, r, n, t, op, comm, MPI_INFO_NULL, &request) || form_start(&request);
}

static inline int all_exscan(enum form form, const void *s, void *r, int n, MPI_Datatype t,
                             MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Exscan(s, r, n, t, op, comm);
    if (form == NONBLOCKING)
        return MPI_Iexscan(s, r, n, t, op, comm, &request) || form_wait(&request);
    return MPI_Exscan_init(s, r, n, t, op, comm, MPI_INFO_NULL, &request) ||
           form_start(&request);
}

#endif
