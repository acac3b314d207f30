/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Choosing by price: what is chosen is never dearer than what else could be, serves, and is the same
 * when asked again; the model keeps silent where it should.
 */
#include "coll/model.h"
#include "mpi.h"
#include "runtime/fail.h"

#include "test/unit/unit.h"

#include <string.h>

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
                ck_assert(!choose_objection(choice.algorithm, choice.radix, &q));
                ck_assert(model_price(&q, choice.algorithm, &how, &best));
                ck_assert_int_eq(how.pieces, choice.pieces);
                for (const struct algorithm *a = algorithms; a->name; a++)
                    if (a->what == q.what && a->program && model_price(&q, a, &how, &price))
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
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == COLL_ALLREDUCE && strcmp(a->name, "ring") == 0 && !a->inter)
            ck_assert(model_price(&q, a, &how, &ring));
    ck_assert(price_seconds(large) <= price_seconds(ring));
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

UNIT_MAIN("model", the_cheapest_is_chosen, it_is_plausible,
          it_keeps_silent_where_it_knows_nothing)
