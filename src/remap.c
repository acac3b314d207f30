/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reordering for topologies.  Rank 0 hears where everybody sits, maps the pattern (src/reorder.c)
 * and tells all: two collectives, 12 bytes per process there and 4 back.  The launcher has
 * written down where it binds processes; others look at their own binding, and of those that are
 * not bound only the node is known, so that a job on one node keeps its order.  MPI_Cart_map and
 * MPI_Graph_map, which must not talk, know what the launcher wrote.
 *
 *     part     0  1  2  3           process map[i] becomes rank i of the new communicator,
 *     map      2  0  3  1           and gets the neighbours that were described for i
 */
#include "src/remap.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "src/context.h"
#include "src/seat.h"

#include <stdlib.h>

static int no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory to place %d processes", n);
}

static struct seat seat_of_local(int local)
{
    return seat_at(boot.node, &boot_record(local)->place);
}

/* ---- agreeing ---- */

static int gather_seats(struct comm *comm, struct seat *seats)
{
    struct seat mine = seat_here();
    struct call call = {
        .what = COLL_GATHER,
        .serves = served_now(),
        .send = { .base = &mine, .layout = &layout_bytes, .count = sizeof mine },
        .recv = { .base = seats, .layout = &layout_bytes, .count = sizeof mine },
    };
    return coll_run(&comm->team, &call);
}

static int tell_map(struct comm *comm, int n, int *map)
{
    struct call call = {
        .what = COLL_BCAST,
        .serves = served_now(),
        .recv = { .base = map, .layout = &layout_bytes, .count = (size_t)n * sizeof *map },
    };
    return coll_run(&comm->team, &call);
}

static void choose_map(const struct pattern *pattern, const struct seat *seats,
                       const char *function, int *map)
{
    bool mapped = reorder_map(pattern, seats, map);
    long long before = reorder_cost(pattern, seats, NULL);
    long long after = reorder_cost(pattern, seats, map);
    if (!mapped)
        log_line("%s: no memory to reorder %d processes", function, pattern->n);
    else if (after < before)
        log_line("%s: hop cost %lld, reordered %lld (%d processes)", function, before, after,
                 pattern->n);
    else
        log_line("%s: hop cost %lld, and no order found that is better (%d processes)",
                 function, before, pattern->n);
}

int remap_agree(struct comm *comm, const struct pattern *pattern, const char *function,
                int *map)
{
    bool root = comm_rank(comm) == 0;
    struct seat *seats = root ? malloc((size_t)comm_size(comm) * sizeof *seats) : NULL;
    if (root && !seats)
        return no_memory(comm_size(comm));
    int rc = gather_seats(comm, seats);
    if (!rc && root)
        choose_map(pattern, seats, function, map);
    free(seats);
    return rc ? rc : tell_map(comm, pattern->n, map);
}

/* ---- guessing ---- */

/* False when one of them sits on another node, about which this one knows nothing. */
static bool seats_here(struct comm *comm, int n, struct seat *seats)
{
    for (int i = 0; i < n; i++) {
        int local = boot_local(ranks_world(comm->group->ranks, i));
        if (local < 0)
            return false;
        seats[i] = seat_of_local(local);
    }
    return true;
}

int remap_guess(struct comm *comm, const struct pattern *pattern, int *newrank)
{
    int n = pattern->n, me = comm_rank(comm);
    struct seat *seats = calloc((size_t)n + 1, sizeof *seats + sizeof(int));
    if (!seats)
        return no_memory(n);
    int *map = (int *)(seats + n);
    *newrank = me < n ? me : MPI_UNDEFINED;
    if (me < n && seats_here(comm, n, seats)) {
        reorder_map(pattern, seats, map);
        for (int i = 0; i < n; i++)
            if (map[i] == me)
                *newrank = i;
    }
    free(seats);
    return MPI_SUCCESS;
}

/* ---- passing on ---- */

int remap_pass(struct comm *comm, const int *map, const void *out, size_t out_bytes, void **in)
{
    int me = comm_rank(comm), to_from[2] = { map[me], me };
    for (int i = 0; i < comm_size(comm); i++)
        if (map[i] == me)
            to_from[1] = i;
    size_t in_bytes = 0;
    struct swap lengths = { &out_bytes, &in_bytes, sizeof out_bytes, sizeof in_bytes };
    int rc = context_pass(&comm->team.channel, to_from, 0, STEP_ROLES, &lengths);
    *in = rc ? NULL : malloc(in_bytes + 1);
    if (!rc && !*in)
        rc = no_memory(comm_size(comm));
    if (rc)
        return rc;
    struct swap bytes = { out, *in, out_bytes, in_bytes };
    rc = context_pass(&comm->team.channel, to_from, 0, STEP_ROLES, &bytes);
    if (rc)
        free(*in);
    return rc;
}
