/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Orphans: receives whose requests the program has freed, and which end when it leaves MPI (MPI 5.0, 3.7.3
 * and 11.2.2).  Nobody waits for them; but a message that comes for one later must find it, or its sender
 * would wait for ever.  So who leaves stays until each
 *
 *     is complete     as a program with all its sends makes it
 *     is in vain      all who could send its message are silent: they leave, too, and have begun all that
 *                     they send, or are dead.  It is cancelled
 *
 * Two who wait for each other's silence have both fallen silent before, so nobody waits for ever but for
 * somebody who neither sends nor leaves; of that the flight recorder tells like of any receive.
 *
 * Who shares a segment with us says so there.  Others are asked (link->silence): then they tell us when they
 * leave, which costs a connection to each that could send.  A program that frees no active receive pays for
 * none of this.
 */
#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/recv.h"
#include "pml/send.h"
#include "runtime/boot.h"

int orphan_receives;
static bool silent;       /* we have said so, */
static uint32_t over_use; /* of this use of MPI */

void request_orphan(struct request *request, bool session)
{
    request->orphan = ORPHAN;
    if (!request_is_recv(request))
        return;
    struct recv *recv = (struct recv *)request;
    if (recv->waiting)
        recv->use = session ? boot_use() : WORLD_USE;
    request->orphan = ORPHAN_AWAITED;
    orphan_receives++;
}

/* ---- our silence ---- */

static bool peer_has_begun(const struct peer *peer)
{
    const struct send *first = peer->queue.first;
    return !first || (first->begun && !first->next);
}

static bool all_have_begun(void)
{
    for (const struct peer *peer = peers_first(); peer; peer = peer->next)
        if (!peer_has_begun(peer))
            return false;
    return true;
}

static bool world_has_network;

static int world_poll(void)
{
    if (!all_have_begun() || (world_has_network && !link_ofi.quiet(false)))
        return 0;
    progress_remove(world_poll);
    boot_world_falls_silent();
    if (world_has_network)
        link_ofi.falls_silent(true);
    return 1;
}

void silence_of_world(bool network)
{
    world_has_network = network;
    progress_add(world_poll);
    progress();
}

void silence_begin(void)
{
    progress_remove(world_poll);
    silent = false;
    over_use = boot_use();
}

void silence_say(bool network)
{
    if (silent || over_use != boot_use() || !all_have_begun() ||
        (network && !link_ofi.quiet(false)))
        return;
    silent = true;
    boot_fall_silent();
    if (network)
        link_ofi.falls_silent(true);
}

/* Another thread may have begun to use MPI again meanwhile. */
void silence_leave(bool network)
{
    if (over_use == boot_use())
        boot_fall_silent();
    if (network)
        link_ofi.leave();
}

void silence_end(bool network)
{
    if (network && silent)
        link_ofi.falls_silent(false);
}

/* ---- theirs ---- */

static bool is_silent(int world, uint32_t use)
{
    struct peer *peer;
    uint32_t silence = 0;
    if (world == boot.rank || failure_is(world))
        return true;
    if (boot_hears(world, &silence))
        return silence_covers(silence, use);
    return peer_of(world, &peer) != 0 || !peer->link->silence ||
           silence_covers(peer->link->silence(peer), use);
}

/* May its message still come? */
static bool may_come(const struct recv *recv)
{
    const struct ranks *peers = recv->channel->peers;
    if (recv->key.source != PML_ANY_SOURCE)
        return !is_silent(ranks_world(peers, recv->key.source), recv->use);
    bool may = false; /* each of them is asked */
    for (int i = 0; i < peers->n; i++)
        may |= !is_silent(ranks_world(peers, i), recv->use);
    return may;
}

/* The next orphan that is posted, on this channel or a later one; NULL, NULL: the first. */
static struct recv *orphan_next(struct channel **channel, struct recv *recv)
{
    struct match_posted *posted =
        recv ? match_next_posted((*channel)->match, &recv->posted) : NULL;
    for (;;) {
        for (; posted; posted = match_next_posted((*channel)->match, posted))
            if (recv_of(posted)->request.orphan == ORPHAN_AWAITED)
                return recv_of(posted);
        *channel = channel_next(*channel);
        if (!*channel)
            return NULL;
        posted = match_any_posted((*channel)->match);
    }
}

/* Those that are not posted have their messages, which are on their way. */
static bool some_may_end(void)
{
    int posted = 0;
    bool may = false;
    struct channel *channel = NULL;
    for (struct recv *recv = orphan_next(&channel, NULL); recv;
         recv = orphan_next(&channel, recv)) {
        posted++;
        may |= may_come(recv);
    }
    return may || posted < orphan_receives;
}

/* What somebody has sent before it fell silent is to be had by now. */
static bool some_are_awaited(void)
{
    if (orphan_receives == 0)
        return false;
    if (some_may_end())
        return true;
    while (pml_take_all() > 0)
        ;
    return some_may_end();
}

static void orphans_tell(const void *what, struct record_wait *wait)
{
    (void)what;
    struct channel *channel = NULL;
    for (struct recv *recv = orphan_next(&channel, NULL); recv;
         recv = orphan_next(&channel, recv))
        if (may_come(recv))
            recv_tell(&recv->request, wait);
}

/* To end one may close its channel, if no other of them is posted there. */
static void orphans_cancel(void)
{
    struct channel *channel = NULL;
    struct recv *next, *recv = orphan_next(&channel, NULL);
    for (; recv; recv = next) {
        next = orphan_next(&channel, recv);
        recv_abandon(&recv->posted, false);
    }
}

void orphans_meet(void)
{
    while (orphan_receives > 0 && pml_take_all() > 0)
        ;
}

void orphans_await(bool network, uint64_t *since)
{
    if (orphan_receives == 0)
        return;
    struct wait w = WAIT_FOR(orphans_tell, NULL);
    boot_listen(true);
    silence_say(network);
    while (some_are_awaited() && !failures_hurry(since))
        wait_poll(&w);
    wait_end(&w);
    boot_listen(false);
    orphans_cancel();
}
