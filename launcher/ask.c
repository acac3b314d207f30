/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank that wants the card of a rank elsewhere sets a bit in the segment and rings; we post the
 * question to the launcher there, once, whoever else asks:
 *
 *     rank, bit  ->  launcher, POST_ASK  ->  launcher there: a word in the record, its doorbell
 *
 * The answer is the card, which goes to everybody (cards.c).  Where the rank has ended, its launcher, or that one's
 * neighbour, says at once that it has left.  Costs two bits per rank of the job, and a look at half of them whenever
 * a rank of this host rings or something else happens here.
 */
#include "launcher/cards.h"

#include "launcher/frames.h"
#include "launcher/others.h"
#include "launcher/post.h"

#include <stdlib.h>

enum { BITS = 64 };

static uint64_t *asked; /* a bit per rank of the job */

struct batch { /* ranks of one node; they often follow each other */
    struct job *job;
    int node;
    struct pack worlds;
};

static int nwords(const struct job *job)
{
    return (job->plan->world + BITS - 1) / BITS;
}

static void batch_send(struct batch *batch)
{
    struct job *job = batch->job;
    if (batch->worlds.n)
        post_send(job, post_of_node(job, batch->node), POST_ASK, &batch->worlds);
    pack_free(&batch->worlds);
}

static void batch_add(struct batch *batch, int world)
{
    if (world >= batch->job->plan->world)
        return;
    int node = batch->job->plan->node_of[world];
    if (node != batch->node)
        batch_send(batch);
    batch->node = node;
    pack_number(&batch->worlds, world);
}

void ask_look(struct job *job)
{
    if (!job->segment)
        return;
    struct batch batch = { .job = job };
    const _Atomic uint64_t *wanted = bootseg_asked(job->segment);
    for (int i = 0; i < nwords(job); i++) {
        uint64_t fresh = atomic_load_explicit(&wanted[i], memory_order_relaxed) & ~asked[i];
        asked[i] |= fresh;
        for (; fresh; fresh &= fresh - 1)
            batch_add(&batch, i * BITS + __builtin_ctzll(fresh));
    }
    batch_send(&batch);
}

/* ---- a question has come ---- */

struct answer { /* who has left, for everybody */
    struct pack list;
    int n;
};

static void answer_add(struct answer *answer, int world)
{
    pack_number(&answer->list, world);
    pack_bytes(&answer->list, "", 0);
    answer->n++;
}

static void answer_send(struct job *job, struct answer *answer)
{
    struct pack pack = { 0 };
    pack_number(&pack, answer->n);
    pack_raw(&pack, answer->list.bytes, answer->list.n);
    struct unpack own = { pack.bytes, pack.bytes + pack.n, false };
    cards_hand_out(job, &own);
    job->others->send(POST_ALL, FRAME_CARDS, &pack);
    pack_free(&pack);
}

/* It has ended, and nobody looks for news of it any more. */
static bool has_ended(const struct job *job, int number)
{
    return job->ranks[number].ended && job->running == 0;
}

/* Here, or on a host that has ended (`late`). */
static void ask_rank(struct job *job, int world, bool late, struct answer *answer)
{
    int number = job_number(job, world);
    if (late || (number >= 0 && has_ended(job, number)))
        answer_add(answer, world);
    else if (job->segment && number >= 0)
        boot_ask_rank(job->segment, job->plan->ranks[number].local);
}

static void take_question(struct job *job, bool late, struct unpack *text)
{
    struct answer answer = { 0 };
    while (text->at < text->end && !text->bad) {
        int world = unpack_int(text, 0, job->plan->world - 1);
        if (!text->bad)
            ask_rank(job, world, late, &answer);
    }
    if (answer.n)
        answer_send(job, &answer);
    pack_free(&answer.list);
}

static void got_question(struct job *job, int from, struct unpack *text)
{
    (void)from;
    take_question(job, false, text);
}

static void got_late(struct job *job, int from, struct unpack *text)
{
    (void)from;
    take_question(job, true, text);
}

void ask_open(const struct job *job)
{
    free(asked);
    asked = calloc((size_t)nwords(job) + 1, sizeof *asked);
    if (!asked)
        abort();
    post_handle(POST_ASK, got_question);
    post_handle_late(POST_ASK, got_late);
}
