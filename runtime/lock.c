/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The engine lock.  There are several engines, each with a lock of its own (keeplock.h), and whoever has
 * the engine lock has all of them, in order.  While the engines are together, nobody takes one alone,
 * and the first lock stands for all:
 *
 *     together    take     lock 0
 *     apart       take     lock 0, 1, 2, ...      excludes everybody
 *                 solo     lock k                 excludes those who take all, and others in engine k
 *
 * What has to do with messages of engine k alone is read and written under its lock; everything else is
 * read under any of them, and written under all: a lock for readers and writers, whose readers
 * share no line of memory.
 *
 * Engines part when two threads with messages of different engines get in each other's way
 * (PARTS times), and come together again when most of what is called needs all of them: since that
 * costs more then; or when threads that have one alone wait so long that they yield, and with few calls
 * in between: then CPUs are what is short, and with one engine fewer threads wait awake.  They part again
 * after 1 ms, 2 ms, 4 ms, ..., for as long as that brings nothing.
 */
#include "runtime/lock.h"
#include "runtime/clock.h"
#include "runtime/keeplock.h"
#include "runtime/progress.h"

#include <assert.h>
#include <sched.h>

_Static_assert((int)SEATS >= (int)ENGINES, "a seat for each engine");

atomic_bool threads_multiple, threads_beside;
static enum threads program_threads;
static atomic_int our_threads;

enum { PARTS = 4, LOOKS_TAKINGS = 64, PAYS_SOLOS = 16, LOOKS_YIELDS = 16, PAYS_YIELD = 256 };
static const uint64_t FIRST_GAP_NS = 1000000, MOST_GAP_NS = 1000000000;

struct keeplock engine_locks[ENGINES];

_Thread_local int engine_mine = -1;

/* Written under all locks, of which the first comes first. */
static int engines = 1; /* that there are */
struct engines_apart engines_apart;

static struct {
    int held;         /* how many locks the owner of the first one has with it */
    int served;       /* engine of the last one who would have gone solo, and had to wait */
    int clashes;      /* of such ones, after one of another engine */
    uint32_t takings; /* of all locks that had to wait for one of them, since the last look */
    uint32_t solos;   /* at that look */
    uint64_t since,
        gap; /* when they came together; no sooner than `gap` after they part again */
    const struct seat *late; /* the thread whose call has it by engine_hold */
} all = { .held = 1, .served = -1, .gap = FIRST_GAP_NS };

static struct {
    _Atomic uint32_t n; /* times it was taken alone */
    uint32_t yields;    /* of those who had it alone, since the last look */
    uint32_t before;    /* n, then */
} __attribute__((aligned(128))) solos[ENGINES];

void engine_cpus(int cpus)
{
    keeplock_cpus(cpus);
}

static bool all_are_mine(void)
{
    return keeplock_is_mine(&engine_locks[0], &seats[0]) && engine_mine < 0;
}

/* ---- apart and together ---- */

uint32_t engine_solos(void)
{
    uint32_t sum = 0;
    for (int k = 0; k < engines; k++)
        sum += atomic_load_explicit(&solos[k].n, memory_order_relaxed);
    return sum;
}

/* True: one of them was somebody else's. */
static bool rest_take(void)
{
    bool busy = false;
    for (int k = 1; k < engines; k++) {
        busy |= keeplock_is_busy(&engine_locks[k], &seats[k]);
        keeplock_take(&engine_locks[k], &seats[k], 1);
    }
    all.held = engines;
    return busy;
}

static void engines_part(void)
{
    rest_take();
    all.clashes = 0;
    all.takings = 0;
    all.solos = engine_solos();
    atomic_store_explicit(&engines_apart.yes, true, memory_order_relaxed);
}

static void engines_meet(void)
{
    atomic_store_explicit(&engines_apart.yes, false, memory_order_relaxed);
    all.since = clock_ns();
    all.clashes = 0;
}

