/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ends of processes.  The launcher is the subreaper of its job: whatever a rank leaves behind
 * becomes our child, and waitpid tells of every death.  A process group is signalled only while
 * something lives in it, so a number that the kernel has given to somebody else is never hit.
 */
#define _GNU_SOURCE 1
#include "launcher/guard.h"
#include "launcher/others.h"
#include "launcher/job.h"
#include "launcher/out.h"
#include "launcher/cgroup.h"
#include "launcher/services.h"
#include "launcher/status.h"
#include "launcher/survey.h"
#include "launcher/verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct boot_rank *record_of(const struct job *job, int rank)
{
    return bootseg_rank(job->segment, job->plan->ranks[rank].local);
}

static enum boot_state state_of(const struct job *job, int rank)
{
    return (enum boot_state)atomic_load(&record_of(job, rank)->state);
}

static bool in_session(const struct job *job, int rank)
{
    return atomic_load(&record_of(job, rank)->sessions) != 0;
}

static bool others_in_mpi(const struct job *job, int rank)
{
    for (int i = 0; i < job->nranks; i++)
        if (i != rank && !job->ranks[i].ended && state_of(job, i) == BOOT_INITED)
            return true;
    return false;
}

/* Let the survivors know, wherever they wait.  The word they read; 0: it had finalized. */
static uint32_t announce_death(struct job *job, int rank, uint32_t dead)
{
    enum boot_state state = state_of(job, rank);
    if (state == BOOT_STARTED && !job->options->keep_going)
        dead |= BOOT_DEAD_OUTSIDE; /* see job_look_for_absent */
    if (state == BOOT_FINALIZED && atomic_load(&job->segment->dead_epoch) == 0)
        return 0; /* it has said so itself; others may end before it says it (_exit, exec) */
    if (state == BOOT_FINALIZED)
        dead = 0;
    boot_announce(job->segment, job->plan->ranks[rank].local, dead);
    return dead;
}

struct pidfd_info { /* of Linux 6.15; older headers do not have it */
    uint64_t mask, cgroup;
    uint32_t pid, tgid, ppid, ids[8];
    int32_t exit_code;
};

/* The wait status of a process that is not our child, once its parent has waited for it; -1
 * where the kernel cannot tell. */
static int status_of_stranger(int pidfd)
{
    enum { WITH_EXIT_CODE = 8 };
    struct pidfd_info info = { .mask = WITH_EXIT_CODE };
    if (pidfd < 0 || ioctl(pidfd, _IOWR(0xFF, 11, struct pidfd_info), &info) != 0 ||
        !(info.mask & WITH_EXIT_CODE))
        return -1;
    return info.exit_code;
}

/* ---- MPI_Abort ---- */

static bool look_for_abort(struct job *job)
{
    struct boot_header *segment = job->segment;
    if (atomic_load(&segment->abort_state) != 2)
        return false;
    job_report_lost(job); /* then the abort is only its consequence */
    bool goes_on = job->options->keep_going && !job->interrupted && !job->stopping;
    if (job->failed && !goes_on)
        return true; /* else it is told, and ends the job, whatever else has failed before */
    char text[BOOT_TEXT_CHARS];
    snprintf(text, sizeof text, "%s", segment->abort_text);
    size_t end = strlen(text);
    while (end && text[end - 1] == '\n')
        text[--end] = 0;
    int code = abort_exit_code(segment->abort_code);
    const char *place = place_named(segment->abort_place);
    const char *at = *place ? "; at " : "";
    char rank[32] = "", what[BOOT_TEXT_CHARS + 64];
    if (end && strncmp(text, "rank ", 5) != 0)
        snprintf(rank, sizeof rank, "rank %d: ", segment->abort_rank);
    if (end)
        snprintf(what, sizeof what, "%s%s", rank, text);
    else
        snprintf(what, sizeof what, "rank %d ended the job with code %d", segment->abort_rank,
                 segment->abort_code);
    if (job->failed) /* job_fail tells the first failure only */
        complain("%s%s%s", what, at, place);
    job_fail(job, code, "%s%s%s", what, at, place);
    return true;
}

bool job_is_aborted(struct job *job)
{
    return job->segment && look_for_abort(job);
}

/* ---- MPI processes below wrappers ---- */

void job_tell_others(struct job *job, int number, uint32_t word)
{
    if (job->others)
        job->others->ended(job, number, word);
}

/* Before it went, it may have called MPI_Abort. */
static bool has_aborted(const struct job *job, int number)
{
    const struct boot_header *segment = job->segment;
    return atomic_load(&segment->abort_state) == 2 &&
           segment->abort_rank == job_world(job, number);
}

/* It has gone; if it did not finalize, its wrapper gets a moment to end and say why before the others
 * hear of it. */
