/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Asking for cards: node 0 is here, the others are elsewhere.
 */
#include "launcher/cards.h"
#include "launcher/frames.h"
#include "launcher/others.h"
#include "launcher/post.h"

#include "test/unit/unit.h"

enum { WORLD = 200, HERE = 70, MIDDLE = 60, NODES = 3 }; /* the bits take several words */

static int32_t node_of_rank[WORLD];
static struct planned planned[HERE];
static struct rank ranks[HERE];
static struct plan plan = {
    .nranks = HERE, .world = WORLD, .nnodes = NODES, .node_of = node_of_rank, .ranks = planned
};
static struct pack sent[NODES]; /* all that was asked there */
static int questions;

static struct pack answered; /* to everybody */

static void send_there(int to, int kind, const struct pack *frame)
{
    if (kind == FRAME_CARDS) {
        ck_assert_int_eq(to, POST_ALL);
        pack_raw(&answered, frame->bytes, frame->n);
        return;
    }
    ck_assert_int_eq(kind, FRAME_POST);
    struct unpack from = { frame->bytes, frame->bytes + frame->n, false };
    ck_assert_int_eq(unpack_number(&from), to);
    unpack_number(&from); /* we */
    ck_assert_int_eq(unpack_number(&from), POST_ASK);
    pack_rest(&sent[to], &from);
    questions++;
}

static int host_of(int node)
{
    return node;
}

static const struct others others = { .send = send_there, .host_of = host_of };
static struct job job = { .plan = &plan, .nranks = HERE, .ranks = ranks, .others = &others };

static void begin(void)
{
    for (int i = 0; i < WORLD; i++)
        node_of_rank[i] = i < HERE ? 0 : i < HERE + MIDDLE ? 1 : 2;
    for (int i = 0; i < HERE; i++)
        planned[i] = (struct planned){ .world = i, .local = i };
    job.segment = calloc(1, bootseg_bytes(HERE, WORLD, NULL));
    ck_assert_ptr_nonnull(job.segment);
    bootseg_format(job.segment, "1-2", HERE, WORLD, NULL);
    ask_open(&job);
}

/* Host 1 asks for these ranks. */
static bool heard(int n, const int64_t *worlds)
{
    struct pack pack = { 0 };
    pack_number(&pack, 1);
    pack_number(&pack, POST_ASK);
    for (int i = 0; i < n; i++)
        pack_number(&pack, worlds[i]);
    struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
    post_take(&job, &from);
    pack_free(&pack);
    return !from.bad;
}

static bool is_asked(int local)
{
    return atomic_load(&bootseg_rank(job.segment, local)->contact.asked);
}

static void want(int world)
{
    atomic_fetch_or(bootseg_asked(job.segment) + world / 64, 1ull << world % 64);
}

START_TEST(a_question_rings_the_rank)
{
    begin();
    ck_assert(heard(2, (int64_t[]){ 3, 69 }));
    ck_assert(is_asked(3) && is_asked(69) && !is_asked(4));
    ck_assert_uint_gt(atomic_load(&bootseg_rank(job.segment, 69)->bell.bell), 0);
    ck_assert_uint_eq(atomic_load(&bootseg_rank(job.segment, 4)->bell.bell), 0);
}
END_TEST

static int64_t first_of(struct pack *pack)
{
    struct unpack from = { pack->bytes, pack->bytes + pack->n, false };
    return unpack_number(&from);
}

START_TEST(each_is_asked_once_where_it_is)
{
    begin();
    ask_look(&job);
    ck_assert_int_eq(questions, 0);
    want(199), want(71), want(129), want(130); /* and one that does not exist */
    want(WORLD);
    ask_look(&job);
    ck_assert_int_eq(questions, 2);
    ck_assert_uint_eq(sent[1].n, 16);
    ck_assert_uint_eq(sent[2].n, 16);
    ck_assert_int_eq(first_of(&sent[1]), 71);
    ck_assert_int_eq(first_of(&sent[2]), 130);
    want(131);
    ask_look(&job);
    ask_look(&job);
    ck_assert_int_eq(questions, 3);
    ck_assert_uint_eq(sent[2].n, 24);
}
END_TEST

