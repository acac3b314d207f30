/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans kept per team.  A plan depends on algorithm, root, pieces, radix, throttle and what in place means, never
 * on data, so a program needs few; making one costs a microsecond or, for a long one, many.
 *
 * A table of lists, by hash of the key.  When the steps of all plans exceed CACHED_STEPS (about
 * 4 MiB), the plans that nobody uses and that were not asked for longest are given up.
 */
#include "coll/cache.h"

#include "coll/choose.h"
#include "coll/own.h"
#include "coll/roll.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>

enum { LISTS = 32, CACHED_STEPS = 1 << 16 };

struct plan_cache {
    struct cached *list[LISTS];
    uint64_t askings;
    long steps;
    uint8_t explained[MOST_ALGORITHMS]; /* a bit per mode */
};
_Static_assert(PERSISTENT < 8, "each mode has one");

static struct plan_cache *cache_made(struct plan_cache **cache)
{
    if (!*cache)
        *cache = calloc(1, sizeof(**cache));
    return *cache;
}

static unsigned key_hash(const struct algorithm *algorithm, const struct plan_key *key)
{
    return ((unsigned)((uintptr_t)algorithm / sizeof *algorithm) * 5 + (unsigned)key->root +
            (unsigned)key->alias * 3 + (unsigned)key->pieces + (unsigned)key->radix * 7 +
            (unsigned)key->throttle * 11) %
           LISTS;
}

static bool same_key(const struct plan_key *a, const struct plan_key *b)
{
    return a->root == b->root && a->alias == b->alias && a->pieces == b->pieces &&
           a->radix == b->radix && a->throttle == b->throttle;
}

static struct cached **oldest_unused(struct plan_cache *cache)
{
    struct cached **oldest = NULL;
    for (int i = 0; i < LISTS; i++)
        for (struct cached **c = &cache->list[i]; *c; c = &(*c)->next)
            if ((*c)->users == 0 && (!oldest || (*c)->last < (*oldest)->last))
                oldest = c;
    return oldest;
}

static int kept_steps(const struct plan *plan)
{
    return plan->roll ? roll_beats(plan->roll) : plan->nsteps;
}

static void give_up(struct plan_cache *cache, struct cached **c)
{
    struct cached *gone = *c;
    *c = gone->next;
    cache->steps -= kept_steps(&gone->plan);
    plan_free(&gone->plan);
    free(gone);
}

static void make_room(struct plan_cache *cache)
{
    while (cache->steps > CACHED_STEPS) {
        struct cached **oldest = oldest_unused(cache);
        if (!oldest)
            return;
        give_up(cache, oldest);
    }
}

static int make(struct plan_cache *cache, const struct algorithm *algorithm,
                const struct plan_key *key, struct cached **cached)
{
    int wrong = algorithm->script ? own_verify(algorithm, key) : 0;
    struct cached *made = wrong ? NULL : calloc(1, sizeof(*made));
    if (wrong)
        return wrong;
    if (!made)
        return fail(MPI_ERR_NO_MEM, "no memory for one more plan");
    int error = plan_keep(&made->plan, key, algorithm->program);
    if (error) {
        plan_free(&made->plan);
        free(made);
        return error;
    }
    made->algorithm = algorithm;
    made->users = 1;
    struct cached **list = &cache->list[key_hash(algorithm, key)];
    made->next = *list;
    *list = made;
    cache->steps += kept_steps(&made->plan);
    make_room(cache);
    *cached = made;
    return 0;
}

int cache_get(struct plan_cache **cache, const struct algorithm *algorithm,
              const struct plan_key *key, struct cached **cached, bool *fresh)
{
    struct plan_cache *c = cache_made(cache);
    *fresh = false;
    if (!c)
        return fail(MPI_ERR_NO_MEM, "no memory for the plans of a communicator");
    c->askings++;
    struct cached *found = c->list[key_hash(algorithm, key)];
    while (found && (found->algorithm != algorithm || !same_key(&found->plan.key, key)))
        found = found->next;
    if (found) {
        found->users++;
        found->last = c->askings;
        *cached = found;
        return 0;
    }
    *fresh = true;
    int error = make(c, algorithm, key, cached);
    if (!error)
        (*cached)->last = c->askings;
    return error;
}

void cache_drop(struct cached *cached)
{
    cached->users--;
}

void cache_close(struct plan_cache *cache)
{
    for (int i = 0; cache && i < LISTS; i++)
        while (cache->list[i])
            give_up(cache, &cache->list[i]);
    free(cache);
}

bool cache_first_time(struct plan_cache **cache, const struct algorithm *a, enum mode mode)
{
    struct plan_cache *c = cache_made(cache);
    uint8_t *bits = c ? &c->explained[a - algorithms] : NULL;
    bool first = c && !(*bits >> mode & 1);
    if (first)
        *bits |= (uint8_t)(1u << mode);
    return first;
}
