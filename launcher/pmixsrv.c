/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The PMIx server of a job.
 *
 *     start       before the ranks: their environment says where the server is
 *     rank_env    what the library wants a rank's environment to hold
 *     upcalls     arrive in the loop (pmix_upcall.c) and are worked on here
 *     rank_gone   the other clients are told
 *
 * A client is to the launcher what an MPI process is: between PMIx_Init and PMIx_Finalize its
 * record in the boot segment says BOOT_INITED, so that one exit policy (verdict.c) holds for all.
 * An xmpi process that uses the segment keeps its own record; we never write into that one.
 *
 * A client below a wrapper may die unseen.  Its connection tells: when the wrapper has not ended
 * a moment later, the job fails.
 *
 * Cost: 2 ms of CPU time for the server, 50 us more per rank, and 3 ms for each client, most of it
 * in its own PMIx_Init.
 */
#include "launcher/pmixsrv.h"

#include "launcher/elf.h"
#include "launcher/out.h"
#include "launcher/pmix_job.h"
#include "launcher/pmix_lib.h"
#include "launcher/pmix_names.h"
#include "launcher/pmix_start.h"
#include "launcher/pmix_upcall.h"
#include "launcher/scratch.h"
#include "launcher/verdict.h"
#include "runtime/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct client {
    bool joined;    /* PMIx_Init, and its record in the segment is ours to write */
    bool announced; /* the others know that it has gone */
    uint64_t lost;  /* its connection was lost: when to fail, as clock_ns; 0: it was not */
};

static struct {
    struct job *job; /* NULL: no server */
    pmix_nspace_t nspace;
    struct watch news, timer;
    struct client *clients;
    size_t next_context; /* of groups */
    char **env;          /* of the rank being started */
} server;

static struct boot_rank *record_of(int rank)
{
    return bootseg_rank(server.job->segment, server.job->plan->ranks[rank].local);
}

static pmix_proc_t proc_of(int rank)
{
    pmix_proc_t proc = { .rank = (pmix_rank_t)rank };
    memcpy(proc.nspace, server.nspace, sizeof proc.nspace);
    return proc;
}

/* ---- news of deaths ---- */

struct news { /* lives until the library has sent it */
    pmix_proc_t dead;
    pmix_info_t affected;
};

static void news_sent(pmix_status_t status, void *data)
{
    (void)status;
    free(data);
}

static void announce(int rank)
{
    if (server.clients[rank].announced)
        return;
    server.clients[rank].announced = true;
    struct news *news = calloc(1, sizeof *news);
    if (!news)
        abort();
    news->dead = proc_of(rank);
    news->affected = (pmix_info_t){
        .key = PMIX_EVENT_AFFECTED_PROC,
        .value = { .type = PMIX_PROC, .data.proc = &news->dead },
    };
    pmix_status_t status =
        pmix_lib.Notify_event(PMIX_ERR_PROC_ABORTED, &news->dead, PMIX_RANGE_NAMESPACE,
                              &news->affected, 1, news_sent, news);
    if (status != PMIX_SUCCESS)
        free(news);
}

/* ---- time ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return !a || (b && b < a) ? b : a;
}

static void set_timer(void)
{
    uint64_t next = names_deadline();
    for (int i = 0; i < server.job->nranks; i++)
        next = earlier(next, server.clients[i].lost);
    struct itimerspec spec = { .it_value = { .tv_sec = (time_t)(next / 1000000000u),
                                             .tv_nsec = (long)(next % 1000000000u) } };
    timerfd_settime(server.timer.fd, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* Lost, and what we started for it still runs: a wrapper. */
static void check_lost(uint64_t now)
{
    for (int i = 0; i < server.job->nranks; i++) {
        struct client *client = &server.clients[i];
        if (!client->lost || client->lost > now)
            continue;
        client->lost = 0;
        if (server.job->ranks[i].ended)
            continue;
        job_fail(
            server.job, 1,
            "rank %d (a PMIx client below a wrapper) has gone without calling PMIx_Finalize",
            i);
        announce(i);
    }
}

