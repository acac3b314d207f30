/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends and receives whose data lie on a device: where they leave the ways of data of the host.
 *
 *     a receiver on the same node, one piece      it reads (device.c)
 *     on another one, one piece, and a network    the network moves the bytes between the devices
 *       that reaches devices
 *     long, and everything else that is not       two pieces of pinned memory (stage.c): the next
 *                                                 pieces are on their way while one is used
 *     short, or no pinned memory is left          each packet is copied by itself
 */
#include "pml/device.h"
#include "pml/recv.h"
#include "pml/send.h"
#include "pml/stage.h"
#include "runtime/param.h"

/* ---- sending ---- */

static bool link_reaches_devices(const struct link *link)
{
    return link->reaches_devices && link->reaches_devices();
}

/* Over links that take their time the receiver reads what it must be asked for anyway. */
static void send_offer_away(struct send *send)
{
    size_t total = send->first.total;
    char *solid = buffer_solid(&send->data);
    send->first.flags &= (uint8_t)~WIRE_ADDRESS;
    if (send->first.kind != WIRE_RTS || !solid || total < (uint64_t)param_number(OFI_HMEM) ||
        !link_reaches_devices(send->peer->link))
        return;
    send->offer = send->peer->link->offer(send->peer, solid, total, AWAY);
    if (send->offer)
        send->first.flags |= WIRE_ADDRESS;
}

void send_choose_away(struct send *send)
{
    send->first.flags &= (uint8_t)~WIRE_DEVICE;
    if (send->peer->link->offer) {
        send_offer_away(send);
        return;
    }
    long long least = param_number(CUDA_IPC);
    bool wanted = least > 0 && send->first.total >= (uint64_t)least && send->peer->link->read;
    if (!wanted || !device_offers(buffer_solid(&send->data), send->first.total))
        return;
    send->first.kind = WIRE_RTS;
    send->first.flags |= WIRE_DEVICE;
}

bool send_share(struct send *send)
{
    struct buffer data = { .layout = &layout_bytes, .where = HERE };
    data.base = device_name(buffer_solid(&send->data), send->first.total, &data.count);
    send->begun = send->peer->link->put(send->peer, &send->header, &data, 0, data.count) >= 0;
    return send->begun;
}

long send_put_away(struct send *send, size_t bytes)
{
    struct peer *peer = send->peer;
    if (!send->stage && bytes > STAGE_LEAST)
        send->stage = stage_open(&send->data, send->first.total);
    if (!send->stage)
        return peer->link->put(peer, &send->header, &send->data, send->offset, bytes);
    struct buffer here = stage_out(send->stage, send->offset);
    return peer->link->put(peer, &send->header, &here, 0,
                           here.count < bytes ? here.count : bytes);
}

void send_unstage(struct send *send)
{
    stage_close(send->stage);
    send->stage = NULL;
}

/* ---- receiving ---- */

bool recv_fetches_away(const struct recv *recv)
{
    return recv->data.where == AWAY && buffer_solid(&recv->data) &&
           link_reaches_devices(recv->peer->link);
}

void recv_place_away(struct recv *recv, size_t offset, const char *payload, size_t bytes)
{
    if (!recv->stage && recv->expected > STAGE_LEAST && bytes > 0)
        recv->stage = stage_open(&recv->data, recv->expected);
    if (recv->stage)
        stage_in(recv->stage, offset, payload, bytes);
    else
        buffer_unpack(&recv->data, offset, payload, bytes);
}

void recv_unstage(struct recv *recv, bool good)
{
    if (recv->data.where != AWAY || !recv->stage)
        return;
    if (good)
        stage_flush(recv->stage);
    stage_close(recv->stage);
    recv->stage = NULL;
}
