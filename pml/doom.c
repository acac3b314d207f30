/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a loss ends, in two steps: first everything that is doomed is taken out of its lists and
 * names, then it is completed; for completing calls back, and may send and receive.
 *
 *     sends to the lost process       in its lists (queue, streams, writes), or named: unanswered
 *     receives from it                posted; named (rendezvous); being read; pieces still to come
 *     receives from any source        posted on a channel that it belongs to
 *     sends and receives of a group   (envelope.group) that it belongs to, with living peers too:
 *                                     posted receives, sends that nobody has matched; but not those of
 *                                     collectives that it has done its part of, if it has left MPI
 *
 * Messages of a group that two living processes have begun to move go on: both are there.  But a
 * send that we withdraw may be matched at the same time; then we answer WITHDRAWN to its CTS
 * (proto.c), and the receive ends as well.  Or it is being read, by somebody who will look for
 * losses at the end of the collective (channel_check).
 *
 * What the dead have sent before is received as ever, if it is all here.
 *
 * Costs one pass over all that is posted and named per lost process.
 */
#include "pml/device.h"
#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/pull.h"
#include "pml/recv.h"
#include "pml/send.h"

static struct recv *doomed_receives;
static struct send *doomed_sends;

void recv_doom(struct recv *recv, int world)
{
    if (recv->name)
        request_unname(recv->name);
    recv->name = 0;
    recv->waiting = false;
    recv_unstage(recv, false);
    if (recv->trip.measured)
        trip_forget(&recv->trip);
    recv->request.result = failure_result(world);
}

static void doom_receive(struct recv *recv, int world)
{
    recv_doom(recv, world);
    recv->next = doomed_receives;
    doomed_receives = recv;
}

static void doom_send(struct send *send, int world)
{
    send_unspend(send);
    send_forget(send);
    send->writing = false;
    send->request.result = failure_result(world);
    send->next = doomed_sends;
    doomed_sends = send;
}

static void complete_doomed(void)
{
    while (doomed_sends) {
        struct send *send = doomed_sends;
        doomed_sends = send->next;
        failure_complete(&send->request);
    }
    while (doomed_receives) {
        struct recv *recv = doomed_receives;
        doomed_receives = recv->next;
        failure_complete(&recv->request);
    }
}

static struct match_key key_of(const struct send *send)
{
    return (struct match_key){ (int32_t)send->first.source, send->first.tag, send->first.step };
}

static bool send_is_doomed(const struct send *send, int world)
{
    struct match_key key = key_of(send);
    return failure_ends(world, send->group, channel_find(send->first.context), &key);
}

int send_doomed(const struct send *send)
{
    struct match_key key = key_of(send);
    return send->peer->lost ? send->peer->world
                            : failure_of_group(send->group, send->channel, &key);
}

/* ---- with the lost process itself ---- */

static void list_doom(struct send_list *list, int world)
{
    while (list->first) {
        struct send *send = list->first;
        list->first = send->next;
        doom_send(send, world);
    }
}

static void peer_doom(struct peer *peer)
{
    peer_forget_notes(peer);
    list_doom(&peer->queue, peer->world);
    list_doom(&peer->streams, peer->world);
    list_doom(&peer->writes, peer->world);
    if (peer->in.recv)
        doom_receive(peer->in.recv, peer->world);
    peer->in.recv = NULL;
    for (struct recv *recv; (recv = pull_take(peer)) != NULL;)
        doom_receive(recv, peer->world);
    for (struct recv *recv; (recv = device_take(peer)) != NULL;)
        doom_receive(recv, peer->world);
    device_forget(peer);
}

/* ---- among those who live ---- */

static bool is_unmatched(const struct send *send)
{
    return send->begun && send->granted == 0;
}

/* A named request: an unanswered send, or a receive that goes on. */
static void named_doom(struct request *request, int world, const struct peer *lost)
{
    if (request_is_send(request)) {
        struct send *send = (struct send *)request;
        if (send->peer == lost || (is_unmatched(send) && send_is_doomed(send, world)))
            doom_send(send, world);
    } else if (request_is_recv(request) && ((struct recv *)request)->peer == lost && lost) {
        doom_receive((struct recv *)request, world);
    }
}

static void names_doom(int world, const struct peer *lost)
{
    struct request *request;
    for (uint32_t at = 0; (request = request_next_named(&at)) != NULL;)
        named_doom(request, world, lost);
}

/* Messages to a living peer that wait for room, and have not begun. */
static void queue_doom(struct peer *peer, int world)
{
    struct send *next;
    for (struct send *send = peer->queue.first; send; send = next) {
        next = send->next;
        if (send->begun || !send_is_doomed(send, world))
            continue;
        send_remove(&peer->queue, send);
        doom_send(send, world);
    }
}

static void channel_doom(struct channel *channel, int world)
{
    int rank = ranks_find(channel->peers, world);
    struct match_posted *next, *posted = rank < 0 ? NULL : match_any_posted(channel->match);
    for (; posted; posted = next) {
        next = match_next_posted(channel->match, posted);
        struct recv *recv = (struct recv *)((char *)posted - offsetof(struct recv, posted));
        int source = recv->key.source;
        if (source != rank && source != PML_ANY_SOURCE &&
            !failure_ends(world, recv->group, channel, &recv->key))
            continue;
        match_unpost(channel->match, posted);
        doom_receive(recv, world);
    }
}

void doom_process(int world, struct peer *peer)
{
    if (peer)
        peer_doom(peer);
    names_doom(world, peer);
    for (struct peer *other = peers_first(); other; other = other->next)
        queue_doom(other, world);
    struct channel *channel = NULL;
    while ((channel = channel_next(channel)) != NULL)
        channel_doom(channel, world);
    complete_doomed();
}

/* As peer_doom and names_doom find them. */
bool peer_feeds(const struct peer *peer)
{
    if (peer->in.recv || pull_of(peer) || device_read_of(peer))
        return true;
    struct request *request;
    for (uint32_t at = 0; (request = request_next_named(&at)) != NULL;)
        if (request_is_recv(request) && ((struct recv *)request)->peer == peer)
            return true;
    return false;
}

void recv_withdrawn(uint32_t name)
{
    struct recv *recv = request_named(name);
    if (!recv)
        return;
    int world = recv->channel ? failure_of(recv->channel, recv->key.tag) : -1;
    pull_leave(recv);
    recv_doom(recv, world);
    failure_complete(&recv->request);
}

/* ---- before it begins ---- */

int recv_doomed(const struct channel *channel, const struct match_key *key,
                const struct ranks *group)
{
    if (failures == 0)
        return -1;
    if (key->source == PML_ANY_SOURCE)
        return failure_among(group ? group : channel->peers);
    int world = ranks_world(channel->peers, key->source);
    return failure_is(world) ? world : failure_of_group(group, channel, key);
}