static void claimed_gone(struct job *job, int number)
{
    struct rank *rank = &job->ranks[number];
    if (rank->ended || state_of(job, number) != BOOT_INITED || has_aborted(job, number))
        return;
    rank->lost = true;
    if (job->options->keep_going)
        job_tell_others(job, number, announce_death(job, number, BOOT_DEAD));
    else if (!job->deadlines[DEADLINE_STOP])
        job_set_deadline(job, DEADLINE_STOP, WRAPPER_GRACE_MS);
}

static void claimed_died(struct watch *watch, uint32_t events)
{
    (void)events;
    struct job *job = watch->owner;
    loop_drop(watch); /* the descriptor may still tell how */
    for (int i = 0; i < job->nranks; i++)
        if (watch == &job->ranks[i].claimed_death)
            claimed_gone(job, i);
}

/* The MPI process of this rank is not the process we started: watch it too. */
static void watch_claimed(struct job *job, int number, pid_t pid)
{
    struct rank *rank = &job->ranks[number];
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    rank->claimed = pid;
    rank->claimed_death = (struct watch){ .fd = fd, .ready = claimed_died, .owner = job };
    if (fd < 0 && errno == ESRCH)
        claimed_gone(job, number);
    if (fd >= 0)
        loop_add(&rank->claimed_death, EPOLLIN);
}

/* Whoever rings has our PID namespace, but others may not: their pids mean strangers here, or nobody. */
void job_look_below_wrappers(struct job *job)
{
    uint32_t ours = boot_pid_namespace();
    for (int i = 0; job->segment && i < job->nranks; i++) {
        const struct rank *rank = &job->ranks[i];
        const struct boot_rank *record = record_of(job, i);
        pid_t pid = atomic_load(&record->pid);
        bool known = pid && record->namespace == ours;
        if (known && rank->pid && pid != rank->pid && !rank->claimed)
            watch_claimed(job, i, pid);
    }
}

void job_report_lost(struct job *job)
{
    int number = 0;
    while (number < job->nranks && (!job->ranks[number].lost || job->ranks[number].ended))
        number++;
    if (number == job->nranks)
        return;
    const struct rank *rank = &job->ranks[number];
    struct ending ending = { .wait_status = status_of_stranger(rank->claimed_death.fd),
                             .state = BOOT_INITED,
                             .in_session = in_session(job, number) };
    char text[160] = "died inside MPI";
    int code = 1;
    if (ending.wait_status >= 0) {
        code = verdict_of(&ending).code;
        verdict_text(&ending, text, sizeof text);
    }
    job_fail(job, code, "rank %d (pid %d, below a wrapper) %s; stopping the job",
             job_world(job, number), (int)rank->claimed, text);
}

/* ---- ends of ranks ---- */

/* Why SIGKILL, when nobody here sent it? */
static bool is_out_of_memory(struct job *job, int signal)
{
    if (signal != SIGKILL)
        return false;
    long before = job->oom_kills, now = cgroup_oom_kills();
    job->oom_kills = now;
    return before >= 0 && now > before;
}

static void report(struct job *job, int number, const struct ending *ending, const char *hint)
{
    const struct app *app = &job->options->apps[job->plan->ranks[number].app];
    char text[160], rest[64] = "";
    verdict_text(ending, text, sizeof text);
    int others = job->running;
    enum reaction reaction = verdict_of(ending).reaction;
    bool stops = reaction == REACTION_STOP || reaction == REACTION_STOP_SOON;
    const char *fate = job->options->keep_going ? "going on with" : "stopping";
    if (stops && job->others) /* they are not counted */
        snprintf(rest, sizeof rest, "; %s the others", fate);
    else if (stops && others == 1)
        snprintf(rest, sizeof rest, "; %s the other rank", fate);
    else if (stops && others)
        snprintf(rest, sizeof rest, "; %s the other %d ranks", fate, others);
    complain("rank %d (%s%s, pid %d) %s%s%s", job_world(job, number), app->argv[0],
             ending->wrapped ? ", a wrapper" : "", (int)job->ranks[number].pid, text, hint,
             rest);
}

static void look_later(struct job *job)
{
    if (!job->deadlines[DEADLINE_ABSENT])
        job_set_deadline(job, DEADLINE_ABSENT, ABSENT_MS);
}

void job_other_ended(struct job *job, int world, uint32_t word)
{
    if (job->segment && word)
        boot_announce_other(job->segment, world, word);
    if (word)
        services_other_gone(job, world);
    if (word && !(word & BOOT_DEAD_OUTSIDE))
        survey_lost(job, world);
    if (!(word & BOOT_DEAD_OUTSIDE))
        return;
    job->absent = 1 + world;
    look_later(job);
}

