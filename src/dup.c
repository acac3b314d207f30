/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Comm_dup: the same groups, another ticket, and what wants to be copied (MPI 5.0, 7.4.2):
 * topology, attributes, the error handler.  Hints do not; a communicator has those it was given.
 */
#include "coll/tell.h"
#include "runtime/fail.h"
#include "src/api/comm.h"
#include "src/api/stream.h"
#include "src/attr.h"
#include "src/context.h"
#include "src/info.h"
#include "src/topo.h"

int comm_dress(struct comm *made, struct comm *old, const struct info *info)
{
    int rc = comm_take_hints(made, info);
    if (rc)
        return rc;
    if (old->topology && !(made->topology = topology_copy(old->topology)))
        return fail(MPI_ERR_NO_MEM, "no memory for a topology");
    return attributes_copy(ATTR_COMM, comm_handle(old), old->attributes, &made->attributes);
}

void comm_undress(struct comm *comm)
{
    if (!comm)
        return;
    topology_delete(comm->topology);
    info_delete(comm->info);
    comm->topology = NULL;
    comm->info = NULL;
    team_force(&comm->team, NULL, NULL); /* of a team that was never opened */
}

static int dup_make(struct comm *comm, const struct info *info, struct comm **newcomm)
{
    struct circle all = circle_of_team(comm, STEP_DUP);
    struct ticket ticket;
    struct joining joining;
    struct comm *made;
    all.two_groups = comm_is_inter(comm);
    int rc = joining_begin(&joining, &comm->team);
    if (!rc)
        rc = circle_draw(&all, &ticket);
    rc = joining_end(&joining, rc);
    if (!rc)
        rc = comm_new(&made, &ticket, comm->group, comm->remote, comm);
    if (rc)
        return rc;
    rc = comm_dress(made, comm, info);
    if (rc)
        comm_release(made);
    else
        *newcomm = made;
    return rc;
}

static int comm_dup(struct comm *comm, const struct info *info, struct comm **newcomm)
{
    uint32_t before = comm->team.calls;
    return comm_made(comm, before, dup_make(comm, info, newcomm), newcomm);
}

int xmpi_comm_dup(comm_t comm, comm_out_t *newcomm)
{
    return comm_dup(comm, NULL, newcomm);
}

/* An extension: the duplicate has a stream. */
int xmpix_stream_comm_create(intra_t comm, stream_or_null_t stream, comm_out_t *newcomm)
{
    int rc = comm_dup(comm, NULL, newcomm);
    if (rc || !stream)
        return rc;
    object_hold(stream);
    (*newcomm)->stream = stream;
    return MPI_SUCCESS;
}

int xmpi_comm_dup_with_info(comm_t comm, info_t info, comm_out_t *newcomm)
{
    return comm_dup(comm, info, newcomm);
}
