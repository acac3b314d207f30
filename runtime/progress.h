/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Progress and waiting.  One list of pollers, one wait policy; nothing else in the library may
 * spin.  A waiting rank spins with `pause`, then yields, then sleeps on its doorbell (a futex in
 * the node's segment); how long each phase lasts depends on whether ranks exceed CPUs.
 *
 *     struct wait w = WAIT_INIT;
 *     while (!done)
 *         wait_poll(&w);             // one round of progress; idles politely if nothing moved
 *     wait_end(&w);
 *
 * What is waited for is read and written under the engine lock, so it needs no atomics.
 */
#ifndef XMPI_PROGRESS_H
#define XMPI_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most engines that there may be (runtime/lock.h). */
enum { ENGINES = 4 };

/* A poller moves whatever it can without blocking and returns the number of events handled. */
typedef int poller(void);

/* Until progress_close; one that is there already stays as it is. */
void progress_add(poller *poll);
void progress_remove(poller *poll);

/* One round over all pollers; the number of events handled.  For calls that do not wait: never
 * blocks, but yields the CPU when many rounds in a row were empty. */
int progress(void);

/* The same for a call that has work of its own between rounds: it lets other threads in, but goes on. */
void progress_beside(void);
/* Rounds in a row that moved nothing, in such calls. */
extern uint64_t progress_empty __attribute__((visibility("hidden")));

/* What the flight recorder (runtime/record.h) is told about a wait: `tell` fills in a record_wait
 * that is zeros where it writes.  Called when the wait has stopped spinning, under the engine
 * lock; most waits are over before. */
struct record_wait;
typedef void record_teller(const void *what, struct record_wait *wait);

/* Begins what surrounds waits and can tell about itself; `tell` gets the scope. */
struct record_scope {
    record_teller *tell;
};

/* The call of the user that is under way in this thread: its name, a constant, and where it returns
 * to.  Threads that wait, or run a function of the program, let others into the library. */
struct record_call {
    const char *function;
    const void *caller;
    const struct record_scope *inside; /* a collective that the call performs; NULL: none */
};
extern _Thread_local struct record_call record_now;

/* The user enters a function of the library. */
static inline __attribute__((always_inline)) void record_enter(const char *function,
                                                               const void *caller)
{
    record_now = (struct record_call){ function, caller, NULL };
}

/* Traces (runtime/trace.h): off, as a rule. */
extern bool trace_on __attribute__((visibility("hidden")));
void trace_enter(void);
void trace_leave(const char *function);

/* Begin to trace into the file that process `pid` of this node has open as `fd`; `used` counts the
 * bytes of the file that are given out.  A notice when that cannot be. */
void trace_open(int pid, int fd, uint64_t *used, int rank);
void trace_flush(void); /* the program ends MPI, for now or for ever */
void trace_close(void);

/* What a wait for slots in shared memory has to be woken for, if it sleeps: when member `who` of the set
 * of slots `where` writes, or, AWAITS_ALL, when the last of them does.  where = 0: whatever comes;
 * AWAITS_NO_CALL: whatever comes but the slots of blocking calls, which only who is in them reads.  Those
 * who write slots look at it (coll/tiny_slot.c); all other rings wake in any case. */
enum { AWAITS_ALL = -1 };
#define AWAITS_NO_CALL UINT64_MAX
struct awaited {
    uint64_t where;
    int who;
};

/* Something else is under way that moves when others write slots: sleep until whatever comes. */
extern bool waits_mixed;

struct wait {
    uint32_t idle;  /* polls in a row that moved nothing */
    uint32_t phase; /* spinning, yielding, armed (sleeping flag up, one more poll), asleep */
    uint32_t rings; /* of the doorbell when it was armed */
    uint32_t yields;
    uint32_t moves; /* rounds that moved something, and sleeps, that did not end it */
    uint32_t rests; /* sleeps in a row behind a leader, of which nobody called it */
    uint32_t hands; /* of the engine lock, some moves ago */
    bool woken;     /* armed no more: it has slept */
    bool helps;     /* it is progress_assist's; `hands` are the rounds when it looked last */
    uint64_t since; /* clock after its first few yields, ns; 0: before */
    const int
        *flag; /* not zero when the wait is over; NULL: the caller looks at other things */
    record_teller *tell; /* says what is waited for; NULL: nobody can */
    const void *what;
    struct record_call call; /* of the user, when this wait began */
    int slot;                /* in the flight recorder, 0 = none yet */
    int engine;              /* 1 + the one that it waits for, 0: any */
    uint32_t solos;          /* engine_solos, when it looked last */
    bool told;               /* since something moved */
    uint64_t told_at;        /* clock when it was told last; 0: not yet */
    uint32_t tell_at;        /* polls of a wait that only spins after which it is told */
    struct awaited awaited;
};
#define WAIT_INIT WAIT_FOR(NULL, NULL)
#define WAIT_FOR(teller, about)                                                                \
    ((struct wait){ .tell = (teller), .what = (about), .call = record_now })

/* One round of progress; when nothing moved, idle according to the policy. */
void wait_poll(struct wait *w);

/* The same for a caller that polls memory which other processes write: progress now and then,
 * idle every time.  It must be examined again after each call. */
void wait_idle(struct wait *w);

/* How often in a row may a caller look for itself for what pollers would find, before it waits?  Once
 * where threads share the library; not at all (0) where ranks share CPUs, while a poller is at work, and
 * now and then, so that pollers get their turn where callers always find what they look for: more often
 * when the caller knows of others that may be waited for. */
uint32_t progress_looks(bool others);

/* Done waiting: take down what wait_poll may have put up (the sleeping flag). */
void wait_end(struct wait *w);

/* For a thread that does nothing else: one round of progress, then sleep until there is something
 * to do.  Stands back while another thread waits. */
void progress_assist(struct wait *w);

/* Wait until *flag is not zero; `tell` can say what that means (runtime/record.h).  `engine`: 1 + the one
 * by whose messages that can happen; 0: any. */
static inline void progress_until_in(int engine, const int *flag, record_teller *tell,
                                     const void *what)
{
    if (*flag)
        return;
    struct wait w = WAIT_FOR(tell, what);
    w.flag = flag;
    w.engine = engine;
    do
        wait_poll(&w);
    while (!*flag);
    wait_end(&w);
}

static inline void progress_until(const int *flag, record_teller *tell, const void *what)
{
    progress_until_in(0, flag, tell, what);
}

/* The same for who has waited for a while already: it sleeps at once. */
void progress_sleep_until(int engine, const int *flag, record_teller *tell, const void *what);

/* For a thread that has had one engine alone, and now has all: one round of progress for everybody. */
void progress_round(void);
/* How many rounds there have been; may be asked by anybody. */
uint32_t progress_rounds(void);
/* How long a wait of a thread that has an engine alone polls before it yields, and stays awake. */
uint32_t progress_spins_solo(void);
uint64_t progress_awake_ns(void);

/* ---- doorbells: one per rank of the node, in the boot segment ---- */

struct doorbell {
    _Atomic uint32_t sleeping; /* 1 while (or just before) the owner sleeps on `bell`; the
                                  first ringer takes it down */
    _Atomic uint32_t bell;     /* futex word, counts rings */
    _Atomic uint32_t fences;   /* 1: the owner fences before it looks at others' `sleeping` */
    _Atomic uint32_t group;    /* the owner's scheduler group, 0: not told (apart.h) */
    _Atomic uint64_t where;    /* a struct awaited, of the sleep that `sleeping` tells of */
    _Atomic int32_t who;
    /* Which CPU the owner is on (oncpu.h): a line of its own, as it changes with every switch. */
    _Atomic uint32_t runs __attribute__((aligned(64)));
    /* Where yields do not reach each other (apart.h): the owner wakes others on its CPU, and is to be woken so. */
    _Atomic uint32_t lends; /* an enum lends */
    _Atomic uint32_t owed;  /* 1: it is */
};
enum lends { LENDS_NOT, LENDS, LENDS_TO_SOMEBODY };

/* Wake the owner whether it sleeps or not; for processes that have not called progress_open
 * (the launcher) this is the only safe way to ring. */
void doorbell_wake(struct doorbell *bell);
/* Likewise; nobody else does it for us. */
void doorbell_wake_ourselves(struct doorbell *bell);

/* May somebody else ring instead of us, who can do that cheaper?  True: it will.  NULL: nobody does. */
extern bool (*doorbell_pass)(struct doorbell *bell) __attribute__((visibility("hidden")));

extern bool doorbells_fence
    __attribute__((visibility("hidden"))); /* this process's; see doorbell.c */

/* The thread sanitizer does not know fences; all that this one orders is atomic. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/* Between publishing what others may wait for and asking whether they sleep. */
static inline void doorbells_look(void)
{
    if (__builtin_expect(doorbells_fence, 0))
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
}

/* Does the owner sleep?  After doorbells_look; costs one load of a line that nobody writes while the
 * owner is awake. */
static inline bool doorbell_is_down(const struct doorbell *bell)
{
    return atomic_load_explicit(&bell->sleeping, memory_order_relaxed);
}

/* The same after publishing what it waits for. */
static inline bool doorbell_sleeps(const struct doorbell *bell)
{
    doorbells_look();
    return doorbell_is_down(bell);
}

/* What its owner, who sleeps, waits for. */
static inline struct awaited doorbell_awaited(const struct doorbell *bell)
{
    atomic_thread_fence(memory_order_acquire); /* of this sleep or of a later one */
    return (struct awaited){ atomic_load_explicit(&bell->where, memory_order_relaxed),
                             atomic_load_explicit(&bell->who, memory_order_relaxed) };
}

/* Wake the owner if it sleeps.  Call likewise. */
static inline void doorbell_ring(struct doorbell *bell)
{
    if (__builtin_expect(doorbell_sleeps(bell), 0))
        doorbell_wake(bell);
}

/* The owner's side, see doorbell.c.  Register once per process that rings or sleeps; false when
 * the kernel offers no barrier, then sleeps must be short.  Arm, look for work, sleep.  `barrier`
 * may be false when all who may ring fence. */
bool doorbell_register(void);
uint32_t doorbell_arm(struct doorbell *bell, bool barrier);
void doorbell_sleep(struct doorbell *bell, uint32_t rings, uint64_t most_ns);

/* There is work for the pollers that no doorbell tells of (a message to oneself).  When all who could
 * do it sleep and watch, it is cheaper to have it done at the end of the call: progress_is_owed. */
void progress_nudge(void);
extern bool progress_is_owed;

/* Calls that begin something, or look for it, make progress themselves.  While one goes on, what comes need not
 * wake the thread that helps (progress_assist), which would take the CPU from it and wait for the lock: so
 * progress_spare, at its beginning, takes the bell down where that is cheap, and progress_is_owed. */
extern bool progress_may_spare __attribute__((visibility("hidden")));
void progress_spare_helper(void);
static inline void progress_spare(void)
{
    if (__builtin_expect(progress_may_spare, 0))
        progress_spare_helper();
}

/* What a call owes at its end. */
void progress_settle(void);

/* A round is under way, maybe in a function of the program, without the lock. */
extern bool progress_polling;

/* The same from a thread that neither holds the lock nor may wait for it (a driver's). */
void progress_call(void);

/* Something was completed, perhaps by other means than a poller: wake the threads of this process
 * that wait for it. */
/* Threads that others must wake; of them, who may wait for what is of this engine. */
extern int waits_asleep __attribute__((visibility("hidden")));
extern int waits_asleep_in[ENGINES] __attribute__((visibility("hidden")));
void waits_wake(void);
static inline void progress_completed(void)
{
    if (__builtin_expect(waits_asleep > 0, 0))
        waits_wake();
}

/* Choose the policy.  `mine` is this process's doorbell (NULL: a private one), `crowded` says
 * that ranks exceed CPUs on this node. */
void progress_open(struct doorbell *mine, bool crowded);

/* The doorbells of the `n` ranks of the node, one every `stride` bytes, and its CPUs: where ranks share
 * them (apart.h, partner.h). */
void progress_neighbours(const struct doorbell *bells, size_t stride, int n, int cpus);

/* How many CPUs there are for the threads of this process, at least 1: so many of those that wait
 * at the same time may spin. */
void progress_cpus(int cpus);

/* Choose again: the knobs (XMPI_SPIN, XMPI_POLITE) were changed. */
void progress_tune(void);

/* Sleep for 50 us to 1.6 ms at a time (politely four times, XMPI_POLITE=always eight times as long):
 * something is to be polled that rings no bell. */
void progress_naps_short(bool yes);

/* Sleep for at most a tenth of a second, rather than a third, at a time: somebody may be dead, and
 * pollers look at that after naps. */
void progress_naps_hurry(bool yes);

/* How often this process has slept in waits.  For pollers that skip rounds: not after a nap. */
extern uint32_t progress_naps __attribute__((visibility("hidden")));

/* Nanoseconds this process has spent in waits after a spin and a few yields. */
extern uint64_t progress_idle_ns;

void progress_close(void);

#endif
