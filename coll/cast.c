/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The roles of all ranks, or the one that is that of all, and the two ends of each message.
 *
 * The other end of a message is found in a table of all receives, by sender, receiver and number;
 * with symmetry in the role itself, since what rank r sends to r + d somebody sends to it.
 */
#include "coll/cast.h"

#include "coll/effort.h"
#include "coll/ends.h"
#include "coll/wraps.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>

enum { SAMPLE = 16, ALL_TESTED = 1 << 14, LONG_ROLE = 1 << 17 };

/* Seats as the programs know them: by node, then by cache, as far as ranks are apart. */
static int make_places(struct cast *cast, const struct price_query *query)
{
    int per[2] = { query->seats.per_node, query->seats.per_cache }, p = query->p;
    cast->group = malloc(2 * (size_t)p * sizeof *cast->group);
    if (!cast->group)
        return cast_no_memory(cast);
    for (int i = 0; i < 2; i++) {
        if (per[i] <= 0 || per[i] >= p)
            continue;
        int *group = cast->group + (size_t)i * (size_t)p;
        for (int r = 0; r < p; r++)
            group[r] = r - r % per[i];
        cast->places.each[cast->places.levels] = per[i];
        cast->places.first[cast->places.levels++] = group;
    }
    if (cast->places.levels == 2 && per[0] % per[1])
        cast->places.each[0] = 0; /* caches that reach across nodes */
    return 0;
}

/* ---- symmetry ---- */

static void make_relative(struct role *role, int me, int p, enum symmetry symmetry)
{
    for (int i = 0; i < role->nacts; i++) {
        int32_t *peer = &role->act[i].peer;
        if (*peer >= 0)
            *peer = symmetry == SYMMETRY_SHIFT ? mod(*peer - me, p) : *peer ^ me;
    }
}

static bool alike(const struct role *a, const struct role *b)
{
    if (a->nacts != b->nacts)
        return false;
    for (int i = 0; i < a->nacts; i++)
        if (a->act[i].verb != b->act[i].verb || a->act[i].peer != b->act[i].peer ||
            a->act[i].bytes != b->act[i].bytes)
            return false;
    return true;
}

/* Another rank to compare with rank 0, rank 1 before all others but 0: all of them, or the ends, the middle and some
 * others, the fewer the more they have to do. */
static int tested_rank(int p, int nacts, int i)
{
    if ((int64_t)p * (nacts + 1) <= ALL_TESTED)
        return i < p ? i : -1;
    if (nacts > LONG_ROLE)
        return i < 3 ? (const int[]){ 1, p / 2, p - 1 }[i] : -1;
    if (i < 4)
        return i < p ? i : -1;
    if (i < 8)
        return i - 4 < p ? p - 1 - (i - 4) : -1;
    uint64_t random = (uint64_t)i * 6364136223846793005ull + 1442695040888963407ull;
    return i < SAMPLE ? i == 8 ? p / 2 : (int)((random >> 33) % (uint64_t)p) : -1;
}

/* The receive that my send to the peer meets, in the same role: the one from the other side. */
static bool pair_up(struct role *role, int p, enum symmetry symmetry)
{
    int n = role->nacts, *partner = malloc(((size_t)n + 1) * sizeof *partner);
    int from = 0;
    bool good = partner != NULL;
    for (int i = 0; good && i < n; i++)
        partner[i] = -1;
    for (int i = 0; good && i < n; i++) {
        struct act *s = &role->act[i];
        if (s->verb != VERB_SEND)
            continue;
        int back = symmetry == SYMMETRY_SHIFT ? mod(-s->peer, p) : s->peer;
        bool found = false;
        for (int tried = 0; tried < n && !found; tried++, from = from + 1 < n ? from + 1 : 0) {
            struct act *t = &role->act[from];
            found = t->peer == back && t->verb != VERB_SEND && t->partner == s->partner;
            if (found)
                partner[i] = from, partner[from] = i;
        }
        good = found;
    }
    for (int i = 0; good && i < n; i++) {
        good = partner[i] >= 0 || role->act[i].peer < 0;
        role->act[i].partner = partner[i];
    }
    free(partner);
    return good;
}