/* Some rank ended without MPI_Init.  That is fine for ordinary programs, but ranks inside MPI
 * would wait for it for ever; they may also get there later.  Each host looks at its own ranks for
 * who waits. */
void job_look_for_absent(struct job *job)
{
    int absent = 0;
    while (absent < job->nranks &&
           (!job->ranks[absent].ended || state_of(job, absent) != BOOT_STARTED))
        absent++;
    int world = absent < job->nranks ? job_world(job, absent) : job->absent - 1;
    if (world < 0 || job->stopping || job->options->keep_going)
        return;
    if (!others_in_mpi(job, absent))
        look_later(job);
    else if (job->failed)
        job_stop(job, GRACE_MS);
    else
        job_fail(job, 1, "rank %d ended without calling MPI_Init; the others wait for it",
                 world);
}

static struct ending ending_of(const struct job *job, int number)
{
    const struct rank *rank = &job->ranks[number];
    int32_t mpi_pid = atomic_load(&record_of(job, number)->pid);
    struct ending ending = { .wait_status = rank->status,
                             .state = state_of(job, number),
                             .wrapped = mpi_pid && mpi_pid != rank->pid,
                             .others_in_mpi = others_in_mpi(job, number),
                             .in_session = in_session(job, number) };
    if (ending.wrapped && ending.state == BOOT_INITED) {
        int status = status_of_stranger(rank->claimed_death.fd);
        ending.wait_status = status > 0 ? status : ending.wait_status;
    }
    return ending;
}

/* With --keep-going each bad end is told, since none is the consequence of another; the exit code is
 * the first one's. */
static void judge(struct job *job, int number, const struct ending *ending, bool out_of_memory)
{
    struct verdict verdict = verdict_of(ending);
    bool goes_on = job->options->keep_going && !job->interrupted;
    if (verdict.reaction == REACTION_NONE || job->stopping)
        return;
    /* Who was asked to end is free to choose how. */
    if ((!job->failed || goes_on) && !job->interrupted)
        report(job, number, ending,
               out_of_memory
                   ? "; the kernel ran out of memory: it has just killed a process for that"
                   : "");
    if (!job->failed)
        job->exit_code = verdict.code;
    job->failed = true;
    if (goes_on)
        return;
    if (verdict.reaction == REACTION_STOP)
        job_stop(job, job->interrupted ? POLITE_GRACE_MS : GRACE_MS);
    else if (verdict.reaction == REACTION_STOP_SOON)
        job_set_deadline(job, DEADLINE_STOP, FINALIZE_GRACE_MS);
}

/* What the survivors are told. */
static uint32_t word_of(const struct ending *ending, bool out_of_memory)
{
    if (ending->wrapped && !WIFSIGNALED(ending->wait_status))
        return BOOT_DEAD; /* the wrapper's code, not the rank's */
    return BOOT_DEAD | BOOT_DEAD_STATUS | (out_of_memory ? BOOT_DEAD_MEMORY : 0) |
           (ending->in_session ? BOOT_DEAD_SESSION : 0) |
           ((uint32_t)ending->wait_status & 0xffff);
}

static void rank_ended(struct job *job, int number, int status)
{
    struct rank *rank = &job->ranks[number];
    rank->status = status;
    rank->ended = true;
    job->running--;
    iof_ended(number, WIFSIGNALED(status) || job->stopping);
    struct ending ending = ending_of(job, number);
    bool out_of_memory = is_out_of_memory(job, verdict_of(&ending).signal);
    uint32_t word = announce_death(job, number, word_of(&ending, out_of_memory));
    judge(job, number, &ending, out_of_memory);
    /* After the verdict, or another host's consequence comes before this cause. */
    job_tell_others(job, number, word);
    if (state_of(job, number) == BOOT_STARTED)
        look_later(job);
    services_rank_gone(job, number, status);
    rank->pid = 0;
}

/* Forget the group if nothing lives in it any more. */
static void check_group(struct rank *rank, int number)
{
    if (rank->group && !rank->pid && kill(-rank->group, 0) != 0 && errno == ESRCH) {
        rank->group = 0;
        *guard_group(number) = 0;
    }
}

void job_check_groups(struct job *job)
{
    for (int i = 0; i < job->nranks; i++)
        if (job->ranks[i].group && !job->ranks[i].pid)
            check_group(&job->ranks[i], i);
}

void job_reap(struct job *job)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (guard_died(pid) || offspring_died(job, pid, status) ||
            (job->others && job->others->child_died(pid, status)))
            continue;
        job_is_aborted(job);
        int number = 0;
        while (number < job->nranks && job->ranks[number].pid != pid)
            number++;
        if (number < job->nranks) {
            rank_ended(job, number, status);
            check_group(&job->ranks[number], number);
        } else {
            job_check_groups(job); /* a stray: perhaps the last of its group */
        }
    }
}
