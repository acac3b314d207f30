/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies of the arrays of a call with a request.  The standard lets us look at the user's counts and displacements
 * until the operation is over, or until a persistent request is freed; programs that give them away earlier are many,
 * because others have copied them for years.
 */
#include "coll/coll.h"
#include "coll/neighbours.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

/* How many blocks a part with counts has on this rank. */
static size_t part_blocks(const struct team *team, const struct call *call,
                          const struct part *part)
{
    const struct neighbours *near = team->neighbours;
    int size = team->channel.size, split = team->split;
    if (!part->vector)
        return 0;
    if (is_neighbourhood(call->what))
        return (size_t)(part == &call->send ? near->ndestinations : near->nsources);
    if (split == 0)
        return (size_t)size;
    bool first = team->channel.rank < split, own = call->what == COLL_REDUCE_SCATTER;
    return (size_t)(first == own ? split : size - split);
}

/* Copy an array of n numbers to `place` and use the copy; returns where the next one goes. */
static char *array_copy(struct counts *array, size_t n, char *place)
{
    size_t bytes = n * (array->wide ? sizeof *array->wide : sizeof *array->narrow);
    const void *from = array->wide ? (const void *)array->wide : array->narrow;
    if (!from)
        return place;
    memcpy(place, from, bytes);
    if (array->wide)
        array->wide = (const int64_t *)place;
    else
        array->narrow = (const int *)place;
    return place + bytes + bytes % sizeof(int64_t);
}

int call_keep_arrays(struct call *call, const struct team *team, void **arrays)
{
    size_t nsend = part_blocks(team, call, &call->send);
    size_t nrecv = part_blocks(team, call, &call->recv);
    *arrays = NULL;
    if (nsend + nrecv == 0)
        return 0;
    char *place = *arrays = malloc(2 * (nsend + nrecv) * sizeof(int64_t));
    if (!place)
        return fail(MPI_ERR_NO_MEM, "no memory for the counts of %zu blocks", nsend + nrecv);
    place = array_copy(&call->send.counts, nsend, place);
    place = array_copy(&call->send.displs, nsend, place);
    place = array_copy(&call->recv.counts, nrecv, place);
    array_copy(&call->recv.displs, nrecv, place);
    return 0;
}
