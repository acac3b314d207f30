/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Teams and their tickets.  A context is a number nobody else ever draws: the drawer's world
 * rank in the upper 24 bits, its own counter in the lower 40.  So tickets cost no agreement, and
 * numbers are not used again: there are 2^39 per process, a million per second for six days.
 */
#include "coll/coll.h"

#include "coll/cache.h"
#include "coll/places.h"
#include "coll/scratch.h"
#include "coll/tell.h"
#include "coll/tiny.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>

enum { CONTEXT_WORLD = 2, CONTEXT_SELF = 4 }; /* upper bits 0: drawn by nobody */
enum { RANK_SHIFT = 40 };

void ticket_draw(struct ticket *ticket, int size, struct ranks *members)
{
    static uint64_t drawn;
    drawn++;
    ticket->context = (uint64_t)(boot.rank + 1) << RANK_SHIFT | drawn * 2;
    ticket->tiny = members && on_one_node(members) ? tiny_draw(size) : 0;
}

struct drawn ticket_drawn(uint64_t context)
{
    uint64_t number = context & ((1ull << RANK_SHIFT) - 1);
    return (struct drawn){ (unsigned)(context >> RANK_SHIFT) - 1, (unsigned)(number / 2) };
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

static int nodes_at_most(int ranks)
{
    return ranks < boot.nnodes ? ranks : boot.nnodes;
}

/* With places; they are dropped where it fails. */
static int team_open_channel(struct team *team, const struct ticket *ticket, int rank,
                             struct ranks *members)
{
    int error = channel_open(&team->channel, ticket->context + 1, rank, members);
    if (error)
        goto forget_places;
    mismatch_open();
    if (team->split == 0)
        team->tiny = tiny_open(ticket->tiny, &team->channel);
    if (team->split == 0 && ticket->tiny && !team->tiny) {
        /* The others have flags and would wait at them for us. */
        channel_close(&team->channel);
        error = fail(MPI_ERR_NO_MEM, "no memory for the shared slots of a communicator");
        goto forget_places;
    }
    teams++;
    return 0;
forget_places:
    places_drop(team->places);
    return error;
}

int team_open(struct team *team, const struct ticket *ticket, int rank, struct ranks *members,
              int split)
{
    *team = (struct team){ .split = split, .one_node = on_one_node(members) };
    team->crowded = team->one_node && boot.crowded;
    team->reading = team->one_node ? boot.reading : 0;
    team->nodes = team->one_node ? 1 : nodes_at_most(members->n);
    int error = places_find(members, &team->places, &team->nodes);
    return error ? error : team_open_channel(team, ticket, rank, members);
}

int team_open_like(struct team *team, const struct ticket *ticket, const struct team *like)
{
    *team = (struct team){ .split = like->split,
                           .one_node = like->one_node,
                           .crowded = like->crowded,
                           .reading = like->reading,
                           .nodes = like->nodes,
                           .places = places_share(like->places) };
    return team_open_channel(team, ticket, like->channel.rank, like->channel.peers);
}

const int *team_nodes(const struct team *team)
{
    return team->one_node || !team->places ? NULL : team->places->first[0];
}

void team_close(struct team *team)
{
    stray_say(team);
    mismatch_settle(); /* the others are told while the channel is open */
    last_words(team, true);
    tracks_close(team->tracks);
    tiny_close(team->tiny);
    cache_close(team->cache);
    team_force(team, NULL, NULL); /* frees choices too */
    channel_close(&team->channel);
    free(team->neighbours);
    places_drop(team->places);
    if (--teams > 0)
        return;
    scratch_clear();
    mismatch_close();
}
