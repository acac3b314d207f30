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

#include <stdbool.h>
#include <stdint.h>

/* How a follower waits: while it is awake it turns `pauses` times, then yields; then it sleeps for at
 * most `asleep_ns`.  With `watch`, a number that grows while somebody polls, it sleeps on as long as
 * that grows; it looks after asleep_ns and then less often. */
struct following {
    bool awake; /* false: it sleeps at once */
    uint32_t pauses;
    uint64_t asleep_ns;
    const _Atomic uint32_t *watch; /* NULL: it does not */
};

/* Wait to be called.  The lock is given up meanwhile.  False: nobody has called. */
bool follow(const int *flag, const struct following *how);

/* Call the followers whose flag is set, and those that wait for something else (flag NULL). */
void followers_wake(void);

/* Somebody is to lead: call one follower that is awake, which costs a store, unless one is on its
 * way already.  With `asleep`, if all sleep, wake one. */
void followers_wake_one(bool asleep);

/* Are there some, and all asleep? */
bool followers_sleep(void);

extern int followers; /* how many there are */

#endif
