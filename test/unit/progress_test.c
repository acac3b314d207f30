/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* CPU_SET */
#include "runtime/clock.h"
#include "runtime/lock.h"
#include "runtime/oncpu.h"
#include "runtime/partner.h"

#include "test/unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- what two processes share ---- */

static struct shared {
    struct doorbell bell[2];
    _Atomic uint32_t mail[2]; /* what each process looks at */
    volatile int flag;
} * shared;

static void share(void)
{
    shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* ---- pollers ---- */

static int calls_a, calls_b, give_b;
static int poll_a(void)
{
    calls_a++;
    return 0;
}
static int poll_b(void)
{
    calls_b++;
    int events = give_b;
    give_b = 0;
    return events;
}

START_TEST(pollers_are_all_called_and_counted)
{
    ck_assert_int_eq(progress(), 0);
    progress_add(poll_a);
    progress_add(poll_b);
    give_b = 3;
    ck_assert_int_eq(progress(), 3);
    progress_remove(poll_a);
    ck_assert_int_eq(progress(), 0);
    ck_assert_int_eq(calls_a, 1);
    ck_assert_int_eq(calls_b, 2);
    progress_remove(poll_b);
    progress_remove(poll_b);
    progress();
    ck_assert_int_eq(calls_b, 2);
}
END_TEST

static int me; /* which of the two */
static int done;
static uint32_t expected;
static int poll_mail(void)
{
    if (atomic_load_explicit(&shared->mail[me], memory_order_acquire) < expected)
        return 0;
    done = 1;
    return 1;
}

/* Wait for mail `n`, by the poller or by looking for oneself. */
static void await_mail(uint32_t n, bool by_flag)
{
    expected = n;
    done = 0;
    if (!by_flag) {
        progress_until(&done, NULL, NULL);
        return;
    }
    struct wait w = WAIT_INIT;
    while (atomic_load_explicit(&shared->mail[me], memory_order_acquire) < n)
        wait_idle(&w);
    wait_end(&w);
}

static void send_mail(uint32_t n)
{
    atomic_store_explicit(&shared->mail[1 - me], n, memory_order_release);
    doorbell_ring(&shared->bell[1 - me]);
}

/* Until the other side sleeps, or at least wanted to. */
static void nap_until_asleep(void)
{
    for (int i = 0; i < 2000 && !shared->bell[1 - me].sleeping; i++)
        nap_ms(1);
}

/* Ping-pong, now and then with a pause until the other side is asleep. */
static void play(int who, bool by_flag, bool crowded)
{
    me = who;
    progress_open(&shared->bell[me], crowded);
    progress_add(poll_mail);
    for (uint32_t n = 1; n <= 600; n++) {
        if (me == 0) {
            if (n % 60 == 0)
                nap_until_asleep();
            send_mail(n);
            await_mail(n, by_flag);
        } else {
            await_mail(n, by_flag);
            if (n % 70 == 0)
                nap_until_asleep();
            send_mail(n);
        }
    }
    progress_close();
}

static void play_in_two_processes(bool by_flag, bool crowded)
{
    share();
    uint64_t start = clock_ns();
    pid_t child = fork();
    if (child == 0) {
        play(1, by_flag, crowded);
        _exit(0);
    }
    play(0, by_flag, crowded);
    int status;
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    /* Lost wake-ups would cost a timeout of 10 ms and more each; 600 exchanges with 18 naps take
     * 0.1 s on an idle machine. */
    ck_assert_msg(clock_ns() - start < 20000000000u, "took %g s",
                  1e-9 * (double)(clock_ns() - start));
    ck_assert_uint_eq(shared->bell[0].sleeping, 0);
    ck_assert_uint_eq(shared->bell[1].sleeping, 0);
    ck_assert_uint_gt(shared->bell[0].bell + shared->bell[1].bell, 0); /* some did sleep */
}

START_TEST(processes_wake_each_other_polling)
{
    play_in_two_processes(false, false);
}
END_TEST

START_TEST(processes_wake_each_other_by_flag)
{
    play_in_two_processes(true, false);
}
END_TEST

START_TEST(processes_wake_each_other_crowded)
{
    play_in_two_processes(false, true);
}
END_TEST

/* ---- calls that do not wait ---- */

static void test_until_mail(uint32_t n)
{
    expected = n;
    done = 0;
    while (!done)
        progress();
}

/* Both on one CPU, 60 exchanges by testing; seconds. */
static double exchange_by_testing(const char *polite)
{
    setenv("XMPI_POLITE", polite, 1);
    memset(shared, 0, sizeof *shared);
    uint64_t start = clock_ns();
    pid_t child = fork();
    me = child == 0;
    progress_open(&shared->bell[me], true);
    progress_add(poll_mail);
    for (uint32_t n = 1; n <= 60; n++) {
        if (me == 1)
            test_until_mail(n);
        send_mail(n);
        if (me == 0)
            test_until_mail(n);
    }
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return 1e-9 * (double)(clock_ns() - start);
}

/* A runner is a process: knobs are read once in each. */
static double in_a_process(const char *polite)
{
    pid_t runner = fork();
    if (runner == 0) {
        double seconds = exchange_by_testing(polite);
        atomic_store(&shared->mail[0], (uint32_t)(seconds * 1e6));
        _exit(0);
    }
    waitpid(runner, NULL, 0);
    return 1e-6 * shared->mail[0];
}

static void stay_on_this_cpu(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

START_TEST(tests_give_way_where_ranks_exceed_cpus)
{
    share();
    stay_on_this_cpu();
    double polite = 1, rude = 0;
    /* Who else runs on this CPU makes them alike; not each time. */
    for (int tries = 0; tries < 10 && polite * 3 >= rude; tries++) {
        polite = in_a_process("auto");
        rude = in_a_process("never");
    }
    ck_assert_msg(polite * 3 < rude, "%g s with yields, %g s without", polite, rude);
}
END_TEST

static long switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

/* How often the CPU goes to somebody else who wants it in 2000 rounds that find nothing. */
static long switches_in(bool has_work)
{
    long before = switches();
    for (int i = 0; i < 2000; i++) {
        if (has_work)
            progress_beside();
        else
            progress();
    }
    return switches() - before;
}

START_TEST(who_has_work_keeps_its_cpu)
{
    share();
    stay_on_this_cpu();
    pid_t child = fork();
    if (child == 0)
        for (;;)
            sched_yield();
    progress_open(&shared->bell[0], true);
    long idle = switches_in(false), busy = switches_in(true);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    progress_close();
    ck_assert_int_gt(idle, 500);
    ck_assert_int_lt(busy, idle / 10);
}
END_TEST

/* A long wait sleeps: it costs next to no CPU time, and ends soon after the ring. */
static void sleep_until_rung(bool crowded)
{
    share();
    pid_t child = fork();
    if (child == 0) {
        me = 1;
        nap_ms(400);
        send_mail(1);
        _exit(0);
    }
    me = 0;
    progress_open(&shared->bell[0], crowded);
    progress_add(poll_mail);
    double cpu = cpu_seconds();
    await_mail(1, false);
    cpu = cpu_seconds() - cpu;
    waitpid(child, NULL, 0);
    ck_assert_msg(cpu < 0.05, "used %g s of CPU in a wait of 0.4 s", cpu);
}

START_TEST(a_long_wait_sleeps)
{
    sleep_until_rung(false);
}
END_TEST

START_TEST(a_long_crowded_wait_sleeps)
{
    sleep_until_rung(true);
}
END_TEST

START_TEST(polite_always_sleeps_soon)
{
    setenv("XMPI_POLITE", "always", 1);
    sleep_until_rung(false);
}
END_TEST

START_TEST(polite_never_stays_awake)
{
    setenv("XMPI_POLITE", "never", 1);
    share();
    progress_open(&shared->bell[0], true);
    struct wait w = WAIT_INIT;
    uint64_t start = clock_ns();
    while (clock_ns() - start < 30000000) {
        wait_poll(&w);
        ck_assert_uint_eq(shared->bell[0].sleeping, 0);
    }
    wait_end(&w);
}
END_TEST

/* Idle long enough to put the flag up; then the end of the wait takes it down. */
START_TEST(the_flag_goes_up_and_comes_down)
{
    share();
    progress_open(&shared->bell[0], true);
    struct wait w = WAIT_INIT;
    int polls = 0;
    while (!shared->bell[0].sleeping && polls++ < 10000000)
        wait_poll(&w);
    ck_assert_uint_eq(shared->bell[0].sleeping, 1);
    wait_end(&w);
    ck_assert_uint_eq(shared->bell[0].sleeping, 0);
    doorbell_ring(&shared->bell[0]); /* awake: costs a load, leaves no trace */
    ck_assert_uint_eq(shared->bell[0].bell, 0);
}
END_TEST

/* A ring between arming and sleeping is not lost: the sleep returns at once. */
START_TEST(a_ring_before_the_sleep_counts)
{
    share();
    doorbell_register();
    uint32_t rings = doorbell_arm(&shared->bell[0], true);
    doorbell_ring(&shared->bell[0]);
    ck_assert_uint_eq(shared->bell[0].sleeping, 0);
    uint64_t start = clock_ns();
    doorbell_sleep(&shared->bell[0], rings, 30000000000u);
    ck_assert_uint_lt(clock_ns() - start, 10000000000u);
}
END_TEST

/* ---- ranks whose yields do not reach each other ---- */

enum { FEW_POLLS = 6 }; /* fewer than it takes to look at the clock */

/* What sleeping at once is built upon. */
static bool barriers_work(void)
{
    if (doorbell_register())
        return true;
    printf("skip ranks that are apart: the kernel has no membarrier or forbids it\n");
    return false;
}

/* Rank 0, of two on one CPU; the other one is in group `ours` + n. */
static struct wait wait_beside(uint32_t n, uint32_t sleeping)
{
    share();
    stay_on_this_cpu();
    progress_open(&shared->bell[0], true);
    progress_neighbours(shared->bell, sizeof shared->bell[0], 2, 1);
    ck_assert_uint_ne(shared->bell[0].group, 0);
    shared->bell[1].group = shared->bell[0].group + n;
    oncpu_tell(&shared->bell[1], (unsigned)sched_getcpu());
    shared->bell[1].sleeping = sleeping;
    struct wait w = WAIT_INIT;
    for (int i = 0; i < FEW_POLLS; i++)
        wait_poll(&w);
    return w;
}

START_TEST(who_cannot_yield_to_a_rank_sleeps_at_once)
{
    if (!barriers_work())
        return;
    struct wait w = wait_beside(1, 0);
    ck_assert_uint_eq(shared->bell[0].sleeping, 1);
    ck_assert_uint_eq(shared->bell[0].fences, 1);
    ck_assert(doorbells_fence);
    wait_end(&w);
    ck_assert_uint_eq(shared->bell[0].sleeping, 0);
}
END_TEST

START_TEST(who_is_alone_on_a_cpu_stays_awake)
{
    if (!barriers_work())
        return;
    struct wait w = wait_beside(1, 1);
    ck_assert_uint_eq(shared->bell[0].sleeping, 0);
    ck_assert_uint_eq(shared->bell[0].fences, 1);
    wait_end(&w);
}
END_TEST

START_TEST(who_can_yield_to_a_rank_stays_awake)
{
    struct wait w = wait_beside(0, 0);
    ck_assert_uint_eq(shared->bell[0].sleeping, 0);
    ck_assert_uint_eq(shared->bell[0].fences, 0);
    ck_assert(!doorbells_fence);
    wait_end(&w);
}
END_TEST

START_TEST(who_has_a_cpu_tells_no_group)
{
    share();
    progress_open(&shared->bell[0], false);
    ck_assert_uint_eq(shared->bell[0].group, 0);
    progress_open(&shared->bell[0], true);
    ck_assert_uint_ne(shared->bell[0].group, 0);
}
END_TEST

/* A rank that comes later: until it has told its group, it is yielded to. */
START_TEST(a_group_may_be_told_later)
{
    if (!barriers_work())
        return;
    share();
    progress_open(&shared->bell[0], true);
    progress_neighbours(shared->bell, sizeof shared->bell[0], 2, 1);
    struct wait w = WAIT_INIT;
    for (int i = 0; i < FEW_POLLS; i++)
        wait_poll(&w);
    wait_end(&w);
    ck_assert_uint_eq(shared->bell[0].fences, 0);
    shared->bell[1].group = shared->bell[0].group + 1;
    for (int i = 0; i < FEW_POLLS; i++)
        wait_poll(&w);
    wait_end(&w);
    ck_assert_uint_eq(shared->bell[0].fences, 1);
}
END_TEST

/* ---- threads: one sleeps, another one completes its work ---- */

static int thread_done;
static volatile int give_event;
static int poll_completes(void)
{
    if (!give_event)
        return 0;
    give_event = 0;
    thread_done = 1;
    return 1;
}

static void *thread_waits(void *unused)
{
    engine_take();
    progress_until(&thread_done, NULL, NULL);
    engine_give();
    return unused;
}

START_TEST(a_thread_that_moves_things_wakes_the_others)
{
    threads_multiple = true;
    progress_open(NULL, false);
    progress_add(poll_completes);
    pthread_t thread;
    pthread_create(&thread, NULL, thread_waits, NULL);
    nap_ms(100); /* asleep by now, and without the lock */
    engine_take();
    give_event = 1;
    ck_assert_int_eq(progress(), 1);
    engine_give();
    pthread_join(thread, NULL);
    ck_assert_int_eq(thread_done, 1);
}
END_TEST

START_TEST(a_nudge_wakes_threads_of_the_process)
{
    threads_multiple = true;
    progress_open(NULL, true);
    pthread_t thread;
    pthread_create(&thread, NULL, thread_waits, NULL);
    nap_ms(100);
    engine_take();
    thread_done = 1;
    progress_nudge();
    engine_give();
    pthread_join(thread, NULL);
}
END_TEST

/* ---- several threads wait: one leads, the others follow ---- */

enum { WAITERS = 4 };
static int flags[WAITERS];
static atomic_int given; /* bit i: the poller may set flags[i] */
static atomic_int returned;

static int poll_given(void)
{
    int events = 0;
    for (int i = 0; i < WAITERS; i++)
        if (atomic_load(&given) >> i & 1 && !flags[i]) {
            flags[i] = 1;
            events++;
        }
    return events;
}

static void *wait_for_flag(void *flag)
{
    engine_take();
    progress_until(flag, NULL, NULL);
    engine_give();
    atomic_fetch_add(&returned, 1);
    return NULL;
}

static void waiters_start(pthread_t threads[WAITERS], bool crowded)
{
    threads_multiple = true;
    progress_open(NULL, crowded);
    progress_add(poll_given);
    for (int i = 0; i < WAITERS; i++) {
        pthread_create(&threads[i], NULL, wait_for_flag, &flags[i]);
        nap_ms(20); /* the first one leads */
    }
}

START_TEST(each_thread_is_woken_for_its_own_flag)
{
    pthread_t threads[WAITERS];
    waiters_start(threads, true);
    static const int order[WAITERS] = { 2, 0, 3, 1 };
    for (int i = 0; i < WAITERS; i++) {
        engine_take();
        flags[order[i]] = 1;
        progress_completed();
        engine_give();
        pthread_join(threads[order[i]], NULL);
        ck_assert_int_eq(atomic_load(&returned), i + 1);
    }
}
END_TEST

/* Nobody rings: it is found because some thread always polls, at least every 10 ms. */
START_TEST(when_the_leader_leaves_another_one_leads)
{
    pthread_t threads[WAITERS];
    waiters_start(threads, false);
    for (int i = 0; i < WAITERS; i++) {
        atomic_fetch_or(&given, 1 << i);
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(atomic_load(&returned), i + 1);
    }
}
END_TEST

/* A function of the program, called by a poller, gives up the lock: nobody polls meanwhile. */
static int inside_poll, entered_twice;
static int poll_calls_the_program(void)
{
    entered_twice += inside_poll++;
    int levels = engine_release();
    nap_ms(30);
    engine_retake(levels);
    inside_poll--;
    return 0;
}

static void *poll_once(void *unused)
{
    engine_take();
    progress();
    engine_give();
    return unused;
}

START_TEST(pollers_do_not_run_twice_at_once)
{
    threads_multiple = true;
    progress_add(poll_calls_the_program);
    pthread_t other;
    pthread_create(&other, NULL, poll_once, NULL);
    nap_ms(10);
    poll_once(NULL);
    pthread_join(other, NULL);
    ck_assert_int_eq(entered_twice, 0);
}
END_TEST

UNIT_MAIN("progress", pollers_are_all_called_and_counted, processes_wake_each_other_polling,
          processes_wake_each_other_by_flag, processes_wake_each_other_crowded,
          tests_give_way_where_ranks_exceed_cpus, who_has_work_keeps_its_cpu,
          a_long_wait_sleeps, a_long_crowded_wait_sleeps, polite_always_sleeps_soon,
          polite_never_stays_awake, the_flag_goes_up_and_comes_down,
          a_ring_before_the_sleep_counts, who_cannot_yield_to_a_rank_sleeps_at_once,
          who_is_alone_on_a_cpu_stays_awake, who_can_yield_to_a_rank_stays_awake,
          who_has_a_cpu_tells_no_group, a_group_may_be_told_later,
          a_thread_that_moves_things_wakes_the_others, a_nudge_wakes_threads_of_the_process,
          each_thread_is_woken_for_its_own_flag, when_the_leader_leaves_another_one_leads,
          pollers_do_not_run_twice_at_once)
