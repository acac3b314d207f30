/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends on a channel that is given up, to who has left it.  Nobody receives them, nor is there anybody who
 * could refuse them: they end here.  Who has left says so in its record area (struct record_left).
 *
 *     has freed the communicator   may still be at what it has taken, and empties its lanes: sends that it
 *                                  has not answered end
 *     has left MPI                 does nothing any more: all of them end.  As long as its process lives it may be
 *                                  in a session, and then it takes what comes: a message that half of is on its
 *                                  way stays, since what comes behind it would be taken for the other half
 */
#include "pml/failure.h"
#include "pml/send.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/record.h"

static const struct record_left *left_of(const struct peer *peer, uint64_t context)
{
    int local = boot_local(peer->world);
    return local < 0
               ? NULL
               : record_left_read(bootseg_record(boot.segment, boot.first + local), context);
}

static bool is_of(const struct send *send, const struct channel *channel)
{
    return send->first.context == channel->context && send->first.step < PML_APART;
}

static bool is_listed(const struct send_list *list, const struct send *send)
{
    for (const struct send *at = list->first; at; at = at->next)
        if (at == send)
            return true;
    return false;
}

/* Its next packet waits for room, and somebody may read it. */
static bool is_half_read(const struct send *send)
{
    int local = boot_local(send->peer->world);
    bool over = local >= 0 && atomic_load(&boot_record(local)->state) == BOOT_FINALIZED;
    return send->begun && !over && is_listed(&send->peer->queue, send);
}

/* A send that the receiver knows by name.  Who answers all the same finds nobody. */
static bool is_in_vain(const struct send *send, const struct channel *channel)
{
    if (!is_of(send, channel) || !send->begun || is_half_read(send))
        return false;
    const struct record_left *left = left_of(send->peer, channel->context);
    return left && (send->granted == 0 || !left->freed);
}

static void list_leave(struct send_list *list, struct send *send)
{
    if (is_listed(list, send))
        send_remove(list, send);
}

static void take(struct send *send, struct send **taken)
{
    list_leave(&send->peer->queue, send);
    list_leave(&send->peer->streams, send);
    list_leave(&send->peer->writes, send);
    send_unspend(send);
    send_forget(send);
    send->writing = false;
    send->next = *taken;
    *taken = send;
}

/* What waits for room in the lane of somebody who takes nothing out of it. */
static void queues_take(const struct channel *channel, struct send **taken)
{
    for (struct peer *peer = peers_first(); peer; peer = peer->next) {
        const struct record_left *left =
            peer->queue.first ? left_of(peer, channel->context) : NULL;
        for (struct send *send = peer->queue.first, *next; send; send = next) {
            next = send->next;
            if (left && !left->freed && is_of(send, channel) && !is_half_read(send))
                take(send, taken);
        }
    }
}

void sends_end(const struct channel *channel)
{
    struct send *taken = NULL;
    struct request *request;
    queues_take(channel, &taken);
    for (uint32_t at = 0; (request = request_next_named(&at)) != NULL;)
        if (request_is_send(request) && is_in_vain((struct send *)request, channel))
            take((struct send *)request, &taken);
    for (struct send *send = taken, *next; send; send = next) {
        next = send->next;
        int error = channel_fail(channel);
        send->request.result = (struct result){ .error = error };
        if (!send->request.on_done)
            fail_keep(&send->request, error);
        request_complete(&send->request);
    }
}
