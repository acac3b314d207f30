/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two communicators that are always there: MPI_COMM_WORLD and MPI_COMM_SELF.  Their tickets
 * need no drawing, and they are variables of the library, so that their handles cost nothing.
 */
#include "coll/tuning_device.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/attr.h"
#include "src/comm.h"
#include "src/errhan.h"

#include <stdio.h>

struct comm comm_world, comm_self;

static int always_open(struct comm *comm, const char *name, const struct ticket *ticket,
                       struct ranks *ranks)
{
    struct group *group = group_new(ranks);
    if (!group)
        return fail(MPI_ERR_NO_MEM, "no memory for %s", name);
    comm->object = (struct object){ .kind = OBJECT_COMM, .refs = 1 };
    int rc = comm_open(comm, ticket, group, NULL, NULL);
    group_drop(group);
    if (rc)
        comm->object.kind = OBJECT_FREE;
    snprintf(comm->name, sizeof comm->name, "%s", name);
    return rc;
}

static void always_close(struct comm *comm)
{
    comm_close(comm);
    *comm = (struct comm){ 0 };
}

int world_open(void)
{
    struct ticket world, self;
    tuning_for_device(); /* before the first message */
    ticket_world(&world);
    ticket_self(&self);
    int rc = always_open(&comm_world, "MPI_COMM_WORLD", &world, ranks_range(boot.size, 0, 1));
    if (rc)
        return rc;
    rc = always_open(&comm_self, "MPI_COMM_SELF", &self, ranks_range(1, boot.rank, 1));
    if (rc)
        always_close(&comm_world);
    return rc;
}

void world_close(void)
{
    always_close(&comm_self);
    always_close(&comm_world);
}

void world_forget_handlers(void)
{
    struct comm *both[] = { &comm_world, &comm_self };
    for (int i = 0; i < 2; i++) {
        errhandler_drop(both[i]->errhandler);
        both[i]->errhandler = errhandler_hold(errhandler_initial());
    }
}

int world_delete_attributes(void)
{
    int self = attributes_delete(ATTR_COMM, MPI_COMM_SELF, &comm_self.attributes);
    int world = attributes_delete(ATTR_COMM, MPI_COMM_WORLD, &comm_world.attributes);
    return self ? self : world;
}
