/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which blocks of memory had better lie in large pages, with times that are made up; the end of the heap, and gaps beside a
 * mapping.
 */
#define _GNU_SOURCE
#include "runtime/huge.h"
#include "runtime/huge_gap.h"
#include "runtime/huge_heap.h"

#include "test/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    WORTH = HUGE_FIRST_NS / HUGE_SAVES_NS / 2,
    WHOLE = HUGE_BLOCK / HUGE_PAGE,
    MANY = 1000000,
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
    huge_begin(&count, false);
    ck_assert_int_eq(times_until_due(5, WHOLE), (WORTH + WHOLE - 1) / WHOLE);
    ck_assert(due->number == 5);
    ck_assert_int_eq(times_until_due(6, 1), WORTH);
    ck_assert(due->number == 6);
    ck_assert_int_eq(times_until_due(7, 0), MANY);
}
END_TEST

/* A move that takes a CPU away from others delays all of them. */
START_TEST(crowds_wait_longer)
{
    huge_begin(&count, true);
    ck_assert_int_eq(times_until_due(6, 1), WORTH * HUGE_PARTS_CROWDED);
}
END_TEST

START_TEST(what_cannot_be_moved_is_left_alone_for_long)
{
    huge_begin(&count, false);
    for (int tries = 0; tries < 4; tries++) {
        ck_assert_int_eq(times_until_due(1, WHOLE) - 1, ((WORTH << 4 * tries) - 1) / WHOLE);
        huge_tried(&count, due, HUGE_NEVER, HUGE_FIRST_NS, 0);
    }
}
END_TEST

START_TEST(memory_that_is_other_each_time_costs_less_and_less)
{
    huge_begin(&count, false);
    for (int tries = 0; tries < 4; tries++) {
        ck_assert_int_eq(times_until_due(1, 1), WORTH << 2 * tries);
        ck_assert(huge_tried(&count, due, HUGE_MOVED, HUGE_FIRST_NS, 0));
    }
}
END_TEST

/* A buffer that was freed after long use, and the next one at the same addresses. */
START_TEST(what_stays_is_looked_at_as_often_as_ever)
{
    huge_begin(&count, false);
    for (int moves = 0; moves < 3; moves++) {
        times_until_due(1, 1);
        ck_assert(huge_tried(&count, due, HUGE_MOVED, HUGE_FIRST_NS, 0));
    }
    ck_assert_int_eq(times_until_due(1, 1), WORTH << 6);
    for (int looks = 5; looks >= 0; looks--) {
        ck_assert(!huge_tried(&count, due, HUGE_MOVED, HUGE_LEAST_NS - 1, 0));
        ck_assert_int_eq(times_until_due(1, 1), WORTH << (looks > 2 ? looks : 2));
    }
    ck_assert(huge_tried(&count, due, HUGE_MOVED, HUGE_FIRST_NS, 0));
}
END_TEST

START_TEST(what_is_busy_is_tried_again_sooner)
{
    huge_begin(&count, false);
    for (int tries = 0; tries < 6; tries++) {
        ck_assert_int_eq(times_until_due(1, 1), WORTH << tries);
        ck_assert(!huge_tried(&count, due, HUGE_BUSY, 1000, 0));
    }
}
END_TEST

START_TEST(the_price_is_what_was_paid_of_late)
{
    huge_begin(&count, false);
    times_until_due(1, 1);
    ck_assert(huge_tried(&count, due, HUGE_MOVED, 9 * HUGE_FIRST_NS,
                         0)); /* memory that the host has to find */
    ck_assert_int_eq(times_until_due(2, 1), WORTH + 8 * WORTH / HUGE_RECENT);
    for (int moves = 0; moves < 40; moves++)
        huge_tried(&count, due, HUGE_MOVED, HUGE_FIRST_NS / 2, 0);
    ck_assert_int_le(times_until_due(3, 1), WORTH / 2 + 1);
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
    huge_begin(&count, false);
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
    huge_begin(&count, false);
    times_until_due(1, 1);
    ck_assert(!huge_tried(&count, due, HUGE_MOVED, HUGE_LEAST_NS - 1, 0));
    ck_assert_int_eq(times_until_due(2, 1), WORTH);
}
END_TEST

