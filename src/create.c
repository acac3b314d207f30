/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Communicators of subgroups (MPI 5.0, 7.4.2).  Only the members of the new communicator talk to
 * each other, whoever has to call; others return at once.
 */
#include "coll/tell.h"
#include "src/api/comm.h"
#include "src/context.h"
#include "src/errhan.h"
#include "src/inter.h"

int comm_of_group(struct comm *parent, struct group *group, int tag, uint32_t step,
                  struct comm **newcomm)
{
    *newcomm = NULL;
    if (group->rank == MPI_UNDEFINED)
        return MPI_SUCCESS;
    struct circle members = circle_of_group(parent, group, tag, step);
    struct ticket ticket;
    int rc = circle_draw(&members, &ticket);
    return rc ? rc : comm_new(newcomm, &ticket, group, NULL, parent);
}

int comm_joined(const struct joining *joining, int rc, struct comm **newcomm)
{
    rc = joining_end(joining, rc);
    if (rc && *newcomm) {
        comm_release(*newcomm); /* it was found while it was made */
        *newcomm = NULL;
    }
    return rc;
}

int comm_made(struct comm *parent, uint32_t before, int rc, struct comm **newcomm)
{
    struct team *team = &parent->team;
    if (rc || !*newcomm)
        return making_over(team, before, rc);
    rc = making_check(team);
    if (!rc) {
        making_done(&(*newcomm)->team, team, team->calls);
        return MPI_SUCCESS;
    }
    comm_release(*newcomm);
    *newcomm = NULL;
    return rc;
}

int comm_of_part(struct comm *parent, struct group *group, uint32_t step, struct comm **newcomm)
{
    struct joining joining;
    int rc = joining_begin(&joining, &parent->team);
    *newcomm = NULL;
    if (!rc)
        rc = group_check_inside(group, parent->group);
    if (!rc)
        rc = comm_is_inter(parent) ? inter_create(parent, group, newcomm)
                                   : comm_of_group(parent, group, 0, step, newcomm);
    return comm_joined(&joining, rc, newcomm);
}

int xmpi_comm_create(comm_t comm, group_t group, comm_out_t *newcomm)
{
    uint32_t before = comm->team.calls;
    return comm_made(comm, before, comm_of_part(comm, group, STEP_CREATE, newcomm), newcomm);
}

int xmpi_comm_create_group(intra_t comm, group_t group, tag_t tag, comm_out_t *newcomm)
{
    int rc = group_check_inside(group, comm->group);
    return rc ? rc : comm_of_group(comm, group, tag, STEP_CREATE_GROUP, newcomm);
}

int comm_adopt(struct comm **comm, const struct info *info, struct errhandler *errhandler)
{
    errhandler_drop((*comm)->errhandler);
    (*comm)->errhandler = errhandler_hold(errhandler);
    int rc = comm_take_hints(*comm, info);
    if (rc) {
        comm_release(*comm);
        *comm = NULL;
    }
    return rc;
}

int xmpi_comm_create_from_group(group_t group, string_t stringtag, info_t info,
                                errhandler_t errhandler, comm_out_t *newcomm)
{
    int rc = errhandler_check(errhandler, ERRHANDLER_COMM);
    if (rc)
        return rc;
    struct circle place = circle_of_string(group, stringtag, STEP_FROM_GROUP);
    rc = comm_of_group(&comm_world, group, place.tag, place.step, newcomm);
    return rc || !*newcomm ? rc : comm_adopt(newcomm, info, errhandler);
}
