/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Doorbells.  The owner, about to sleep:            A ringer:
 *
 *     sleeping = 1                                  publish what the owner waits for
 *     b = bell                                      if (sleeping)            no fence here
 *     barrier on all CPUs (membarrier)                  bell += 1
 *     look for work once more                           if (sleeping: 1 -> 0)
 *     sleep while bell == b                                 wake
 *
 * The barrier of the sleeper stands for the missing fence of the ringer: whatever a ringer
 * published before it read sleeping == 0 is visible when the sleeper looks once more.  Ringers
 * therefore pay one load while the owner is awake.  The first ringer takes the flag down, so
 * the ones after it, until the owner really runs, pay no more either.
 *
 * A barrier interrupts the other CPUs, 3-10 us each.  Where ranks sleep all the time (a session
 * each, see apart.h) ringers fence after all, and nobody needs barriers.
 *
 * Shared with the launcher: libc only.
 */
#include "runtime/progress.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool barrier_works;
bool doorbells_fence;
bool (*doorbell_pass)(struct doorbell *bell);

bool doorbell_register(void)
{
    barrier_works =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    return barrier_works;
}

uint32_t doorbell_arm(struct doorbell *bell, bool barrier)
{
    atomic_store(&bell->sleeping, 1);
    uint32_t rings = atomic_load(&bell->bell);
    if (barrier && barrier_works)
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    return rings;
}

void doorbell_sleep(struct doorbell *bell, uint32_t rings, uint64_t most_ns)
{
    struct timespec most = { .tv_sec = (time_t)(most_ns / 1000000000u),
                             .tv_nsec = (long)(most_ns % 1000000000u) };
    syscall(SYS_futex, &bell->bell, FUTEX_WAIT, rings, &most, NULL, 0);
}

void doorbell_wake_ourselves(struct doorbell *bell)
{
    atomic_fetch_add(&bell->bell, 1);
    if (atomic_exchange(&bell->sleeping, 0))
        syscall(SYS_futex, &bell->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void doorbell_wake(struct doorbell *bell)
{
    if (!doorbell_pass || !doorbell_pass(bell))
        doorbell_wake_ourselves(bell);
}
