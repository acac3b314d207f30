/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_spawn.h.
 *
 *     PMIx_Spawn -> pmix_wish.c -> mail to xmpirun -> offspring.c: a launcher -> its hello -> registered
 *     here, if its clients shall be ours -> its ranks start -> the answer
 */
#include "launcher/pmix_spawn.h"

#include "launcher/offspring.h"
#include "launcher/pmix_clients.h"
#include "launcher/pmix_far.h"
#include "launcher/pmix_job.h"
#include "launcher/pmix_lib.h"
#include "launcher/pmix_names.h"
#include "launcher/pmix_wish.h"
#include "runtime/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_JOB = 1 };

struct family { /* a spawned job: its clients */
    struct family *next;
    struct offspring *job; /* NULL: it has ended */
    pmix_proc_t parent;
    pmix_nspace_t nspace;
    struct upcall *asked; /* PMIx_Spawn, until it is answered */
    bool registered;
    struct joining joining;
    struct client {
        bool joined; /* between PMIx_Init and PMIx_Finalize */
        bool ended;  /* its process has */
        uint64_t
            lost; /* its connection was: when to tell its launcher, as clock_ns; 0: it was not */
    } * clients;  /* by rank */
};

static struct {
    struct job *job;
    const char *nspace, *folder;
    struct family *families;
} spawn;

void spawn_open(struct job *job, const char *nspace, const char *folder)
{
    spawn.job = job;
    spawn.nspace = nspace;
    spawn.folder = folder;
    spawn_asks_open(job);
}

static struct family *family_of(const char *nspace)
{
    struct family *family = spawn.families;
    while (family && strcmp(family->nspace, nspace) != 0)
        family = family->next;
    return family;
}

bool spawn_knows(const char *nspace)
{
    const struct family *family = family_of(nspace);
    return family && family->registered;
}

bool spawn_has(const pmix_proc_t *proc)
{
    const struct family *family = family_of(proc->nspace);
    return family && family->registered && proc->rank < (pmix_rank_t)family->job->job.nranks;
}

bool spawn_has_ended(const pmix_proc_t *proc)
{
    return family_of(proc->nspace)->clients[proc->rank].ended;
}

void spawn_describe(const char *nspace, struct pack *text)
{
    const struct family *family = family_of(nspace);
    if (family && family->registered)
        pmix_job_describe(&family->job->job, nspace, text);
}

int spawn_root_of(int number)
{
    const struct family *family = spawn.families;
    while (family && family->job->number != number)
        family = family->next;
    if (number == FIRST_JOB)
        return number;
    return !family ? 0 : family->job->serves ? number : FIRST_JOB;
}

int spawn_root_before(int number)
{
    const struct family *family = spawn.families; /* the last one first */
    while (family && (family->job->number >= number || !family->job->serves))
        family = family->next;
    return family ? family->job->number : 0;
}

static void answer(struct family *family, pmix_status_t status)
{
    struct upcall *u = family->asked;
    family->asked = NULL;
    if (!u)
        return;
    if (status == PMIX_SUCCESS)
        u->text = strdup(family->nspace);
    upcall_answer(u, status);
}

/* ---- the life of a spawned job ---- */

/* The library's variables are the same for all ranks but one. */
static pmix_status_t let_go(struct family *family)
{
    char **variables = NULL;
    pmix_proc_t first = proc_named(family->nspace, 0);
    pmix_status_t status = pmix_lib.server_setup_fork(&first, &variables);
    if (status != PMIX_SUCCESS)
        return status;
    int kept = 0;
    for (char **at = variables; *at; at++)
        if (strncmp(*at, "PMIX_RANK=", 10) == 0)
            free(*at);
        else
            variables[kept++] = *at;
    variables[kept] = NULL;
    offspring_go(family->job, variables);
    for (char **at = variables; *at; at++)
        free(*at);
    free(variables);
    return PMIX_SUCCESS;
}

/* On the library's thread. */
static struct boot_rank *record_for(void *job, pmix_rank_t rank)
{
    const struct job *of_child = job;
    return rank < (pmix_rank_t)of_child->nranks ? bootseg_rank(of_child->segment, (int)rank)
                                                : NULL;
}

static void ready(struct offspring *child)
{
    struct family *family = child->owner;
    snprintf(family->nspace, sizeof family->nspace, "%s.%d", spawn.nspace, child->number);
    if (child->serves) {
        offspring_go(child, NULL);
        return;
    }
    family->clients = calloc((size_t)child->job.nranks + 1, sizeof *family->clients);
    if (!family->clients)
        abort();
    family->joining = (struct joining){ .nspace = family->nspace,
                                        .record = record_for,
                                        .owner = &child->job };
    upcalls_watch_joining(&family->joining);
    pmix_status_t status =
        pmix_job_register(&child->job, family->nspace, spawn.folder, &family->parent);
    family->registered = status == PMIX_SUCCESS;
    if (status == PMIX_SUCCESS)
        status = let_go(family);
    if (status != PMIX_SUCCESS)
        offspring_refuse(child, pmix_lib.Error_string(status));
}

