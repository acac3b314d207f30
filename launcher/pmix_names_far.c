/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_names.h: names, where the table is elsewhere; and what xmpirun does for others.
 */

#include "launcher/job.h"
#include "launcher/mail.h"
#include "launcher/pmix_lib.h"
#include "launcher/pmix_names.h"
#include "launcher/pmix_question.h"

#include <stdlib.h>

struct asker {
    struct job *job;
    struct address from;
    int64_t number;
};

static bool serves;

/* ---- who asks ---- */

bool names_are_far(const struct job *job)
{
    return !mail_is_root(job) || mail_own(job).job != mail_xmpirun.job;
}

void names_ask(struct job *job, struct upcall *u)
{
    struct pack text = { 0 };
    int64_t number = question_add(u, NULL);
    pack_number(&text, number);
    pack_number(&text, u->kind);
    proc_pack(&text, &u->from);
    pack_text(&text, names_host(job->plan));
    pack_number(&text, u->keys != NULL);
    pack_texts(&text, u->keys);
    if (!items_pack(&text, u->info, u->ninfo, PMIX_INFO))
        upcall_answer(question_take(number), PMIX_ERR_NOT_SUPPORTED);
    else if (!mail_send(job, mail_xmpirun, MAIL_NAMES, &text))
        upcall_answer(question_take(number), PMIX_ERR_OUT_OF_RESOURCE);
    pack_free(&text);
}

static void got_named(struct job *job, struct address from, struct unpack *text)
{
    (void)job, (void)from;
    int64_t number = unpack_number(text), status = unpack_number(text);
    struct upcall *u = text->bad ? NULL : question_take(number);
    if (!u)
        return;
    u->found = items_unpack(text, &u->nfound, sizeof *u->found, PMIX_PDATA);
    upcall_answer(u, u->found ? (pmix_status_t)status : PMIX_ERR_UNPACK_FAILURE);
}

void names_asker_ended(struct job *job, const pmix_proc_t *proc)
{
    struct pack text = { 0 };
    proc_pack(&text, proc);
    mail_send(job, mail_xmpirun, MAIL_GONE, &text);
    pack_free(&text);
}

/* ---- xmpirun ---- */

static bool answer_with(const struct asker *asker, pmix_status_t status,
                        const struct pack *found)
{
    struct pack text = { 0 };
    pack_number(&text, asker->number);
    pack_number(&text, status);
    pack_raw(&text, found->bytes, found->n);
    bool sent = mail_send(asker->job, asker->from, MAIL_NAMED, &text);
    pack_free(&text);
    return sent;
}

/* An upcall of another launcher has its answer. */
static void answered(struct upcall *u)
{
    struct asker *asker = u->asker;
    struct pack found = { 0 }, nothing = { 0 };
    items_pack(&nothing, NULL, 0, PMIX_PDATA);
    if (!items_pack(&found, u->found, u->nfound, PMIX_PDATA))
        answer_with(asker, PMIX_ERR_PACK_FAILURE, &nothing);
    else if (!answer_with(asker, u->status, &found))
        answer_with(asker, PMIX_ERR_OUT_OF_RESOURCE, &nothing);
    pack_free(&nothing);
    pack_free(&found);
    items_free((pmix_info_t *)u->info, u->ninfo);
    for (char **key = u->keys; key && *key; key++)
        free(*key);
    free(u->keys);
    free(asker);
}

static char **copy_texts(char **texts, int n)
{
    char **copy = calloc((size_t)n + 1, sizeof *copy);
    for (int i = 0; copy && i < n; i++)
        copy[i] = strdup(texts[i]);
    return copy;
}

static void work_on(struct upcall *u)
{
    if (!serves)
        upcall_answer(u, PMIX_ERR_NOT_SUPPORTED);
    else if (!u->info)
        upcall_answer(u, PMIX_ERR_UNPACK_FAILURE);
    else
        names_handle(u); /* it is one of those */
}

static void got_names(struct job *job, struct address from, struct unpack *text)
{
    int nkeys;
    struct asker *asker = malloc(sizeof *asker);
    struct upcall *u = calloc(1, sizeof *u);
    if (!asker || !u)
        abort();
    *asker = (struct asker){ job, from, unpack_number(text) };
    u->kind = (enum upcall_kind)unpack_int(text, UPCALL_PUBLISH, UPCALL_UNPUBLISH);
    u->from = proc_unpack(text);
    u->host = strdup(unpack_text(text));
    bool has_keys = unpack_int(text, 0, 1);
    char **keys = unpack_texts(text, &nkeys);
    u->keys = has_keys ? copy_texts(keys, nkeys) : NULL;
    free(keys);
    if (serves)
        u->info = items_unpack(text, &u->ninfo, sizeof *u->info, PMIX_INFO);
    u->asker = asker;
    u->answered = answered;
    work_on(u);
}

static void got_gone(struct job *job, struct address from, struct unpack *text)
{
    (void)job, (void)from;
    pmix_proc_t proc = proc_unpack(text);
    if (serves && !text->bad)
        names_ended(&proc, false);
}

void names_far_open(bool here)
{
    serves = here;
    mail_handle(MAIL_NAMES, got_names, NULL);
    mail_handle(MAIL_NAMED, got_named, NULL);
    mail_handle(MAIL_GONE, got_gone, NULL);
}
