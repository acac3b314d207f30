/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long messages travel.  The receiver decides between copying, reading and both (pull.c) by
 * what earlier messages cost it (way.c).  But a message that is copied should come without
 * asking, or with its first piece; so its sender must know before.  It looks at a word of advice
 * from the receiver, and the receiver plans one message ahead:
 *
 *     next[class] = how the next message of this length should come -> advice
 *
 * A time runs from the match to the last byte, but not while an earlier message was being taken:
 *
 *     |-- message 1 --|-- message 2 --|            |-- message 3 --|
 *
 * Where messages go both ways, what a sender copies out is taken from its own receiving.  If each
 * looked at its own time alone, it would let the other one copy, and both lose.  So what counts is
 * what both lose: of many messages, the time of a byte that came or went; of a single one its own
 * time, where our own copying does not count, and the sender's does, as much as ours would cost.
 *
 * And as two that differ have the worse of both ways, of two ranks that have a node to themselves the lower
 * one chooses for both: the other takes what comes from it as it is advised to send itself.  Of two messages that are
 * read at the same time one may take twice as long as the other, so a single one is over when ours is, too.
 *
 * Such traffic has choices of its own (way.c).  We are in it when most of the last messages came
 * while one of ours was on its way.
 *
 * Where ranks share processors what a message takes is mostly switches between ranks, and that time tells nothing:
 * one that was copied lets its sender go on, so up to 32 KiB are copied, unless several others wait to be
 * taken (link->advised); longer ones are read, so that one processor copies, once.  Who exchanges messages with
 * three others or more waits for turns of theirs anyway, and 17 to 32 KiB are read as well.  But what the copies
 * cost is known (toll.c): where reading is dearer than copying twice, all up to 64 KiB are copied.
 *
 * XMPI_SHM_SINGLE_COPY=none, cma, xpmem and both decide once and for all.  Memory with gaps is copied,
 * unless ranks share processors: then the receiver had better finish alone, and reads into a
 * small buffer first.
 */
#include "pml/trip.h"

#include "pml/toll.h"
#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/param.h"

#include <string.h>

enum wish { WISH_NONE, WISH_CMA, WISH_XPMEM, WISH_BOTH, WISH_AUTO };
static const char *const wishes[] = { "none", "cma", "xpmem", "both", "auto" };
static enum wish wish;
static uint32_t advice;            /* published; bits of way_bit */
static enum way next[WAY_CLASSES]; /* WAYS: there was none so far */
static bool refused;               /* memory of others cannot be reached */
static int in_progress;            /* measured messages */
static uint64_t last_end;          /* when the last of them was complete */
static struct {
    uint64_t ticks;
    uint64_t last;            /* ticks when the last measured message was complete */
} out;                        /* what we copied out ourselves */
static uint64_t sent;         /* bytes of our long messages since then */
static uint32_t sent_classes; /* that they ever were of */
static int crossings;         /* among the last messages: 0 to MOST_CROSSINGS */
static struct {
    struct way_trip
        took; /* a single one that was read, while one of ours still is; bytes 0: there is none */
    uint64_t began;
} held;
static struct {
    const struct peer *last, *before; /* our long messages went to these two */
} went;
enum { SOME_CROSSINGS = 4, MOST_CROSSINGS = 8, MOST_CAME = 8 };

/* ---- advice ---- */

static void advise(uint32_t copied)
{
    if (copied == advice)
        return;
    advice = copied;
    link_shm.advise(copied);
}

static void wish_read(void)
{
    const char *text = param_string(SHM_SINGLE_COPY) ? param_string(SHM_SINGLE_COPY) : "auto";
    for (wish = WISH_NONE; wish < WISH_AUTO; wish++)
        if (strcmp(text, wishes[wish]) == 0)
            return;
}

static void next_set(enum way way)
{
    for (int c = 0; c < WAY_CLASSES; c++)
        next[c] = way;
}

void trips_open(void)
{
    wish_read();
    ways_open(wish != WISH_NONE);
    next_set(WAYS);
    advice = 0;
    last_end = 0;
    memset(&out, 0, sizeof out);
    sent = 0;
    sent_classes = 0;
    crossings = 0;
    in_progress = 0;
    refused = false;
    memset(&went, 0, sizeof went);
    held.took.bytes = 0;
    tolls_open();
    advise(wish == WISH_NONE                   ? UINT32_MAX
           : wish == WISH_AUTO && boot.crowded ? advice_of(UP_TO_32_KIB, 0)
                                               : 0);
}