/* Do all ranks do as rank 0 does?  The role is left relative, with partners, when they do. */
static int test_symmetry(struct cast *cast, const struct price_query *query, double scale,
                         enum symmetry symmetry)
{
    struct role first = { 0 };
    int error = role_make(cast, query, scale, 0, &first);
    bool same = !error;
    if (same)
        make_relative(&first, 0, cast->p, symmetry);
    for (int i = 0, rank; same && (rank = tested_rank(cast->p, first.nacts, i)) >= 0; i++) {
        struct role other = { 0 };
        error = role_make(cast, query, scale, rank, &other);
        if (!error)
            make_relative(&other, rank, cast->p, symmetry);
        same = !error && alike(&first, &other) &&
               wraps_alike(&first, &other, rank, symmetry == SYMMETRY_SHIFT ? cast->p : 0);
        role_free(&other);
    }
    if (same && pair_up(&first, cast->p, symmetry)) {
        wraps_most(&first);
        cast->symmetry = symmetry;
        *cast->role = first;
        cast->nroles = 1;
    } else {
        role_free(&first);
    }
    return error;
}

/* No error without symmetry: they do not. */
static int open_alike(struct cast *cast, const struct price_query *query, double scale,
                      struct grouping grouping, size_t most)
{
    int error = 0;
    if ((!grouping.shift && !grouping.flip) || query->algorithm->inter)
        return 0;
    cast->role = calloc(1, sizeof *cast->role);
    if (!cast->role)
        return cast_no_memory(cast);
    if (grouping.shift > 0) {
        error = test_symmetry(cast, query, scale, SYMMETRY_SHIFT);
        cast->nactors = grouping.shift;
    }
    if (!error && !cast->symmetry && grouping.flip > 0) {
        error = test_symmetry(cast, query, scale, SYMMETRY_FLIP);
        cast->nactors = grouping.flip;
    }
    if (cast->symmetry) {
        cast->acts = (int64_t)cast->nactors * cast->role->nacts;
        if ((size_t)cast->acts > most)
            return effort_refuse(query, (struct effort){ .steps = (double)cast->acts }, most);
    } else {
        free(cast->role);
        cast->role = NULL;
    }
    return error;
}

/* ---- everybody ---- */

static void note_receives(const struct cast *cast, struct ends_table *table)
{
    for (int r = 0; r < cast->nactors; r++)
        for (int i = 0; i < cast->role[r].nacts; i++) {
            const struct act *a = &cast->role[r].act[i];
            if (a->peer >= 0 && a->verb != VERB_SEND)
                ends_of(table, a->peer, r, (uint32_t)a->partner)->taken = i + 1;
        }
}

static int find_partners(struct cast *cast)
{
    struct ends_table table;
    if (!ends_open(&table, (size_t)cast->acts))
        return cast_no_memory(cast);
    note_receives(cast, &table);
    int error = 0;
    for (int r = 0; !error && r < cast->nactors; r++)
        for (int i = 0; !error && i < cast->role[r].nacts; i++) {
            struct act *a = &cast->role[r].act[i];
            if (a->verb != VERB_SEND)
                continue;
            const struct ends *e = ends_of(&table, r, a->peer, (uint32_t)a->partner);
            if (e->taken == 0)
                error = fail(MPI_ERR_INTERN, "rank %d sends to %d what it does not receive", r,
                             a->peer);
            else
                a->partner = e->taken - 1, cast->role[a->peer].act[a->partner].partner = i;
        }
    ends_close(&table);
    return error;
}

