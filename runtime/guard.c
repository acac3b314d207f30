/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A jump out of the handler of SIGBUS.  Each thread has its own place to jump to, and none as a rule:
 * then the signal is not for us, and goes to whoever had it before.
 *
 * Mapping something else over what is gone would be simpler, but XPMEM kills a process that unmaps a part of
 * an attachment.
 */
#include "runtime/guard.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

/* Of the innermost guarded work; NULL: none. */
static _Thread_local sigjmp_buf *volatile place;
static _Thread_local bool is_unblocked; /* SIGBUS, in this thread */
static struct sigaction before;
static bool is_open;

/* Nobody is guarded here, or somebody sent the signal (kill). */
static void pass_on(int signal, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal);
    } else if (before.sa_handler != SIG_IGN || info->si_code > 0) {
        sigaction(signal, &before, NULL); /* a fault happens again */
        if (info->si_code <= 0)
            raise(signal);
    }
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    if (place && info->si_code > 0)
        siglongjmp(*place, 1);
    pass_on(signal, info, context);
}

void guard_open(void)
{
    struct sigaction ours = { .sa_sigaction = on_signal,
                              .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
    sigemptyset(&ours.sa_mask);
    if (!is_open && sigaction(SIGBUS, &ours, &before) == 0)
        is_open = true;
}

void guard_close(void)
{
    struct sigaction now;
    if (!is_open)
        return;
    if (sigaction(SIGBUS, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO &&
        now.sa_sigaction == on_signal) {
        sigaction(SIGBUS, &before, NULL);
        is_open = false;
    } /* else the program has one of its own, which may call ours: it stays */
}

/* Threads block all signals as a habit, ours as well: a fault would kill the process then, whoever would
 * have handled it. */
static __attribute__((noinline)) void unblock(void)
{
    sigset_t faults;
    sigemptyset(&faults);
    sigaddset(&faults, SIGBUS);
    is_unblocked = pthread_sigmask(SIG_UNBLOCK, &faults, NULL) == 0;
}

bool guarded(void (*work)(void *), void *what)
{
    sigjmp_buf here, *outer = place;
    if (__builtin_expect(!is_unblocked, 0) && is_open)
        unblock();
    if (sigsetjmp(here, 0) != 0) { /* the handler leaves the mask as it is */
        place = outer;
        return false;
    }
    place = &here;
    work(what);
    place = outer;
    return true;
}
