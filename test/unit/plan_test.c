/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plans: what is inferred for a program, how plans are cut, embedded, printed and kept.  That the
 * algorithms are right is shown in test/plan.
 */
#include "coll/algorithms.h"
#include "coll/bind.h"
#include "coll/cache.h"
#include "coll/ends.h"
#include "mpi.h"

#include "test/unit/unit.h"

#include <time.h>

static struct plan made(program *f, int me, int p, int pieces, enum alias alias)
{
    struct plan plan;
    struct plan_key key = { .me = me, .size = p, .pieces = pieces, .alias = alias };
    ck_assert_int_eq(plan_make(&plan, &key, f), 0);
    return plan;
}

START_TEST(ring_is_inferred_as_drawn)
{
    static const char *const ring = //
        "   0  send  in[1]                    ->   2.0   after -\n"
        "   1  fold  out[0] in[0]             <-   0.0   first after -\n"
        "   2  send  out[0]                   ->   2.1   after 1\n"
        "   3  fold  out[3] in[3]             <-   0.1   first after -\n"
        "   4  send  out[3]                   ->   2.2   after 3\n"
        "   5  fold  out[2] in[2]             <-   0.2   first after -\n"
        "   6  send  out[2]                   ->   2.3   after 5\n"
        "   7  recv  out[1]                   <-   0.3   after -\n"
        "   8  send  out[1]                   ->   2.4   after 7\n"
        "   9  recv  out[0]                   <-   0.4   after 1 2\n"
        "  10  send  out[0]                   ->   2.5   after 9\n"
        "  11  recv  out[3]                   <-   0.5   after 3 4\n";
    struct plan plan = made(allreduce_ring, 1, 4, 1, ALIAS_NONE);
    char *text = plan_text(&plan);
    ck_assert_str_eq(text, ring);
    ck_assert_int_eq(plan.nfolds, 3);
    ck_assert_int_eq(plan.most, 1);
    free(text);
    plan_free(&plan);
}
END_TEST

START_TEST(an_allgather_backwards_collects)
{
    static const char
        *const ring = /* rank 0 of 3: blocks leave in the reverse order of arrival */
        "   0  send  in[1]                    ->   2.0   after -\n"
        "   1  fold  tmp[2] in[2]             <-   1.0   last  after -\n"
        "   2  send  tmp[2]                   ->   2.1   after 1\n"
        "   3  fold  tmp[0] in[0]             <-   1.1   last  after -\n"
        "   4  copy  out[0] tmp[0]                      after 3\n";
    struct plan plan = made(reduce_scatter_ring, 0, 3, 1, ALIAS_NONE);
    char *text = plan_text(&plan);
    ck_assert_str_eq(text, ring);
    free(text);
    plan_free(&plan);
}
END_TEST

static void joining(struct plan *plan, int me, int p)
{
    (void)me;
    (void)p;
    plan_rooms(plan, 1, 1, 1);
    plan_copy(plan, tmp(0, 1), in(0, 1));
    plan_join(plan, tmp(0, 1), in(0, 1), INCOMING_LAST);
    plan_copy(plan, out(0, 1), tmp(0, 1));
}

START_TEST(a_join_reads_and_writes_its_target)
{
    struct plan plan = made(joining, 0, 1, 1, ALIAS_NONE);
    ck_assert_int_eq(plan.step[1].verb, VERB_JOIN);
    ck_assert_int_eq(plan.step[1].nwait, 1);
    ck_assert_int_eq(plan.step[2].nwait, 1);
    ck_assert_int_eq(plan.nfolds, 0);
    plan_free(&plan);
}
END_TEST

/* Ranks 4, 2 and 0 in this order: what the ring sends to its member 2 goes to rank 0. */
static void listed(struct plan *plan, int me, int p)
{
    int *member = plan_members(plan, p);
    for (int i = 0; member && i < 3; i++)
        member[i] = 4 - 2 * i;
    plan_rooms(plan, 1, 3, 0);
    struct group group = { .n = 3, .me = 2 - me / 2, .member = member };
    plan_call(plan, &group, &(struct homes){ .in = in(0, 1), .out = out(0, 3) },
              allgather_ring);
}

START_TEST(a_group_may_be_listed)
{
    struct plan plan = made(listed, 2, 5, 1, ALIAS_NONE);
    ck_assert_int_eq(plan.step[0].verb, VERB_SEND);
    ck_assert_int_eq(plan.step[0].peer, 0);
    ck_assert_int_eq(plan.step[2].verb, VERB_RECV);
    ck_assert_int_eq(plan.step[2].peer, 4);
    plan_free(&plan);
}
END_TEST

static void three_readers(struct plan *plan, int me, int p)
{
    (void)me;
    (void)p;
    plan_rooms(plan, 1, 3, 1);
    plan_copy(plan, tmp(0, 1), in(0, 1));
    for (int b = 0; b < 3; b++)
        plan_copy(plan, out(b, 1), tmp(0, 1));
    plan_copy(plan, tmp(0, 1), out(2, 1));
}

