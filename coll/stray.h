/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of collectives that are over here: somebody else has called another one.
 */
#ifndef XMPI_STRAY_H
#define XMPI_STRAY_H

#include "coll/tell.h"

/* MPI_ERR_OTHER, kept for the team (fail_keep), when there is a message from before collective
 * `number`; `last` is what this process said in the one before that. */
int stray_look(struct team *team, uint32_t number, uint32_t last);

/* The same before this collective begins; costs a comparison where nothing came unexpected. */
static inline int stray_check(struct team *team, const struct telling *telling)
{
    if (__builtin_expect(team->channel.unexpected == team->looked, 1))
        return 0;
    return stray_look(team, telling->number, team->before);
}

#endif