void trips_close(void)
{
    ways_log();
}

void trips_refuse(void)
{
    refused = true;
    ways_open(false);
    next_set(WAY_COPY);
    advise(UINT32_MAX);
}

bool trip_offers(const struct peer *peer)
{
    return peer->link->offer || (peer->link->read && wish != WISH_NONE);
}

/* Is this one of many messages to and fro with several others?  With one or two of them 32 KiB take 0.7 to 1 of the
 * time when copied, with more 1.2 to 1.5 where reading is cheap; 16 KiB take 0.7 to 1.1. */
static bool is_of_many(struct peer *peer, size_t bytes)
{
    bool answers = peer->came > 0, many = peer != went.last && peer != went.before;
    peer->came -= answers;
    if (peer != went.last)
        went.before = went.last;
    went.last = peer;
    return answers && many && bytes > 2 * WAY_SHORT;
}

bool trip_asks(struct peer *peer, size_t bytes, bool waits)
{
    if ((wish != WISH_AUTO && wish != WISH_NONE) || !peer->link->advised)
        return true;
    uint32_t copied = peer->link->advised(peer);
    return !(copied & way_bit(bytes)) ||
           (boot.crowded && copied != UINT32_MAX && is_of_many(peer, bytes) && waits &&
            !(advice_dear(copied) & way_bit(bytes)));
}

/* ---- the choice ---- */

/* Is one of ours on its way to this peer, or waits for room there? */
static bool is_crossed(const struct peer *peer)
{
    return peer->unanswered > 0 || peer->queue.first;
}

static enum traffic traffic(void)
{
    return crossings >= SOME_CROSSINGS ? TWO_WAYS : ONE_WAY;
}

/* Do we take what comes from this peer as it takes what comes from us?  Only of lengths that have gone there, and
 * where the node has nobody else: with a third one, what each decides of its own would be mixed with what it
 * follows. */
static bool follows(const struct peer *peer, size_t bytes)
{
    return boot.nlocal == 2 && !refused && traffic() == TWO_WAYS && peer->world < boot.rank &&
           peer->link->advised && sent_classes & way_bit(bytes);
}

static enum way way_of_leader(const struct peer *peer, size_t bytes)
{
    return peer->link->advised(peer) & way_bit(bytes) ? WAY_COPY : WAY_READ;
}

static void plan_next(size_t bytes, enum way way)
{
    next[way_class(bytes)] = way;
    advise(way == WAY_COPY ? advice | way_bit(bytes) : advice & ~way_bit(bytes));
}

/* The way of this message, and a plan for the next one like it. */
static enum way plan(const struct peer *peer, size_t bytes)
{
    if (follows(peer, bytes)) {
        plan_next(bytes, way_of_leader(peer, bytes));
        return next[way_class(bytes)];
    }
    enum way way = next[way_class(bytes)];
    if (way == WAYS)
        way = way_take(bytes, traffic(), in_progress == 0);
    plan_next(bytes, way_take(bytes, traffic(), in_progress == 0));
    return way;
}

/* The way of a message with an address that is not measured. */
static enum way way_fixed(const struct link *link, bool plain)
{
    if (wish == WISH_BOTH && plain && link->words)
        return WAY_BOTH;
    if (wish == WISH_AUTO && link->advise)
        return boot.crowded ? WAY_READ : WAY_COPY;
    return wish == WISH_NONE ? WAY_COPY : WAY_READ;
}

void trip_begin(struct trip *trip, struct peer *peer, const struct wire *header, bool plain,
                bool whole)
{
    bool asked = header->flags & WIRE_ADDRESS;
    peer->came += peer->came < MOST_CAME;
    *trip = (struct trip){ .way = WAY_COPY, .bytes = header->total };
    if (peer->link->fetch) {
        trip->way = asked && plain ? WAY_READ : WAY_COPY;
        return;
    }
    if (asked && !peer->link->reads(peer)) {
        trips_refuse();
        return;
    }
    if (wish != WISH_AUTO || !peer->link->advise || !plain || boot.crowded) {
        trip->way = asked ? way_fixed(peer->link, plain) : WAY_COPY;
        return;
    }
    enum way way = plan(peer, header->total);
    trip->measured = whole;
    in_progress += whole;
    trip->lead = asked ? 0 : header->bytes;
    trip->traffic = traffic();
    trip->crossed = is_crossed(peer);
    trip->peer = peer;
    trip->began = cpu_ticks();
    trip->out = out.ticks;
    if (!asked)
        return;
    /* A short one would have come without asking if its sender had known. */
    bool is_late = way == WAY_COPY && header->total <= (uint64_t)param_number(EAGER);
    trip->way = is_late ? WAY_READ : way;
}