START_TEST(of_two_that_share_an_entry_the_busier_one_has_it)
{
    huge_begin(&count, false);
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
    huge_begin(&count, false);
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

/* ---- gaps ---- */

static struct huge_gaps gaps;

/* An address where a block is free, between others that are not. */
static uintptr_t hole(void)
{
    char *room =
        mmap(NULL, (size_t)4 * HUGE_BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(room != MAP_FAILED);
    uintptr_t block = ((uintptr_t)room / HUGE_BLOCK + 2) * HUGE_BLOCK;
    ck_assert_int_eq(munmap((void *)block, HUGE_BLOCK), 0);
    return block;
}

static char *map_at(uintptr_t at, size_t bytes, int rights, int flags)
{
    void *got = mmap((void *)at, bytes, rights, flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ck_assert(got == (void *)at);
    return got;
}

static bool is_mapped(uintptr_t at, size_t bytes)
{
    unsigned char there[HUGE_BLOCK / HUGE_PAGE];
    return mincore((void *)at, bytes, there) == 0;
}

/* A part of a block, from there on; what is filled, and what it held. */
static void part_is_filled(size_t skip, size_t bytes)
{
    uintptr_t block = hole();
    char *part = map_at(block + skip, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    memset(part, 7, bytes);
    ck_assert(huge_gaps_fill(&gaps, block, HUGE_BLOCK));
    ck_assert(is_mapped(block, HUGE_BLOCK));
    ck_assert_uint_eq(gaps.below.to - gaps.below.from, skip);
    ck_assert_uint_eq(gaps.above.to - gaps.above.from, HUGE_BLOCK - skip - bytes);
    memset((char *)gaps.below.from, 1, skip);
    memset((char *)gaps.above.from, 2, HUGE_BLOCK - skip - bytes);
    ck_assert(part[0] == 7 && part[bytes - 1] == 7);
    struct huge_gaps other;
    ck_assert(!huge_gaps_fill(&other, block, HUGE_BLOCK)); /* it is whole */
    huge_gaps_empty(&gaps);
    ck_assert(skip == 0 || !is_mapped(block, HUGE_PAGE));
    ck_assert(part[0] == 7 && part[bytes - 1] == 7);
    ck_assert_int_eq(munmap(part, bytes), 0);
    ck_assert(!huge_gaps_fill(&gaps, block, HUGE_BLOCK)); /* nothing is there */
}

START_TEST(gaps_beside_a_mapping_are_filled)
{
    enum { HALF = HUGE_BLOCK / 2 };
    part_is_filled(0, HALF);
    part_is_filled(HALF, HALF);
    part_is_filled(HUGE_PAGE, HALF);
}
END_TEST

/* Somebody has a page at the other end, or what is there is of another kind. */
static void part_is_left(int rights, int flags, size_t neighbour)
{
    uintptr_t block = hole();
    char *part = map_at(block + HUGE_PAGE, HUGE_PAGE, rights, flags);
    if (neighbour > 0)
        map_at(block + neighbour, HUGE_PAGE, PROT_NONE, MAP_PRIVATE);
    ck_assert(!huge_gaps_fill(&gaps, block, HUGE_BLOCK));
    ck_assert(!is_mapped(block, HUGE_PAGE));
    ck_assert(!is_mapped((uintptr_t)part + HUGE_PAGE, HUGE_PAGE));
    ck_assert(!is_mapped(block + HUGE_BLOCK - 2 * HUGE_PAGE, HUGE_PAGE));
}

START_TEST(what_is_not_ours_is_left)
{
    enum { BOTH = PROT_READ | PROT_WRITE };
    part_is_left(PROT_READ, MAP_PRIVATE, 0);
    part_is_left(PROT_NONE, MAP_PRIVATE, 0);
    part_is_left(BOTH, MAP_SHARED, 0);
    part_is_left(BOTH, MAP_PRIVATE, HUGE_BLOCK - HUGE_PAGE);
    part_is_left(BOTH, MAP_PRIVATE, HUGE_BLOCK / 2);
}
END_TEST

START_TEST(gaps_have_an_end)
{
    int filled = 0;
    while (filled < 100) {
        uintptr_t block = hole();
        map_at(block, HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
        if (!huge_gaps_fill(&gaps, block, HUGE_BLOCK))
            break;
        filled++;
    }
    ck_assert_int_eq(filled, HUGE_GAPS_MOST / HUGE_BLOCK); /* and not a byte more */
}
END_TEST

START_TEST(looks_for_gaps_have_an_end)
{
    uintptr_t block = hole();
    for (int i = 0; i < HUGE_GAP_LOOKS; i++)
        ck_assert(!huge_gaps_fill(&gaps, block, HUGE_BLOCK)); /* nothing is there */
    map_at(block, HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    ck_assert(!huge_gaps_fill(&gaps, block, HUGE_BLOCK));
}
END_TEST

UNIT_MAIN("huge", what_is_reached_often_is_due, crowds_wait_longer,
          what_cannot_be_moved_is_left_alone_for_long,
          memory_that_is_other_each_time_costs_less_and_less,
          what_stays_is_looked_at_as_often_as_ever, what_is_busy_is_tried_again_sooner,
          the_price_is_what_was_paid_of_late, moving_takes_a_part_of_the_time,
          where_nothing_was_to_do_there_is_no_price,
          of_two_that_share_an_entry_the_busier_one_has_it, failures_end,
          the_heap_has_whole_blocks, gaps_beside_a_mapping_are_filled, what_is_not_ours_is_left,
          gaps_have_an_end, looks_for_gaps_have_an_end)
