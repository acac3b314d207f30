/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A blocking collective that comes again and again: what was found out about it is kept whole.  What is left is to say
 * it and to hear the others, through shared slots; to perform a plan that is bound (replay.h); or to reach the others'
 * memory (attach.h).
 */
#ifndef XMPI_REPEAT_H
#define XMPI_REPEAT_H

#include "coll/coll.h"

struct performing; /* coll/repeat.c */

struct repeat {
    /* Its buffers, and lists of which not all ranks know alike, may be others each time, on the host; of an
     * allgatherv the displacements, as its counts say what it is. */
    struct call call;
    struct performing *performing; /* NULL: it was never kept */
    uint32_t stamp; /* team_stamp when it was kept, or was found not to be one to keep */
    /* A thread is in it.  Another one in the same is a mistake of the program, which must not have the
     * buffers of the first. */
    bool busy;
};

/* Keep a call that coll_run has performed, where it is and as long as the team is.  False: it goes another
 * way, what is chosen for it depends on more than itself, or memory is out. */
bool repeat_keep(struct repeat *repeat, struct team *team, const struct call *call);

/* Would the team still choose the same, and is it free? */
static inline bool repeat_holds(const struct repeat *repeat, const struct team *team)
{
    return repeat->stamp == team_stamp(team) && !repeat->busy;
}

/* Perform it once more, as coll_run would; repeat_holds. */
int repeat_run(struct repeat *repeat, struct team *team);

/* Nothing is kept any more. */
void repeat_forget(struct repeat *repeat);

#endif
