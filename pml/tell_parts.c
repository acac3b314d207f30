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
    bool ours = parts->unready >= 0;
    enum record_kind kind = ours ? RECORD_READY : parts->come ? RECORD_RECV : RECORD_SEND;
    struct record_item *item = record_item_in(wait, kind, channel->context);
    if (!item)
        return;
    item->peer = parts->peer;
    item->world = ours ? boot.rank : ranks_world(channel->peers, parts->peer);
    item->tag = parts->tag;
    item->bytes = ours ? (uint64_t)parts->unready : parts->bytes;
}