static void started(struct offspring *child)
{
    answer(child->owner, PMIX_SUCCESS);
}

static void gone(struct offspring *child, int rank, int wait_status)
{
    struct family *family = child->owner;
    pmix_proc_t proc = proc_named(family->nspace, rank);
    if (wait_status != 0 || family->clients[rank].joined)
        clients_announce(&proc);
    family->clients[rank].lost = 0;
    family->clients[rank].ended = true;
    far_data_ended(&proc);
    names_ended(&proc, false);
}

/* Between PMIx_Init and PMIx_Finalize.  A job that was refused has no clients. */
static bool is_inside(const struct family *family, int rank)
{
    return family->clients && family->clients[rank].joined && !family->clients[rank].ended;
}

/* The server keeps what it knows of the job: see "Tried and dropped" in docs/pmix.md. */
static void ended(struct offspring *child, int wait_status)
{
    struct family *family = child->owner;
    upcalls_forget_joining(&family->joining);
    for (int i = 0; i < child->plan.world; i++) {
        pmix_proc_t proc = proc_named(family->nspace, i);
        if (is_inside(family, i))
            clients_announce(&proc); /* its launcher was killed, and could not say so */
        names_ended(&proc, false);
        names_ended(&proc, true);
    }
    answer(family, wish_failure(wait_status));
    struct family **at = &spawn.families;
    while (*at != family)
        at = &(*at)->next;
    *at = family->next;
    far_job_ended(spawn.job, child->number, family->nspace);
    free(family->clients);
    free(family);
}

void spawn_start(struct upcall *u, struct wish *wish, const pmix_proc_t *parent)
{
    static const struct offspring_events events = { ready, started, gone, ended };
    struct family *family = calloc(1, sizeof *family);
    if (!family)
        abort();
    *family = (struct family){ .next = spawn.families, .parent = *parent, .asked = u };
    if (!spawn.job->stopping && !spawn.job->interrupted)
        family->job = offspring_start(spawn.job, wish, &events, family);
    if (family->job) {
        spawn.families = family;
        return;
    }
    free(family);
    upcall_answer(u, PMIX_ERR_JOB_FAILED_TO_LAUNCH);
}

/* ---- clients ---- */

static struct boot_rank *record_of(const struct family *family, int rank)
{
    return bootseg_rank(family->job->job.segment, rank);
}

/* MPI_Init may have followed PMIx_Init; then the record is MPI's. */
static void finalized(struct family *family, int rank)
{
    if (family->clients[rank].joined && !atomic_load(&record_of(family, rank)->pid))
        atomic_store(&record_of(family, rank)->state, BOOT_FINALIZED);
    family->clients[rank].joined = false;
}

/* The answer to what one client has said; its launcher acts on it. */
static void handle(struct family *family, int rank, struct upcall *u)
{
    if (names_handle(u))
        return;
    switch (u->kind) {
    case UPCALL_CONNECTED:
        family->clients[rank].joined |= u->code; /* it may connect twice */
        break;
    case UPCALL_FINALIZED:
        finalized(family, rank);
        break;
    case UPCALL_LOST:
        if (family->clients[rank].joined)
            family->clients[rank].lost = clock_ns() + WRAPPER_GRACE_MS * 1000000ull;
        break;
    case UPCALL_ABORT:
        offspring_abort(family->job, rank, u->code, u->text);
        break;
    default:
        break;
    }
    upcall_answer(u, PMIX_SUCCESS);
}

bool spawn_handle_client(struct upcall *u)
{
    struct family *family = family_of(u->from.nspace);
    bool is_known = family && family->job && family->registered &&
                    u->from.rank < (pmix_rank_t)family->job->job.nranks;
    if (is_known)
        handle(family, (int)u->from.rank, u);
    return is_known;
}

/* ---- time ---- */

uint64_t spawn_deadline(void)
{
    uint64_t first = 0;
    for (const struct family *family = spawn.families; family; family = family->next)
        for (int i = 0; family->clients && i < family->job->job.nranks; i++) {
            uint64_t lost = family->clients[i].lost;
            first = lost && (!first || lost < first) ? lost : first;
        }
    return first;
}

/* Its launcher knows whether what was started for it still runs. */
static void tell_of_loss(struct family *family, int rank)
{
    pmix_proc_t proc = proc_named(family->nspace, rank);
    family->clients[rank].lost = 0;
    offspring_lost(family->job, rank);
    if (spawn.job->options->keep_going)
        clients_announce(&proc);
}

void spawn_tick(uint64_t now)
{
    for (struct family *family = spawn.families; family; family = family->next)
        for (int i = 0; family->clients && i < family->job->job.nranks; i++)
            if (family->clients[i].lost && family->clients[i].lost <= now)
                tell_of_loss(family, i);
}
