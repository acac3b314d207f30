/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What waits for what, among few: as plan_infer, but every pair of steps is compared.
 */
#include "coll/window.h"

#include "coll/roll.h"

void window_begin(struct window *w, const struct plan *plan)
{
    w->plan = plan;
    w->size = least(roll_bounds.window, WINDOW_MOST);
    w->oldest = w->entered = 0;
    w->nmessages[0] = w->nmessages[1] = 0;
}

static bool conflict(const struct step *before, const struct step *now)
{
    return spans_overlap(before->to, now->to) || spans_overlap(before->to, now->from) ||
           spans_overlap(before->from, now->to);
}

/* Must a message wait for this one, which is as many before it as may be under way? */
static bool throttled(const struct plan *plan, const struct entry *before,
                      const struct entry *now)
{
    if (plan->in_flight == 0 || step_is_local(&before->step) || step_is_local(&now->step) ||
        before->nth != now->nth - plan->in_flight)
        return false;
    return plan->by_rounds || (before->step.verb == VERB_SEND) == (now->step.verb == VERB_SEND);
}

int window_enter(struct window *w)
{
    int now = w->entered++, waits = 0;
    struct entry *e = &w->entry[now % w->size];
    e->step = roll_step(w->plan, now);
    e->after = 0;
    e->over = false;
    if (!step_is_local(&e->step))
        e->nth = w->nmessages[e->step.verb != VERB_SEND]++;
    for (int i = w->oldest; i < now; i++) {
        struct entry *before = &w->entry[i % w->size];
        if (before->over ||
            (!conflict(&before->step, &e->step) && !throttled(w->plan, before, e)))
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
