/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_union.h.  A union is known by its name, which all jobs pack in the same way:
 *
 *     kind | name | job, rank | job, rank | ..        as libpmix sorts them
 *
 * Who is connected may ask for each other's data, so a connection tells what each job is: libpmix asks us
 * only about processes of jobs that it knows.
 */
#include "launcher/pmix_union.h"

#include "launcher/mail.h"
#include "launcher/pmix_far.h"
#include "launcher/pmix_job.h"
#include "launcher/pmix_lib.h"
#include "launcher/pmix_question.h"
#include "launcher/pmix_spawn.h"

#include <stdlib.h>

struct party { /* a root */
    int job;
    bool came;
};

struct alliance { /* at xmpirun: the jobs of a union */
    struct alliance *next;
    struct pack name, data, jobs;
    struct party *parties;
    int nparties, left;
    pmix_status_t status;
};

struct fallen { /* at xmpirun: ranks that have ended, of one job */
    struct fallen *next;
    int job, size, n;
    bool *ranks;
};

static struct alliance *alliances;
static struct fallen *fallen;
static void (*told)(struct job *job, struct unpack *name, struct unpack *text);
static const char *own_name;

/* ---- names ---- */

void union_pack(const struct upcall *u, const char *nspace, struct pack *name)
{
    bool others = false;
    for (size_t i = 0; i < u->nprocs; i++)
        others |= strcmp(u->procs[i].nspace, nspace) != 0;
    for (size_t i = 0; i < u->nprocs && others; i++) {
        pack_text(name, u->procs[i].nspace);
        pack_number(name, u->procs[i].rank);
    }
}

/* Its processes. */
static struct unpack procs_of(struct unpack name, int *kind)
{
    size_t bytes;
    *kind = unpack_int(&name, 0, UPCALL_EVENT);
    unpack_text(&name);
    const char *at = unpack_bytes(&name, &bytes);
    return (struct unpack){ at, at + bytes, name.bad };
}

/* Call `each` with every job in it; a job's processes follow each other.  The kind. */
static int each_job(struct unpack name, void (*each)(void *to, const char *nspace), void *to)
{
    int kind;
    const char *last = "";
    struct unpack procs = procs_of(name, &kind);
    while (procs.at < procs.end && !procs.bad) {
        const char *nspace = unpack_text(&procs);
        unpack_number(&procs);
        if (!procs.bad && strcmp(nspace, last) != 0)
            each(to, nspace);
        last = nspace;
    }
    return kind;
}

/* ---- roots ---- */

struct describing {
    const struct job *job;
    struct pack *text;
};

static void describe(void *to, const char *nspace)
{
    struct describing *describing = to;
    if (strcmp(nspace, own_name) == 0)
        pmix_job_describe(describing->job, nspace, describing->text);
    else
        spawn_describe(nspace, describing->text);
}

static void nothing(void *to, const char *nspace)
{
    (void)to, (void)nspace;
}

void union_come(struct job *job, const struct unpack *name, pmix_status_t status,
                const struct pack *data)
{
    struct pack text = { 0 }, jobs = { 0 };
    struct describing describing = { job, &jobs };
    if (each_job(*name, nothing, NULL) == UPCALL_CONNECT)
        each_job(*name, describe, &describing);
    pack_bytes(&text, name->at, (size_t)(name->end - name->at));
    pack_number(&text, status);
    pack_bytes(&text, data->bytes, data->n);
    pack_bytes(&text, jobs.bytes, jobs.n);
    bool sent = mail_send(job, mail_xmpirun, MAIL_MEET, &text);
    pack_free(&text);
    pack_free(&jobs);
    if (!sent && data->n)
        union_come(job, name, PMIX_ERR_OUT_OF_RESOURCE, &(struct pack){ 0 });
}

static void got_met(struct job *job, struct address from, struct unpack *text)
{
    size_t bytes;
    (void)from;
    const char *at = unpack_bytes(text, &bytes);
    struct unpack name = { at, at + bytes, false };
    if (!text->bad)
        told(job, &name, text);
}

/* ---- xmpirun ---- */

static struct party *party_of(const struct alliance *all, int job)
{
    for (int i = 0; i < all->nparties; i++)
        if (all->parties[i].job == job && !all->parties[i].came)
            return &all->parties[i];
    return NULL;
}

static void expect(void *to, const char *nspace)
{
    struct alliance *all = to;
    int number = far_job_of(nspace), root = number ? spawn_root_of(number) : 0;
    if (!root)
        all->status = PMIX_ERR_PROC_ABORTED;
    for (int i = 0; i < all->nparties; i++)
        if (all->parties[i].job == root)
            return;
    if (!root)
        return;
    all->parties = realloc(all->parties, ((size_t)all->nparties + 1) * sizeof *all->parties);
    if (!all->parties)
        abort();
    all->parties[all->nparties++] = (struct party){ .job = root };
    all->left++;
}

static struct fallen **fallen_of(int job)
{
    struct fallen **at = &fallen;
    while (*at && (*at)->job != job)
        at = &(*at)->next;
    return at;
}

/* Somebody of whom this root speaks has not ended. */
static bool is_awaited(const struct alliance *all, int root)
{
    int kind;
    const struct fallen *its = *fallen_of(root);
    struct unpack procs = procs_of(
        (struct unpack){ all->name.bytes, all->name.bytes + all->name.n, false }, &kind);
    while (procs.at < procs.end && !procs.bad) {
        pmix_proc_t proc = proc_unpack(&procs);
        int number = procs.bad ? 0 : far_job_of(proc.nspace);
        if (!number || spawn_root_of(number) != root)
            continue;
        /* Clients of that root's server: it says when their job ends, and not when they do. */
        if (number != root || !its)
            return true;
        if (proc.rank == PMIX_RANK_WILDCARD
                ? its->n < its->size
                : proc.rank >= (pmix_rank_t)its->size || !its->ranks[proc.rank])
            return true;
    }
    return false;
}

