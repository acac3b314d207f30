/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When chunks are filled past the caches, with times that are made up.
 */
#include "pml/shm/fill.h"

#include "test/unit/unit.h"

#include <string.h>

enum { BYTES = 8192, NEAR_NS = 640, FAR_NS = 4000, WAYS_OF_FILLING = FILL_PAST + 1 };

static struct fill fill;
static int went[WAYS_OF_FILLING];

static void setup(void)
{
    fill_begin(&fill);
}

/* So many chunks, of which one that is timed takes so long. */
static void play(int n, size_t bytes, uint64_t ns)
{
    memset(went, 0, sizeof went);
    for (int i = 0; i < n; i++) {
        enum fill_how how = fill_next(&fill, bytes, true, false);
        if (how == FILL_TIMED)
            fill_took(&fill, bytes, ns);
        went[how]++;
    }
}

START_TEST(fast_ones_stay_in_caches)
{
    setup();
    play(100000, BYTES, NEAR_NS);
    ck_assert_int_eq(went[FILL_PAST], 0);
    ck_assert_int_gt(went[FILL_TIMED], 100000 / FILL_LOOK / 2);
    ck_assert_int_lt(went[FILL_TIMED], 100000 / FILL_LOOK);
}
END_TEST

START_TEST(slow_ones_go_past_them)
{
    setup();
    play(FILL_COLD, BYTES, FAR_NS);
    ck_assert_int_eq(went[FILL_TIMED], 0);
    play(100000, BYTES, FAR_NS);
    ck_assert_int_gt(went[FILL_PAST], 99900);
    ck_assert_int_gt(went[FILL_TIMED], FILL_SURE); /* the processors may be others now */
}
END_TEST

START_TEST(one_slow_time_is_chance)
{
    setup();
    play(1000, BYTES, NEAR_NS);
    for (int i = 0; i < 1000; i++) {
        while (fill_next(&fill, BYTES, true, false) != FILL_TIMED)
            ;
        fill_took(&fill, BYTES, i % FILL_SURE == 0 ? NEAR_NS : FAR_NS);
    }
    play(1000, BYTES, NEAR_NS);
    ck_assert_int_eq(went[FILL_PAST], 0);
}
END_TEST

START_TEST(it_follows_the_processors)
{
    setup();
    play(100000, BYTES, FAR_NS);
    play(FILL_LATE + FILL_SURE, BYTES, NEAR_NS);
    play(100000, BYTES, NEAR_NS);
    ck_assert_int_eq(went[FILL_PAST], 0);
    play(FILL_LOOK + FILL_SURE, BYTES, FAR_NS);
    play(FILL_SOON, BYTES, FAR_NS);
    ck_assert_int_ge(went[FILL_PAST], FILL_SOON - FILL_LOOK);
}
END_TEST

START_TEST(short_ones_are_none_of_it)
{
    setup();
    play(100000, BYTES, FAR_NS);
    play(1000, FILL_LEAST - 1, FAR_NS);
    ck_assert_int_eq(went[FILL_OWN], 1000);
    play(100, BYTES, FAR_NS);
    ck_assert_int_gt(went[FILL_PAST], 90);
}
END_TEST

START_TEST(lines_are_taken_unless_fetched)
{
    setup();
    for (size_t bytes = FILL_LEAST - 1; bytes <= FILL_LEAST; bytes++) {
        ck_assert_int_eq(fill_next(&fill, bytes, true, true), FILL_COPY);
        ck_assert_int_eq(fill_next(&fill, bytes, true, false), FILL_OWN);
    }
}
END_TEST

START_TEST(shorter_ones_only_where_they_follow)
{
    setup();
    play(100000, BYTES, FAR_NS);
    ck_assert_int_eq(fill_next(&fill, FILL_ALONE - 1, false, false), FILL_OWN);
    ck_assert_int_eq(fill_next(&fill, FILL_ALONE, false, false), FILL_PAST);
    ck_assert_int_eq(fill_next(&fill, FILL_LEAST, true, false), FILL_PAST);
    ck_assert_int_eq(fill_next(&fill, FILL_LEAST - 1, true, false), FILL_OWN);
}
END_TEST

START_TEST(short_ones_are_timed_rarely)
{
    setup();
    play(100000, FILL_LEAST, NEAR_NS * FILL_LEAST / BYTES);
    ck_assert_int_eq(went[FILL_PAST], 0);
    ck_assert_int_gt(went[FILL_TIMED], 100000 / FILL_RARELY / 2);
    ck_assert_int_lt(went[FILL_TIMED], 100000 / FILL_RARELY);
}
END_TEST

/* Messages of so many bytes, by rows where that may be; how many went by a chunk. */
static int play_rows(int n, size_t bytes, uint64_t ns)
{
    int chunks = 0;
    for (int i = 0; i < n; i++)
        if (fill_lets_rows(&fill, bytes)) {
            fill_row(&fill);
        } else {
            play(1, bytes, ns);
            chunks++;
        }
    return chunks;
}

/* Messages that may go by rows: chunks are timed all the same, and taken where they go past the caches. */
START_TEST(rows_learn_by_chunks_now_and_then)
{
    enum { MANY = 1000000 };
    setup();
    int chunks = play_rows(MANY, FILL_LEAST, NEAR_NS * FILL_LEAST / BYTES);
    ck_assert_int_gt(chunks, MANY / FILL_RARELY * 9 / 10);
    ck_assert_int_le(chunks, MANY / FILL_RARELY);
    ck_assert(!fill.past);
    ck_assert_int_gt(play_rows(MANY, FILL_LEAST, FAR_NS), MANY * 9 / 10);
    ck_assert(fill.past);
    ck_assert_int_eq(play_rows(1000, FILL_LEAST - 1, FAR_NS), 0);
}
END_TEST

UNIT_MAIN("fill", fast_ones_stay_in_caches, slow_ones_go_past_them, one_slow_time_is_chance,
          it_follows_the_processors, short_ones_are_none_of_it, lines_are_taken_unless_fetched,
          shorter_ones_only_where_they_follow, short_ones_are_timed_rarely,
          rows_learn_by_chunks_now_and_then)
