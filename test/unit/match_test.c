/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matching against an oracle: two plain lists in order, searched from the front.
 */
#include "pml/match.h"
#include "pml/pml.h"

#include "test/unit/unit.h"

#include <string.h>

enum { MOST = 3000, A_FEW = 4, ASKED = 4 };

struct receive {
    struct match_posted posted;
    struct match_key key;
};
struct message {
    struct match_arrived arrived;
    struct match_key key;
};

/* The oracle: what is waiting, oldest first. */
static struct receive *receives[MOST];
static struct message *messages[MOST];
static int nreceives, nmessages;
static int passes_among_many;
static struct match *match;

static uint64_t seed;
static uint32_t draw(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % below;
}

static bool accepts(struct match_key receive, struct match_key message)
{
    return (receive.source == PML_ANY_SOURCE || receive.source == message.source) &&
           (receive.tag == PML_ANY_TAG || receive.tag == message.tag) &&
           receive.step == message.step;
}

static int receive_for(struct match_key message)
{
    for (int i = 0; i < nreceives; i++)
        if (accepts(receives[i]->key, message))
            return i;
    return -1;
}

static int message_for(struct match_key receive)
{
    for (int i = 0; i < nmessages; i++)
        if (accepts(receive, messages[i]->key))
            return i;
    return -1;
}

static void receive_drop(int i)
{
    free(receives[i]);
    memmove(&receives[i], &receives[i + 1], (size_t)(--nreceives - i) * sizeof receives[0]);
}

static void message_drop(int i)
{
    free(messages[i]);
    memmove(&messages[i], &messages[i + 1], (size_t)(--nmessages - i) * sizeof messages[0]);
}

/* ---- one operation on both ---- */

struct mix { /* how an experiment draws */
    uint32_t sources, tags, steps;
    uint32_t wild_percent, arrive_percent;
};

static struct match_key draw_exact(const struct mix *mix)
{
    return (struct match_key){ (int32_t)draw(mix->sources), (int32_t)draw(mix->tags),
                               draw(mix->steps) };
}

static struct match_key draw_wanted(const struct mix *mix)
{
    struct match_key key = draw_exact(mix);
    if (draw(100) < mix->wild_percent)
        key.source = PML_ANY_SOURCE;
    if (draw(100) < mix->wild_percent)
        key.tag = PML_ANY_TAG;
    return key;
}

static void do_arrive(struct match_key key)
{
    int expected = receive_for(key);
    struct match_posted *posted = match_arrive(match, key);
    ck_assert_ptr_eq(posted, expected < 0 ? NULL : &receives[expected]->posted);
    if (posted) {
        receive_drop(expected);
        return;
    }
    struct message *message = malloc(sizeof *message);
    message->key = key;
    match_store(match, &message->arrived, key);
    messages[nmessages++] = message;
}

/* A receive may be given its message past the matcher only if nobody else would get that; among a few
 * receives it must be, and among many it often is. */
static void check_pass(struct match_key key)
{
    static int asked;
    if (++asked % ASKED != 0) /* the oracle looks at all of them */
        return;
    bool lets = match_lets_pass(match, key), none = nreceives == 0;
    if (key.source != PML_ANY_SOURCE && key.tag != PML_ANY_TAG)
        none = receive_for(key) < 0;
    passes_among_many += lets && nreceives > A_FEW;
    if (lets && !none)
        ck_abort_msg("passes one of %d receives that was posted before", nreceives);
    if (!lets && none && nreceives <= A_FEW)
        ck_abort_msg("%d receives do not want it, and it does not pass", nreceives);
}

static void do_receive(struct match_key key)
{
    int expected = message_for(key);
    struct match_arrived *found = match_find(match, key);
    ck_assert_ptr_eq(found, expected < 0 ? NULL : &messages[expected]->arrived);
    if (found) {
        match_take(match, found);
        message_drop(expected);
        return;
    }
    check_pass(key);
    struct receive *receive = malloc(sizeof *receive);
    receive->key = key;
    match_post(match, &receive->posted, key);
    receives[nreceives++] = receive;
}

static void do_probe(struct match_key key)
{
    int expected = message_for(key);
    ck_assert_ptr_eq(match_find(match, key),
                     expected < 0 ? NULL : &messages[expected]->arrived);
}

