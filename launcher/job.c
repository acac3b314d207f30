/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a job.  One loop turns until the last rank has ended; what happens in between is
 * decided by events (signals.c, reap.c, iof.c) and by deadlines.  Then the output that is
 * still on its way is passed on, whatever ranks left behind is ended, and the exit code is that
 * of the first failure.
 */
#define _GNU_SOURCE 1
#include "launcher/job.h"

#include "launcher/cgroup.h"
#include "launcher/explain.h"
#include "launcher/guard.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/proc.h"
#include "launcher/services.h"
#include "launcher/survey.h"
#include "runtime/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

void job_fail(struct job *job, int code, const char *format, ...)
{
    if (!job->failed) {
        char text[1024];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        complain("%s", text);
        job->exit_code = code;
        job->failed = true;
    }
    job_stop(job, GRACE_MS);
}

/* ---- deadlines ---- */

void job_set_deadline(struct job *job, enum deadline which, int ms)
{
    job->deadlines[which] = clock_ns() + (uint64_t)ms * 1000000u;
}

/* Milliseconds until the next deadline or tick; -1: there is none. */
static int time_left(const struct job *job)
{
    uint64_t now = clock_ns();
    int left = iof_timeout(now);
    for (int i = 0; i < DEADLINE_COUNT; i++) {
        if (!job->deadlines[i])
            continue;
        uint64_t ms = job->deadlines[i] <= now ? 0 : (job->deadlines[i] - now) / 1000000u + 1;
        int most = ms > 1000000 ? 1000000 : (int)ms;
        if (left < 0 || most < left)
            left = most;
    }
    return left;
}

static bool is_due(struct job *job, enum deadline which, uint64_t now)
{
    if (!job->deadlines[which] || job->deadlines[which] > now)
        return false;
    job->deadlines[which] = 0;
    return true;
}

static void stop_late(struct job *job)
{
    if (job->others)
        job_fail(job, EXIT_TIMED_OUT,
                 "time limit of %g s reached: stopping the ranks of all hosts",
                 job->options->timeout);
    else
        job_fail(job, EXIT_TIMED_OUT, "time limit of %g s reached: stopping %d of %d ranks",
                 job->options->timeout, job->running, job->nranks);
}

static void time_is_up(struct job *job)
{
    if (job->options->quiet)
        stop_late(job);
    else
        explain(job, "the time limit is reached", stop_late);
}

/* Ranks may have reasons to go on for a while, or for ever. */
static void job_unanswered(const struct job *job)
{
    if (!job->stopping && job->running > 0)
        complain(
            "the interrupt was passed on, and %d of %d ranks still run; once more, and they "
            "are killed",
            job->running, job->nranks);
}

static void act_on_deadlines(struct job *job)
{
    uint64_t now = clock_ns();
    iof_tick(now);
    if (is_due(job, DEADLINE_HANG, now))
        explain_watch(job);
    if (is_due(job, DEADLINE_SURVEY, now))
        explain_late(job);
    if (is_due(job, DEADLINE_TIMEOUT, now))
        time_is_up(job);
    if (is_due(job, DEADLINE_STOP, now)) {
        job_report_lost(job);
        job_stop(job, GRACE_MS);
    }
    if (is_due(job, DEADLINE_OTHERS, now))
        job->others->late(job);
    if (is_due(job, DEADLINE_SPAWNED, now))
        offspring_late(job);
    if (is_due(job, DEADLINE_ABSENT, now))
        job_look_for_absent(job);
    if (is_due(job, DEADLINE_ANSWER, now))
        job_unanswered(job);
    if (is_due(job, DEADLINE_KILL, now)) {
        job->stopping = job->killed = true;
        job_signal(job, SIGKILL);
        offspring_signal(job, SIGKILL);
        if (job->interrupted &&
            job->others) /* the user's wish; after failures each host does so itself */
            job->others->signalled(job, SIGKILL);
    }
}

/* One turn of everything. */
static void turn(struct job *job)
{
    loop_turn(time_left(job));
    job_is_aborted(job);
    act_on_deadlines(job);
    if (job->others)
        job->others->turn(job);
}

int job_world(const struct job *job, int number)
{
    return job->plan->ranks[number].world;
}

