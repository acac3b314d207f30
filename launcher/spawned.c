/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See spawned.h.  The job has the options of xmpirun's command line that concern how jobs run and what
 * is shown of them; what it runs, and where, is the wish.
 */
#include "launcher/spawned.h"

#include "launcher/environment.h"
#include "launcher/hosts.h"
#include "launcher/job.h"
#include "launcher/kin.h"
#include "launcher/master.h"
#include "launcher/out.h"
#include "launcher/pack.h"
#include "launcher/verdict.h"
#include "launcher/wish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    struct watch watch; /* the way to xmpirun */
    struct strings variables;
} kin = { .watch = { .fd = -1 } };

/* ---- the wish ---- */

static bool read_wish(int fd, struct wish *wish)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !status.st_size)
        return false;
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return false;
    struct unpack from = { bytes, (const char *)bytes + status.st_size, false };
    close(fd);
    return wish_take(&from, wish);
}

/* The first job's own: what it runs, where, for how long, who may look. */
static void forget_first_job(struct options *options, const struct wish *wish)
{
    options->apps = NULL;
    options->napps = 0;
    options->map = (struct map_options){ 0 };
    options->node_rank = -1;
    options->timeout = 0;
    options->pmix = PMIX_NEVER; /* xmpirun's server is theirs */
    options->tools = false;
    options->iof.stdin_rank = STDIN_NONE;
    if (options->iof.pty < 0)
        options->iof.pty = wish->pty;
    options->master_addr = options->master_port = NULL;
    unsetenv("MASTER_ADDR"); /* where rank 0 of the first job may be found */
    unsetenv("MASTER_PORT");
    if (wish->own_hosts) {
        options->hosts = options->hostfiles = (struct strings){ 0 };
        options->nnodes = 0;
    }
}

/* Each job has a time line of its own. */
static void name_trace(int job)
{
    const char *first = getenv("XMPI_TRACE");
    char name[4096];
    if (first && *first && snprintf(name, sizeof name, "%s.%d", first, job) < (int)sizeof name)
        setenv("XMPI_TRACE", name, 1);
}

static int apply(struct options *options, struct wish *wish)
{
    forget_first_job(options, wish);
    int status = cli_add(options, &wish->options);
    options->apps = wish->apps;
    options->napps = wish->napps;
    options->beside = wish->beside;
    launcher_job = wish->number;
    name_trace(wish->number);
    return status;
}

static int check_hosts(const struct options *options)
{
    struct host *hosts;
    int n, status = hosts_find(options, &hosts, &n);
    if (status || (n == 1 && hosts[0].is_local))
        return status;
    complain("cannot spawn ranks on %s: jobs are spawned on the host of xmpirun only",
             n > 1 ? "several hosts" : hosts[0].name);
    return EXIT_ELSEWHERE;
}

int spawned_main(const char *where, int argc, char **argv)
{
    struct options options;
    struct wish wish;
    int wish_fd;
    prctl(PR_SET_NAME, "xmpirun");
    if (sscanf(where, "%d,%d", &kin.watch.fd, &wish_fd) != 2 || !read_wish(wish_fd, &wish)) {
        complain("--spawned is for xmpirun itself");
        return EXIT_USAGE;
    }
    fcntl(kin.watch.fd, F_SETFD, FD_CLOEXEC);
    launcher_job = wish.number;
    int status = cli_parse(argc, argv, &options);
    if (!status)
        status = apply(&options, &wish);
    if (!status)
        status = check_hosts(&options);
    struct plan plan;
    if (!status)
        status = plan_make(&options, &plan);
    if (status)
        return status;
    master_decide(&options, &plan);
    struct job job = { .options = &options, .plan = &plan };
    return job_run(&job);
}

/* ---- before the ranks ---- */

static void introduce(const struct job *job)
{
    struct kin_message message = { .kind = KIN_HELLO,
                                   .number = job->nranks,
                                   .code = job->options->napps };
    kin_send(kin.watch.fd, &message, job->segment_fd, false);
    for (int i = 0; i < job->nranks && job->plan->placements; i++) {
        message = (struct kin_message){ .kind = KIN_PLACE, .number = i };
        message.bytes = sizeof job->plan->placements[i];
        memcpy(message.text, &job->plan->placements[i], message.bytes);
        kin_send(kin.watch.fd, &message, -1, false);
    }
    message = (struct kin_message){ .kind = KIN_READY };
    kin_send(kin.watch.fd, &message, -1, false);
}

/* xmpirun answers, or dies, and we with it. */
static int await_go(void)
{
    struct kin_message message;
    int fd;
    while (kin_receive(kin.watch.fd, &message, &fd, false) > 0) {
        if (message.kind == KIN_GO)
            return 0;
        if (message.kind == KIN_VARIABLE)
            strings_add(&kin.variables, strdup(message.text));
        if (message.kind == KIN_REFUSED)
            complain("cannot start: %s", message.text);
        if (message.kind == KIN_REFUSED || message.kind == KIN_STOP)
            break;
    }
    return 1;
}

/* ---- while they run ---- */

/* A wrapper still runs, or its end is news that we have not read yet. */
static void client_lost(struct job *job, int rank)
{
    if (rank < job->nranks && !job->ranks[rank].ended && !job->options->keep_going)
        job_fail(
            job, 1,
            "rank %d (a PMIx client below a wrapper) has gone without calling PMIx_Finalize",
            rank);
}

static void heard(struct job *job, const struct kin_message *message)
{
    switch (message->kind) {
    case KIN_LOST:
        client_lost(job, message->number);
        break;
    case KIN_ABORT:
        job_fail(job, abort_exit_code(message->code), "rank %d called PMIx_Abort(%d)%s%s",
                 message->number, message->code, message->bytes ? ": " : "", message->text);
        break;
    case KIN_STOP:
        job_stop(job, message->number);
        if (message->number == 0)
            job_set_deadline(job, DEADLINE_KILL, 0);
        break;
    default:
        break;
    }
}

static void has_said(struct watch *watch, uint32_t events)
{
    (void)events;
    struct job *job = watch->owner;
    struct kin_message message;
    int fd, status;
    while ((status = kin_receive(watch->fd, &message, &fd, true)) > 0)
        heard(job, &message);
    if (status < 0) {
        loop_drop(watch);
        job_fail(job, 1, "xmpirun has gone");
    }
}

/* ---- the service ---- */

int spawned_start(struct job *job)
{
    if (kin.watch.fd < 0)
        return 0;
    introduce(job);
    int status = await_go();
    kin.watch.ready = has_said;
    kin.watch.owner = job;
    if (!status)
        loop_add(&kin.watch, EPOLLIN);
    return status;
}

int spawned_rank_env(struct job *job, int rank, struct environment *env)
{
    static char number[32];
    if (kin.watch.fd < 0)
        return 0;
    for (int i = 0; i < kin.variables.n; i++)
        environment_add(env, kin.variables.text[i]);
    snprintf(number, sizeof number, "PMIX_RANK=%d", job_world(job, rank));
    environment_add(env, number);
    return 0;
}

static void tell(enum kin_kind kind, int number, int code)
{
    struct kin_message message = { .kind = (int)kind, .number = number, .code = code };
    if (kin.watch.fd >= 0)
        kin_send(kin.watch.fd, &message, -1, false);
}

void spawned_started(struct job *job)
{
    (void)job;
    tell(KIN_STARTED, 0, 0);
}

void spawned_rank_gone(struct job *job, int rank, int wait_status)
{
    tell(KIN_GONE, job_world(job, rank), wait_status);
}
