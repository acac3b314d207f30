/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Followers: a list in order of arrival, of records on the stacks of those who wait.  It is
 * read and changed under the engine lock; the one thing that is looked at without is the word
 * `state`, which its owner alone waits on:
 *
 *     AWAKE --- called ----> CALLED          nothing to be done but return
 *       |                      ^
 *       `-- sleeps --> ASLEEP -'             a futex
 *
 * Before it sleeps it yields for AWAKE_NS.  Threads that share a CPU and answer one message after
 * the other are called within a few yields, and then nobody pays for a futex: two system calls
 * and a wake-up for each message otherwise, several times what a yield costs.
 *
 * A record leaves the list when its thread has the lock again.
 */
#include "runtime/follow.h"
#include "runtime/clock.h"
#include "runtime/lock.h"

#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { AWAKE, ASLEEP, CALLED };
enum { AWAKE_NS = 20000, MOST_DOUBLINGS = 3 };

struct follower {
    const int *flag;
    struct follower *next;
    _Atomic uint32_t state;
};

static struct follower *first, **end = &first;
int followers;

static void list_add(struct follower *f)
{
    *end = f;
    end = &f->next;
    followers++;
}

static void list_remove(struct follower *f)
{
    struct follower **link = &first;
    while (*link != f)
        link = &(*link)->next;
    *link = f->next;
    if (end == &f->next)
        end = link;
    followers--;
}

static bool is_called(const struct follower *f)
{
    return atomic_load_explicit(&f->state, memory_order_acquire) == CALLED;
}

static void follower_yield(const struct follower *f)
{
    if (is_called(f))
        return;
    uint64_t since = clock_ns();
    do
        sched_yield();
    while (!is_called(f) && clock_ns() - since < AWAKE_NS);
}

static void follower_sleep(struct follower *f, uint64_t most_ns)
{
    uint32_t awake = AWAKE;
    if (!atomic_compare_exchange_strong(&f->state, &awake, ASLEEP) && awake == CALLED)
        return;
    struct timespec most = { .tv_sec = (time_t)(most_ns / 1000000000u),
                             .tv_nsec = (long)(most_ns % 1000000000u) };
    syscall(SYS_futex, &f->state, FUTEX_WAIT_PRIVATE, ASLEEP, &most, NULL, 0);
}

/* Without the lock, so that those who poll are not disturbed. */
static void follower_watch(struct follower *f, const struct following *how)
{
    uint32_t before, now = atomic_load_explicit(how->watch, memory_order_relaxed);
    int doublings = 0;
    do {
        before = now;
        follower_sleep(f, how->asleep_ns << doublings);
        doublings += doublings < MOST_DOUBLINGS;
        now = atomic_load_explicit(how->watch, memory_order_relaxed);
    } while (now != before && !is_called(f));
}

static void follower_stay_awake(const struct follower *f, uint32_t pauses)
{
    while (pauses-- > 0 && !is_called(f))
        cpu_pause();
    follower_yield(f);
}

bool follow(const int *flag, const struct following *how)
{
    struct follower me = { .flag = flag, .state = how->awake ? AWAKE : ASLEEP };
    list_add(&me);
    int levels = engine_release();
    if (how->awake)
        follower_stay_awake(&me, how->pauses);
    if (how->watch)
        follower_watch(&me, how);
    else
        follower_sleep(&me, how->asleep_ns);
    engine_retake(levels);
    list_remove(&me);
    return is_called(&me);
}

static void follower_wake(struct follower *f)
{
    if (atomic_exchange(&f->state, CALLED) == ASLEEP)
        syscall(SYS_futex, &f->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void followers_wake(void)
{
    for (struct follower *f = first; f; f = f->next)
        if ((!f->flag || *f->flag) && !is_called(f))
            follower_wake(f);
}

void followers_wake_one(bool asleep)
{
    struct follower *one = NULL;
    for (struct follower *f = first; f; f = f->next) {
        uint32_t state = atomic_load_explicit(&f->state, memory_order_relaxed);
        if (state == CALLED)
            return;
        if (!one && state == AWAKE)
            one = f;
    }
    if (!one && asleep)
        one = first;
    if (one)
        follower_wake(one);
}

bool followers_sleep(void)
{
    for (struct follower *f = first; f; f = f->next)
        if (atomic_load_explicit(&f->state, memory_order_relaxed) != ASLEEP)
            return false;
    return first != NULL;
}
