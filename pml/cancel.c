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
 */
#include "mpi.h"
#include "pml/arrived.h"
#include "pml/proto.h"
#include "pml/send.h"

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
    } else if (send->name) {
        struct wire question = { .kind = WIRE_CANCEL,
                                 .context = send->first.context,
                                 .request = send->name };
        send->cancelling = true;
        control_send(send->peer, &question, NULL);
        while (send->peer->link == &link_self && !request->done && link_self.poll() > 0)
            continue;
    }
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
