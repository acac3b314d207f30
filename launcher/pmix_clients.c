/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clients, seen from the launcher's loop: upcalls and time arrive as events, and everything is
 * done by the one thread that owns the job.
 *
 *     eventfd  ---- upcalls ----> one function each: here, or pmix_names.c
 *     timerfd  ---- time -------> lookups that have waited enough, clients that were lost
 *
 * A client's connection breaks when it dies.  Normally its process ends at the same moment and
 * the launcher reaps it; a client below a wrapper may die unseen, so when what was started for
 * it still runs a moment later, the job fails.
 */
#include "launcher/pmix_clients.h"

#include "launcher/cli.h"
#include "launcher/pmix_far.h"
#include "launcher/pmix_lib.h"
#include "launcher/pmix_names.h"
#include "launcher/pmix_sets.h"
#include "launcher/pmix_spawn.h"
#include "launcher/pmix_tools.h"
#include "launcher/pmix_upcall.h"
#include "launcher/verdict.h"
#include "runtime/clock.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct client {
    bool joined;    /* PMIx_Init, and its record in the segment is ours to write */
    bool announced; /* the others know that it has gone */
    bool named;     /* it has asked for names, of which xmpirun has the table */
    uint64_t lost;  /* its connection was lost: when to fail, as clock_ns; 0: it was not */
};

static struct {
    struct job *job;
    const char *nspace;
    struct watch news, timer;
    struct client *clients;
    struct joining joining;
    size_t next_context; /* of groups */
    bool *gone;          /* by rank of the job: of another host, and announced; NULL: none is */
} server;

