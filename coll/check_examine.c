/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What can be seen of the plans of all ranks without performing them: blocks that there are, parts of a
 * vector that go where they belong, steps that wait for those before them, both ends of each message.
 */
#include "coll/check_stage.h"

#include "coll/ends.h"
#include "coll/rules.h"

#include <stdlib.h>

static bool span_fits(struct stage *g, int r, int step, struct span s, bool written)
{
    const struct memory *m = &g->actor[r].room[s.room];
    if (s.n == 0)
        return true;
    if (s.first < 0 || s.n < 0 || s.first + s.n > m->nblocks)
        return stage_wrong(g, "rank %d step %d: blocks %d..%d of %s, which has %d", r, step,
                           s.first, s.first + s.n - 1, room_name(s.room), m->nblocks);
    if (!m->there)
        return stage_wrong(g, "rank %d step %d: uses %s, which it does not have", r, step,
                           room_name(s.room));
    if (written && s.room == ROOM_IN)
        return stage_wrong(g, "rank %d step %d: writes its input", r, step);
    return true;
}

/* Only reductions have an operation. */
static bool may_add(struct stage *g, int r, int step, const struct step *s)
{
    bool adds = s->verb == VERB_FOLD || s->verb == VERB_JOIN;
    return !adds || is_reduction(g->world->what) ||
           stage_wrong(g, "rank %d step %d: adds up, and %s has no operation", r, step,
                       collective_name(g->world->what));
}

/* Bytes are not copied over each other: what has gaps is copied piece by piece. */
static bool may_copy(struct stage *g, int r, int step, const struct step *s)
{
    bool over = s->verb == VERB_COPY && s->to.room == s->from.room &&
                s->to.first < s->from.first + s->from.n &&
                s->from.first < s->to.first + s->to.n;
    return !over || stage_wrong(g, "rank %d step %d: copies blocks over each other", r, step);
}

/* Of a vector that is cut in n blocks, which may be of different length, a block is one part: block i of any copy
 * of it the part i modulo n.  Where nothing is known of lengths: 0. */
static int part_of(const struct stage *g, int r, struct span s)
{
    const struct world *w = g->world;
    int n = g->actor[r].plan->nblocks[ROOM_IN];
    if (!is_reduction(w->what) || w->split || n == 0 || s.n == 0)
        return 0;
    if (is_reduce_scatter(w->what) && s.room == ROOM_OUT)
        return r * w->pieces + s.first;
    return s.first % n;
}

/* Its blocks lie in one copy of the vector, and what it writes is as long as what it is made of. */
static bool parts_agree(struct stage *g, int r, int step, const struct step *s)
{
    int n = g->actor[r].plan->nblocks[ROOM_IN], to = part_of(g, r, s->to),
        from = part_of(g, r, s->from);
    bool apart = is_reduction(g->world->what) && !g->world->split && n > 0;
    if (apart && ((s->to.room == ROOM_TMP && s->to.n > n - to) ||
                  (s->from.room == ROOM_TMP && s->from.n > n - from)))
        return stage_wrong(
            g, "rank %d step %d: blocks of tmp that are not one behind the other", r, step);
    if (s->to.n && s->from.n && to != from)
        return stage_wrong(g, "rank %d step %d: takes part %d of the vector for part %d", r,
                           step, from, to);
    return true;
}

/* The lengths of blocks that are passed on go before them, one for each block of tmp. */
static bool written_once(struct stage *g, int r)
{
    const struct plan *plan = g->actor[r].plan;
    int n = plan->nblocks[ROOM_TMP];
    if (n == 0 || !has_sized_scratch(g->world->what))
        return true;
    bool *written = calloc((size_t)n, sizeof *written), twice = false;
    if (!written)
        return stage_no_memory(g);
    for (int i = 0; i < plan->nsteps; i++)
        for (int b = 0; plan->step[i].to.room == ROOM_TMP && b < plan->step[i].to.n; b++) {
            twice |= written[plan->step[i].to.first + b];
            written[plan->step[i].to.first + b] = true;
        }
    free(written);
    return !twice ||
           stage_wrong(g, "rank %d writes a block of tmp twice, which may be of other lengths",
                       r);
}

