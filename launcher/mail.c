/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See mail.h.  A letter begins with its head: job and host of the addressee, job and host of the sender,
 * kind.
 */
#include "launcher/mail.h"

#include "launcher/job.h"
#include "launcher/out.h"
#include "launcher/post.h"

#include <limits.h>

/* Hosts -10, -11, ..: of ranks 0, 1, .. */
enum { RANK_ZERO = -10, HOST_LEAST = RANK_ZERO - INT_MAX / 2 };

static struct {
    mail_handler *handler, *late;
} kinds[MAIL_KINDS];

bool (*mail_letter)(int to_job, const struct pack *letter);

int mail_host_of(int world)
{
    return RANK_ZERO - world;
}

bool mail_is_root(const struct job *job)
{
    return !job->others || job->host == POST_ROOT;
}

struct address mail_own(const struct job *job)
{
    return (struct address){ launcher_job, mail_is_root(job) ? POST_ROOT : job->host };
}

void mail_handle(enum mail_kind kind, mail_handler *handler, mail_handler *late)
{
    kinds[kind].handler = handler;
    kinds[kind].late = late;
}

static struct address take_address(struct unpack *letter)
{
    struct address address = { .job = unpack_int(letter, 1, INT_MAX) };
    address.host = unpack_int(letter, HOST_LEAST, POST_MOST);
    letter->bad |= address.host > RANK_ZERO && address.host < POST_ROOT; /* nobody, or all */
    return address;
}

/* `letter` begins with who has sent it. */
static void deliver(struct job *job, struct unpack letter, bool late)
{
    struct address from = take_address(&letter);
    int kind = unpack_int(&letter, 0, MAIL_KINDS - 1);
    mail_handler *handler = late ? kinds[kind].late : kinds[kind].handler;
    if (!letter.bad && handler)
        handler(job, from, &letter);
}

/* A rank that does not exist is for the root, whose answer says so. */
static int host_in_job(const struct job *job, int host)
{
    int world = RANK_ZERO - host;
    if (host > RANK_ZERO)
        return host;
    if (!job->others || world >= job->plan->world)
        return mail_own(job).host;
    return post_of_node(job, job->plan->node_of[world]);
}

/* xmpirun answers for jobs without mail, and for those that have ended.  Answers are not for it: the
 * numbers of its own questions are the same. */
static void deliver_instead(struct job *job, struct unpack letter)
{
    struct unpack head = letter;
    take_address(&head);
    switch (unpack_int(&head, 0, MAIL_KINDS - 1)) {
    case MAIL_GET:
    case MAIL_NAMES:
    case MAIL_GONE:
    case MAIL_SPAWN:
    case MAIL_MEET:
        deliver(job, letter, false);
        break;
    default:
        break;
    }
}

/* On its way, wherever it is now. */
static void carry(struct job *job, const struct pack *letter)
{
    struct unpack text = { letter->bytes, letter->bytes + letter->n, false };
    struct address to = take_address(&text), own = mail_own(job);
    int host = to.job == own.job ? host_in_job(job, to.host) : POST_ROOT;
    if (text.bad)
        return;
    if (host != own.host)
        post_send(job, host, POST_MAIL, letter);
    else if (to.job == own.job)
        deliver(job, text, false);
    else if (!mail_letter || !mail_letter(to.job, letter))
        deliver_instead(job, text);
}

bool mail_send(struct job *job, struct address to, enum mail_kind kind, const struct pack *text)
{
    struct pack letter = { 0 };
    struct address own = mail_own(job);
    if (!post_fits(text->n))
        return false;
    pack_number(&letter, to.job);
    pack_number(&letter, to.host);
    pack_number(&letter, own.job);
    pack_number(&letter, own.host);
    pack_number(&letter, kind);
    if (text->n)
        pack_raw(&letter, text->bytes, text->n);
    carry(job, &letter);
    pack_free(&letter);
    return true;
}

void mail_take(struct job *job, const struct unpack *letter)
{
    struct pack copy = { 0 };
    pack_rest(&copy, letter);
    carry(job, &copy);
    pack_free(&copy);
}

static void posted(struct job *job, int from, struct unpack *text)
{
    (void)from;
    mail_take(job, text);
}

static void posted_late(struct job *job, int from, struct unpack *text)
{
    (void)from;
    take_address(text);
    if (!text->bad)
        deliver(job, *text, true);
}

void mail_open(void)
{
    post_handle(POST_MAIL, posted);
    post_handle_late(POST_MAIL, posted_late);
}