static struct boot_rank *record_of(int rank)
{
    return bootseg_rank(server.job->segment, server.job->plan->ranks[rank].local);
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

void clients_announce(const pmix_proc_t *dead)
{
    struct news *news = calloc(1, sizeof *news);
    if (!news)
        abort();
    news->dead = *dead;
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

static void announce_world(int world)
{
    pmix_proc_t dead = proc_named(server.nspace, world);
    clients_announce(&dead);
}

static void announce(int rank)
{
    if (!server.clients[rank].announced)
        announce_world(job_world(server.job, rank));
    server.clients[rank].announced = true;
}

/* ---- time ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return !a || (b && b < a) ? b : a;
}

static void set_timer(void)
{
    uint64_t next = earlier(names_deadline(), spawn_deadline());
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
        if (!server.job->options->keep_going)
            job_fail(server.job, 1,
                     "rank %d (a PMIx client below a wrapper) has gone without calling "
                     "PMIx_Finalize",
                     job_world(server.job, i));
        else
            job_tell_others(server.job, i, BOOT_DEAD);
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
    spawn_tick(clock_ns());
    check_lost(clock_ns());
    set_timer();
}

/* ---- upcalls ---- */

/* On the library's thread. */
static struct boot_rank *record_for(void *job, pmix_rank_t rank)
{
    int number = rank <= INT32_MAX ? job_number(job, (int)rank) : -1;
    return number < 0 ? NULL : record_of(number);
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

/* The table of names is xmpirun's. */
static bool is_for_others(int rank, const struct upcall *u)
{
    bool names =
        u->kind == UPCALL_PUBLISH || u->kind == UPCALL_LOOKUP || u->kind == UPCALL_UNPUBLISH;
    if (!names || !names_are_far(server.job))
        return false;
    server.clients[rank].named = true;
    return true;
}

static void handle(int rank, struct upcall *u)
{
    if (is_for_others(rank, u)) {
        names_ask(server.job, u);
        return;
    }
    if (names_handle(u))
        return;
    switch (u->kind) {
    case UPCALL_CONNECTED:
        server.clients[rank].joined |= u->code; /* it may connect twice */
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
    default:
        break;
    }
    upcall_answer(u, PMIX_SUCCESS);
}

/* The number here of the rank that asks; -1: it is none of ours. */
static int number_of(const struct upcall *u)
{
    bool is_known = strcmp(u->from.nspace, server.nspace) == 0 && u->from.rank <= INT32_MAX;
    return is_known ? job_number(server.job, (int)u->from.rank) : -1;
}

/* Processes of one or several jobs that come together are all clients of this server. */
static bool are_here(const struct upcall *u)
{
    for (size_t i = 0; i < u->nprocs; i++)
        if (strcmp(u->procs[i].nspace, server.nspace) != 0 && !spawn_knows(u->procs[i].nspace))
            return false;
    return u->nprocs && !server.job->others;
}

/* Some of them are of no job that is known. */
static bool is_unknown(const struct upcall *u)
{
    for (size_t i = 0; i < u->nprocs; i++)
        if (!far_job_of(u->procs[i].nspace))
            return true;
    return false;
}

/* Those that ranks of several hosts or jobs have to do with. */
static void handle_shared(struct upcall *u)
{
    struct job *job = server.job;
    if (u->kind == UPCALL_QUERY) /* the library asks in its own name */
        sets_query(job, server.nspace, u);
    else if (u->kind == UPCALL_SPAWN)
        spawn_handle(u);
    else if (is_unknown(u))
        upcall_answer(u, PMIX_ERR_NOT_FOUND);
    else if (u->kind == UPCALL_GROUP && are_here(u))
        construct_group(u);
    else if (are_here(u))
        upcall_answer(u, PMIX_SUCCESS);
    else
        far_handle(job, u);
}

static void news_ready(struct watch *watch, uint32_t events)
{
    (void)watch, (void)events;
    for (struct upcall *u = upcalls_take(), *next; u; u = next) {
        next = u->next;
        int number = number_of(u);
        if (u->kind >= UPCALL_GROUP)
            handle_shared(u);
        else if (number >= 0)
            handle(number, u);
        else if (spawn_handle_client(u))
            continue;
        else /* a tool; when it leaves that is all right */
            upcall_answer(u, u->kind == UPCALL_FINALIZED ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    }
    set_timer();
}

/* ---- open, close ---- */

int clients_open(struct job *job, const char *nspace, pmix_server_module_t *module)
{
    server.job = job;
    server.nspace = nspace;
    names_open(job->plan, set_timer);
    server.joining = (struct joining){ .nspace = nspace, .record = record_for, .owner = job };
    upcalls_watch_joining(&server.joining);
    server.clients = calloc((size_t)job->nranks + 1, sizeof *server.clients);
    if (!server.clients)
        abort();
    server.news =
        (struct watch){ .fd = upcalls_open(nspace, job->others, module), .ready = news_ready };
    server.timer =
        (struct watch){ .fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                        .ready = timer_ready };
    module->tool_connected = tools_are_served(job) ? tools_connected : NULL;
    tools_open();
    bool good = server.news.fd >= 0 && server.timer.fd >= 0 &&
                loop_add(&server.news, EPOLLIN) && loop_add(&server.timer, EPOLLIN);
    return good ? 0 : -1;
}

pmix_status_t clients_watch(void)
{
    return upcalls_watch_losses();
}

void clients_started(const char *where)
{
    spawn_open(server.job, server.nspace, where);
    tools_started(server.job, where);
}

/* Other hosts wait for the last answers: the library gets a second for them. */
static void answer_the_last(void)
{
    struct pollfd look = { .fd = server.news.fd, .events = POLLIN };
    for (int tries = 0; tries < 100 && far_is_asked(); tries++)
        if (poll(&look, 1, 10) > 0)
            news_ready(&server.news, EPOLLIN);
}

void clients_close(void)
{
    answer_the_last();
    loop_drop(&server.news);
    loop_drop(&server.timer);
    upcalls_forget_joining(&server.joining);
    names_clear();
    close(server.timer.fd);
    free(server.clients);
}

pmix_proc_t clients_proc(int rank)
{
    return proc_named(server.nspace, job_world(server.job, rank));
}

/* Of several hosts nobody knows when the last rank of a program has ended before the job has. */
static bool program_has_ended(const struct job *job, int app)
{
    for (int i = 0; i < job->nranks; i++)
        if (job->plan->ranks[i].app == app && !job->ranks[i].ended)
            return false;
    return true;
}

void clients_gone(int rank, int wait_status)
{
    const struct job *job = server.job;
    pmix_proc_t proc = clients_proc(rank);
    int app = job->plan->ranks[rank].app;
    if (wait_status != 0 || server.clients[rank].joined)
        announce(rank);
    tools_rank_gone(server.job, rank, wait_status);
    far_here_ended(server.job, job_world(job, rank));
    if (server.clients[rank].named)
        names_asker_ended(server.job, &proc);
    names_ended(&proc, false);
    if (job->others || !program_has_ended(job, app))
        return;
    for (int i = 0; i < job->nranks; i++) {
        proc.rank = (pmix_rank_t)job_world(job, i);
        if (job->plan->ranks[i].app == app)
            names_ended(&proc, true);
    }
}

/* A rank below a wrapper ends twice. */
void clients_other_gone(int world)
{
    if (!server.gone)
        server.gone = calloc((size_t)server.job->plan->world, sizeof *server.gone);
    if (!server.gone)
        abort();
    if (server.gone[world])
        return;
    server.gone[world] = true;
    announce_world(world);
    tools_other_gone(server.job, world);
    far_ended(server.job, world);
}