static void do_cancel(void)
{
    int i = (int)draw((uint32_t)nreceives);
    match_unpost(match, &receives[i]->posted);
    receive_drop(i);
}

static void drain(void)
{
    while (nreceives > 0) {
        match_unpost(match, &receives[nreceives - 1]->posted);
        receive_drop(nreceives - 1);
    }
    while (nmessages > 0) {
        struct match_arrived *oldest = match_oldest(match);
        ck_assert_ptr_eq(oldest, &messages[0]->arrived);
        ck_assert_ptr_eq(match_next(match, oldest),
                         nmessages > 1 ? &messages[1]->arrived : NULL);
        match_take(match, &messages[0]->arrived);
        message_drop(0);
    }
    ck_assert_ptr_null(match_oldest(match));
}

/* An assertion that holds costs more than an operation. */
static void check_counts(void)
{
    if (match_posted_count(match) == (size_t)nreceives &&
        match_arrived_count(match) == (size_t)nmessages)
        return;
    ck_abort_msg("%zu receives of %d, %zu messages of %d", match_posted_count(match), nreceives,
                 match_arrived_count(match), nmessages);
}

static void experiment(const struct mix *mix, int operations, int deepest)
{
    match = match_new();
    for (int i = 0; i < operations; i++) {
        uint32_t what = draw(100);
        if (nmessages >= deepest || nreceives >= deepest)
            drain();
        else if (what < 5)
            do_probe(draw_wanted(mix));
        else if (what < 8 && nreceives > 0)
            do_cancel();
        else if (draw(100) < mix->arrive_percent)
            do_arrive(draw_exact(mix));
        else
            do_receive(draw_wanted(mix));
        check_counts();
    }
    drain();
    match_delete(match);
}

START_TEST(random_operations_agree_with_the_oracle)
{
    static const struct mix mixes[] = { { 1, 1, 1, 0, 50 },       { 3, 4, 1, 0, 50 },
                                        { 3, 4, 1, 30, 50 },      { 3, 4, 3, 30, 50 },
                                        { 2, 2, 2, 60, 50 },      { 50, 50, 1, 5, 50 },
                                        { 50, 50, 2, 5, 60 },     { 50, 50, 2, 5, 40 },
                                        { 1000, 1000, 1, 2, 50 }, { 4, 1000000, 1, 1, 50 } };
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++)
        for (seed = 1; seed <= 4; seed++) {
            uint64_t keep = seed;
            experiment(&mixes[i], 20000, 40);
            seed = keep;
            experiment(&mixes[i], 5000, MOST - 1);
            seed = keep;
        }
    ck_assert_int_gt(passes_among_many, 100000 / ASKED);
}
END_TEST

/* Not at all, by one place, or in no order any more. */
static void swap_some(struct match_key *order, int n)
{
    int swaps = (int)draw(3) ? (int)draw(2) : n;
    for (int i = 0; i < swaps && n > 1; i++) {
        int at = (int)draw((uint32_t)n - 1);
        struct match_key keep = order[at];
        order[at] = order[at + 1];
        order[at + 1] = keep;
    }
}

/* A few receives, then their messages: in order, nearly so or not at all, some that nobody waits for,
 * and some receives that stay. */
static void round_of_a_row(const struct mix *mix)
{
    int n = (int)draw(9);
    struct match_key order[9];
    for (int i = 0; i < n; i++) {
        order[i] = draw_exact(mix);
        struct match_key wanted = order[i];
        if (draw(100) < mix->wild_percent)
            wanted.source = PML_ANY_SOURCE;
        do_receive(wanted);
    }
    swap_some(order, n);
    for (int i = 0; i < n; i++) {
        do_arrive(draw(40) == 0 ? draw_exact(mix) : order[i]);
        check_counts();
        if (nreceives > 0 && draw(40) == 0)
            do_cancel();
    }
    if (draw(8) == 0 || nreceives > 1000 || nmessages > 1000)
        drain();
}

/* A few messages, then their receives, and now and then one that stays. */
static void round_of_early_ones(const struct mix *mix)
{
    int n = (int)draw(9);
    struct match_key order[9];
    for (int i = 0; i < n; i++)
        do_arrive(order[i] = draw_exact(mix));
    swap_some(order, n);
    for (int i = 0; i < n; i++) {
        struct match_key wanted = draw(40) == 0 ? draw_exact(mix) : order[i];
        if (draw(100) < mix->wild_percent)
            wanted.source = PML_ANY_SOURCE;
        if (draw(100) < mix->wild_percent)
            wanted.tag = PML_ANY_TAG;
        if (draw(20) == 0)
            do_probe(wanted);
        do_receive(wanted);
        check_counts();
    }
    while (nreceives > 0)
        do_cancel();
    if (draw(8) == 0 || nmessages > 1000)
        drain();
}

