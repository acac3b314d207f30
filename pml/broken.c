/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Channels that are given up, since those on them do not perform the same collectives.  The losses of
 * doom.c are about processes; here all live, and each gives the channel up by itself:
 *
 *     later receives       fail, with the reason, from then on
 *     posted receives      end as well (channel_end)
 *     messages unmatched   dropped; an RTS is answered: nothing is wanted, so its send is over
 *     sends to who has     end: nobody receives them, nor is there anybody who could answer
 *       left the channel   (in_vain.c)
 *     messages matched     go on: their sender sends, or lets its memory be read, to the end
 *     PML_APART            goes on: those who talk there call the same
 *
 * So no memory is let go of that somebody may still read.  What was given up is remembered when the
 * channel is closed, for senders that were told later than we.
 *
 * Costs nothing where nothing is broken: a look at messages that nobody waits for.
 */
#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/recv.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdio.h>
#include <stdlib.h>

struct broken {
    struct broken *next;
    uint64_t context;
    char why[BROKEN_CHARS];
};

static struct broken *broken;

static const char *why_broken(uint64_t context)
{
    for (const struct broken *b = broken; b; b = b->next)
        if (b->context == context)
            return b->why;
    return NULL;
}

/* ---- receives ---- */

int channel_fail(const struct channel *channel)
{
    return fail(MPI_ERR_OTHER, "%s", why_broken(channel->context));
}

void recv_break(struct recv *recv)
{
    int error = channel_fail(recv->channel);
    recv->waiting = false;
    recv->request.result =
        (struct result){ .source = PML_ANY_SOURCE, .tag = PML_ANY_TAG, .error = error };
    /* Who is called back asks the channel; a plan may have more receives than texts are kept. */
    if (!recv->request.on_done)
        fail_keep(&recv->request, error);
    request_complete(&recv->request);
}

/* First they are all taken off, for completing calls back. */
static struct recv *receives_take(struct channel *channel)
{
    struct recv *taken = NULL;
    for (struct match_posted *posted = match_any_posted(channel->match), *next; posted;
         posted = next) {
        struct recv *recv = recv_of(posted);
        next = match_next_posted(channel->match, posted);
        if (recv->key.step >= PML_APART)
            continue;
        match_unpost(channel->match, posted);
        recv->next = taken;
        taken = recv;
    }
    return taken;
}

/* ---- messages ---- */

static void message_refuse(struct peer *peer, const struct wire *header)
{
    struct wire answer = { .kind = WIRE_CTS, .request = header->request };
    if (header->kind == WIRE_RTS)
        control_send(peer, &answer, NULL);
}

static void messages_drop(struct channel *channel)
{
    for (struct match_arrived *m = match_oldest(channel->match), *next; m; m = next) {
        struct arrived *arrived = (struct arrived *)m;
        next = match_next(channel->match, m);
        if (arrived->header.step >= PML_APART)
            continue;
        match_take(channel->match, m);
        message_refuse(arrived->peer, &arrived->header);
        arrived_free(arrived);
    }
}

static bool word_is_over(struct channel *channel, const struct wire *header,
                         const char *payload)
{
    struct envelope from = wire_envelope(header);
    if (!channel)
        return header->step != PML_WORDS_LAST || why_broken(header->context);
    if (pml_judge)
        pml_judge->word(channel, &from, payload, header->bytes);
    return true;
}

bool message_is_dropped(struct channel *channel, struct peer *peer, const struct wire *header,
                        const char *payload)
{
    if (header->step >= PML_WORDS)
        return word_is_over(channel, header, payload);
    if (channel ? !channel->broken || header->step >= PML_APART : !why_broken(header->context))
        return false;
    message_refuse(peer, header);
    return true;
}

void channel_break(struct channel *channel, const char *why)
{
    struct broken *b = malloc(sizeof *b);
    if (!b)
        return;
    b->next = broken;
    b->context = channel->context;
    snprintf(b->why, sizeof b->why, "%s", why);
    broken = b;
    channel->broken = true;
    troubles++; /* until it is closed */
}

void channel_end(struct channel *channel)
{
    messages_drop(channel);
    sends_end(channel);
    for (struct recv *recv = receives_take(channel), *next; recv; recv = next) {
        next = recv->next;
        recv_break(recv);
    }
}

void broken_close(void)
{
    while (broken) {
        struct broken *gone = broken;
        broken = gone->next;
        free(gone);
    }
}

/* ---- the judge ---- */

const struct pml_judge *pml_judge;

void pml_settle_soon(void)
{
    failures_wanted = true;
}