static struct ends *ends_of_step(const struct ends_table *table, int r, const struct step *s)
{
    return s->verb == VERB_SEND ? ends_of(table, r, s->peer, s->slot)
                                : ends_of(table, s->peer, r, s->slot);
}

static bool list_ends(struct stage *g, int r, const struct ends_table *table)
{
    const struct plan *plan = g->actor[r].plan;
    for (int i = 0; i < plan->nsteps; i++) {
        const struct step *s = &plan->step[i];
        if (step_is_local(s))
            continue;
        if (s->peer < 0 || s->peer >= g->world->p || s->peer == r)
            return stage_wrong(g, "rank %d step %d: peer %d", r, i, s->peer);
        struct ends *ends = ends_of_step(table, r, s);
        *(s->verb == VERB_SEND ? &ends->sent : &ends->taken) = i + 1;
    }
    return true;
}

static bool find_partner(struct stage *g, int r, int i, const struct ends_table *table)
{
    const struct step *s = &g->actor[r].plan->step[i];
    const struct ends *ends = ends_of_step(table, r, s);
    int k = (s->verb == VERB_SEND ? ends->taken : ends->sent) - 1;
    if (k < 0)
        return stage_wrong(g, "rank %d step %d: message %u to or from %d has no other end", r,
                           i, s->slot, s->peer);
    const struct actor *peer = &g->actor[s->peer];
    const struct step *t = &peer->plan->step[k];
    int mine = count(&g->actor[r], s->verb == VERB_SEND ? s->from : s->to);
    int other = count(peer, t->verb == VERB_SEND ? t->from : t->to);
    if (mine != other)
        return stage_wrong(g, "rank %d step %d: %d units, the other end has %d", r, i, mine,
                           other);
    int part = part_of(g, r, s->verb == VERB_SEND ? s->from : s->to);
    int others = part_of(g, s->peer, t->verb == VERB_SEND ? t->from : t->to);
    if (part != others)
        return stage_wrong(g,
                           "rank %d step %d: part %d of the vector, the other end has part %d",
                           r, i, part, others);
    g->actor[r].partner[i] = k;
    return true;
}

static bool find_partners(struct stage *g)
{
    struct ends_table table;
    int p = g->world->p;
    size_t steps = 0;
    for (int r = 0; r < p; r++)
        steps += (size_t)g->actor[r].plan->nsteps;
    bool good = ends_open(&table, steps) || stage_no_memory(g);
    for (int r = 0; good && r < p; r++)
        good = list_ends(g, r, &table);
    for (int r = 0; good && r < p; r++)
        for (int i = 0; good && i < g->actor[r].plan->nsteps; i++)
            if (!step_is_local(&g->actor[r].plan->step[i]))
                good = find_partner(g, r, i, &table);
    ends_close(&table);
    return good;
}

bool stage_examine(struct stage *g)
{
    for (int r = 0; r < g->world->p; r++)
        for (int i = 0; i < g->actor[r].plan->nsteps; i++) {
            const struct step *s = &g->actor[r].plan->step[i];
            if (!may_add(g, r, i, s) || !may_copy(g, r, i, s) ||
                !span_fits(g, r, i, s->to, true) || !span_fits(g, r, i, s->from, false) ||
                !parts_agree(g, r, i, s))
                return false;
        }
    for (int r = 0; r < g->world->p; r++)
        if (!written_once(g, r))
            return false;
    for (int r = 0; r < g->world->p; r++) {
        int waits = 0, lost = -1;
        if (!check_hazards(g->actor[r].plan, &waits, &lost) && lost < 0)
            return stage_no_memory(g);
        if (lost >= 0)
            return stage_wrong(g, "rank %d: step %d does not wait for step %d", r, waits, lost);
    }
    return find_partners(g);
}
