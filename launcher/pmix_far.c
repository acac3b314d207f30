/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_far.h.
 */
#include "launcher/pmix_far.h"

#include "launcher/job.h"
#include "launcher/mail.h"
#include "launcher/pmix_lib.h"
#include "launcher/pmix_meet.h"
#include "launcher/pmix_names.h"
#include "launcher/pmix_question.h"
#include "launcher/pmix_spawn.h"
#include "launcher/post.h"

#include <limits.h>
#include <stdlib.h>

struct asker { /* who waits for data of a rank here */
    struct asker *next;
    struct address from;
    int64_t number;
    pmix_proc_t whose;
    bool answered;
};

static struct {
    bool serves;
    const char *nspace, *family; /* of this job, and of the first one */
    struct asker *askers;
} far;

int far_job_of(const char *nspace)
{
    size_t chars = far.family ? strlen(far.family) : 0;
    if (!chars || strncmp(nspace, far.family, chars) != 0)
        return 0;
    if (!nspace[chars])
        return 1;
    const char *digits = nspace + chars + 1;
    size_t ndigits = strspn(digits, "0123456789");
    if (nspace[chars] != '.' || !ndigits || *digits == '0' || ndigits > 9 || digits[ndigits])
        return 0;
    int number = atoi(digits);
    return number > 1 ? number : 0;
}

/* ---- direct modex ---- */

/* Of other jobs only the servers there know which ranks they have. */
static bool may_exist(const struct job *job, const pmix_proc_t *proc)
{
    if (strcmp(proc->nspace, far.nspace) == 0)
        return job->others && proc->rank < (pmix_rank_t)job->plan->world;
    return proc->rank < INT_MAX / 2 && far_job_of(proc->nspace) && !spawn_knows(proc->nspace);
}

static void ask_for_data(struct job *job, struct upcall *u)
{
    struct pack text = { 0 };
    if (!may_exist(job, &u->from)) { /* what is here the library has looked at */
        upcall_answer(u, PMIX_ERR_NOT_FOUND);
        return;
    }
    struct address to = { far_job_of(u->from.nspace), mail_host_of((int)u->from.rank) };
    pack_number(&text, question_add(u, &u->from));
    proc_pack(&text, &u->from);
    mail_send(job, to, MAIL_GET, &text);
    pack_free(&text);
}

static void answer_data(struct job *job, const struct asker *asker, pmix_status_t status,
                        const char *data, size_t bytes)
{
    struct pack text = { 0 };
    pack_number(&text, asker->number);
    pack_number(&text, status);
    pack_bytes(&text, data, bytes);
    bool sent = mail_send(job, asker->from, MAIL_GOT, &text);
    pack_free(&text);
    if (!sent && bytes)
        answer_data(job, asker, PMIX_ERR_OUT_OF_RESOURCE, NULL, 0);
}

/* On the library's thread. */
static void data_ready(pmix_status_t status, char *data, size_t bytes, void *asker)
{
    upcall_enqueue_data(status, data, bytes, asker);
}

enum presence { ABSENT, PRESENT, PAST };

/* Is it a rank of this host? */
static enum presence presence_of(const struct job *job, const pmix_proc_t *proc)
{
    if (!far.serves || strcmp(proc->nspace, far.nspace) != 0)
        return !far.serves || !spawn_has(proc) ? ABSENT
               : spawn_has_ended(proc)         ? PAST
                                               : PRESENT;
    if (proc->rank >= (pmix_rank_t)job->plan->world ||
        (job->others && job->plan->node_of[proc->rank] != job->plan->node))
        return ABSENT;
    return job->ranks[job_number(job, (int)proc->rank)].ended ? PAST : PRESENT;
}

static void got_get(struct job *job, struct address from, struct unpack *text)
{
    struct asker *asker = calloc(1, sizeof *asker);
    if (!asker)
        abort();
    *asker = (struct asker){ .from = from, .number = unpack_number(text) };
    asker->whose = proc_unpack(text);
    enum presence presence = text->bad ? ABSENT : presence_of(job, &asker->whose);
    pmix_status_t status = PMIX_ERR_NOT_FOUND;
    if (presence != ABSENT) {
        status = pmix_lib.server_dmodex_request(&asker->whose, data_ready, asker);
        if (status == PMIX_SUCCESS) {
            asker->next = far.askers;
            far.askers = asker;
            if (presence == PAST)
                upcall_enqueue_over(&asker->whose);
            return;
        }
    }
    if (!text->bad)
        answer_data(job, asker, status, NULL, 0);
    free(asker);
}

/* The library has found it.  It may have been too late. */
static void found_data(struct job *job, struct upcall *u)
{
    struct asker *asker = u->asker, **at = &far.askers;
    while (*at != asker)
        at = &(*at)->next;
    *at = asker->next;
    if (!asker->answered)
        answer_data(job, asker, u->status, u->blob, u->nblob);
    free(asker);
    upcall_drop(u);
}