static void expect_no_more(struct alliance *all, struct party *party)
{
    party->came = true;
    all->left--;
    all->status = PMIX_ERR_PROC_ABORTED;
}

static void expect_no_fallen(struct alliance *all)
{
    for (int i = 0; i < all->nparties; i++)
        if (!all->parties[i].came && !is_awaited(all, all->parties[i].job))
            expect_no_more(all, &all->parties[i]);
}

static void alliance_free(struct alliance *all)
{
    pack_free(&all->name);
    pack_free(&all->data);
    pack_free(&all->jobs);
    free(all->parties);
    free(all);
}

static struct alliance *alliance_new(const char *name, size_t bytes)
{
    struct alliance *all = calloc(1, sizeof *all);
    if (!all)
        abort();
    pack_raw(&all->name, name, bytes);
    each_job((struct unpack){ name, name + bytes, false }, expect, all);
    return all;
}

/* The first one of this name that the job has not come to. */
static struct alliance **find(int job, const char *name, size_t bytes)
{
    struct alliance **at = &alliances;
    while (*at && ((*at)->name.n != bytes || memcmp((*at)->name.bytes, name, bytes) != 0 ||
                   !party_of(*at, job)))
        at = &(*at)->next;
    return at;
}

static void tell(struct job *job, struct alliance *all)
{
    static int64_t serial = 1ll << 39; /* of groups, see pmix_meet.c */
    struct pack text = { 0 };
    bool sent = true;
    pack_bytes(&text, all->name.bytes, all->name.n);
    pack_number(&text, serial++);
    pack_number(&text, all->status);
    pack_bytes(&text, all->data.bytes, all->data.n);
    pack_bytes(&text, all->jobs.bytes, all->jobs.n);
    for (int i = 0; i < all->nparties && sent; i++)
        sent = mail_send(job, (struct address){ all->parties[i].job, mail_xmpirun.host },
                         MAIL_MET, &text);
    pack_free(&text);
    if (!sent && all->data.n + all->jobs.n) { /* to the first one, hence to nobody */
        all->status = PMIX_ERR_OUT_OF_RESOURCE;
        pack_free(&all->data);
        pack_free(&all->jobs);
        tell(job, all);
    }
}

static void end_complete(struct job *job)
{
    struct alliance **at = &alliances;
    while (*at && (*at)->left)
        at = &(*at)->next;
    struct alliance *all = *at;
    if (!all)
        return;
    *at = all->next;
    tell(job, all);
    alliance_free(all);
    end_complete(job);
}

static void got_meet(struct job *job, struct address from, struct unpack *text)
{
    size_t bytes, data_bytes, jobs_bytes;
    const char *name = unpack_bytes(text, &bytes);
    int64_t status = unpack_number(text);
    const char *data = unpack_bytes(text, &data_bytes), *jobs = unpack_bytes(text, &jobs_bytes);
    if (text->bad)
        return;
    struct alliance **at = find(from.job, name, bytes);
    if (!*at)
        *at = alliance_new(name, bytes);
    struct party *party = party_of(*at, from.job);
    if (!party) { /* who comes to what takes place without him makes no sense */
        alliance_free(*at);
        *at = NULL;
        return;
    }
    party->came = true;
    (*at)->left--;
    if (status != PMIX_SUCCESS)
        (*at)->status = (pmix_status_t)status;
    if (data_bytes)
        pack_raw(&(*at)->data, data, data_bytes);
    if (jobs_bytes)
        pack_raw(&(*at)->jobs, jobs, jobs_bytes);
    expect_no_fallen(*at);
    end_complete(job);
}

static struct fallen *fallen_new(int job, int size)
{
    struct fallen *its = calloc(1, sizeof *its);
    bool *ranks = calloc((size_t)size, sizeof *ranks);
    if (!its || !ranks)
        abort();
    *its = (struct fallen){ .job = job, .size = size, .ranks = ranks };
    return its;
}

void union_ended(struct job *job, const pmix_proc_t *whose, int size)
{
    struct fallen **at = fallen_of(far_job_of(whose->nspace));
    if (!*at)
        *at = fallen_new(far_job_of(whose->nspace), size);
    if (whose->rank >= (pmix_rank_t)(*at)->size || (*at)->ranks[whose->rank])
        return;
    (*at)->ranks[whose->rank] = true;
    (*at)->n++;
    for (struct alliance *all = alliances; all; all = all->next)
        expect_no_fallen(all);
    end_complete(job);
}

static void forget_fallen(int number)
{
    struct fallen **at = fallen_of(number), *its = *at;
    if (!its)
        return;
    *at = its->next;
    free(its->ranks);
    free(its);
}

void union_job_ended(struct job *job, int number)
{
    forget_fallen(number);
    for (struct alliance *all = alliances; all; all = all->next)
        expect_no_fallen(all); /* the root may have been that of other jobs as well */
    end_complete(job);
}

/* ---- every launcher ---- */

void union_learn(struct unpack *descriptions)
{
    while (descriptions->at < descriptions->end && !descriptions->bad)
        pmix_job_learn(descriptions, own_name);
}

void union_open(const char *nspace,
                void (*met)(struct job *job, struct unpack *name, struct unpack *text))
{
    own_name = nspace;
    told = met;
    mail_handle(MAIL_MEET, got_meet, NULL);
    mail_handle(MAIL_MET, got_met, NULL);
}
