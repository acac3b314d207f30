/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A blocking collective of little data that comes again and again: what was found out about it is
 * kept whole, so that all that remains is to say it and to hear the others.
 */
#ifndef XMPI_REPEAT_H
#define XMPI_REPEAT_H

#include "coll/tell.h"

struct algorithm; /* coll/rules.h */

struct repeat {
    struct call call; /* its buffers and in_place may be others each time, on the host */
    struct told told;
    const struct algorithm *algorithm;
    size_t bytes;   /* as the rules count them */
    uint32_t stamp; /* choose_stamp when it was kept, or was found not to be one to keep */
    bool
        busy; /* a thread is in it; another one in the same is a mistake of the program, which must
                       not have the buffers of the first */
};

/* Keep a call that coll_run has performed.  False: it goes another way than through shared slots, or
 * what is chosen for it depends on more than itself. */
bool repeat_keep(struct repeat *repeat, struct team *team, const struct call *call);

/* Would the team still choose the same, and is it free? */
bool repeat_holds(const struct repeat *repeat, const struct team *team);

/* Perform it once more, as coll_run would; repeat_holds. */
int repeat_run(struct repeat *repeat, struct team *team);

#endif
