/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The rare side of a lock that is kept for one thread, see bias.h.
 *
 * A seat lies in its thread's own memory, and who takes the lock away looks at it.  So a thread that
 * ends tells lock.c, which sees to it that nobody looks any more.  In a child that was forked there
 * is nobody who could.  The library stays loaded for those threads (-z nodelete).
 */
#include "runtime/bias.h"
#include "runtime/log.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct seat seats[SEATS];

static _Thread_local bool known,
    never; /* it tells when the thread ends; nothing is kept for it */

static bool works;
static pid_t process;
static pthread_key_t key;
static void (*tell_end)(void);

static void thread_ends(void *unused)
{
    (void)unused;
    never = true;
    if (getpid() == process)
        tell_end();
}

bool bias_open(void (*end)(void))
{
    if (works || syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0)
        return works;
    tell_end = end;
    process = getpid();
    works = pthread_key_create(&key, thread_ends) == 0;
    return works;
}

void bias_forgo(void)
{
    never = true;
}

void bias_begin(struct bias *bias, struct seat *seat)
{
    if (!works || never || getpid() != process)
        return;
    known = known || pthread_setspecific(key, seats) == 0;
    if (!known)
        return;
    atomic_store_explicit(&seat->inside, true, memory_order_relaxed);
    atomic_store_explicit(&bias->whose, seat, memory_order_release);
}

bool bias_end(struct bias *bias, struct seat *seat)
{
    struct seat *mine = seat;
    return atomic_compare_exchange_strong(&bias->whose, &mine, NULL);
}

/* The kernel has promised that this works.  If it does not, both would have the lock. */
static void barrier_everywhere(void)
{
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return;
    say("membarrier no longer works in this process (%s)", strerror(errno));
    abort();
}

bool bias_take(struct bias *bias, struct seat **from)
{
    *from = atomic_load_explicit(&bias->whose, memory_order_relaxed);
    if (!*from || !atomic_compare_exchange_strong(&bias->whose, from, NULL))
        return false;
    barrier_everywhere();
    return true;
}