/* It has brought nothing to be apart. */
static void engines_regret(void)
{
    all.gap = 2 * all.gap < MOST_GAP_NS ? 2 * all.gap : MOST_GAP_NS;
    engines_meet();
}

/* Is it worth while?  */
static __attribute__((noinline)) void engines_look(void)
{
    uint32_t now = engine_solos();
    bool pays = now - all.solos >= LOOKS_TAKINGS * PAYS_SOLOS;
    all.takings = 0;
    all.solos = now;
    if (pays) {
        all.gap = FIRST_GAP_NS;
        return;
    }
    engines_regret();
}

static __attribute__((noinline)) void rest_take_apart(void)
{
    if (rest_take() && ++all.takings >= LOOKS_TAKINGS)
        engines_look();
}

static inline void all_take(int levels)
{
    keeplock_take(&engine_locks[0], &seats[0], levels);
    if (engines_are_apart())
        rest_take_apart();
}

static __attribute__((noinline)) void rest_free(void (*give)(struct keeplock *, struct seat *))
{
    int held = all.held;
    all.held = 1;
    while (--held > 0)
        give(&engine_locks[held], &seats[held]);
}

static void lock_free(struct keeplock *lock, struct seat *mine)
{
    keeplock_free(lock, mine);
}

static inline void all_free(void)
{
    if (__builtin_expect(all.held > 1, 0))
        rest_free(lock_free);
    keeplock_free(&engine_locks[0], &seats[0]);
}

static void all_let_go(void)
{
    if (all.held > 1)
        rest_free(keeplock_let_go);
    keeplock_let_go(&engine_locks[0], &seats[0]);
}

/* ---- all of them ---- */

bool engine_take(void)
{
    if (keeplock_is_mine(&engine_locks[0], &seats[0])) {
        assert(engine_mine < 0);
        engine_locks[0].levels++;
        return false;
    }
    all_take(1);
    return engine_locks[0].waited;
}

void engine_give(void)
{
    assert(all_are_mine() && engine_locks[0].levels > 0);
    if (--engine_locks[0].levels == 0)
        all_free();
}

void engine_hold(void)
{
    engine_join();
    if (all_are_mine())
        return;
    all_take(1);
    all.late = &seats[0];
}

/* This thread has all of them, by a call that goes: true if it was the outermost one. */
static inline bool call_goes(void)
{
    if (all.late == &seats[0])
        all.late = NULL;
    assert(engine_locks[0].levels > 0);
    return --engine_locks[0].levels == 0;
}

void engine_leave(void)
{
    if (engine_is_solo())
        engine_give_solo();
    else if (keeplock_is_mine(&engine_locks[0], &seats[0]) && call_goes())
        all_free();
}

bool engine_is_late(void)
{
    return all.late == &seats[0];
}

int engine_release(void)
{
    if (!all_are_mine())
        return 0;
    int levels = engine_locks[0].levels;
    engine_locks[0].levels = 0;
    all_let_go();
    return levels;
}

void engine_retake(int levels)
{
    if (levels > 0)
        all_take(levels);
}

uint32_t engine_hands(void)
{
    return engine_locks[0].hands;
}

bool engine_breathe(void)
{
    int wanted = -1;
    for (int k = 0; k < all.held && wanted < 0; k++)
        if (__builtin_expect(keeplock_is_wanted(&engine_locks[k]), 0))
            wanted = k;
    if (__builtin_expect(wanted < 0, 1))
        return false;
    uint32_t before = keeplock_count(&engine_locks[wanted].taken);
    int levels = engine_release();
    if (levels == 0)
        return false;
    keeplock_let_others(&engine_locks[wanted], before);
    engine_retake(levels);
    return true;
}

/* ---- one of them ---- */

static void solo_take(int k)
{
    keeplock_take(&engine_locks[k], &seats[k], 1);
    engine_mine = k;
    atomic_store_explicit(&solos[k].n, keeplock_count(&solos[k].n) + 1, memory_order_relaxed);
}