static bool is_same(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return a->rank == b->rank && strcmp(a->nspace, b->nspace) == 0;
}

/* The rank has ended, and the library has given out what it had: it would wait for the rest. */
static void found_no_data(struct job *job, struct upcall *u)
{
    for (struct asker *asker = far.askers; asker; asker = asker->next) {
        if (asker->answered || !is_same(&asker->whose, &u->from))
            continue;
        answer_data(job, asker, PMIX_ERR_NOT_FOUND, NULL, 0);
        asker->answered = true;
    }
    upcall_drop(u);
}

bool far_is_asked(void)
{
    for (const struct asker *asker = far.askers; asker; asker = asker->next)
        if (!asker->answered)
            return true;
    return false;
}

void far_data_ended(const pmix_proc_t *proc)
{
    for (struct asker *asker = far.askers; asker; asker = asker->next)
        if (is_same(&asker->whose, proc)) {
            upcall_enqueue_over(proc);
            return;
        }
}

/* All ranks of that host have ended. */
static void get_too_late(struct job *job, struct address from, struct unpack *text)
{
    struct asker asker = { .from = from, .number = unpack_number(text) };
    if (!text->bad)
        answer_data(job, &asker, PMIX_ERR_NOT_FOUND, NULL, 0);
}

static void got_data(struct job *job, struct address from, struct unpack *text)
{
    size_t bytes;
    (void)job, (void)from;
    int64_t number = unpack_number(text), status = unpack_number(text);
    const char *data = unpack_bytes(text, &bytes);
    struct upcall *u = text->bad ? NULL : question_take(number);
    if (!u)
        return;
    u->blob = malloc(bytes + 1);
    if (!u->blob)
        abort();
    memcpy(u->blob, data, bytes);
    u->nblob = bytes;
    upcall_answer(u, (pmix_status_t)status);
}

/* ---- events ---- */

static bool leaves_the_host(int range)
{
    return range != PMIX_RANGE_LOCAL && range != PMIX_RANGE_PROC_LOCAL &&
           range != PMIX_RANGE_RM;
}

static void pass_event_on(struct job *job, struct upcall *u)
{
    struct pack text = { 0 };
    pack_number(&text, u->code);
    pack_number(&text, u->range);
    pack_number(&text, u->from.rank);
    pack_number(&text, (int64_t)u->ninfo);
    pack_bytes(&text, u->blob, u->nblob);
    if (leaves_the_host(u->range))
        post_send(job, POST_ALL, POST_PMIX_EVENT, &text);
    pack_free(&text);
    upcall_drop(u);
}

struct event { /* lives until the library has passed it on */
    pmix_info_t *info;
    size_t ninfo;
};

static void event_sent(pmix_status_t status, void *data)
{
    struct event *event = data;
    (void)status;
    items_free(event->info, event->ninfo);
    free(event);
}

static void got_event(struct job *job, int from, struct unpack *text)
{
    (void)from;
    int code = unpack_int(text, INT32_MIN, INT32_MAX), range = unpack_int(text, 0, 255);
    int world = unpack_int(text, 0, job->plan->world - 1);
    if (text->bad || !far.serves || !job->nranks)
        return;
    struct event *event = malloc(sizeof *event);
    if (!event)
        abort();
    pmix_proc_t source = proc_named(far.nspace, world);
    event->info = items_unpack(text, &event->ninfo, sizeof *event->info, PMIX_INFO);
    pmix_status_t status = PMIX_ERR_UNPACK_FAILURE;
    if (event->info)
        status = pmix_lib.Notify_event(code, &source, (pmix_data_range_t)range, event->info,
                                       event->ninfo, event_sent, event);
    if (status != PMIX_SUCCESS)
        event_sent(status, event);
}

/* ---- all ---- */

void far_handle(struct job *job, struct upcall *u)
{
    if (u->procs) {
        meet_join(job, u);
    } else if (u->kind == UPCALL_MODEX) {
        ask_for_data(job, u);
    } else if (u->kind == UPCALL_MODEX_READY) {
        found_data(job, u);
    } else if (u->kind == UPCALL_MODEX_OVER) {
        found_no_data(job, u);
    } else {
        pass_event_on(job, u);
    }
}

void far_open(bool serves, const char *nspace, const char *family)
{
    far.serves = serves;
    far.nspace = nspace;
    far.family = family;
    mail_open();
    meet_open(nspace);
    spawn_far_open();
    names_far_open(serves);
    far_ends_open(nspace);
    mail_handle(MAIL_GET, got_get, get_too_late);
    mail_handle(MAIL_GOT, got_data, NULL);
    post_handle(POST_PMIX_EVENT, got_event);
}
