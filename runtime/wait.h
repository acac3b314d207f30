/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files that wait share (progress.c, wait.c, helper.c); nobody else includes this.
 */
#ifndef XMPI_WAIT_H
#define XMPI_WAIT_H

#include "runtime/progress.h"

enum { MOST_POLLERS = 16 };

/* Phases of a wait; ARMED + n: armed after n naps in a row that brought nothing. */
enum { SPINNING, YIELDING, ARMED, ARMED_MOST = ARMED + 5 };

/* Of this process. */
struct waits {
    poller *pollers[MOST_POLLERS];
    int npollers;
    int cpus;
    _Atomic uint32_t rounds; /* ever; written under the lock */
    struct doorbell own_bell, *bell;
    int sleepers;          /* waits that are armed or asleep on the bell */
    struct wait *leader;   /* the one that polls, */
    struct wait *armed;    /* the one of them that sleeps, */
    struct wait *watcher;  /* that of the followers, */
    struct wait *helper;   /* and progress_assist's, armed or asleep */
    bool helper_is_spared; /* the bell is down while a call goes on */
    bool ringers_fence;    /* all of them, when somebody armed last */
};
extern struct waits waits __attribute__((visibility("hidden")));

/* Pollers are not called while one is at work: from a function of the program that it calls, or
 * by another thread while that function runs. */
static inline int round_over_pollers(void)
{
    if (__builtin_expect(progress_polling, 0))
        return 0;
    int events = 0;
    progress_polling = true;
    progress_is_owed = waits.helper_is_spared;
    atomic_store_explicit(&waits.rounds,
                          atomic_load_explicit(&waits.rounds, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    for (int i = 0; i < waits.npollers; i++)
        events += waits.pollers[i]();
    progress_polling = false;
    if (events)
        progress_empty = 0;
    return events;
}

/* Let other ranks have the CPU, and other threads the lock. */
void waits_yield(void);

/* ---- one wait (wait.c) ---- */

/* The flag goes up, and down again. */
void wait_arm(struct wait *w);
void wait_begin_sleep(struct wait *w);
void wait_sleep(struct wait *w);
/* Something moved, or it is over. */
void wait_reset(struct wait *w);
/* Somebody else may lead now. */
void wait_retire(const struct wait *w);

/* ---- the thread that only helps (helper.c) ---- */

/* May a call take the bell down?  Only where it can be put up again without a barrier. */
void helper_judge(void);

#endif
