/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Learning which way is fastest.  No machine has one answer.  Reading the memory of another
 * process costs a system call but copies once.  If the data were just computed it takes two or
 * three times as long as copying them through a small buffer, because the kernel waits for line
 * after line to come from the other cache; if they were sent before, half as long.  So every class of
 * lengths is measured on the messages that are sent anyway, in runs of several that go the same
 * way, for what one message leaves in the caches is part of the time of the next:
 *
 *     run: the first counts for nothing | the others: one sample | ...
 *
 *     at first     each way, TRIALS runs
 *     then         the best; now and then a run of another one, more and more rarely while that
 *                  changes nothing
 *
 * Where messages go both ways at the same time, each processor has copying to do anyway, and what is
 * best is another question, asked apart; that both work on the same message is no answer to it, and
 * two copies of what no cache holds are none, either: more than 1 MiB, and windows of more than 512 KiB.
 *
 * Messages that no cache holds leave less behind and cost more: their runs are short, and what is
 * best for the next shorter ones, once that is known, is where they begin.
 *
 * A run ends when no message is in progress: those that are copy for each other's time.
 *
 * Two messages of a try that take many times as long as the best way end the run: copying waits for a sender that
 * computes, and so would each of the others.  One alone tells nothing: somebody else had the processor.
 *
 * A cost is ticks per KiB.  It follows smaller samples at once and larger ones slowly: what
 * makes a message slow is often that somebody else had the processor.
 */
#include "pml/way.h"

#include "runtime/log.h"

#include <string.h>

enum {
    RUN = 5, /* messages, at least */
    LONGEST_RUN = 256,
    SAMPLE = 16, /* messages for a sample while others are in progress; alone, a run less 1 */
    /* Classes of which a window is many messages.  Both ways it takes two windows until both sides do as was
     * decided, so their runs are the longest. */
    WINDOW_CLASSES = 3,
    RUN_UNCACHED = 2, /* the same for messages that no cache holds */
    LONGEST_UNCACHED = 16,
    SAMPLE_UNCACHED = 3,
    TRIALS = 2,        /* runs of a way until it is known */
    MOST_TRIALS = 8,   /* that brought no sample: it cannot be measured */
    SOON = 16,         /* runs of the best before another one gets a run, */
    LATE = 512,        /* and at most */
    OUTLIER = 4,       /* times the usual cost, not more */
    SINGLES = 8,       /* messages in a row that were alone: these are no windows */
    HOPELESS = 8,      /* times the cost of the best way, */
    HOPELESS_SURE = 2, /* so many times in a row */
    FIRST_UNCACHED = 7 /* class of messages that no cache holds */
};

static struct way_state {
    uint32_t cost[WAYS]; /* 1/16 ticks per KiB */
    uint8_t runs[WAYS];  /* while learning */
    uint8_t known[WAYS]; /* samples, up to TRIALS */
    bool two_ways, begun, allowed[WAYS];
    uint8_t singles;     /* the last messages were alone, so many */
    uint8_t best, other; /* other: had the last run that was not of the best */
    uint16_t wait, left; /* runs of the best until the next of another one */
    uint8_t way;         /* of this run */
    uint16_t length;     /* of this run, so far */

    uint8_t last;      /* way of the last message that is over */
    uint8_t hopeless;  /* so many were, in a row */
    bool alone;        /* it was */
    uint32_t messages; /* over, that went this way, in this sample */
    uint64_t ticks, bytes;
} states[TRAFFICS][WAY_CLASSES];

static bool is_cached(int c)
{
    return c < FIRST_UNCACHED;
}

void ways_open(bool read)
{
    uint8_t first = read ? WAY_READ : WAY_COPY;
    struct way_state fresh = { .best = first,
                               .way = first,
                               .last = WAYS,
                               .wait = SOON,
                               .left = SOON,
                               .allowed = { [WAY_COPY] = true, [WAY_READ] = read } };
    for (int c = 0; c < WAY_CLASSES; c++) {
        states[ONE_WAY][c] = states[TWO_WAYS][c] = fresh;
        states[ONE_WAY][c].allowed[WAY_BOTH] = read;
        states[TWO_WAYS][c].two_ways = true;
        states[TWO_WAYS][c].allowed[WAY_COPY] = is_cached(c) || !read;
    }
}

