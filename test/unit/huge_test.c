/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which blocks of memory had better lie in large pages, with times that are made up; and the end of the heap.
 */
#define _GNU_SOURCE
#include "runtime/huge.h"
#include "runtime/huge_heap.h"

#include "test/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    WORTH = HUGE_MOST_NS / HUGE_SAVES_NS / 2,
    WHOLE = HUGE_BLOCK / HUGE_PAGE,
    MANY = 100000,
    SHORT = 60000,
    KEPT = 64 << 10 /* at the end, in a piece that the heap was made to grow by */
};

static struct huge_count count;
static struct huge_block *due;

/* How often so many pages of a block must be reached; MANY: for ever. */
static int times_until_due(uintptr_t number, uint32_t pages)
{
    for (int i = 1; i < MANY; i++) {
        due = huge_due(&count, number, pages);
        if (due)
            return i;
    }
    return MANY;
}

START_TEST(what_is_reached_often_is_due)
{
    huge_begin(&count);
    ck_assert_int_eq(times_until_due(5, WHOLE), (WORTH + WHOLE - 1) / WHOLE);
    ck_assert(due->number == 5);
    ck_assert_int_eq(times_until_due(6, 1), WORTH);
    ck_assert(due->number == 6);
    ck_assert_int_eq(times_until_due(7, 0), MANY);
}
END_TEST

START_TEST(what_was_moved_is_left_alone_for_long)
{
    huge_begin(&count);
    for (int tries = 0; tries < 4; tries++) {
        ck_assert_int_eq(times_until_due(1, WHOLE) - 1, ((WORTH << 4 * tries) - 1) / WHOLE);
        huge_tried(&count, due, tries % 2 ? HUGE_NEVER : HUGE_MOVED, HUGE_MOST_NS, 0);
    }
}
END_TEST

START_TEST(what_is_busy_is_tried_again_sooner)
{
    huge_begin(&count);
    for (int tries = 0; tries < 6; tries++) {
        ck_assert_int_eq(times_until_due(1, 1), WORTH << tries);
        ck_assert(!huge_tried(&count, due, HUGE_BUSY, 1000, 0));
    }
}
END_TEST

START_TEST(the_price_is_the_least_that_was_paid)
{
    huge_begin(&count);
    times_until_due(1, 1);
    ck_assert(huge_tried(&count, due, HUGE_MOVED, 10 * HUGE_MOST_NS, 0));
    ck_assert_int_eq(times_until_due(2, 1), WORTH);
    ck_assert(huge_tried(&count, due, HUGE_MOVED, HUGE_MOST_NS / 2, 0));
    ck_assert_int_eq(times_until_due(3, 1), WORTH / 2);
}
END_TEST

/* Moves of a millisecond, each as soon as it may be. */
static uint64_t moves_until(uint64_t *now, uint64_t end)
{
    enum { STEP = 10000, TOOK = 1000000 };
    uint64_t moves = 0;
    while (*now < end) {
        bool may = huge_may(&count, *now);
        *now += may ? TOOK : STEP;
        moves += may;
        if (may) {
            times_until_due(moves, WHOLE);
            huge_tried(&count, due, HUGE_MOVED, TOOK, *now);
        }
    }
    return moves;
}

START_TEST(moving_takes_a_part_of_the_time)
{
    enum { MS = 1000000, SAVED = HUGE_SAVED_NS / MS, ALL = 1 + HUGE_RESTS };
    uint64_t now = 1000 * (uint64_t)MS;
    huge_begin(&count);
    /* at first in a row, and then with rests */
    ck_assert_uint_ge(moves_until(&now, now + SAVED / ALL * MS), SAVED / ALL);
    ck_assert_uint_le(moves_until(&now, now + 400 * (uint64_t)MS), (400 + SAVED) / ALL + 1);
    ck_assert_uint_le(moves_until(&now, now + 400 * (uint64_t)MS), 400 / ALL + 1);
    now += 100 * SAVED * (uint64_t)MS; /* long pauses count once */
    ck_assert_uint_le(moves_until(&now, now + 400 * (uint64_t)MS), (400 + SAVED) / ALL + 1);
}
END_TEST

