/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMIx_Spawn, wherever it is called: xmpirun spawns, and all others ask it to.
 */
#include "launcher/mail.h"
#include "launcher/offspring.h"
#include "launcher/pmix_job.h"
#include "launcher/pmix_names.h"
#include "launcher/pmix_question.h"
#include "launcher/pmix_spawn.h"
#include "launcher/pmix_wish.h"
#include "launcher/wish.h"

#include <stdlib.h>

static struct job *running; /* NULL: not yet */

void spawn_asks_open(struct job *job)
{
    running = job;
    if (!names_are_far(job))
        mail_letter = offspring_letter;
}

/* xmpirun. */
static void begin(struct upcall *u, struct wish *wish)
{
    pmix_nspace_t first;
    pmix_proc_t parent = proc_named(wish->parent, wish->parent_rank);
    pmix_job_name(running, first);
    wish->family = first;
    spawn_start(u, wish, &parent);
}

struct asker { /* of xmpirun */
    struct job *job;
    struct address from;
    int64_t number;
};

static void ask(struct upcall *u, const struct wish *wish)
{
    struct pack text = { 0 };
    int64_t number = question_add(u, NULL);
    pack_number(&text, number);
    wish_pack(wish, &text);
    if (!mail_send(running, mail_xmpirun, MAIL_SPAWN, &text))
        upcall_answer(question_take(number), PMIX_ERR_OUT_OF_RESOURCE);
    pack_free(&text);
}

static void answered(struct upcall *u)
{
    struct pack text = { 0 };
    const struct asker *asker = u->asker;
    pack_number(&text, asker->number);
    pack_number(&text, u->status);
    pack_text(&text, u->text);
    mail_send(asker->job, asker->from, MAIL_SPAWNED, &text);
    pack_free(&text);
    free(u->asker);
}

static void got_wish(struct job *job, struct address from, struct unpack *text)
{
    struct wish wish = { 0 };
    struct upcall *u = calloc(1, sizeof *u);
    struct asker *asker = malloc(sizeof *asker);
    if (!u || !asker)
        abort();
    *asker = (struct asker){ job, from, unpack_number(text) };
    *u = (struct upcall){ .kind = UPCALL_SPAWN, .asker = asker, .answered = answered };
    bool good = wish_take(text, &wish);
    free(wish.busy.text); /* that is for us to say, in texts that wish_free frees */
    wish.busy = (struct strings){ 0 };
    if (running && good)
        begin(u, &wish);
    else
        upcall_answer(u, PMIX_ERR_JOB_FAILED_TO_LAUNCH);
    wish_free(&wish);
}

static void got_answer(struct job *job, struct address from, struct unpack *text)
{
    (void)job, (void)from;
    int64_t number = unpack_number(text), status = unpack_number(text);
    const char *nspace = unpack_text(text);
    struct upcall *u = text->bad ? NULL : question_take(number);
    if (!u)
        return;
    u->text = strdup(nspace);
    upcall_answer(u, (pmix_status_t)status);
}

void spawn_far_open(void)
{
    mail_handle(MAIL_SPAWN, got_wish, NULL);
    mail_handle(MAIL_SPAWNED, got_answer, NULL);
}

void spawn_handle(struct upcall *u)
{
    struct wish wish = { .number = 2, .family = "" }; /* the others come later */
    pmix_status_t status = PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    if (running && !running->stopping && !running->interrupted)
        status = wish_from_pmix(u, &wish);
    if (status != PMIX_SUCCESS)
        upcall_answer(u, status);
    else if (names_are_far(running))
        ask(u, &wish);
    else
        begin(u, &wish);
    wish_free(&wish);
}
