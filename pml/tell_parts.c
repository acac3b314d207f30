/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a wait for many messages that count as one waits for, in the words of the flight recorder.
 */
#include "pml/pml.h"

#include "runtime/boot.h"
#include "runtime/record.h"

void parts_tell(const struct parts *parts, struct record_wait *wait)
{
    const struct channel *channel = parts->channel;
    struct record_item *item = record_item_new(wait);
    if (!item)
        return;
    item->kind = parts->come ? RECORD_RECV : RECORD_SEND;
    item->context = channel->context;
    record_name_comm(channel->context, item->comm);
    item->peer = parts->peer;
    item->world = ranks_world(channel->peers, parts->peer);
    item->tag = parts->tag;
    item->bytes = parts->bytes;
    if (parts->unready < 0)
        return;
    item->kind = RECORD_READY;
    item->world = boot.rank;
    item->bytes = (uint64_t)parts->unready;
}