static void rounds(void (*round)(const struct mix *mix))
{
    static const struct mix mixes[] = {
        { 1, 1, 1, 0, 0 }, { 4, 1, 1, 0, 0 }, { 4, 1, 1, 30, 0 }, { 3, 4, 2, 10, 0 }
    };
    for (size_t i = 0; i < sizeof mixes / sizeof mixes[0]; i++) {
        seed = i + 1;
        match = match_new();
        for (int n = 0; n < 10000; n++)
            round(&mixes[i]);
        drain();
        match_delete(match);
    }
}

START_TEST(receives_in_a_row)
{
    rounds(round_of_a_row);
}
END_TEST

START_TEST(messages_in_a_row)
{
    rounds(round_of_early_ones);
}
END_TEST

/* A wildcard that comes late must see earlier messages in order of arrival. */
START_TEST(wildcard_after_many_exact)
{
    const struct mix mix = { 10, 10, 1, 0, 100 };
    seed = 5;
    match = match_new();
    for (int i = 0; i < 1000; i++)
        do_arrive(draw_exact(&mix));
    do_receive((struct match_key){ 3, 3, 0 });
    do_receive((struct match_key){ PML_ANY_SOURCE, 4, 0 });
    for (int i = 0; i < 900; i++)
        do_receive((struct match_key){ i % 2 ? PML_ANY_SOURCE : i % 10, PML_ANY_TAG, 0 });
    drain();
    match_delete(match);
}
END_TEST

/* Wildcards never cross steps. */
START_TEST(steps_are_exact)
{
    match = match_new();
    do_arrive((struct match_key){ 0, 0, 7 });
    do_receive((struct match_key){ PML_ANY_SOURCE, PML_ANY_TAG, 0 });
    ck_assert_int_eq(nreceives, 1);
    ck_assert_int_eq(nmessages, 1);
    do_receive((struct match_key){ PML_ANY_SOURCE, PML_ANY_TAG, 7 });
    ck_assert_int_eq(nmessages, 0);
    drain();
    match_delete(match);
}
END_TEST

/* A loss takes some receives off on the way. */
START_TEST(posted_receives_can_be_gone_through)
{
    enum { N = 300 };
    static struct match_posted posted[N];
    bool seen[N] = { false };
    match = match_new();
    for (int i = 0; i < N; i++)
        match_post(match, &posted[i],
                   (struct match_key){ i % 7 ? i % 5 : PML_ANY_SOURCE, i, 0 });
    struct match_posted *next, *at = match_any_posted(match);
    int n = 0;
    for (; at; at = next) {
        next = match_next_posted(match, at);
        ck_assert(!seen[at - posted]);
        seen[at - posted] = true;
        n++;
        if (n % 3 == 0)
            match_unpost(match, at);
    }
    ck_assert_int_eq(n, N);
    ck_assert_int_eq((int)match_posted_count(match), N - N / 3);
    while ((at = match_any_posted(match)) != NULL)
        match_unpost(match, at);
    match_delete(match);
}
END_TEST

/* Closing a channel takes the receives off one by one. */
START_TEST(receives_left_over_are_found)
{
    enum { LEFT = 40 };
    struct match_posted posted[LEFT], *some;
    match = match_new();
    ck_assert_ptr_null(match_any_posted(match));
    for (int i = 0; i < LEFT; i++)
        match_post(match, &posted[i], (struct match_key){ i % 7, i % 3 ? i : PML_ANY_TAG, 0 });
    int found = 0;
    while ((some = match_any_posted(match)) != NULL) {
        ck_assert(some >= posted && some < posted + LEFT);
        match_unpost(match, some);
        found++;
    }
    ck_assert_int_eq(found, LEFT);
    match_delete(match);
}
END_TEST

UNIT_MAIN("match", random_operations_agree_with_the_oracle, receives_in_a_row,
          messages_in_a_row, wildcard_after_many_exact, steps_are_exact,
          posted_receives_can_be_gone_through, receives_left_over_are_found)
