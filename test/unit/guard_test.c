/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory that is gone while it is worked on: mappings of a file that ends earlier.
 */
#define _GNU_SOURCE
#include "runtime/guard.h"

#include "test/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile char *lost;
static volatile int done;

static void setup(void)
{
    int file = memfd_create("guard", MFD_CLOEXEC);
    lost = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    ck_assert_ptr_ne((void *)lost, MAP_FAILED);
    done = 0;
    guard_open();
}

static void touch(void *what)
{
    done++;
    *(int *)what += *lost;
    done++;
}

static void nothing(void *what)
{
    *(int *)what += 1;
}

/* A guarded piece in a guarded one: the inner one ends. */
static void touch_inside(void *what)
{
    int more = 0;
    ck_assert(!guarded(touch, &more));
    ck_assert(guarded(nothing, what));
    touch(what);
}

START_TEST(work_ends_where_memory_is_gone)
{
    setup();
    int sum = 0;
    for (int i = 1; i <= 3; i++) {
        ck_assert(!guarded(touch, &sum));
        ck_assert_int_eq(done, i);
    }
    ck_assert(guarded(nothing, &sum));
    ck_assert_int_eq(sum, 1);
}
END_TEST

START_TEST(guards_are_nested)
{
    setup();
    int sum = 0;
    ck_assert(!guarded(touch_inside, &sum));
    ck_assert_int_eq(done, 2);
    ck_assert_int_eq(sum, 1);
}
END_TEST

static void hear(int signal)
{
    _exit(signal == SIGBUS ? 7 : 8);
}

/* Do it elsewhere: the status. */
static int apart(void (*act)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        act();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return status;
}

static void touch_twice(void)
{
    int sum = 0;
    if (guarded(touch, &sum))
        _exit(9);
    touch(&sum);
}

static void touch_heard(void)
{
    guard_close();
    signal(SIGBUS, hear);
    guard_open();
    touch_twice();
}

static void send_it(void)
{
    raise(SIGBUS);
}

/* What is not ours is the program's, whose handler was here before. */
START_TEST(the_program_has_a_handler)
{
    setup();
    int status = apart(touch_heard);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}
END_TEST

/* Or nobody's: then the process ends, by the signal, or as a sanitizer ends it. */
START_TEST(nobody_is_guarded)
{
    setup();
    int twice = apart(touch_twice), sent = apart(send_it);
    ck_assert(WIFSIGNALED(twice) ? WTERMSIG(twice) == SIGBUS : WEXITSTATUS(twice) == 1);
    ck_assert(WIFSIGNALED(sent) ? WTERMSIG(sent) == SIGBUS : WEXITSTATUS(sent) == 1);
}
END_TEST

START_TEST(it_is_given_back)
{
    struct sigaction now;
    signal(SIGBUS, hear);
    guard_open();
    guard_close();
    ck_assert_int_eq(sigaction(SIGBUS, NULL, &now), 0);
    ck_assert(now.sa_handler == hear);
    guard_open();
    signal(SIGBUS, SIG_IGN); /* the program's own, later than ours, stays */
    guard_close();
    ck_assert_int_eq(sigaction(SIGBUS, NULL, &now), 0);
    ck_assert(now.sa_handler == SIG_IGN);
}
END_TEST

static void *touch_deaf(void *what)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 2; i++)
        if (guarded(touch, what))
            return NULL;
    return what;
}

static void touch_in_a_thread(void)
{
    pthread_t thread;
    int sum = 0;
    void *result = NULL;
    if (pthread_create(&thread, NULL, touch_deaf, &sum) != 0 ||
        pthread_join(thread, &result) != 0 || result != &sum)
        _exit(9);
}

/* Where a signal is blocked a fault ends the process, whoever handles it elsewhere. */
START_TEST(threads_may_block_signals)
{
    setup();
    int status = apart(touch_in_a_thread);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

static void send_and_touch(void)
{
    guard_close();
    signal(SIGBUS, SIG_IGN);
    guard_open();
    raise(SIGBUS);
    int sum = 0;
    if (guarded(touch, &sum))
        _exit(9);
}

START_TEST(what_is_ignored_ends_no_guard)
{
    setup();
    int status = apart(send_and_touch);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

UNIT_MAIN("guard", threads_may_block_signals, what_is_ignored_ends_no_guard,
          work_ends_where_memory_is_gone, guards_are_nested, the_program_has_a_handler,
          nobody_is_guarded, it_is_given_back)