START_TEST(a_writer_waits_for_all_readers)
{
    struct plan plan = made(three_readers, 0, 1, 1, ALIAS_NONE);
    ck_assert_int_eq(plan.step[0].nnext, 4); /* three readers, and the writer after it */
    ck_assert_int_eq(plan.step[4].nwait, 4);
    for (int i = 1; i < 4; i++)
        ck_assert_int_eq(plan.step[i].nwait, 1);
    plan_free(&plan);
}
END_TEST

START_TEST(pieces_are_independent)
{
    struct plan plan = made(three_readers, 0, 1, 4, ALIAS_NONE);
    ck_assert_int_eq(plan.nsteps, 20);
    ck_assert_int_eq(plan.nblocks[ROOM_OUT], 12);
    for (int i = 16; i < 20; i++)
        ck_assert_int_eq(plan.step[i].nwait, 4);
    plan_free(&plan);
}
END_TEST

START_TEST(in_place_copies_vanish)
{
    struct plan plan = made(allreduce_ring, 0, 1, 1, ALIAS_SAME);
    ck_assert_int_eq(plan.nsteps, 0);
    plan_free(&plan);
    plan = made(allgather_ring, 2, 3, 1, ALIAS_MINE);
    ck_assert_int_eq(plan.step[0].verb, VERB_SEND);
    ck_assert_int_eq(plan.step[0].from.room, ROOM_OUT);
    ck_assert_int_eq(plan.step[0].from.first, 2);
    plan_free(&plan);
}
END_TEST

static void called_twice(struct plan *plan, int me, int p)
{
    struct group pair = { .first = me % 2, .stride = 2, .n = p / 2, .me = me / 2 };
    struct homes homes = { in(0, 4), out(4, 4), tmp(0, 0) };
    plan_rooms(plan, 4, 8, 0);
    plan_call(plan, &pair, &homes, allreduce_doubling);
}

static void beyond(struct plan *plan, int me, int p)
{
    (void)p;
    plan_rooms(plan, 1, 2, 0);
    plan_send(plan, 1, me ? in(0, 1) : out(1, 2));
}

/* Rank 2 of 4 folds what rank 3 brings before it sends it on. */
START_TEST(who_has_no_use_for_tmp_has_none)
{
    for (int me = 0; me < 4; me++) {
        struct plan plan = made(reduce_binomial, me, 4, 2, ALIAS_NONE);
        ck_assert_int_eq(plan.nblocks[ROOM_TMP], me == 2 ? 2 : 0);
        plan_free(&plan);
    }
}
END_TEST

START_TEST(steps_name_no_block_that_is_not_there)
{
    static const struct plan_key wrong[] = {
        { .me = 0, .size = 3, .pieces = 1 }, /* two blocks from out[1] on */
        { .me = 2, .size = 3, .pieces = 1, .alias = ALIAS_MINE }, /* in[0] is out[2] */
    };
    for (int i = 0; i < 2; i++) {
        struct plan plan;
        ck_assert_int_eq(plan_make(&plan, &wrong[i], beyond), MPI_ERR_INTERN);
        plan_free(&plan);
    }
}
END_TEST

START_TEST(a_called_program_lies_in_its_homes)
{
    struct plan plan = made(called_twice, 3, 4, 1, ALIAS_NONE);
    ck_assert_int_eq(plan.nsteps, 2);
    ck_assert_int_eq(plan.step[0].peer, 1);
    ck_assert_int_eq(plan.step[0].from.n, 4);
    ck_assert_int_eq(plan.step[1].to.first, 4);
    plan_free(&plan);
}
END_TEST

START_TEST(plans_are_kept_and_given_up)
{
    struct plan_cache *cache = NULL;
    const struct algorithm *ring = algorithms;
    while (ring->program != allreduce_ring)
        ring++;
    struct plan_key key = { .size = 64, .pieces = 1 };
    struct cached *first, *again, *other;
    bool fresh;
    ck_assert_int_eq(cache_get(&cache, ring, &key, &first, &fresh), 0);
    ck_assert(fresh);
    ck_assert_int_eq(cache_get(&cache, ring, &key, &again, &fresh), 0);
    ck_assert(!fresh && again == first);
    cache_drop(again);
    for (key.pieces = 2; key.pieces < 100; key.pieces++) { /* far more than are kept */
        ck_assert_int_eq(cache_get(&cache, ring, &key, &other, &fresh), 0);
        ck_assert(fresh);
        cache_drop(other);
    }
    key.pieces = 1; /* in use all the time, so still there */
    ck_assert_int_eq(cache_get(&cache, ring, &key, &again, &fresh), 0);
    ck_assert(!fresh && again == first);
    key.pieces = 2;
    ck_assert_int_eq(cache_get(&cache, ring, &key, &other, &fresh), 0);
    ck_assert(fresh);
    cache_close(cache);
}
END_TEST

