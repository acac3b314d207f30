/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef XMPI_BIND_H
#define XMPI_BIND_H

#include "coll/call.h"
#include "coll/plan.h"

/* What in place means for a collective on a rank that says so.  Where blocks of the two buffers
 * do not coincide (alltoall, reduce_scatter) binding keeps one of them apart instead. */
static inline enum alias bind_alias(enum collective what, bool in_place)
{
    if (!in_place)
        return ALIAS_NONE;
    switch (what) {
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
        return ALIAS_SAME;
    case COLL_GATHER:
    case COLL_GATHERV:
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
        return ALIAS_MINE;
    case COLL_SCATTER:
    case COLL_SCATTERV:
        return ALIAS_INPUT;
    default:
        return ALIAS_NONE;
    }
}

#endif
