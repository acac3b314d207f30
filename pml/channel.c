/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Channels: the table context -> channel, and messages that are ahead of it.  A communicator is
 * made at slightly different times on its members, so a message may come before its channel is
 * open here; it waits in the early list, in order, and is delivered by channel_open.
 */
#include "mpi.h"
#include "pml/arrived.h"
#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/recv.h"
#include "runtime/fail.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CHAINS = 64 };

static struct channel **chains;
struct channel *channel_found;
static uint32_t mask, nchannels;

static struct arrived *early, **early_end = &early;

static uint32_t chain_of(uint64_t context)
{
    return (uint32_t)((context * 0x9e3779b97f4a7c15u) >> 32) & mask;
}

struct channel *channel_find(uint64_t context)
{
    if (__builtin_expect(channel_found && channel_found->context == context, 1))
        return channel_found;
    if (!chains)
        return NULL;
    for (struct channel *channel = chains[chain_of(context)]; channel; channel = channel->next)
        if (channel->context == context)
            return channel_found = channel;
    return NULL;
}

struct channel *channel_look(uint64_t context)
{
    struct channel *channel = chains ? chains[chain_of(context)] : NULL;
    while (channel && channel->context != context)
        channel = channel->next;
    return channel;
}

struct channel *channel_next(const struct channel *channel)
{
    if (channel && channel->next)
        return channel->next;
    uint32_t chain = channel ? chain_of(channel->context) + 1 : 0;
    while (chains && chain <= mask && !chains[chain])
        chain++;
    return chains && chain <= mask ? chains[chain] : NULL;
}

static void channel_insert(struct channel *channel)
{
    struct channel **chain = &chains[chain_of(channel->context)];
    channel->next = *chain;
    *chain = channel;
}

/* Longer chains are no error, so a failing allocation matters only for the first table. */
static bool table_grow(void)
{
    uint32_t old = chains ? mask + 1 : 0, n = old ? 2 * old : FIRST_CHAINS;
    struct channel **grown = calloc(n, sizeof *grown);
    if (!grown)
        return old > 0;
    struct channel **before = chains;
    chains = grown;
    mask = n - 1;
    for (uint32_t i = 0; i < old; i++)
        for (struct channel *channel = before[i], *next; channel; channel = next) {
            next = channel->next;
            channel_insert(channel);
        }
    free(before);
    return true;
}

void channel_keep_early(struct arrived *arrived)
{
    arrived->next = NULL;
    *early_end = arrived;
    early_end = &arrived->next;
}

struct arrived *channel_take_early(const struct peer *peer, const struct wire *question)
{
    struct arrived **link = &early;
    while (*link && ((*link)->header.context != question->context ||
                     !arrived_is(peer, question->request, *link)))
        link = &(*link)->next;
    struct arrived *taken = *link;
    if (taken && !(*link = taken->next))
        early_end = link;
    return taken;
}

static void early_deliver(struct channel *channel)
{
    struct arrived **link = &early;
    while (*link) {
        struct arrived *arrived = *link;
        if (arrived->header.context != channel->context) {
            link = &arrived->next;
            continue;
        }
        *link = arrived->next;
        if (message_is_dropped(channel, arrived->peer, &arrived->header, arrived->data)) {
            arrived_free(arrived);
            continue;
        }
        match_store(channel->match, &arrived->match, wire_key(&arrived->header));
        channel->unexpected++;
    }
    early_end = link;
}

int channel_open(struct channel *channel, uint64_t context, int rank, struct ranks *peers)
{
    if ((!chains || nchannels > mask) && !table_grow())
        return fail(MPI_ERR_NO_MEM, "no memory for the table of channels");
    channel->match = match_new();
    if (!channel->match)
        return fail(MPI_ERR_NO_MEM, "no memory for a channel");
    channel->context = context;
    channel->rank = rank;
    channel->engine = pml_engine_of(context);
    channel->pool = &request_pools[channel->engine];
    channel->size = peers->n;
    channel->peers = ranks_hold(peers);
    channel->broken = channel->session = false;
    memset(channel->known, 0, sizeof channel->known);
    channel_insert(channel);
    nchannels++;
    if (early)
        early_deliver(channel);
    return 0;
}

/* Nobody will receive them.  Those with a name are kept all the same: their sender may cancel them, and waits for
 * an answer then (cancel.c). */
static void messages_leave(struct channel *channel)
{
    struct match_arrived *left;
    while ((left = match_oldest(channel->match)) != NULL) {
        struct arrived *arrived = (struct arrived *)left;
        match_take(channel->match, left);
        if (arrived->header.request && !arrived->peer->lost)
            channel_keep_early(arrived);
        else
            arrived_free(arrived);
    }
}

void channel_close(struct channel *channel)
{
    struct match_posted *posted;
    bool silently =
        channel_is_collective(channel); /* one that was not waited for goes no further */
    while ((posted = match_any_posted(channel->match)) != NULL)
        recv_abandon(posted, silently);
    messages_leave(channel);
    struct channel **link = &chains[chain_of(channel->context)];
    while (*link != channel)
        link = &(*link)->next;
    *link = channel->next;
    nchannels--;
    troubles -= channel->broken;
    if (channel_found == channel)
        channel_found = NULL;
    solo_forget(channel);
    match_delete(channel->match);
    channel->match = NULL;
    ranks_drop(channel->peers);
    channel->peers = NULL;
}

void channel_reserve(struct channel *channel, int rank, size_t messages)
{
    int world = ranks_world(channel->peers, rank);
    struct peer *peer;
    match_reserve(channel->match, messages);
    if (link_shm.reaches(world) && peer_in(channel->engine, world, &peer))
        fail_clear(); /* who sends to it will hear of that */
}

size_t channel_posted(const struct channel *channel)
{
    return match_posted_count(channel->match);
}

size_t channel_unexpected(const struct channel *channel)
{
    return match_arrived_count(channel->match);
}

bool channel_oldest(const struct channel *channel, struct envelope *from)
{
    const struct arrived *oldest = (const struct arrived *)match_oldest(channel->match);
    if (!oldest)
        return false;
    *from = wire_envelope(&oldest->header);
    return true;
}

size_t channel_unexpected_bytes(const struct channel *channel)
{
    size_t bytes = 0;
    for (struct match_arrived *m = match_oldest(channel->match); m;
         m = match_next(channel->match, m))
        bytes += ((const struct arrived *)m)->header.total;
    return bytes;
}

void channels_close(void)
{
    while (early) {
        struct arrived *gone = early;
        early = gone->next;
        arrived_free(gone);
    }
    early_end = &early;
    free(chains);
    chains = NULL;
    channel_found = NULL;
    nchannels = 0;
    broken_close();
}
