/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_far.h.  Whoever waits for a rank or a job that has ended hears of it, whichever job he is of: who asks
 * for its data, and who expects it in a fence, group or connection.
 *
 *     launcher of a rank --news of the job, post--> root --mail--> xmpirun --mail--> other roots --post--> hosts
 *
 * A launcher that lives answers for the ranks that it had, so only bad ends elsewhere, and ranks of lost hosts, go
 * beyond xmpirun.
 */
#include "launcher/pmix_far.h"

#include "launcher/mail.h"
#include "launcher/pmix_meet.h"
#include "launcher/pmix_names.h"
#include "launcher/pmix_question.h"
#include "launcher/pmix_spawn.h"
#include "launcher/pmix_union.h"
#include "launcher/post.h"

#include <limits.h>

static const char *own_name;

/* Nobody waits any more for this process, or this job (PMIX_RANK_WILDCARD). */
static void gone(const pmix_proc_t *whose)
{
    struct upcall *u;
    while ((u = question_about(whose)))
        upcall_answer(u, PMIX_ERR_NOT_FOUND);
}

/* Other jobs wait for it, too: the root says so to xmpirun.  `lost`: no launcher answers for it. */
static void tell_xmpirun(struct job *job, int world, bool lost)
{
    struct pack text = { 0 };
    pmix_proc_t whose = proc_named(own_name, world);
    proc_pack(&text, &whose);
    pack_number(&text, job->plan->world);
    pack_number(&text, lost);
    mail_send(job, mail_xmpirun, MAIL_RANK_ENDED, &text);
    pack_free(&text);
}

/* The root knows of bad ends anyway. */
static void tell_root(struct job *job, int world)
{
    struct pack text = { 0 };
    pack_number(&text, world);
    post_send(job, POST_ROOT, POST_RANK_OVER, &text);
    pack_free(&text);
}

/* To the root: its launcher answers for what this rank has given. */
static void posted_rank_over(struct job *job, int from, struct unpack *text)
{
    (void)from;
    int world = unpack_int(text, 0, job->plan->world - 1);
    if (text->bad || job->host != POST_ROOT)
        return;
    meet_ended(job, world);
    tell_xmpirun(job, world, false);
}

void far_here_ended(struct job *job, int world)
{
    pmix_proc_t whose = proc_named(own_name, world);
    if (job->others && job->host == POST_ROOT)
        meet_ended(job, world);
    else if (job->others)
        tell_root(job, world);
    if (mail_is_root(job))
        tell_xmpirun(job, world, false);
    far_data_ended(&whose);
}

void far_ended(struct job *job, int world)
{
    pmix_proc_t whose = proc_named(own_name, world);
    if (job->host == POST_ROOT) {
        meet_ended(job, world);
        tell_xmpirun(job, world, true);
    }
    gone(&whose);
}

/* A rank of another job. */
static void posted_rank_lost(struct job *job, int from, struct unpack *text)
{
    (void)job, (void)from;
    pmix_proc_t whose = proc_unpack(text);
    if (!text->bad)
        gone(&whose);
}

/* Those of spawned jobs but one. */
static void tell_roots(struct job *job, int but, enum mail_kind kind, const struct pack *text)
{
    struct address to = { INT_MAX, POST_ROOT };
    while ((to.job = spawn_root_before(to.job)))
        if (to.job != but)
            mail_send(job, to, kind, text);
}

/* To xmpirun: for all other roots as well.  To a root: for all of its launchers. */
static void got_rank_ended(struct job *job, struct address from, struct unpack *text)
{
    struct unpack whole = *text;
    struct pack copy = { 0 };
    pmix_proc_t whose = proc_unpack(text);
    int size = unpack_int(text, 1, INT_MAX), lost = unpack_int(text, 0, 1);
    int own = mail_own(job).job;
    if (text->bad)
        return;
    pack_rest(&copy, &whole);
    if (own == mail_xmpirun.job) {
        union_ended(job, &whose, size);
        if (lost) {
            names_ended(&whose, false); /* with its host nobody else says so */
            tell_roots(job, from.job, MAIL_RANK_ENDED, &copy);
        }
    }
    if (lost && far_job_of(whose.nspace) != own) { /* its own job knows */
        if (job->others)
            post_send(job, POST_ALL, POST_RANK_LOST, &copy);
        gone(&whose);
    }
    pack_free(&copy);
}

static void job_gone(const char *nspace)
{
    pmix_proc_t all = proc_named(nspace, 0);
    all.rank = PMIX_RANK_WILDCARD;
    gone(&all);
}

/* Its launcher may have ended before it read a question: nobody else answers that. */
void far_job_ended(struct job *job, int number, const char *nspace)
{
    struct pack text = { 0 };
    pack_text(&text, nspace);
    if (*nspace) { /* it came as far as having a name */
        mail_send(job, mail_xmpirun, MAIL_JOB_ENDED, &text);
        tell_roots(job, number, MAIL_JOB_ENDED, &text);
    }
    pack_free(&text);
    union_job_ended(job, number);
}

static void posted_job_ended(struct job *job, int from, struct unpack *text)
{
    (void)job, (void)from;
    const char *nspace = unpack_text(text);
    if (!text->bad && *nspace)
        job_gone(nspace);
}

/* To a root. */
static void got_job_ended(struct job *job, struct address from, struct unpack *text)
{
    struct pack copy = { 0 };
    (void)from;
    pack_rest(&copy, text);
    if (job->others)
        post_send(job, POST_ALL, POST_JOB_ENDED, &copy);
    posted_job_ended(job, POST_ROOT, text);
    pack_free(&copy);
}

void far_ends_open(const char *nspace)
{
    own_name = nspace;
    mail_handle(MAIL_JOB_ENDED, got_job_ended, NULL);
    mail_handle(MAIL_RANK_ENDED, got_rank_ended, NULL);
    post_handle(POST_JOB_ENDED, posted_job_ended);
    post_handle(POST_RANK_LOST, posted_rank_lost);
    post_handle(POST_RANK_OVER, posted_rank_over);
}
