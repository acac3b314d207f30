/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Learning which means is faster, see means.h.  At first the two in turns; then the better one, and now and
 * then a run of the other, more and more rarely while that changes nothing.
 */
#include "runtime/means.h"

#include "runtime/log.h"

enum {
    RUN = 8,     /* pieces, of which the first does not count */
    TRIALS = 3,  /* samples of each until it is known */
    SOON = 16,   /* runs of the best until the other one gets a run, */
    LATE = 1024, /* and at most */
    OUTLIER = 4, /* times the usual time of a piece, not more */
    MOST_COST = 1 << 30
};

static int class_of(size_t bytes)
{
    int log = bytes <= 8192 ? 0 : 64 - __builtin_clzll(bytes - 1) - 13;
    return log < MEANS_CLASSES ? log : MEANS_CLASSES - 1;
}

static bool is_known(const struct means_state *s)
{
    return s->known[MEANS_FIRST] == TRIALS && s->known[MEANS_SECOND] == TRIALS;
}

bool means_known(const struct means_table *table, size_t bytes)
{
    return is_known(&table->of[class_of(bytes)]);
}

/* ---- what it cost ---- */

/* Smaller samples at once, larger ones slowly. */
static void cost_learn(struct means_state *s, enum means means, uint64_t cost)
{
    uint64_t old = s->cost[means];
    cost = cost < MOST_COST ? cost : MOST_COST;
    if (s->known[means] < TRIALS)
        old = s->known[means] == 0 || cost < old ? cost : old;
    else if (cost < old)
        old = (old + 3 * cost) / 4;
    else
        old += (cost - old) / 4;
    s->cost[means] = (uint32_t)old;
    s->known[means] += s->known[means] < TRIALS;
}

static void best_choose(struct means_state *s)
{
    enum means best =
        s->cost[MEANS_SECOND] <= s->cost[MEANS_FIRST] ? MEANS_SECOND : MEANS_FIRST;
    if (best == s->best && s->wait > 0)
        return;
    s->best = best;
    s->wait = s->left = SOON;
}

void means_took(struct means_table *table, enum means means, size_t bytes, uint64_t ticks)
{
    struct means_state *s = &table->of[class_of(bytes)];
    if (bytes == 0 || means != s->now || s->taken <= 1)
        return;
    uint64_t usual = s->cost[means] * (uint64_t)bytes / (16 * 1024) + 1;
    if (s->known[means] == TRIALS && ticks > OUTLIER * usual)
        ticks = OUTLIER * usual; /* somebody else had the processor */
    s->ticks += ticks;
    s->bytes += bytes;
    s->samples++;
}

/* ---- which ---- */

static enum means run_choose(struct means_state *s)
{
    if (!is_known(s))
        return s->known[MEANS_SECOND] <= s->known[MEANS_FIRST] ? MEANS_SECOND : MEANS_FIRST;
    best_choose(s);
    if (--s->left > 0)
        return s->best;
    s->left = s->wait = s->wait < LATE ? 2 * s->wait : LATE;
    return s->best == MEANS_SECOND ? MEANS_FIRST : MEANS_SECOND;
}

static void run_end(struct means_state *s)
{
    if (s->samples > 0)
        cost_learn(s, s->now, s->ticks * 16 * 1024 / s->bytes);
    s->now = run_choose(s);
    s->taken = s->samples = 0;
    s->ticks = s->bytes = 0;
}

uint64_t *means_over(struct means_table *table, size_t bytes)
{
    struct means_state *s = &table->of[class_of(bytes)];
    return s->taken == RUN && s->samples > 0 ? &s->ticks : NULL;
}

enum means means_take(struct means_table *table, size_t bytes)
{
    struct means_state *s = &table->of[class_of(bytes)];
    if (s->taken == 0 || s->taken == RUN)
        run_end(s);
    s->taken++;
    return (enum means)s->now;
}

/* ---- for people ---- */

void means_log(const struct means_table *table, const char *what,
               const char *const names[MEANS])
{
    for (int c = 0; c < MEANS_CLASSES; c++) {
        const struct means_state *s = &table->of[c];
        if (is_known(s))
            log_line("%s: up to %d KiB%s %s (%s %u, %s %u ticks per KiB)", what, 8 << c,
                     c < MEANS_CLASSES - 1 ? "" : " and more", names[s->best],
                     names[MEANS_FIRST], s->cost[MEANS_FIRST] / 16, names[MEANS_SECOND],
                     s->cost[MEANS_SECOND] / 16);
    }
}
