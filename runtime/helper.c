/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The wait of a thread that only helps (assist.c): it sleeps on the bell while the program computes, stands back
 * while the program waits or calls, and is spared the bell in calls.
 */
#include "runtime/wait.h"

#include "runtime/clock.h"
#include "runtime/follow.h"
#include "runtime/lock.h"

#include <time.h>

enum {
    ASSIST_NAP_NS = 100000,
    ASSIST_MOST_NAPS = 7,
    ASSIST_CALLED_NAPS = 2, /* it calls now and then, and may compute in between */
    SETTLING_ROUNDS = 8,    /* of a call that has spared it, until it is left the rest */
};

void helper_judge(void)
{
    progress_may_spare =
        waits.helper && waits.sleepers == 1 && waits.ringers_fence && !waits.helper_is_spared;
}

/* A thread of the program waits, and does the work itself.  Nobody tells us when it has done, for
 * that would cost it a system call; so have a look after 0.1 ms, 0.2 ms, ...: we miss no more than
 * has passed already.  If it waits no more, but has polled since we looked last, 0.4 ms at most: if we
 * slept on the doorbell while it calls again and again, each message would cost its sender a system
 * call and us a switch. */
static void assist_rest(struct wait *w)
{
    wait_reset(w);
    wait_retire(w);
    struct timespec nap = { .tv_nsec = ASSIST_NAP_NS << w->yields };
    w->yields += w->yields < ASSIST_MOST_NAPS;
    int levels = engine_release();
    nanosleep(&nap, NULL);
    engine_retake(levels);
}

void progress_spare_helper(void)
{
    progress_may_spare = false;
    waits.helper_is_spared = progress_is_owed = true;
    atomic_store_explicit(&waits.bell->sleeping, 0, memory_order_relaxed);
}

/* The bell goes up before the first look, and whoever rings fences; so what comes after the last look
 * wakes the helper. */
void progress_settle(void)
{
    if (waits.helper_is_spared) {
        waits.helper_is_spared = false;
        if (waits.helper)
            wait_arm(waits.helper);
        helper_judge();
    }
    for (int i = 0; i < SETTLING_ROUNDS; i++) {
        if (round_over_pollers() == 0)
            return;
        progress_completed();
    }
    progress_nudge();
}

void progress_assist(struct wait *w)
{
    if ((waits.leader && waits.leader != w) ||
        (waits.leader == w && !waits.armed && followers > 0)) {
        assist_rest(w);
        return;
    }
    waits.leader = w;
    bool moves = round_over_pollers(), polls = progress_rounds() != w->hands + 1;
    w->hands = progress_rounds();
    if (!polls || w->yields > ASSIST_CALLED_NAPS)
        w->yields = polls ? ASSIST_CALLED_NAPS : 0;
    if (moves) {
        wait_reset(w);
        progress_completed();
        engine_breathe();
    } else if (polls) {
        assist_rest(w);
    } else if (w->phase < ARMED) {
        w->since = clock_ns();
        wait_begin_sleep(w);
    } else {
        wait_sleep(w);
    }
}