/* ---- the way of the next message ---- */

static bool is_allowed(const struct way_state *s, int c, int way)
{
    bool window = s->two_ways && s->singles < SINGLES;
    return s->allowed[way] &&
           !(way == WAY_COPY && window && !is_cached(c + 1) && s->allowed[WAY_READ]);
}

/* The way that had the fewest runs while some are not known; WAYS when all are. */
static int way_unknown(const struct way_state *s, int c)
{
    int least = WAYS;
    bool learning = false;
    for (int way = WAYS - 1; way >= 0; way--) {
        if (!is_allowed(s, c, way))
            continue;
        learning |= s->known[way] < TRIALS && s->runs[way] < MOST_TRIALS;
        if (least == WAYS || s->runs[way] < s->runs[least])
            least = way;
    }
    return learning ? least : WAYS;
}

static int way_other(struct way_state *s, int c)
{
    for (int i = 0; i < WAYS; i++) {
        s->other = (uint8_t)((s->other + 1) % WAYS);
        if (s->other != s->best && is_allowed(s, c, s->other))
            return s->other;
    }
    return s->best;
}

static int run_choose(struct way_state *s, int c)
{
    int way = way_unknown(s, c);
    if (way != WAYS) {
        s->runs[way]++;
        return way;
    }
    if (!is_allowed(s, c, s->best))
        return WAY_READ;
    if (--s->left > 0)
        return s->best;
    s->left = s->wait;
    s->wait = s->wait < LATE ? 2 * s->wait : LATE;
    return way_other(s, c);
}

/* The first message of its class: what shorter ones taught us will do for a beginning. */
static void state_begin(struct way_state *s, int c)
{
    s->begun = true;
    if (c == 0 || (is_cached(c) && !s->two_ways))
        return;
    const struct way_state *shorter = s - 1;
    if (way_unknown(shorter, c - 1) != WAYS || !s->allowed[shorter->best])
        return;
    s->best = s->way = shorter->best;
    memset(s->runs, MOST_TRIALS, sizeof s->runs);
}

static bool run_is_over(const struct way_state *s, int c, bool quiet)
{
    bool windows = s->two_ways && c < WINDOW_CLASSES && s->singles < SINGLES;
    if (is_cached(c) && quiet && !windows)
        return s->length >= RUN;
    if (quiet && !is_cached(c))
        return s->length >= RUN_UNCACHED;
    return s->length >= (is_cached(c + 1) ? LONGEST_RUN : LONGEST_UNCACHED);
}

enum way way_take(size_t bytes, enum traffic traffic, bool quiet)
{
    int c = way_class(bytes);
    struct way_state *s = &states[traffic][c];
    if (!s->begun)
        state_begin(s, c);
    if (run_is_over(s, c, quiet)) {
        s->way = (uint8_t)run_choose(s, c);
        s->length = 0;
    }
    s->length++;
    return (enum way)s->way;
}

/* ---- what it cost ---- */

static uint64_t cost_of(const struct way_state *s, int way)
{
    return s->known[way] > 0 ? s->cost[way] : UINT32_MAX;
}

static void cost_learn(struct way_state *s, int way, uint64_t cost)
{
    uint64_t old = s->cost[way];
    if (cost > UINT32_MAX / OUTLIER)
        cost = UINT32_MAX / OUTLIER;
    if (s->known[way] == 0 || cost < old)
        old = s->known[way] < TRIALS ? cost : (old + 3 * cost) / 4;
    else if (s->known[way] == TRIALS)
        old += ((cost < OUTLIER * old ? cost : OUTLIER * old) - old) / 8;
    s->cost[way] = (uint32_t)old;
    s->known[way] += s->known[way] < TRIALS;
}

