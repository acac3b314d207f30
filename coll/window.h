/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The steps of a rolled plan that are under way.
 *
 *     over over over | 17 over 19 20 ... 80 | 81 not yet
 *                      ^oldest          ^entered - 1
 *
 * Steps enter in program order, up to 64 from the oldest that is not over.  What enters waits for
 * those before it that touch a block in common, one of the two writing, or that it has to wait for
 * because the plan is throttled; what has left is over, so it need not be looked at.  A step that
 * waits is a bit in the word of the one it waits for.
 *
 * Costs some 5 KiB, and some ten nanoseconds for each step that enters.
 */
#ifndef XMPI_COLL_WINDOW_H
#define XMPI_COLL_WINDOW_H

#include "coll/plan.h"

enum { WINDOW_MOST = 64 };
_Static_assert(WINDOW_MOST <= 64, "a word has a bit for each of them");

struct window {
    const struct plan *plan;
    int size, oldest, entered;
    int nmessages[2]; /* sends and receives that have entered */
    struct entry {
        struct step step;
        uint64_t after; /* a bit for each entry that waits for this one */
        int nth;        /* of the sends, or of the receives */
        bool over;
    } entry[WINDOW_MOST];
};

/* Before the first step. */
void window_begin(struct window *window, const struct plan *plan);

static inline bool window_has_room(const struct window *w)
{
    return w->entered < w->plan->nsteps && w->entered < w->oldest + w->size;
}

/* The next step enters.  Returns for how many it has to wait. */
int window_enter(struct window *window);

/* Step i is over: it leaves, and others may enter.  Returns the entries that waited for it. */
uint64_t window_leave(struct window *window, int i);

static inline const struct step *window_step(const struct window *w, int i)
{
    return &w->entry[i % w->size].step;
}

#endif
