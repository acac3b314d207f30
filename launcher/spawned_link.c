/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The way from the launcher of a spawned job to xmpirun.  It is a service of the job (services.h): before
 * its ranks start it tells xmpirun of them, and gets variables for them unless they have a PMIx server of
 * their own; while they run it tells who has ended, and carries mail.  On other hosts of the job it says when the ranks there run.
 */
#include "launcher/spawned.h"

#include "launcher/environment.h"
#include "launcher/job.h"
#include "launcher/kin.h"
#include "launcher/letters.h"
#include "launcher/mail.h"
#include "launcher/out.h"
#include "launcher/post.h"
#include "launcher/verdict.h"
#include "launcher/wish.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH_MS = 5000 }; /* for xmpirun to take the last letters */

static struct {
    struct watch watch;     /* the way to xmpirun; fd -1: we are on another host, or xmpirun */
    struct letters letters; /* mail for other jobs, and from them */
    struct strings variables;
} kin = { .watch = { .fd = -1 } };

void spawned_link(int socket, int letters)
{
    kin.watch.fd = socket;
    kin.letters.watch.fd = letters;
    fcntl(socket, F_SETFD, FD_CLOEXEC);
    fcntl(letters, F_SETFD, FD_CLOEXEC);
}

/* ---- before the ranks ---- */

/* Where its ranks are: slots are those of all jobs. */
static void tell_nodes(const struct job *job)
{
    const struct plan *plan = job->plan;
    for (int node = 0; plan->node_names && node < plan->nnodes; node++) {
        struct kin_message message = { .kind = KIN_NODE, .code = node == plan->node };
        for (int rank = 0; rank < plan->world; rank++)
            message.number += plan->node_of[rank] == node;
        message.bytes = strnlen(plan->node_names[node], KIN_TEXT);
        memcpy(message.text, plan->node_names[node], message.bytes);
        kin_send(kin.watch.fd, &message, -1, false);
    }
}

static void introduce(const struct job *job)
{
    bool serves = job->options->spawned->serves;
    struct kin_message message = { .kind = serves ? KIN_HELLO_SERVES : KIN_HELLO,
                                   .number = job->plan->world,
                                   .code = job->options->napps };
    kin_send(kin.watch.fd, &message, serves ? -1 : job->segment_fd, false);
    if (serves)
        tell_nodes(job);
    for (int i = 0; i < job->nranks && job->plan->placements && !serves; i++) {
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

static void tell(enum kin_kind kind, int number, int code)
{
    struct kin_message message = { .kind = (int)kind, .number = number, .code = code };
    if (kin.watch.fd >= 0)
        kin_send(kin.watch.fd, &message, -1, false);
}

/* Its ranks run, or it is lost and nobody waits for that. */
static void node_started(const struct job *job, int node)
{
    static bool *seen;
    static int nodes;
    if (!seen)
        seen = calloc((size_t)job->plan->nnodes, sizeof *seen);
    if (!seen)
        abort();
    if (seen[node])
        return;
    seen[node] = true;
    if (++nodes == job->plan->nnodes)
        tell(KIN_STARTED, 0, 0);
}

/* ---- the service ---- */

static void letter_came(struct letters *letters, const struct unpack *letter)
{
    mail_take(letters->owner, letter);
}

/* xmpirun knows the way to all others. */
static bool letter_up(int to_job, const struct pack *letter)
{
    (void)to_job;
    letters_send(&kin.letters, letter);
    return true;
}

static void started_elsewhere(struct job *job, int from, struct unpack *text)
{
    int node = unpack_int(text, 0, job->plan->nnodes - 1);
    (void)from;
    if (!text->bad)
        node_started(job, node);
}

int spawned_start(struct job *job)
{
    if (kin.watch.fd < 0)
        return 0;
    post_handle(POST_STARTED, started_elsewhere);
    introduce(job);
    int status = await_go();
    kin.watch.ready = has_said;
    kin.watch.owner = kin.letters.owner = job;
    kin.letters.came = letter_came;
    letters_open(&kin.letters, kin.letters.watch.fd);
    mail_letter = letter_up;
    if (!status)
        loop_add(&kin.watch, EPOLLIN);
    return status;
}

int spawned_rank_env(struct job *job, int rank, struct environment *env)
{
    static char number[32];
    if (!kin.variables.n)
        return 0;
    for (int i = 0; i < kin.variables.n; i++)
        environment_add(env, kin.variables.text[i]);
    snprintf(number, sizeof number, "PMIX_RANK=%d", job_world(job, rank));
    environment_add(env, number);
    return 0;
}

/* The ranks of every host run: only xmpirun's child knows when that is. */
void spawned_started(struct job *job)
{
    struct pack text = { 0 };
    if (!job->options->spawned || !job->nranks)
        return;
    if (kin.watch.fd >= 0) {
        node_started(job, job->plan->node);
        return;
    }
    pack_number(&text, job->plan->node);
    post_send(job, POST_ROOT, POST_STARTED, &text);
    pack_free(&text);
}

/* Then its launcher only waits for the reader of its output. */
void spawned_stop(struct job *job)
{
    (void)job;
    tell(KIN_ENDED, 0, 0);
}

void spawned_flush(void)
{
    letters_flush(&kin.letters, FLUSH_MS);
}

void spawned_other_gone(struct job *job, int world)
{
    if (kin.watch.fd >= 0)
        node_started(job, job->plan->node_of[world]);
}

void spawned_rank_gone(struct job *job, int rank, int wait_status)
{
    tell(KIN_GONE, job_world(job, rank), wait_status);
}