/* What the sender wrote lies in its cache, and the program pays when it looks at it.  So
 * `both` takes the place of copying only if it is better by half, where caches play a part; and where it is not,
 * reading may still be better than copying. */
static int best_way(const struct way_state *s, bool cached)
{
    uint64_t copy = cost_of(s, WAY_COPY), read = cost_of(s, WAY_READ),
             both = cost_of(s, WAY_BOTH);
    if (both < read && (cached ? both + both / 2 : both) < copy)
        return WAY_BOTH;
    return read < copy ? WAY_READ : WAY_COPY;
}

/* Small differences change nothing; less so where both sides must agree, or gain nothing. */
static void best_choose(struct way_state *s, bool cached)
{
    int best = best_way(s, cached);
    uint64_t now = cost_of(s, s->best);
    uint64_t least = s->two_ways ? now / 8 : best == WAY_COPY ? 0 : now / 16;
    if (best == s->best || cost_of(s, best) > now - least)
        return;
    s->best = (uint8_t)best;
    s->wait = s->left = SOON;
}

/* So many messages make a sample. */
static uint32_t sample_length(int c, bool alone)
{
    if (is_cached(c))
        return alone ? RUN - 1 : SAMPLE;
    return alone ? RUN_UNCACHED - 1 : SAMPLE_UNCACHED;
}

static void sample_drop(struct way_state *s)
{
    s->messages = 0;
    s->ticks = s->bytes = 0;
}

static void sample_end(struct way_state *s, int c)
{
    if (s->messages >= sample_length(c, true))
        cost_learn(s, s->last, s->ticks * 16 * 1024 / s->bytes);
    sample_drop(s);
    if (way_unknown(s, c) == WAYS)
        best_choose(s, s->alone && is_cached(c));
}

/* The cost of a try that had better end; 0: it goes on. */
static uint64_t hopeless_cost(const struct way_state *s, const struct way_trip *trip)
{
    uint64_t cost = trip->ticks * 16 * 1024 / (trip->moved ? trip->moved : 1);
    bool is_try = trip->way != s->best && s->known[s->best] > 0;
    return is_try && cost > HOPELESS * cost_of(s, s->best) ? cost : 0;
}

static void run_give_up(struct way_state *s, int way, uint64_t cost)
{
    cost_learn(s, way, cost);
    s->hopeless = 0;
    s->last = (uint8_t)way;
    sample_drop(s);
    if (s->way == way)
        s->length = LONGEST_RUN;
}

void way_took(const struct way_trip *trip)
{
    int c = way_class(trip->bytes);
    struct way_state *s = &states[trip->traffic][c];
    uint64_t hopeless = hopeless_cost(s, trip);
    if (hopeless) {
        if (++s->hopeless >= HOPELESS_SURE)
            run_give_up(s, trip->way, hopeless);
        return;
    }
    s->hopeless = 0;
    if (trip->way != s->last) {
        sample_end(s, c);
        s->last = (uint8_t)trip->way;
        return; /* part of its time belongs to the other ways */
    }
    s->alone = trip->alone;
    s->singles = (uint8_t)(!trip->alone ? 0 : s->singles < SINGLES ? s->singles + 1 : SINGLES);
    s->ticks += trip->ticks;
    s->bytes += trip->moved;
    if (++s->messages >= sample_length(c, trip->alone))
        sample_end(s, c);
}

/* ---- for people ---- */

static void state_log(enum traffic traffic, int c)
{
    static const char *const names[] = { "copy", "read", "both" };
    const struct way_state *s = &states[traffic][c];
    if (s->begun)
        log_line("messages from %d KiB%s: %s (copy %u, read %u, both %u ticks per KiB)", 8 << c,
                 traffic == ONE_WAY ? "" : " both ways", names[s->best], s->cost[WAY_COPY] / 16,
                 s->cost[WAY_READ] / 16, s->cost[WAY_BOTH] / 16);
}

void ways_log(void)
{
    for (int c = 0; c < WAY_CLASSES; c++)
        for (int traffic = 0; traffic < TRAFFICS; traffic++)
            state_log((enum traffic)traffic, c);
}
