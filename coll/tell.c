/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a collective says about itself.  Recording one costs what recording a message costs; the
 * texts are made only for those who wait long, and for errors.
 */
#include "coll/tell.h"

#include "coll/rules.h"
#include "runtime/record.h"

#include <ctype.h>
#include <stdio.h>

bool is_rooted(enum collective what)
{
    return what == COLL_BCAST || what == COLL_GATHER || what == COLL_GATHERV ||
           what == COLL_SCATTER || what == COLL_SCATTERV || what == COLL_REDUCE;
}

/* Where all ranks have to give the same; else 0. */
static uint64_t bytes_of(const struct call *call)
{
    const struct part *part = &call->recv;
    bool alike = call->what == COLL_BCAST || call->what == COLL_REDUCE ||
                 call->what == COLL_ALLREDUCE || call->what == COLL_SCAN ||
                 call->what == COLL_EXSCAN;
    if (!alike || !part->layout)
        return 0;
    return (uint64_t)part->count * part->layout->size;
}

static void function_name(enum collective what, char *text, size_t room)
{
    snprintf(text, room, "MPI_%s", collective_name(what));
    text[4] = (char)toupper((unsigned char)text[4]);
}

void telling_tell(const struct telling *telling, struct record_wait *wait)
{
    struct record_collective *told = &wait->collective;
    function_name(telling->call->what, told->name, sizeof told->name);
    told->context = telling->team->channel.context;
    record_name_comm(told->context, told->comm);
    told->number = telling->number;
    told->root = telling->root;
    told->size = telling->team->channel.size;
    told->bytes = bytes_of(telling->call);
}

static void scope_tell(const void *scope, struct record_wait *wait)
{
    telling_tell(scope, wait);
}

void part_tell(struct record_wait *wait, int peer, int world)
{
    struct record_item *item = record_item_new(wait);
    if (!item)
        return;
    item->kind = RECORD_PART;
    item->peer = peer;
    item->world = world;
}

static bool is_told(const struct record_wait *wait, uint64_t context, int peer, int kind)
{
    for (int i = 0; i < wait->nitems && i < RECORD_ITEMS; i++) {
        const struct record_item *item = &wait->items[i];
        if (item->context == context && item->peer == peer && item->kind == kind)
            return true;
    }
    return false;
}

void message_tell(struct record_wait *wait, const struct channel *channel, int peer, bool to)
{
    int kind = to ? RECORD_SEND : RECORD_RECV;
    if (is_told(wait, channel->context, peer, kind))
        return;
    struct record_item *item = record_item_new(wait);
    if (!item)
        return;
    item->kind = kind;
    item->context = channel->context;
    item->peer = peer;
    item->world = ranks_world(channel->peers, peer);
}

void telling_begin(struct telling *telling, struct team *team, const struct call *call)
{
    *telling = (struct telling){ .scope = { scope_tell },
                                 .team = team,
                                 .call = call,
                                 .number = ++team->calls,
                                 .root = is_rooted(call->what) ? call->root : -1 };
    record_event(team->channel.context, telling->root, (int)telling->number, bytes_of(call));
}

void signature_tell(uint32_t signature, char *text, size_t room)
{
    enum collective what = (enum collective)(signature >> 24 & 0x7f);
    int root = (int)(signature & 0xffffff);
    char name[64] = "an operation that is unknown here";
    if (what < COLL_KINDS)
        function_name(what, name, sizeof name);
    if (what < COLL_KINDS && is_rooted(what))
        snprintf(text, room, "%s with root %d", name, root);
    else
        snprintf(text, room, "%s", name);
}
