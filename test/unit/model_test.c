/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing by price: what is chosen is never dearer than what else could be, serves, and is the same
 * when asked again; the model keeps silent where it should.
 */
#include "coll/forced.h"
#include "coll/model.h"
#include "mpi.h"
#include "runtime/fail.h"

#include "test/unit/unit.h"

static struct question apart(enum collective what, int ranks, int nodes, size_t bytes)
{
    return (struct question){ .what = what,
                              .ranks = ranks,
                              .nodes = nodes,
                              .bytes = bytes,
                              .no_tiny = "no flags",
                              .one_node = nodes == 1 };
}

START_TEST(the_cheapest_is_chosen)
{
    for (int what = 0; what < COLL_KINDS; what++)
        for (size_t bytes = 1; bytes < 4000000; bytes *= 40)
            for (int order = 0; order < 2; order++) {
                struct question q = apart((enum collective)what, 12, 3, bytes);
                struct choice choice, how;
                struct price best, price;
                q.order_matters = order && what >= COLL_REDUCE;
                if (!model_choose(&q, &choice))
                    continue;
                ck_assert(!choose_objection(choice.algorithm, &q));
                ck_assert(model_price(&q, choice.algorithm, &how, &best));
                ck_assert_int_eq(how.pieces, choice.pieces);
                for (const struct algorithm *a = algorithms; a->name; a++)
                    if (a->what == q.what && model_price(&q, a, &how, &price))
                        ck_assert(price_seconds(price) >= price_seconds(best));
            }
}
END_TEST

/* Few bytes take few hops, many bytes take the way with the fewest bytes. */
START_TEST(it_is_plausible)
{
    struct question q = apart(COLL_ALLREDUCE, 16, 16, 8);
    struct choice choice;
    ck_assert(model_choose(&q, &choice));
    ck_assert_int_eq(choice.by, BY_MODEL);
    ck_assert_int_eq(choice.pieces, 1);
    struct choice how;
    struct price small, large, ring;
    ck_assert(model_price(&q, choice.algorithm, &how, &small));
    ck_assert(price_seconds(small) < 10e-6);
    q.bytes = 16 << 20;
    ck_assert(model_choose(&q, &choice));
    ck_assert(model_price(&q, choice.algorithm, &how, &large));
    ck_assert_str_ne(choice.algorithm->name, "doubling");
    ck_assert(model_price(&q, algorithm_find(COLL_ALLREDUCE, false, "ring"), &how, &ring));
    ck_assert(price_seconds(large) <= price_seconds(ring));
}
END_TEST

/* Some hundred questions, so that answers share the places where they are kept. */
START_TEST(what_was_answered_is_answered_alike)
{
    enum { SIZES = 80 };
    static const struct question asked[] = {
        { .what = COLL_GATHER, .ranks = 2, .nodes = 2 },
        { .what = COLL_GATHER, .ranks = 4, .nodes = 2 },
        { .what = COLL_GATHER, .ranks = 4, .nodes = 4 },
        { .what = COLL_REDUCE, .ranks = 2, .nodes = 2 },
        { .what = COLL_REDUCE, .ranks = 2, .nodes = 2, .order_matters = true },
    };
    enum { ASKED = sizeof asked / sizeof *asked };
    static struct choice first[ASKED][SIZES];
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < ASKED; k++)
            for (int i = 0; i < SIZES; i++) {
                struct question q = asked[k];
                struct choice choice;
                q.no_tiny = "no flags";
                q.bytes = (size_t)(4 + i % 4) << i / 4;
                ck_assert(model_choose(&q, &choice));
                ck_assert(choice.algorithm->what == q.what);
                ck_assert(!choose_objection(choice.algorithm, &q));
                if (round == 0)
                    first[k][i] = choice;
                ck_assert_ptr_eq(choice.algorithm, first[k][i].algorithm);
                ck_assert_int_eq(choice.pieces, first[k][i].pieces);
                ck_assert_int_eq(choice.radix, first[k][i].radix);
            }
}
END_TEST

START_TEST(it_keeps_silent_where_it_knows_nothing)
{
    struct choice choice;
    struct question q = apart(COLL_ALLREDUCE, 16, 1, 1000);
    ck_assert(!model_choose(&q, &choice)); /* one node */
    q = apart(COLL_ALLTOALLV, 16, 4, 0);
    ck_assert(!model_choose(&q, &choice)); /* amounts are not known to all */
    q = apart(COLL_NEIGHBOR_ALLTOALL, 16, 4, 0);
    ck_assert(!model_choose(&q, &choice));
    q = apart(COLL_ALLREDUCE, 16, 4, 1000);
    q.inter = true;
    ck_assert(!model_choose(&q, &choice));
    q = apart(COLL_ALLTOALL, 100000, 1000, 1000);
    if (!model_choose(&q, &choice)) /* too many steps: somebody else decides */
        ck_assert_int_eq(choose_answer(&q, NULL, &choice), 0);
    ck_assert_str_eq(fail_text(), "");
}
END_TEST

UNIT_MAIN("model", the_cheapest_is_chosen, it_is_plausible, what_was_answered_is_answered_alike,
          it_keeps_silent_where_it_knows_nothing)