START_TEST(garbage_is_refused)
{
    begin();
    ck_assert(!heard(2, (int64_t[]){ 5, WORLD }));
    ck_assert(!heard(1, (int64_t[]){ -1 }));
    ck_assert(heard(1, (int64_t[]){ WORLD - 1 })); /* not here: no harm */
}
END_TEST

/* What other hosts are told of rank 5: bytes of its card, or -1 for nothing. */
static int64_t told(void)
{
    struct pack pack = { 0 };
    if (!cards_collect(&job, &pack))
        return -1;
    struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
    size_t bytes;
    ck_assert_int_eq(unpack_number(&from), 1);
    ck_assert_int_eq(unpack_number(&from), 5);
    unpack_bytes(&from, &bytes);
    pack_free(&pack);
    return (int64_t)bytes;
}

START_TEST(who_leaves_is_told_of_when_somebody_waits)
{
    begin();
    struct boot_rank *record = bootseg_rank(job.segment, 5);
    atomic_store(&record->state, BOOT_RESTING);
    ck_assert_int_eq(told(), -1);
    boot_ask_rank(job.segment, 5);
    ck_assert_int_eq(told(), -1);
    atomic_store(&record->silent, 2 * 1 + 1); /* the world model is over, not a session alone */
    ck_assert_int_eq(told(), 0);
    ck_assert_int_eq(told(), -1);
    atomic_store(&record->state, BOOT_INITED); /* a session; now it publishes */
    atomic_store(&record->contact.bytes, 40);
    ck_assert_int_eq(told(), 40);
    ck_assert_int_eq(told(), -1);
    atomic_store(&record->state, BOOT_RESTING); /* it may be back */
    ck_assert_int_eq(told(), -1);
    ranks[5].ended = true;
    ck_assert_int_eq(told(), 0);
    ck_assert_int_eq(told(), -1);
}
END_TEST

/* The next answer that was given for one who cannot: who it is about, without a card. */
static int64_t answered_for(void)
{
    size_t bytes = 1;
    ck_assert_uint_gt(answered.n, 0);
    struct unpack from = { answered.bytes, answered.bytes + answered.n, false };
    ck_assert_int_eq(unpack_number(&from), 1);
    int64_t world = unpack_number(&from);
    unpack_bytes(&from, &bytes);
    ck_assert_uint_eq(bytes, 0);
    pack_free(&answered);
    return world;
}

START_TEST(who_has_ended_is_answered_for)
{
    begin();
    ranks[5].ended = true;
    job.running = 1; /* it is told of like others */
    ck_assert(heard(1, (int64_t[]){ 5 }));
    ck_assert(is_asked(5));
    ck_assert_uint_eq(answered.n, 0);
    job.running = 0;
    ck_assert(heard(1, (int64_t[]){ 5 }));
    ck_assert_int_eq(answered_for(), 5);
    struct pack frame = { 0 }; /* for host 2, which has gone; host 1 asks */
    pack_number(&frame, 2), pack_number(&frame, 1), pack_number(&frame, POST_ASK);
    pack_number(&frame, 150);
    post_late(&job, &frame);
    pack_free(&frame);
    ck_assert_int_eq(answered_for(), 150);
    ck_assert_uint_eq(bootseg_other(job.segment, 150)->left, 1);
}
END_TEST

START_TEST(a_card_after_all)
{
    begin();
    struct pack pack = { 0 };
    pack_number(&pack, 2);
    pack_number(&pack, 150), pack_bytes(&pack, "", 0);
    pack_number(&pack, 151), pack_bytes(&pack, "card", 4);
    struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
    ck_assert(cards_hand_out(&job, &from));
    ck_assert_uint_eq(bootseg_other(job.segment, 150)->left, 1);
    ck_assert_uint_eq(bootseg_other(job.segment, 151)->left, 0);
    ck_assert_uint_eq(bootseg_other(job.segment, 151)->bytes, 4);
    boot_card_other(job.segment, 150, "card", 4);
    ck_assert_uint_eq(bootseg_other(job.segment, 150)->left, 0);
    pack_free(&pack);
}
END_TEST

UNIT_MAIN("ask", a_question_rings_the_rank, each_is_asked_once_where_it_is, garbage_is_refused,
          who_leaves_is_told_of_when_somebody_waits, who_has_ended_is_answered_for,
          a_card_after_all)