static void timer_ready(struct watch *watch, uint32_t events)
{
    (void)events;
    uint64_t count;
    if (read(watch->fd, &count, sizeof count) < 0)
        return;
    names_tick(clock_ns());
    check_lost(clock_ns());
    set_timer();
}

/* ---- upcalls ---- */

static void joined(int rank)
{
    uint32_t started = BOOT_STARTED;
    if (atomic_compare_exchange_strong(&record_of(rank)->state, &started, BOOT_INITED))
        server.clients[rank].joined = true;
}

/* MPI_Init may have followed PMIx_Init; then the record is MPI's. */
static void finalized(int rank)
{
    if (server.clients[rank].joined && !atomic_load(&record_of(rank)->pid))
        atomic_store(&record_of(rank)->state, BOOT_FINALIZED);
    server.clients[rank].joined = false;
}

/* Mostly its process is about to end, and we will hear of that; only a wrapper does not tell.
 * The others are not told yet: their reaction must not come before the first cause. */
static void lost(int rank)
{
    if (server.clients[rank].joined && !server.job->ranks[rank].ended)
        server.clients[rank].lost = clock_ns() + WRAPPER_GRACE_MS * 1000000ull;
}

static void abort_job(const struct upcall *u)
{
    job_fail(server.job, abort_exit_code(u->code), "rank %u called PMIx_Abort(%d)%s%s",
             u->from.rank, u->code, u->text && *u->text ? ": " : "", u->text ? u->text : "");
}

/* Every group gets a number if it asks for one; what its members said about themselves goes back
 * to them, because nobody on another host has anything to add. */
static void construct_group(struct upcall *u)
{
    u->given = calloc(u->ninfo + 1, sizeof *u->given);
    if (!u->given)
        abort();
    for (size_t i = 0; i < u->ninfo; i++) {
        pmix_info_t *given = &u->given[u->ngiven];
        if (info_is(&u->info[i], PMIX_GROUP_ASSIGN_CONTEXT_ID)) {
            *given = (pmix_info_t){
                .key = PMIX_GROUP_CONTEXT_ID,
                .value = { .type = PMIX_SIZE, .data.size = server.next_context++ },
            };
        } else if (info_is(&u->info[i], PMIX_GROUP_ENDPT_DATA)) {
            *given = (pmix_info_t){ .key = PMIX_GROUP_ENDPT_DATA };
            pmix_lib.Value_xfer(&given->value, (pmix_value_t *)&u->info[i].value);
        } else {
            continue;
        }
        u->ngiven++;
    }
    upcall_answer(u, PMIX_SUCCESS);
}

static void handle(struct upcall *u)
{
    int rank = (int)u->from.rank;
    switch (u->kind) {
    case UPCALL_CONNECTED:
        joined(rank);
        break;
    case UPCALL_FINALIZED:
        finalized(rank);
        break;
    case UPCALL_LOST:
        lost(rank);
        break;
    case UPCALL_ABORT:
        abort_job(u);
        break;
    case UPCALL_PUBLISH:
        names_publish(u);
        return;
    case UPCALL_LOOKUP:
        names_lookup(u);
        return;
    case UPCALL_UNPUBLISH:
        names_unpublish(u);
        return;
    case UPCALL_GROUP:
        construct_group(u);
        return;
    }
    upcall_answer(u, PMIX_SUCCESS);
}

static bool is_ours(const struct upcall *u)
{
    return strcmp(u->from.nspace, server.nspace) == 0 &&
           u->from.rank < (pmix_rank_t)server.job->nranks;
}

static void news_ready(struct watch *watch, uint32_t events)
{
    (void)watch, (void)events;
    for (struct upcall *u = upcalls_take(), *next; u; u = next) {
        next = u->next;
        if (is_ours(u))
            handle(u);
        else
            upcall_answer(u, PMIX_ERR_NOT_FOUND);
    }
    set_timer();
}