START_TEST(where_nothing_was_to_do_there_is_no_price)
{
    huge_begin(&count);
    times_until_due(1, 1);
    ck_assert(!huge_tried(&count, due, HUGE_MOVED, HUGE_LEAST_NS - 1, 0));
    ck_assert_int_eq(times_until_due(2, 1), WORTH);
}
END_TEST

START_TEST(of_two_that_share_an_entry_the_busier_one_has_it)
{
    huge_begin(&count);
    for (int i = 0; i < WORTH - 1; i++) {
        ck_assert(!huge_due(&count, 1, 1));
        if (i % 2)
            ck_assert(!huge_due(&count, HUGE_ENTRIES + 1, 1));
    }
    ck_assert_int_le(times_until_due(1, 1), WORTH / 2 + 1);
}
END_TEST

/* Two in turns, as in a buffer that is larger than the table, neither of which can be moved. */
START_TEST(failures_end)
{
    int tries = 0;
    huge_begin(&count);
    for (int i = 0; i < MANY; i++) {
        due = huge_due(&count, 1 + i % 2 * HUGE_ENTRIES, WHOLE);
        if (due)
            huge_tried(&count, due, HUGE_NEVER, HUGE_WASTE_NS / 10, 0);
        tries += due != NULL;
    }
    ck_assert_int_eq(tries, 10);
}
END_TEST

/* What it held and what is allocated afterwards is as it was. */
static void the_last_block_is_made_whole(uintptr_t block, uintptr_t missing)
{
    void *next;
    if (missing > 0)
        ck_assert(huge_heap_fill(block, HUGE_BLOCK));
    ck_assert_uint_ge((uintptr_t)sbrk(0), block + HUGE_BLOCK);
    ck_assert(!huge_heap_fill(block, HUGE_BLOCK));
    next = malloc(SHORT); /* in what the heap has more, unless that is what keeps it there */
    ck_assert(missing < 2 * KEPT || (uintptr_t)next < block + HUGE_BLOCK);
    free(next);
}

START_TEST(the_heap_has_whole_blocks)
{
    enum { MOST = 100 };
    unsigned char *some[MOST];
    for (int i = 0; i < MOST; i++)
        some[i] = memset(malloc(SHORT), i, SHORT);
    uintptr_t end = (uintptr_t)sbrk(0), block = (end - 1) / HUGE_BLOCK * HUGE_BLOCK;
    uintptr_t missing = block + HUGE_BLOCK - end;
    bool is_there = end - (uintptr_t)some[MOST - 1] < HUGE_BLOCK;
    ck_assert(!huge_heap_fill(block + HUGE_BLOCK, HUGE_BLOCK)); /* it is not the heap's */
    if (is_there) { /* not where sanitizers allocate, elsewhere */
        ck_assert(!huge_heap_fill(block - HUGE_BLOCK, HUGE_BLOCK)); /* it is whole */
        the_last_block_is_made_whole(block, missing);
    }
    for (int i = 0; i < MOST; i++) {
        ck_assert(some[i][0] == i && some[i][SHORT - 1] == i);
        free(some[i]);
    }
    if (is_there && missing > 0)
        ck_assert_uint_ge((uintptr_t)sbrk(0), block + HUGE_BLOCK); /* it does not shrink */
}
END_TEST

UNIT_MAIN("huge", what_is_reached_often_is_due, what_was_moved_is_left_alone_for_long,
          what_is_busy_is_tried_again_sooner, the_price_is_the_least_that_was_paid,
          moving_takes_a_part_of_the_time, where_nothing_was_to_do_there_is_no_price,
          of_two_that_share_an_entry_the_busier_one_has_it, failures_end,
          the_heap_has_whole_blocks)