void engine_clash(int k)
{
    if (engines == 1 || our_threads > 0 || all.held > 1)
        return;
    if (all.served != k && all.served >= 0 && ++all.clashes >= PARTS &&
        clock_ns() - all.since >= all.gap)
        engines_part();
    all.served = k;
}

/* They are together: this one takes all, and may find a reason to part. */
static bool solo_take_all(int k)
{
    if (engine_take())
        engine_clash(k);
    return false;
}

bool engine_take_solo(int k)
{
    if (keeplock_is_mine(&engine_locks[0],
                         &seats[0])) { /* a call from a function that a call calls */
        engine_take();
        return false;
    }
    if (!engines_are_apart())
        return solo_take_all(k);
    solo_take(k);
    if (engines_are_apart())
        return true;
    engine_give_solo();
    return solo_take_all(k);
}

void engine_give_solo(void)
{
    int k = engine_mine;
    engine_mine = -1;
    keeplock_free(&engine_locks[k], &seats[k]);
}

void engine_join_solo(void)
{
    engine_give_solo();
    all_take(1);
}

bool engine_part_solo(int k)
{
    assert(all_are_mine());
    if (engine_locks[0].levels > 1)
        return false;
    engine_give();
    return engine_take_solo(k);
}

/* Does it pay, as often as one yields? */
static bool yield_pays(int k)
{
    if (++solos[k].yields < LOOKS_YIELDS)
        return true;
    uint32_t now = keeplock_count(&solos[k].n), calls = now - solos[k].before;
    solos[k].yields = 0;
    solos[k].before = now;
    return calls >= LOOKS_YIELDS * PAYS_YIELD;
}

bool engine_yield_solo(void)
{
    int k = engine_mine;
    if (!yield_pays(k)) {
        engine_join_solo();
        if (all.held > 1)
            engines_regret();
        return false;
    }
    engine_give_solo();
    sched_yield();
    return engine_take_solo(k);
}

bool engine_breathe_solo(void)
{
    int k = engine_mine;
    if (__builtin_expect(!keeplock_is_wanted(&engine_locks[k]), 1))
        return true;
    uint32_t before = keeplock_count(&engine_locks[k].taken);
    engine_mine = -1;
    keeplock_let_go(&engine_locks[k], &seats[k]);
    keeplock_let_others(&engine_locks[k], before);
    return engine_take_solo(k);
}

bool engine_try_join(void)
{
    static _Thread_local struct keeplook before[ENGINES];
    int k = engine_mine, taken = 0;
    engine_give_solo();
    while (taken < engines && keeplock_try(&engine_locks[taken], &seats[taken], before[taken]))
        taken++;
    if (taken == engines) {
        all.held = taken;
        return true;
    }
    before[taken] = keeplock_look(&engine_locks[taken]);
    while (--taken >= 0)
        keeplock_free(&engine_locks[taken], &seats[taken]);
    return !engine_take_solo(k);
}

/* ---- who takes it ---- */

/* Else its end would take the lock, see below. */
void engine_forgo(void)
{
    bias_forgo();
}

static void thread_ends(void)
{
    for (int k = 0; k < ENGINES; k++)
        keeplock_forget(&engine_locks[k], &seats[k]);
}

static void threads_choose(void)
{
    if (program_threads == THREADS_MANY)
        bias_open(thread_ends);
    threads_multiple = program_threads == THREADS_MANY || our_threads > 0;
    threads_beside = program_threads == THREADS_BESIDE && !threads_multiple;
}

void threads_of_program(enum threads may)
{
    program_threads = may;
    threads_choose();
}

void threads_of_ours(int change)
{
    our_threads += change;
    if (change > 0)
        engines_meet();
    threads_choose();
}

void engines_open(int n)
{
    engines = n;
}
