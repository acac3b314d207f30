/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Learning the faster means, with times that are made up.
 */
#include "runtime/means.h"

#include "test/unit/unit.h"

#include <string.h>

static struct means_table table;
static int went[MEANS];

static void setup(void)
{
    memset(&table, 0, sizeof table);
}

/* n pieces; what each means costs, and what the first piece after a change costs besides. */
static void play(int n, size_t bytes, const uint64_t cost[MEANS], uint64_t change)
{
    static enum means last = MEANS;
    memset(went, 0, sizeof went);
    for (int i = 0; i < n; i++) {
        enum means means = means_take(&table, bytes);
        means_took(&table, means, bytes, cost[means] + (means == last ? 0 : change));
        went[means]++;
        last = means;
    }
}

START_TEST(the_faster_one_is_taken)
{
    for (int fast = 0; fast < MEANS; fast++)
        for (size_t bytes = 5000; bytes <= 5000000; bytes *= 10) {
            uint64_t cost[MEANS] = { 90000, 90000 };
            cost[fast] = 60000;
            setup();
            ck_assert(!means_known(&table, bytes));
            play(100, bytes, cost, 0);
            ck_assert(means_known(&table, bytes));
            play(100000, bytes, cost, 0);
            ck_assert_int_gt(went[fast], 99000);
            ck_assert_int_gt(went[!fast], 0); /* the world may have changed */
        }
}
END_TEST

/* Two ranks that see different times, and put right at the end of each run what it took: the lesser of the two. */
START_TEST(who_agrees_on_a_run_chooses_alike)
{
    enum { BYTES = 100000, RUNS = 50 };
    static struct means_table of[2];
    const uint64_t cost[2][MEANS] = { { 5000, 9000 }, { 30000, 8000 } };
    int second = 0, agreed = 0;
    memset(of, 0, sizeof of);
    for (int i = 0; i < 8 * RUNS; i++) {
        uint64_t *over[2] = { means_over(&of[0], BYTES), means_over(&of[1], BYTES) };
        ck_assert(!over[0] == !over[1]);
        ck_assert(!over[0] || i % 8 == 0);
        if (over[0])
            *over[0] = *over[1] = *over[0] < *over[1] ? *over[0] : *over[1];
        agreed += over[0] != NULL;
        enum means means = means_take(&of[0], BYTES);
        ck_assert_int_eq(means_take(&of[1], BYTES), means);
        for (int r = 0; r < 2; r++)
            means_took(&of[r], means, BYTES, cost[r][means]);
        second += means == MEANS_SECOND;
    }
    ck_assert_int_eq(agreed, RUNS - 1);
    ck_assert_int_lt(
        second, 8 * RUNS / 4); /* 5000 against 8000; alone the one would choose the other */
}
END_TEST

START_TEST(lengths_are_apart)
{
    uint64_t call[MEANS] = { 1000, 9000 }, map[MEANS] = { 9000, 1000 };
    setup();
    play(1000, 20000, call, 0);
    play(1000, 300000, map, 0);
    play(1000, 20000, call, 0);
    ck_assert_int_gt(went[MEANS_FIRST], 950);
    play(1000, 300000, map, 0);
    ck_assert_int_gt(went[MEANS_SECOND], 950);
}
END_TEST

/* Mapping is dear, and so is what a change leaves in the caches; neither is the price of a piece. */
START_TEST(changes_do_not_count)
{
    uint64_t cost[MEANS] = { 1000, 900 };
    setup();
    play(100, 20000, cost, 100000);
    play(1000, 20000, cost, 100000);
    ck_assert_int_gt(went[MEANS_SECOND], 950);
}
END_TEST

START_TEST(the_world_changes)
{
    uint64_t call[MEANS] = { 1000, 9000 }, map[MEANS] = { 9000, 1000 };
    setup();
    for (int i = 0; i < 3; i++) {
        play(20000, 20000, call, 0);
        play(1000, 20000, call, 0);
        ck_assert_int_gt(went[MEANS_FIRST], 900);
        play(20000, 20000, map, 0);
        play(1000, 20000, map, 0);
        ck_assert_int_gt(went[MEANS_SECOND], 900);
    }
}
END_TEST

/* Somebody else had the processor, now and then. */
START_TEST(interruptions_do_not_count)
{
    uint64_t cost[MEANS] = { 1500, 1000 };
    int by_map = 0;
    setup();
    play(200, 20000, cost, 0);
    for (int i = 0; i < 2000; i++) {
        enum means means = means_take(&table, 20000);
        means_took(&table, means, 20000, i % 200 == 77 ? 20000 : cost[means]);
        by_map += means == MEANS_SECOND;
    }
    ck_assert_int_gt(by_map, 1500);
}
END_TEST

/* What is not measured, since it was looked at in place, teaches nothing and stops nothing. */
START_TEST(some_are_not_measured)
{
    uint64_t cost[MEANS] = { 1500, 1000 };
    setup();
    play(200, 20000, cost, 0);
    int by_map = 0;
    for (int i = 0; i < 10000; i++)
        by_map += means_take(&table, 20000) == MEANS_SECOND;
    ck_assert_int_gt(by_map, 9500);
}
END_TEST

START_TEST(nothing_costs_nothing)
{
    for (int i = 0; i < 1000; i++)
        means_took(&table, means_take(&table, 0), 0, 100);
    ck_assert(!means_known(&table, 0));
}
END_TEST

UNIT_MAIN("means", nothing_costs_nothing, the_faster_one_is_taken,
          who_agrees_on_a_run_chooses_alike, lengths_are_apart, changes_do_not_count,
          the_world_changes, interruptions_do_not_count, some_are_not_measured)
