/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/again.h"

#include <stdlib.h>

/* Its first one is not worth the memory. */
static struct again *place_for(struct comm *comm, enum again_kind kind)
{
    if (!comm->again)
        comm->again = calloc(AGAIN_KINDS, sizeof *comm->again);
    return comm->again ? &comm->again[kind] : NULL;
}

/* The send side is like the other one, and may have been in place. */
static bool keep(struct again *again, const struct asked *asked)
{
    if (!repeat_keep(&again->repeat, &asked->comm->team, &asked->call))
        return false;
    again->repeat.call.send = again->repeat.call.recv;
    return true;
}

void again_learn(const struct asked *asked, enum again_kind kind, int64_t count,
                 const struct type *type, const struct op *op)
{
    struct again *again = gpu_possible ? NULL : place_for(asked->comm, kind);
    if (!again)
        return;
    bool same = again->count == count && again->type == type && again->op == op;
    if (same && again->state == AGAIN_REFUSED)
        return;
    bool lasts = (!type || type->predefined) && (!op || op->predefined);
    if (!lasts)
        again->state = AGAIN_REFUSED;
    else if (!same || again->state == AGAIN_NEVER)
        again->state = AGAIN_ONCE;
    else
        again->state = keep(again, asked) ? AGAIN_KEPT : AGAIN_REFUSED;
    again->count = count;
    again->type = type;
    again->op = op;
}
