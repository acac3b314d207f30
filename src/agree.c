/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Small agreements over a team, by its collectives.  Records of up to 48 bytes travel through the
 * shared slots of a node (coll/tiny.h), in one step.  Intercommunicators, whose collectives do
 * not reach the own group, gather along their circle instead.
 */
#include "src/agree.h"

#include "runtime/fail.h"
#include "runtime/reduce.h"
#include "src/context.h"

#include <stdlib.h>

int team_allgather(struct comm *comm, const void *mine, size_t bytes, void *all)
{
    if (comm_is_inter(comm)) {
        struct circle circle = circle_of_team(comm, STEP_SPLIT);
        int rc = circle_collect(&circle, mine, bytes, all);
        return rc ? rc : circle_share(&circle, all, bytes * (size_t)circle.n);
    }
    struct call call = {
        .what = COLL_ALLGATHER,
        .serves = served_now(),
        .send = { .base = (void *)mine, .layout = &layout_bytes, .count = bytes },
        .recv = { .base = all, .layout = &layout_bytes, .count = bytes },
    };
    return coll_run(&comm->team, &call);
}

/* A record is one item as large as it is, so that no algorithm takes it apart. */
static struct layout record_layout(size_t bytes)
{
    struct layout record = layout_bytes;
    record.size = bytes;
    record.extent = record.true_extent = (ptrdiff_t)bytes;
    record.only = (struct run){ .length = bytes, .count = 1 };
    return record;
}

static int fold(struct comm *comm, const struct layout *record, fold_kernel *kernel, void *data)
{
    struct call call = {
        .what = COLL_ALLREDUCE,
        .serves = served_now(),
        .recv = { .base = data, .layout = record, .count = 1 },
        .reduction = { .commutes = true, .layout = record, .kernel = kernel },
        .in_place = true,
    };
    return coll_run(&comm->team, &call);
}

int team_fold(struct comm *comm, fold_kernel *kernel, void *record, size_t bytes)
{
    struct layout layout = record_layout(bytes);
    layout.runs = &layout.only;
    layout.nitems = bytes; /* what a kernel is told; a record counts in bytes */
    return fold(comm, &layout, kernel, record);
}

/* Of all that both groups give. */
static int inter_largest(struct comm *comm, int32_t *numbers, int n)
{
    size_t members = (size_t)comm->team.channel.size, each = (size_t)n;
    int32_t *all = malloc(members * each * sizeof *all);
    if (!all)
        return fail(MPI_ERR_NO_MEM, "no memory for %zu numbers", members * each);
    int rc = team_allgather(comm, numbers, each * sizeof *all, all);
    for (size_t i = 0; i < members * each && !rc; i++)
        if (all[i] > numbers[i % each])
            numbers[i % each] = all[i];
    free(all);
    return rc;
}

int team_largest(struct comm *comm, int32_t *numbers, int n)
{
    if (comm_is_inter(comm))
        return inter_largest(comm, numbers, n);
    struct layout layout = record_layout((size_t)n * sizeof *numbers);
    layout.runs = &layout.only;
    layout.basic = BASIC_INT32;
    layout.nitems = (size_t)n;
    return fold(comm, &layout, reduce_find(REDUCE_MAX, BASIC_INT32), numbers);
}
