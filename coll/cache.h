/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans of a team, made once and kept.
 */
#ifndef XMPI_CACHE_H
#define XMPI_CACHE_H

#include "coll/plan.h"
#include "coll/rules.h"

struct plan_cache;

struct cached {
    struct plan plan;
    const struct algorithm *algorithm;
    int users;     /* runs in flight and persistent requests */
    uint64_t last; /* when it was last asked for, in askings */
    struct cached *next;
};

/* The plan for a key, made if need be; in use until cache_drop.  *fresh: it was made now. */
int cache_get(struct plan_cache **cache, const struct algorithm *algorithm,
              const struct plan_key *key, struct cached **cached, bool *fresh);
void cache_drop(struct cached *cached);

/* No plan may be in use. */
void cache_close(struct plan_cache *cache);

/* True the first time it is asked on this team for an algorithm of the table, in this mode. */
bool cache_first_time(struct plan_cache **cache, const struct algorithm *a, enum mode mode);

#endif
