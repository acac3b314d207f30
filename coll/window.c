/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What waits for what, among few: as plan_infer, but every pair of steps is compared.
 */
#include "coll/window.h"

#include "coll/roll.h"

#include <assert.h>

void window_begin(struct window *w, const struct plan *plan)
{
    assert(plan->in_flight == 0); /* such programs are not rolled */
    w->plan = plan;
    w->size = least(roll_bounds.window, WINDOW_MOST);
    w->oldest = w->entered = 0;
}

static bool overlap(struct span a, struct span b)
{
    return a.n && b.n && a.room == b.room && a.first < b.first + b.n && b.first < a.first + a.n;
}

static bool conflict(const struct step *before, const struct step *now)
{
    return overlap(before->to, now->to) || overlap(before->to, now->from) ||
           overlap(before->from, now->to);
}

int window_enter(struct window *w)
{
    int now = w->entered++, waits = 0;
    struct entry *e = &w->entry[now % w->size];
    e->step = roll_step(w->plan, now);
    e->after = 0;
    e->over = false;
    for (int i = w->oldest; i < now; i++) {
        struct entry *before = &w->entry[i % w->size];
        if (before->over || !conflict(&before->step, &e->step))
            continue;
        before->after |= (uint64_t)1 << (now % w->size);
        waits++;
    }
    return waits;
}

uint64_t window_leave(struct window *w, int i)
{
    struct entry *e = &w->entry[i % w->size];
    e->over = true;
    uint64_t after = e->after;
    while (w->oldest < w->entered && w->entry[w->oldest % w->size].over)
        w->oldest++;
    return after;
}
