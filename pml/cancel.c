/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cancelling sends (MPI 5.0, 3.8.4): after MPI_Cancel the wait for a send must end whether or
 * not anybody receives.
 *
 *     sender                             receiver
 *     CANCEL request  ---------------->  not matched: the message is dropped
 *                     <----------------  CANCELLED request
 *                                        matched: nothing, its CTS or ACK is on the way
 *
 * A message that is still in the queue is taken out of it, and nobody hears of it.  One without
 * a name, EAGER and not synchronous, needs no receive and completes as always.  The answer
 * comes when the receiver next makes progress, as any answer; from oneself, at once.
 *
 * Who has left MPI answers nothing more, and receives nothing.  So while sends are being cancelled we look
 * whether their receivers have left (link->left).  What such a one has matched it has answered before, and that
 * is here by then; all else was not received, and ends as cancelled, also what the link has not taken wholly.
 */
#include "mpi.h"
#include "pml/arrived.h"
#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/send.h"
#include "runtime/boot.h"

/* ---- receivers that have left ---- */

static bool is_cancelled(const struct request *request)
{
    const struct send *send = (const struct send *)request;
    return request_is_send(request) && send->cancelling && send->granted == 0;
}

uint32_t sends_cancelled(const struct peer *peer)
{
    uint32_t n = 0;
    struct request *request;
    for (uint32_t at = 0; (request = request_next_named(&at)) != NULL;)
        n += is_cancelled(request) && ((struct send *)request)->peer == peer;
    return n;
}

bool record_says_left(const struct boot_rank *record, bool session)
{
    return !failures_any() && bootseg_has_left_it(record, session);
}

/* True: nobody will receive it. */
static bool end_if_left(struct send *send)
{
    struct peer *peer = send->peer;
    if (!peer->link->left || !peer->link->left(peer, send->session))
        return false;
    if (peer->queue.first == send)
        send_remove(&peer->queue, send);
    if (send->name)
        control_recall(peer, WIRE_CANCEL, send->name);
    send->request.result = (struct result){ .cancelled = true };
    send_done(send);
    return true;
}

/* The first in a queue may be with the link in part; it has no name if it needs no answer. */
static bool queues_look(int *ended)
{
    bool some = false;
    for (struct peer *peer = peers_first(); peer; peer = peer->next) {
        struct send *send = peer->queue.first;
        if (!send || send->name || !send->begun || !send->cancelling)
            continue;
        bool ends = end_if_left(send);
        some |= !ends;
        *ended += ends;
    }
    return some;
}

static bool watches;
static poller cancelled_poll;

static void watch(bool yes)
{
    if (watches == yes)
        return;
    watches = yes;
    if (yes)
        progress_add(cancelled_poll);
    else
        progress_remove(cancelled_poll);
    boot_listen(yes); /* who leaves wakes us */
}

static int cancelled_poll(void)
{
    int ended = 0;
    bool some = queues_look(&ended);
    struct request *request;
    for (uint32_t at = 0; (request = request_next_named(&at)) != NULL;) {
        if (!is_cancelled(request))
            continue;
        bool ends = end_if_left((struct send *)request);
        some |= !ends;
        ended += ends;
    }
    watch(some);
    return ended;
}

void cancels_close(void)
{
    watch(false);
}

/* ---- the sender ---- */

int send_cancel(struct request *request)
{
    struct send *send = (struct send *)request;
    if (request->done || send->cancelling)
        return 0;
    if (!send->begun) {
        send_remove(&send->peer->queue, send);
        send_unspend(send);
        request->result = (struct result){ .cancelled = true };
        send_done(send);
        return 0;
    }
    send->cancelling = true;
    if (send->name) {
        struct wire question = { .kind = WIRE_CANCEL,
                                 .context = send->first.context,
                                 .request = send->name };
        control_send(send->peer, &question, NULL);
        while (send->peer->link == &link_self && !request->done && link_self.poll() > 0)
            continue;
    }
    if (!request->done)
        watch(true);
    return 0;
}

void send_cancelled(struct send *send)
{
    send->request.result = (struct result){ .cancelled = true };
    if (send->first.kind == WIRE_RTS)
        send_done(send);
    else
        send_matched(send);
}

/* ---- the receiver ---- */

/* The message with this name among those that no receive has taken. */
static struct arrived *unmatched_take(const struct peer *peer, const struct wire *question)
{
    struct channel *channel = channel_find(question->context);
    if (!channel)
        return channel_take_early(peer, question);
    struct match_arrived *at = match_oldest(channel->match);
    while (at && !arrived_is(peer, question->request, (struct arrived *)at))
        at = match_next(channel->match, at);
    if (at)
        match_take(channel->match, at);
    return (struct arrived *)at;
}

void cancel_arrived(struct peer *peer, const struct wire *question)
{
    struct arrived *arrived = unmatched_take(peer, question);
    if (!arrived)
        return;
    arrived_free(arrived);
    struct wire answer = { .kind = WIRE_CANCELLED, .request = question->request };
    control_send(peer, &answer, NULL);
}
