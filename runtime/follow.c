/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Followers: a list in order of arrival, of records on the stacks of those who wait.  It is
 * read and changed under the engine lock; the one thing that is looked at without is the word
 * `state`, which its owner alone waits on:
 *
 *     AWAKE --- woken -----> CALLED          nothing to be done but return
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
enum { AWAKE_NS = 20000 };

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
    if (!atomic_compare_exchange_strong(&f->state, &awake, ASLEEP))
        return;
    struct timespec most = { .tv_sec = (time_t)(most_ns / 1000000000u),
                             .tv_nsec = (long)(most_ns % 1000000000u) };
    syscall(SYS_futex, &f->state, FUTEX_WAIT_PRIVATE, ASLEEP, &most, NULL, 0);
}

void follow(const int *flag, uint32_t pauses, uint64_t most_ns)
{
    struct follower me = { .flag = flag };
    list_add(&me);
    int levels = engine_release();
    while (pauses-- > 0 && !is_called(&me))
        cpu_pause();
    follower_yield(&me);
    follower_sleep(&me, most_ns);
    engine_retake(levels);
    list_remove(&me);
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

void followers_wake_one(void)
{
    for (struct follower *f = first; f; f = f->next)
        if (is_called(f))
            return;
    if (first)
        follower_wake(first);
}
