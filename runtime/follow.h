/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads of one process that wait at the same time.  One of them leads: it polls, and sleeps on
 * the process's doorbell.  The others follow: each waits on a word of its own, without the
 * engine lock, until the leader (or whoever completes something) says that its turn has come.
 * So N waiting threads cost what one costs, and are not all woken by each message.
 *
 * All of this is called with the engine lock.
 */
#ifndef XMPI_FOLLOW_H
#define XMPI_FOLLOW_H

#include <stdint.h>

/* Wait to be woken: at most `pauses` turns awake, a few yields, then at most `most_ns` asleep.
 * The lock is given up meanwhile.  May return for no reason. */
void follow(const int *flag, uint32_t pauses, uint64_t most_ns);

/* Wake the followers whose flag is set, and those that wait for something else (flag NULL). */
void followers_wake(void);

/* Nobody leads: wake one follower, unless one is on its way already. */
void followers_wake_one(void);

extern int followers; /* how many there are */

#endif