static int open_all(struct cast *cast, const struct price_query *query, double scale,
                    size_t most)
{
    cast->nactors = cast->p;
    cast->role = calloc((size_t)cast->p, sizeof *cast->role);
    if (!cast->role)
        return cast_no_memory(cast);
    struct plan_key key = cast_key(cast, query, 0);
    int error = effort_all(query, &key, most);
    cast->touched = 0;
    for (int r = 0; !error && r < cast->p; r++) {
        error = role_make(cast, query, scale, r, &cast->role[r]);
        if (error)
            return error;
        cast->nroles = r + 1;
        cast->acts += cast->role[r].nacts;
        double times = (double)cast->p / (r + 1);
        if ((size_t)cast->acts > most || cast->touched > effort_most_touched)
            error = effort_refuse(query,
                                  (struct effort){ .steps = times * (double)cast->acts,
                                                   .touched = times * cast->touched },
                                  most);
    }
    return error ? error : find_partners(cast);
}

/* ---- in the end ---- */

static int64_t places_of(const struct price_query *query)
{
    int64_t n = query->dims ? 1 : query->p;
    for (int i = 0; query->dims && i < query->ndims; i++)
        n *= query->dims[i];
    return n;
}

int cast_objection(const struct price_query *query)
{
    static const struct places somewhere = { .levels = 1 };
    const struct algorithm *a = query->algorithm;
    bool apart = (query->seats.per_node > 0 && query->seats.per_node < query->p) ||
                 (query->seats.per_cache > 0 && query->seats.per_cache < query->p);
    const char *why = !a->program                ? "it is no plan"
                      : a->inter && query->p < 2 ? "two groups are two ranks at least"
                      : a->inter && price_split(query) >= query->p ? "the second group is empty"
                      : is_neighbourhood(a->what) && places_of(query) != query->p
                          ? "its torus has not as many places"
                          : NULL;
    if (!why)
        why = algorithm_objection(a, query->p, apart ? &somewhere : NULL);
    if (why)
        return fail(MPI_ERR_UNSUPPORTED_OPERATION, "%s:%s on %d ranks has no price: %s",
                    collective_name(a->what), a->name, query->p, why);
    return 0;
}

static int open_places(struct cast *cast, const struct price_query *query)
{
    *cast = (struct cast){ .p = query->p };
    int error = cast_objection(query);
    if (!error && query->algorithm->needs == NEEDS_PLACES)
        error = make_places(cast, query);
    return error;
}

int cast_first(struct cast *cast, const struct price_query *query)
{
    int error = open_places(cast, query);
    if (error)
        return error;
    cast->role = calloc(1, sizeof *cast->role);
    if (!cast->role)
        return cast_no_memory(cast);
    cast->nroles = cast->nactors = 1;
    return role_make(cast, query, 1, 0, cast->role);
}

/* However alike the ranks are, so many are performed. */
static int fewest_actors(struct grouping grouping)
{
    int shift = grouping.shift, flip = grouping.flip;
    return shift && flip ? least(shift, flip) : shift + flip > 0 ? shift + flip : 1;
}

int cast_open(struct cast *cast, const struct price_query *query, double scale,
              struct grouping grouping, size_t most)
{
    int error = open_places(cast, query);
    if (!error) {
        struct plan_key key = cast_key(cast, query, 0);
        struct effort one = effort_one(query, &key);
        one.steps *= fewest_actors(grouping);
        error = effort_refuse(query, one, most);
    }
    if (!error)
        error = open_alike(cast, query, scale, grouping, most);
    if (error || cast->symmetry)
        return error;
    return open_all(cast, query, scale, most);
}

int cast_open_alike(struct cast *cast, const struct price_query *query, double scale,
                    struct grouping grouping)
{
    int error = open_places(cast, query);
    if (!error)
        error = open_alike(cast, query, scale, grouping, SIZE_MAX);
    if (!error && !cast->symmetry)
        error =
            fail(MPI_ERR_UNSUPPORTED_OPERATION, "%s:%s on %d ranks: they do not all do alike",
                 collective_name(query->algorithm->what), query->algorithm->name, query->p);
    return error;
}

void cast_close(struct cast *cast)
{
    for (int i = 0; i < cast->nroles; i++)
        role_free(&cast->role[i]);
    free(cast->role);
    free(cast->group);
    *cast = (struct cast){ .p = 0 };
}