/* ---- the service ---- */

static bool is_wanted(const struct job *job)
{
    if (job->options->pmix != PMIX_AUTO)
        return job->options->pmix == PMIX_ALWAYS;
    for (int i = 0; i < job->options->napps; i++)
        if (elf_may_use_pmix(job->programs[i]))
            return true;
    return false;
}

static bool open_watches(pmix_server_module_t *module)
{
    server.news =
        (struct watch){ .fd = upcalls_open(server.nspace, module), .ready = news_ready };
    server.timer =
        (struct watch){ .fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                        .ready = timer_ready };
    return server.news.fd >= 0 && server.timer.fd >= 0 && loop_add(&server.news, EPOLLIN) &&
           loop_add(&server.timer, EPOLLIN);
}

static const char *start(struct job *job)
{
    pmix_server_module_t module;
    snprintf(server.nspace, sizeof server.nspace, "xmpi-%s", job->id);
    server.clients = calloc((size_t)job->nranks, sizeof *server.clients);
    if (!server.clients)
        abort();
    const char *scratch = scratch_make(job->id);
    if (!scratch)
        return "no place for a directory: XDG_RUNTIME_DIR, /dev/shm, TMPDIR or /tmp";
    if (!open_watches(&module))
        return strerror(errno);
    const char *why =
        pmix_server_start(server.nspace, job->plan->hosts[0].name, scratch, &module);
    if (why)
        return why;
    server.job = job;
    pmix_status_t status = upcalls_watch_losses();
    if (status >= 0)
        status = pmix_job_register(job, server.nspace, scratch);
    return status >= 0 ? NULL : pmix_lib.Error_string(status);
}

int pmixsrv_start(struct job *job)
{
    if (!is_wanted(job))
        return 0;
    const char *why = start(job);
    if (!why) {
        notice("PMIx server for job %s", server.nspace);
        return 0;
    }
    pmixsrv_stop(job);
    scratch_remove();
    if (job->options->pmix == PMIX_ALWAYS) {
        complain("cannot start a PMIx server: %s (--pmix=never does without)", why);
        return 1;
    }
    notice("no PMIx server: %s", why);
    return 0;
}

static void forget_env(void)
{
    for (char **item = server.env; item && *item; item++)
        free(*item);
    free(server.env);
    server.env = NULL;
}

int pmixsrv_rank_env(struct job *job, int rank, struct environment *env)
{
    (void)job;
    if (!server.job)
        return 0;
    forget_env();
    pmix_proc_t proc = proc_of(rank);
    pmix_status_t status = pmix_lib.server_setup_fork(&proc, &server.env);
    if (status != PMIX_SUCCESS) {
        complain("cannot prepare rank %d for PMIx: %s", rank, pmix_lib.Error_string(status));
        return 1;
    }
    for (char **item = server.env; item && *item; item++)
        environment_add(env, *item);
    return 0;
}

static bool program_has_ended(const struct job *job, int app)
{
    for (int i = 0; i < job->nranks; i++)
        if (job->plan->ranks[i].app == app && !job->ranks[i].ended)
            return false;
    return true;
}

void pmixsrv_rank_gone(struct job *job, int rank, int wait_status)
{
    if (!server.job)
        return;
    pmix_proc_t proc = proc_of(rank);
    int app = job->plan->ranks[rank].app;
    if (wait_status != 0 || server.clients[rank].joined)
        announce(rank);
    names_ended(&proc, false);
    if (!program_has_ended(job, app))
        return;
    for (int i = 0; i < job->nranks; i++) {
        proc.rank = (pmix_rank_t)i;
        if (job->plan->ranks[i].app == app)
            names_ended(&proc, true);
    }
}

void pmixsrv_stop(struct job *job)
{
    (void)job;
    if (!server.job)
        return;
    loop_drop(&server.news);
    loop_drop(&server.timer);
    names_clear();
    close(server.timer.fd);
    forget_env();
    free(server.clients);
    scratch_remove();
    server.job = NULL;
}
