/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plan that is performed twice (sized.c), as one role: the acts of the first time, whose blocks
 * are numbers, those of the second, and between them an act that moves nothing, for the second time
 * begins on a rank when the first is over there.
 *
 *     sizes of blocks    send recv send \
 *                                         gate
 *     blocks                             / send recv send
 *
 * Messages of the first time get even numbers, the others odd ones.
 */
#include "coll/cast.h"

#include <stdlib.h>

static int edges(const struct role *role)
{
    int n = 0;
    for (int i = 0; i < role->nacts; i++)
        n += role->act[i].nnext;
    return n;
}

/* Acts of one time, as far behind the others as `first`; those that nothing follows lead to the gate. */
static int append(struct role *all, const struct role *one, int first, int at, bool opens)
{
    int gate = first + one->nacts;
    for (int i = 0; i < one->nacts; i++) {
        struct act *act = &all->act[first + i];
        *act = one->act[i];
        act->partner = 2 * act->partner + !opens;
        act->first_next = at;
        for (int k = 0; k < act->nnext; k++)
            all->next[at++] = first + one->next[one->act[i].first_next + k];
        if (opens && act->nnext == 0) {
            all->next[at++] = gate;
            act->nnext = 1;
            all->act[gate].nwait++;
        }
    }
    return at;
}

bool role_twice(const struct role *sizes, const struct role *blocks, struct role *both)
{
    int gate = sizes->nacts, n = gate + 1 + blocks->nacts, at;
    size_t nnext = (size_t)edges(sizes) + (size_t)edges(blocks) + (size_t)n;
    *both = (struct role){ .nacts = n, .scratch = sizes->scratch + blocks->scratch };
    both->act = malloc((size_t)n * sizeof *both->act);
    both->next = malloc(nnext * sizeof *both->next);
    if (!both->act || !both->next)
        return false;
    both->act[gate] = (struct act){ .verb = VERB_COPY, .peer = -1 };
    at = append(both, sizes, 0, 0, true);
    at = append(both, blocks, gate + 1, at, false);
    both->act[gate].first_next = at;
    for (int i = gate + 1; i < n; i++)
        if (both->act[i].nwait == 0) {
            both->next[at++] = i;
            both->act[i].nwait = 1;
            both->act[gate].nnext++;
        }
    return true;
}