int job_number(const struct job *job, int world)
{
    int low = 0, high = job->nranks - 1; /* ranks of the job rise with their numbers here */
    while (low < high) {
        int middle = (low + high) / 2;
        if (job_world(job, middle) < world)
            low = middle + 1;
        else
            high = middle;
    }
    return low <= high && job_world(job, low) == world ? low : -1;
}

bool job_is_running(const struct job *job)
{
    return job->running || offspring_run() || (job->others && job->others->running(job));
}

/* ---- the end ---- */

static bool output_is_written(void)
{
    return out_is_idle(&out_stdout) && out_is_idle(&out_stderr);
}

/* Our reader has all the time to take what is left, unless we were asked to end. */
static bool may_wait(const struct job *job, uint64_t since)
{
    if (!job->interrupted)
        return true;
    return !job->killed && clock_ns() - since < DRAIN_MS * 1000000ull;
}

/* Pass on what is still in the pipes.  Something that outlives its rank may hold them open: it
 * gets a moment, then the end. */
static void drain(struct job *job)
{
    memset(job->deadlines, 0, sizeof job->deadlines);
    uint64_t begin = clock_ns();
    iof_drain();
    while (!iof_is_done() && !job->killed && clock_ns() - begin < DRAIN_MS * 1000000ull)
        loop_turn(10);
    job_clean(job);
    iof_drain();
    begin = clock_ns();
    /* What is still open now is held by somebody out of our reach, or waits for our reader. */
    while (!iof_is_done() && !output_is_written() && may_wait(job, begin)) {
        loop_turn(10);
        iof_drain();
    }
    iof_close();
}

static void flush_output(const struct job *job)
{
    uint64_t begin = clock_ns();
    while (!output_is_written() && may_wait(job, begin))
        loop_turn(job->interrupted ? 10 : -1);
}

/* As output, not as words of ours: of those xmpirun leaves out what other hosts say after a failure. */
static void print_exit_codes(const struct job *job)
{
    for (int i = 0; i < job->nranks; i++) {
        char line[80];
        int status = job->ranks[i].status;
        int n = WIFSIGNALED(status)
                    ? snprintf(line, sizeof line, "%srank %d: signal %d\n", launcher_job_name(),
                               job_world(job, i), WTERMSIG(status))
                    : snprintf(line, sizeof line, "%srank %d: exit code %d\n",
                               launcher_job_name(), job_world(job, i), WEXITSTATUS(status));
        out_write(&out_stderr, job, line, (size_t)n);
    }
}

/* What can be opened is, also for a job that is refused: other hosts are still told of it. */
static int open_all(struct job *job)
{
    int status = job_check_limits(job);
    proc_need_files(4 * job->nranks + 64);
    bool good = loop_open() == 0 && signals_open(job) == 0;
    if (!good && !status) {
        complain("cannot set up the event loop: %s%s", strerror(errno), files_remedy(errno));
        status = 1;
    }
    outs_open();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return status ? status : iof_open(&job->options->iof, job->plan);
}

static int exit_code(const struct job *job)
{
    if (job->interrupted_first)
        return 128 + job->interrupted;
    return job->exit_code ? job->exit_code : output_lost;
}

static void begin(struct job *job)
{
    const struct options *options = job->options;
    int status = open_all(job);
    if (!status && options->timeout > 0)
        job->deadlines[DEADLINE_TIMEOUT] = clock_ns() + (uint64_t)(options->timeout * 1e9);
    if (!status)
        status = job_spawn(job);
    if (status) { /* some may run already */
        job->failed = true;
        job->exit_code = status;
        job_stop(job, 0);
    } else {
        services_started(job);
        job->oom_kills = cgroup_oom_kills();
        explain_begin(job);
    }
    if (job->others)
        job->others->started(job);
}

int job_run(struct job *job)
{
    job->nranks = job->plan->nranks;
    job->ranks = calloc((size_t)job->nranks + 1, sizeof *job->ranks);
    job->segment_fd = -1;
    if (!job->ranks)
        abort();
    for (int i = 0; i < job->nranks; i++)
        job->ranks[i].claimed_death.fd = -1;
    proc_remember();
    begin(job);
    while (job_is_running(job))
        turn(job);
    drain(job);
    services_stop(job);
    if (job->options->exit_codes)
        print_exit_codes(job);
    flush_output(job);
    if (job->others) {
        survey_part(job);
        job->others->finish(job);
    }
    guard_close();
    free(job->ranks);
    return exit_code(job);
}
