/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Teams and their tickets.  A context is a number nobody else ever draws: the drawer's world
 * rank in the upper 24 bits, its own counter in the lower 40.  So tickets cost no agreement, and
 * numbers are not used again: there are 2^39 per process, a million per second for six days.
 */
#include "coll/coll.h"

#include "coll/cache.h"
#include "coll/scratch.h"
#include "coll/tell.h"
#include "coll/tiny.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "mpi.h"

#include <stdlib.h>

enum { CONTEXT_WORLD = 2, CONTEXT_SELF = 4 }; /* upper bits 0: drawn by nobody */
enum { RANK_SHIFT = 40 };

static bool on_this_node(const struct ranks *members)
{
    if (boot.nnodes == 1)
        return true;
    for (int i = 0; i < members->n; i++)
        if (boot_local(ranks_world(members, i)) < 0)
            return false;
    return true;
}

void ticket_draw(struct ticket *ticket, int size, struct ranks *members)
{
    static uint64_t drawn;
    drawn++;
    ticket->context = (uint64_t)(boot.rank + 1) << RANK_SHIFT | drawn * 2;
    ticket->tiny = members && on_this_node(members) ? tiny_draw(size) : 0;
}

void ticket_world(struct ticket *ticket)
{
    *ticket = (struct ticket){ .context = CONTEXT_WORLD, .tiny = tiny_world() };
}

void ticket_self(struct ticket *ticket)
{
    *ticket = (struct ticket){ .context = CONTEXT_SELF };
}

static int teams; /* that are open */

int team_open(struct team *team, const struct ticket *ticket, int rank, struct ranks *members,
              int split)
{
    *team = (struct team){ .split = split, .one_node = on_this_node(members) };
    team->crowded = team->one_node && boot.crowded;
    int error = channel_open(&team->channel, ticket->context + 1, rank, members);
    if (error)
        return error;
    pml_fail_mismatch = mismatch_fail;
    if (split == 0)
        team->tiny = tiny_open(ticket->tiny, &team->channel);
    if (split == 0 && ticket->tiny && !team->tiny) {
        /* The others have flags and would wait at them for us. */
        channel_close(&team->channel);
        return fail(MPI_ERR_NO_MEM, "no memory for the shared slots of a communicator");
    }
    teams++;
    return 0;
}

void team_close(struct team *team)
{
    if (team->channel.unexpected != team->looked &&
        stray_look(team, team->calls + 1, team->last))
        say("%s", fail_text());
    tiny_close(team->tiny);
    cache_close(team->cache);
    team_force(team, NULL, NULL); /* frees choices too */
    channel_close(&team->channel);
    free(team->neighbours);
    if (--teams == 0)
        scratch_clear();
}
