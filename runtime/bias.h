/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A lock that is kept for one thread.  Taking a free lock costs a locked instruction, which waits for
 * all that the thread has stored before: 40 ns behind a message.  A thread that has taken the lock
 * many times in a row gets it for good: for all others it stays taken, and the thread itself
 * comes and goes with a store each, until somebody wants the lock and takes it away.
 *
 *     the thread it is kept for                who takes it away
 *     inside = true                            bias = NULL
 *     (no fence)                               a barrier on the CPUs of all our threads (membarrier)
 *     is it kept for me?  then it has it       wait until inside is false; then it has the lock
 *     inside = false when it goes
 *
 * The barrier stands for the missing fence.  It interrupts each CPU that runs one of our threads at
 * some instruction, and what is before that instruction is complete for everybody before what is
 * after it begins; on x86, whose stores wait in a buffer while later loads are done, and on aarch64,
 * which may do them in any order (a thread that is not on a CPU has passed such a point when it was
 * switched).  The second look of the thread comes either
 *
 *     after that point   it sees NULL: the thread goes away again, and waits like anybody
 *     before             then `inside = true` is before it as well, and who takes the lock away,
 *                        looking after the barrier, sees that or what the thread stored later
 *
 * So not both have it.  The compiler keeps the order of the two as well (atomic_signal_fence).  `inside =
 * false` releases what was done under the lock to who takes it away; the thread itself had the
 * lock last when it finds itself in `bias` and so has nothing to acquire.  Nobody but the
 * thread, and that with the lock, stores its own seat into `bias`, so an old value is never right again.
 *
 * membarrier costs 0.5 us when that thread does not run, else some 5.
 *
 * Everything else about the lock, who waits and who is woken, is in keeplock.c.
 */
#ifndef XMPI_BIAS_H
#define XMPI_BIAS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct seat {
    atomic_bool inside; /* it has the lock that is kept for it */
};

struct bias {
    _Atomic(struct seat *) whose; /* a seat of the thread it is kept for, NULL: nobody */
};

/* This thread's, one for each lock that may be kept; their addresses name the thread. */
enum { SEATS = 4 };
extern _Thread_local struct seat seats[SEATS] __attribute__((tls_model("initial-exec")));

static inline bool bias_is(const struct bias *bias, const struct seat *seat)
{
    return atomic_load_explicit(&bias->whose, memory_order_relaxed) == seat;
}

/* True: it is kept for this thread, which has it now. */
static inline bool bias_enter(const struct bias *bias, struct seat *seat)
{
    if (!bias_is(bias, seat))
        return false;
    atomic_store_explicit(&seat->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (bias_is(bias, seat))
        return true;
    atomic_store_explicit(&seat->inside, false, memory_order_release);
    return false;
}

static inline bool bias_is_inside(const struct seat *seat)
{
    return atomic_load_explicit(&seat->inside, memory_order_relaxed);
}

/* This thread has it by bias_enter, or has begun to keep it, and goes. */
static inline void bias_leave(struct seat *seat)
{
    atomic_store_explicit(&seat->inside, false, memory_order_release);
}

/* Before there are threads that take the lock, if possible: it takes milliseconds then.  `end` is
 * called at the end of each thread that a lock has been kept for.  False: nothing is ever kept here,
 * as the kernel has no membarrier or forbids it. */
bool bias_open(void (*end)(void));

/* Nothing is ever kept for this thread: whoever waits for its end has the lock. */
void bias_forgo(void);

/* This thread has the lock: keep it from now on, if that can be. */
void bias_begin(struct bias *bias, struct seat *seat);

/* It is inside: let it go the usual way.  False: somebody is taking it away, and has it when this
 * thread leaves. */
bool bias_end(struct bias *bias, struct seat *seat);

/* Take it away from whoever it is kept for.  False: nobody, any more.  True: it is taken, by the
 * caller, as soon as bias_is_left says so. */
bool bias_take(struct bias *bias, struct seat **from);

static inline bool bias_is_left(struct seat *from)
{
    return !atomic_load_explicit(&from->inside, memory_order_acquire);
}

#endif
