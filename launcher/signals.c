/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Signals to the launcher arrive as events on a signalfd:
 *
 *     CHLD              a process has ended
 *     INT               passed on, and told of if ranks still run after 2 s; the second one kills (code
 *                       128 + signal)
 *     QUIT              the state of all ranks is printed; twice within a second: as INT
 *     TERM, HUP         passed on; KILL after a grace (code 128 + signal)
 *     TSTP              passed on, then we stop ourselves; CONT passed on
 *     USR1, USR2        passed on
 *     URG               a rank rings: MPI_Abort, or an MPI process below a wrapper
 *     a real-time one   xmpirun --status asks (inquiry.h)
 *
 * Ranks are in process groups of their own: the terminal's Ctrl-C reaches only us.  HUP stays
 * ignored if it was (nohup); INT does not, although shells ignore it for background jobs.
 */
#include "launcher/calls.h"
#include "launcher/explain.h"
#include "launcher/inquiry.h"
#include "launcher/iof.h"
#include "launcher/job.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/survey.h"
#include "runtime/clock.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { ANSWER_MS = 2000 };

static struct watch news;

/* To the ranks here and on other hosts, and to spawned jobs. */
static void pass_on(struct job *job, int signal)
{
    job_signal(job, signal);
    offspring_signal(job, signal);
    if (job->others)
        job->others->signalled(job, signal);
}

bool signals_ask_to_end(int signal)
{
    for (int i = 0; i < CALLS; i++)
        if (calls[i] == signal)
            return true;
    return false;
}

static void asked_to_end(struct job *job, int signal)
{
    if (job->interrupted || job->stopping) {
        if (!job->interrupted)
            job->interrupted = signal;
        job->stopping = job->killed = true;
        pass_on(job, SIGKILL);
        job->deadlines[DEADLINE_KILL] = 0; /* it is done */
        return;
    }
    job->interrupted = signal;
    job->interrupted_first = !job->failed;
    if (!job_is_running(job)) {
        job->killed = true; /* only output is left, and its reader does not take it */
        return;
    }
    pass_on(job, signal);
    if (signal == SIGTERM || signal == SIGHUP)
        job_set_deadline(job, DEADLINE_KILL, POLITE_GRACE_MS);
    else
        job_set_deadline(job, DEADLINE_ANSWER, ANSWER_MS);
}

static void asked_to_explain(struct job *job)
{
    static uint64_t last;
    uint64_t now = clock_ns();
    if (last && now - last < 1000000000u) {
        asked_to_end(job, SIGQUIT);
        return;
    }
    offspring_signal(job, SIGQUIT);
    explain(job, "state of the ranks", NULL);
    last = clock_ns();
}

static void suspend(struct job *job)
{
    pass_on(job, SIGTSTP);
    raise(SIGSTOP); /* until somebody continues us */
}

static void handle(struct job *job, int signal)
{
    switch (signal) {
    case SIGCHLD:
        job_reap(job);
        break;
    case SIGURG:
        if (!job_is_aborted(job))
            job_look_below_wrappers(job);
        break;
    case SIGQUIT:
        asked_to_explain(job);
        break;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
        asked_to_end(job, signal);
        break;
    case SIGTSTP:
        suspend(job);
        break;
    case SIGCONT:
        iof_continued();
        pass_on(job, SIGCONT);
        break;
    default:
        pass_on(job, signal);
    }
}

static void ready(struct watch *watch, uint32_t events)
{
    (void)events;
    struct signalfd_siginfo info[16];
    ssize_t n = read(watch->fd, info, sizeof info);
    for (ssize_t i = 0; i < n / (ssize_t)sizeof info[0]; i++)
        if ((int)info[i].ssi_signo == INQUIRY_SIGNAL)
            inquiry_came(watch->owner, info[i].ssi_int);
        else
            handle(watch->owner, (int)info[i].ssi_signo);
}

int signals_open(struct job *job)
{
    static const int ours[] = { SIGCHLD, SIGURG,  SIGINT,  SIGQUIT, SIGTERM,
                                SIGTSTP, SIGCONT, SIGUSR1, SIGUSR2, SIGHUP };
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        sigaddset(&set, ours[i]);
    sigaddset(&set, INQUIRY_SIGNAL);
    struct sigaction hup; /* one that is blocked would come although it is ignored */
    if (sigaction(SIGHUP, NULL, &hup) == 0 && hup.sa_handler == SIG_IGN)
        sigdelset(&set, SIGHUP);
    inquiry_open();
    survey_open();
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    sigset_t blocked = set;
    sigaddset(&blocked, SIGTTIN); /* reading in the background shall fail, not stop us */
    sigaddset(&blocked, SIGTTOU);
    if (sigprocmask(SIG_BLOCK, &blocked, NULL) != 0)
        return -1;
    news = (struct watch){ .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                           .ready = ready,
                           .owner = job };
    return news.fd < 0 || !loop_add(&news, EPOLLIN) ? -1 : 0;
}
