/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See post.h: a table of handlers, and the head of the frame.
 */
#include "launcher/post.h"

#include "launcher/frames.h"
#include "launcher/job.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/wire.h"

#include <stddef.h>

enum { /* what is left is for heads, and names of meetings */
       LONGEST = WIRE_LONGEST - (1 << 20),
       MEETING = 1 << 19
};

static post_handler *handlers[POST_KINDS], *late_handlers[POST_KINDS];

void post_handle(enum post_kind kind, post_handler *handler)
{
    handlers[kind] = handler;
}

void post_handle_late(enum post_kind kind, post_handler *handler)
{
    late_handlers[kind] = handler;
}

bool post_fits(size_t bytes)
{
    if (bytes <= LONGEST)
        return true;
    complain("%zu MiB of PMIx data at once are too much: launchers send each other %d",
             bytes >> 20, LONGEST >> 20);
    return false;
}

void post_own(struct job *job, enum post_kind kind, const struct pack *text)
{
    struct unpack own = { text->bytes, text->n ? text->bytes + text->n : text->bytes, false };
    handlers[kind](job, job->host, &own);
}

void post_send(struct job *job, int to, enum post_kind kind, const struct pack *text)
{
    struct pack frame = { 0 };
    if (to == job->host) {
        post_own(job, kind, text);
        return;
    }
    if (!post_fits(text->n > MEETING ? text->n - MEETING : 0))
        return;
    pack_number(&frame, to);
    pack_number(&frame, job->host);
    pack_number(&frame, kind);
    if (text->n)
        pack_raw(&frame, text->bytes, text->n);
    job->others->send(to, FRAME_POST, &frame);
    pack_free(&frame);
}

static void hand_to(post_handler *const *list, struct job *job, struct unpack *frame)
{
    int from = unpack_int(frame, POST_ROOT, POST_MOST);
    int kind = unpack_int(frame, 0, POST_KINDS - 1);
    if (!frame->bad && list[kind])
        list[kind](job, from, frame);
}

void post_take(struct job *job, struct unpack *frame)
{
    hand_to(handlers, job, frame);
}

void post_late(struct job *job, const struct pack *frame)
{
    struct unpack copy = { frame->bytes, frame->bytes + frame->n, false };
    unpack_int(&copy, 0, POST_MOST); /* the host */
    hand_to(late_handlers, job, &copy);
}

int post_of_node(const struct job *job, int node)
{
    return node == job->plan->node ? job->host : job->others->host_of(node);
}