/* ---- the time ---- */

void trip_forget(struct trip *trip)
{
    in_progress -= trip->measured;
    trip->measured = false;
}

/* Whatever its time is counted from (trip_end) is that much later. */
void trip_spare(struct trip *trip, uint64_t ticks)
{
    if (!trip->measured) /* and then nobody has set when it began */
        return;
    uint64_t *since = trip->began > last_end ? &trip->began : &last_end;
    *since += ticks;
}

void trip_out(size_t bytes, uint64_t ticks)
{
    out.ticks += ticks;
    toll_paid(TOLL_OUT, bytes, ticks);
}

static void pay(enum toll toll, size_t bytes, uint64_t since)
{
    if (!boot.crowded || wish != WISH_AUTO || refused)
        return;
    toll_paid(toll, bytes, cpu_ticks() - since);
    advise(advice_of(UP_TO_32_KIB, tolls_dear()));
}

uint64_t trip_now(void)
{
    return cpu_ticks();
}

void trip_in(size_t bytes, uint64_t since)
{
    pay(TOLL_IN, bytes, since);
}

void trip_read(size_t bytes, uint64_t since)
{
    pay(TOLL_READ, bytes, since);
}

static void held_took(void)
{
    if (held.took.bytes)
        way_took(&held.took);
    held.took.bytes = 0;
}

void trip_sent(size_t bytes)
{
    sent += bytes;
    sent_classes |= way_bit(bytes);
    if (held.took.bytes == bytes)
        held.took.ticks = cpu_ticks() - held.began;
    held_took();
}

/* What we copied out without asking may have crossed this message or not: nobody told us. */
static void traffic_learn(bool crossed)
{
    bool unknown = out.ticks != out.last;
    if (crossed && crossings < MOST_CROSSINGS)
        crossings++;
    else if (!crossed && !unknown && crossings > 0)
        crossings--;
}

/* What the message cost both sides, when both are busy. */
static uint64_t cost_shared(const struct trip *trip, uint64_t ticks, uint64_t busy)
{
    ticks = ticks > busy ? ticks - busy : 0;
    if (trip->way == WAY_COPY)
        return ticks + toll_of_out(trip->bytes);
    return trip->way == WAY_BOTH ? 2 * ticks : ticks;
}

static void trip_learn(const struct trip *trip, bool alone, uint64_t ticks, uint64_t busy)
{
    struct way_trip took = { .bytes = trip->bytes,
                             .traffic = trip->traffic,
                             .way = trip->way,
                             .alone = alone,
                             .moved = trip->bytes,
                             .ticks = ticks };
    bool both_ways = trip->traffic == TWO_WAYS;
    if (both_ways) /* while a single one comes, one like it goes, be it copied out a moment earlier */
        took.moved += alone ? trip->bytes : sent;
    if (both_ways ? alone : busy > 0)
        took.ticks = cost_shared(trip, ticks, busy);
    held_took();
    if (both_ways && alone && trip->way == WAY_READ && trip->peer->unanswered == 1) {
        held.took = took;
        held.began = trip->began;
    } else {
        way_took(&took);
    }
}

void trip_end(struct trip *trip)
{
    uint64_t now = cpu_ticks();
    bool alone = trip->began > last_end;
    uint64_t ticks = now - (alone ? trip->began : last_end);
    uint64_t busy = out.ticks - (alone ? trip->out : out.last);
    traffic_learn(trip->crossed || busy || is_crossed(trip->peer));
    /* When nothing else was going on, the sender's copying of the first piece was a wait. */
    if (alone)
        ticks += ticks * trip->lead / trip->bytes;
    if (trip->traffic == traffic())
        trip_learn(trip, alone, ticks, busy);
    last_end = now;
    out.last = out.ticks;
    sent = 0;
    trip_forget(trip);
}