START_TEST(both_ends_of_a_message_are_found)
{
    struct ends_table table;
    ck_assert(ends_open(&table, 1000));
    for (int i = 0; i < 1000; i++)
        ends_of(&table, i % 10, i / 10 % 10, (uint32_t)i / 100)->sent = i + 1;
    for (int i = 0; i < 1000; i += 2)
        ends_of(&table, i % 10, i / 10 % 10, (uint32_t)i / 100)->taken = i + 7;
    for (int i = 0; i < 1000; i++) {
        const struct ends *ends = ends_of(&table, i % 10, i / 10 % 10, (uint32_t)i / 100);
        ck_assert_int_eq(ends->sent, i + 1);
        ck_assert_int_eq(ends->taken, i % 2 ? 0 : i + 7);
    }
    ck_assert_int_eq(ends_of(&table, 1, 2, 10)->sent, 0);
    ends_close(&table);
}
END_TEST

/* Each is told once on a team, in each mode. */
START_TEST(what_needs_no_plan_is_told_once)
{
    struct plan_cache *cache = NULL, *other = NULL;
    const struct algorithm *last = algorithms;
    for (const struct algorithm *a = algorithms; a->name; last = a++) {
        ck_assert(cache_first_time(&cache, a, BLOCKING));
        ck_assert(!cache_first_time(&cache, a, BLOCKING));
        ck_assert(cache_first_time(&cache, a, PERSISTENT));
    }
    ck_assert(!cache_first_time(&cache, last, PERSISTENT));
    ck_assert(cache_first_time(&other, last, PERSISTENT));
    cache_close(cache);
    cache_close(other);
}
END_TEST

/* Nodes of 8: what the ranks of a node are is not looked for among all, for each node anew. */
START_TEST(leaders_of_very_many_nodes_are_soon_known)
{
    enum { RANKS = 1 << 20, NODE = 8 };
    int *first = malloc(RANKS * sizeof *first);
    ck_assert_ptr_nonnull(first);
    for (int r = 0; r < RANKS; r++)
        first[r] = r / NODE * NODE;
    const struct places places = { .levels = 1, .first = { first } };
    struct plan plan = { .places = &places, .most_steps = 1000 };
    clock_t begun = clock();
    alltoall_leaders(&plan, NODE, RANKS);
    ck_assert_int_eq(plan.error, MPI_ERR_UNSUPPORTED_OPERATION);
    ck_assert_int_lt((clock() - begun) / CLOCKS_PER_SEC, 5);
    plan_free(&plan);
    free(first);
}
END_TEST

/* The plan of one rank in one line per step, by groups that are listed, or by how many ranks they are. */
static char *text_of(program *f, struct plan_key key, const struct places *places)
{
    struct plan plan;
    key.places = places;
    ck_assert_int_eq(plan_make(&plan, &key, f), 0);
    char *text = plan_text(&plan);
    ck_assert_ptr_nonnull(text);
    plan_free(&plan);
    return text;
}

/* Nodes of `node` ranks with caches of `cache`; 0: one level. */
static void check_levels(int p, int node, int cache)
{
    static program *const programs[] = { bcast_levels, reduce_levels, allreduce_levels };
    int outer[64], inner[64];
    for (int r = 0; r < p; r++) {
        outer[r] = r - r % node;
        inner[r] = cache ? r - r % cache : r;
    }
    struct places listed = { .levels = cache ? 2 : 1, .first = { outer, inner } };
    struct places counted = listed;
    counted.each[0] = node;
    counted.each[1] = cache;
    for (int i = 0; i < 3 * p * p; i++) {
        struct plan_key key = { .me = i % p, .root = i / p % p, .size = p, .pieces = 1 };
        if (i / p / p == 2 && key.root)
            continue;
        char *a = text_of(programs[i / p / p], key, &listed);
        char *b = text_of(programs[i / p / p], key, &counted);
        ck_assert_str_eq(a, b);
        free(a);
        free(b);
    }
}

START_TEST(groups_in_order_are_not_looked_for)
{
    for (int p = 2; p <= 26; p += 3)
        for (int node = 1; node < p; node++)
            for (int cache = 0; cache < node; cache++)
                if (cache == 0 || node % cache == 0)
                    check_levels(p, node, cache);
}
END_TEST

UNIT_MAIN("plan", an_allgather_backwards_collects, a_join_reads_and_writes_its_target,
          a_group_may_be_listed, ring_is_inferred_as_drawn, a_writer_waits_for_all_readers,
          pieces_are_independent, in_place_copies_vanish, who_has_no_use_for_tmp_has_none,
          steps_name_no_block_that_is_not_there, a_called_program_lies_in_its_homes,
          plans_are_kept_and_given_up, what_needs_no_plan_is_told_once,
          both_ends_of_a_message_are_found, leaders_of_very_many_nodes_are_soon_known,
          groups_in_order_are_not_looked_for)
