/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Learning the fastest way, with times that are made up.
 */
#include "pml/toll.h"
#include "pml/trip.h"
#include "pml/way.h"
#include "runtime/boot.h"
#include "runtime/param.h"

#include "test/unit/unit.h"

enum { LENGTH = 100000 };

static void took(enum way way, uint64_t ticks, bool alone)
{
    struct way_trip trip = {
        .bytes = LENGTH, .way = way, .alone = alone, .moved = LENGTH, .ticks = ticks
    };
    way_took(&trip);
}

/* n messages, one after another; what each way costs; how many went each way. */
static void play(int n, const uint64_t cost[WAYS], bool alone, int went[WAYS])
{
    for (int way = 0; way < WAYS; way++)
        went[way] = 0;
    for (int i = 0; i < n; i++) {
        enum way way = way_take(LENGTH, ONE_WAY, alone || i % 64 == 0);
        took(way, cost[way], alone);
        went[way]++;
    }
}

START_TEST(classes_are_powers_of_two)
{
    ck_assert_int_eq(way_class(WAY_SHORT + 1), 0);
    ck_assert_int_eq(way_class(16384), 0);
    ck_assert_int_eq(way_class(16385), 1);
    ck_assert_int_eq(way_class(4 << 20), 8);
    ck_assert_int_eq(way_class((4 << 20) + 1), WAY_CLASSES - 1);
    ck_assert_int_eq(way_class((size_t)1 << 40), WAY_CLASSES - 1);
    ck_assert_uint_eq(way_bit(20000), 2);
}
END_TEST

/* Whatever is fastest gets nearly all messages, the others a few now and then. */
START_TEST(the_fastest_way_is_taken)
{
    for (int alone = 0; alone < 2; alone++)
        for (int fastest = 0; fastest < WAYS; fastest++) {
            uint64_t cost[WAYS] = { 9000, 9000, 9000 };
            int went[WAYS];
            cost[fastest] = 4000;
            ways_open(true);
            play(20000, cost, alone, went);
            play(200000, cost, alone, went);
            ck_assert_int_gt(went[fastest], 190000);
            for (int way = 0; way < WAYS; way++)
                ck_assert_int_gt(went[way], 0);
        }
}
END_TEST

START_TEST(the_world_changes)
{
    uint64_t reading[WAYS] = { 9000, 5000, 9000 }, copying[WAYS] = { 5000, 20000, 20000 };
    int went[WAYS];
    ways_open(true);
    for (int round = 0; round < 3; round++) {
        play(10000, reading, true, went);
        play(1000, reading, true, went);
        ck_assert_int_gt(went[WAY_READ], 900);
        play(10000, copying, true, went);
        play(1000, copying, true, went);
        ck_assert_int_gt(went[WAY_COPY], 900);
    }
}
END_TEST

/* One message in twenty takes a hundred times as long: somebody else had the processor. */
START_TEST(interruptions_do_not_count)
{
    int good = 0;
    ways_open(true);
    for (int i = 0; i < 20000; i++) {
        enum way way = way_take(LENGTH, ONE_WAY, true);
        uint64_t cost = way == WAY_READ ? 5000 : 9000;
        took(way, i % 20 == 7 ? 100 * cost : cost, true);
        good += way == WAY_READ;
    }
    ck_assert_int_gt(good, 15000);
}
END_TEST

/* What the sender wrote has to be fetched by whoever looks at it: alone, a small gain is none. */
START_TEST(both_must_be_better_by_half)
{
    uint64_t cost[WAYS] = { 9000, 20000, 7000 };
    int went[WAYS];
    ways_open(true);
    play(10000, cost, true, went);
    ck_assert_int_gt(went[WAY_COPY], 8000);
    ways_open(true);
    play(10000, cost, false, went);
    ck_assert_int_gt(went[WAY_BOTH], 8000);
}
END_TEST

/* And where it is hardly better than reading, reading is what copying is compared with. */
START_TEST(both_stands_not_in_the_way_of_reading)
{
    uint64_t cost[WAYS] = { 5900, 4400, 4300 };
    int went[WAYS];
    ways_open(true);
    play(10000, cost, true, went);
    ck_assert_int_gt(went[WAY_READ], 8000);
}
END_TEST

START_TEST(ways_that_are_not_allowed)
{
    uint64_t cost[WAYS] = { 9000, 5000, 1000 };
    int went[WAYS];
    ways_open(false);
    play(5000, cost, true, went);
    ck_assert_int_eq(went[WAY_COPY], 5000);
}
END_TEST

/* A sender that computes: a try that waits for it is not made five times. */
START_TEST(a_hopeless_try_ends)
{
    uint64_t cost[WAYS] = { 5000000, 5000, 9000 };
    int went[WAYS];
    ways_open(true);
    play(2000, cost, true, went);
    ck_assert_int_gt(went[WAY_COPY], 0);
    ck_assert_int_lt(went[WAY_COPY], 20);
    ck_assert_int_gt(went[WAY_READ], 1900);
}
END_TEST

/* One message that took long for another reason does not decide about the others. */
START_TEST(an_interruption_condemns_no_way)
{
    int copies = 0;
    ways_open(true);
    for (int i = 0; i < 3000; i++) {
        enum way way = way_take(LENGTH, ONE_WAY, true);
        copies += way == WAY_COPY;
        bool late = way == WAY_COPY && (copies == 2 || copies == 7 || copies == 8);
        took(way, late ? 5000000 : way == WAY_COPY ? 3000 : 6000, true);
    }
    ck_assert_int_gt(copies, 2000);
}
END_TEST

/* Copies whose time nobody learns (their receives came late) are not tried for ever. */
START_TEST(a_way_without_times)
{
    int copies = 0;
    ways_open(true);
    for (int i = 0; i < 5000; i++) {
        enum way way = way_take(LENGTH, ONE_WAY, true);
        if (way == WAY_COPY)
            copies++;
        else
            took(way, way == WAY_READ ? 5000 : 6000, true);
    }
    ck_assert_int_lt(copies, 500);
}
END_TEST

/* A message of so many bytes; a way costs so much per KiB. */
static enum way send_one(size_t bytes, enum traffic traffic, const uint64_t cost[WAYS])
{
    struct way_trip trip = {
        .bytes = bytes, .traffic = traffic, .alone = true, .moved = bytes
    };
    trip.way = way_take(bytes, traffic, true);
    trip.ticks = cost[trip.way] * (bytes >> 10);
    way_took(&trip);
    return trip.way;
}

/* What is best one way is not taken where messages go both ways, and the reverse. */
START_TEST(both_ways_is_another_question)
{
    uint64_t one[WAYS] = { 900, 700, 300 }, two[WAYS] = { 300, 700, 100 };
    int went[TRAFFICS][WAYS] = { 0 };
    ways_open(true);
    for (int i = 0; i < 10000; i++) {
        went[ONE_WAY][send_one(LENGTH, ONE_WAY, one)]++;
        went[TWO_WAYS][send_one(LENGTH, TWO_WAYS, two)]++;
    }
    ck_assert_int_gt(went[ONE_WAY][WAY_BOTH], 9500);
    ck_assert_int_gt(went[TWO_WAYS][WAY_COPY], 9500);
    ck_assert_int_eq(went[TWO_WAYS][WAY_BOTH], 0);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_ne(send_one((size_t)8 << 20, TWO_WAYS, two), WAY_COPY);
}
END_TEST

/* A dozen messages teach what is best for the longest, and none is needed after shorter ones. */
START_TEST(long_messages_learn_soon)
{
    const size_t mib = 1 << 20;
    uint64_t cost[WAYS] = { 900, 2000, 400 };
    int went[WAYS] = { 0 };
    ways_open(true);
    for (int i = 0; i < 40; i++)
        went[send_one(3 * mib, ONE_WAY, cost)]++;
    ck_assert_int_gt(went[WAY_BOTH], 24);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(send_one(16 * mib, ONE_WAY, cost), WAY_BOTH);
    for (int i = 0; i < 1000; i++)
        went[send_one(16 * mib, ONE_WAY, cost)]++;
    for (int way = 0; way < WAYS; way++)
        ck_assert_int_gt(went[way], 6); /* the others are tried all the same */
}
END_TEST

/* Single messages both ways need no runs as long as those of windows. */
START_TEST(short_exchanges_learn_soon)
{
    const size_t lengths[] = { 16 << 10, 32 << 10, 64 << 10 };
    uint64_t cost[WAYS] = { 300, 700, 100 };
    ways_open(true);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 64; k++)
            send_one(lengths[i], TWO_WAYS, cost);
        int copies = 0;
        for (int k = 0; k < 64; k++)
            copies += send_one(lengths[i], TWO_WAYS, cost) == WAY_COPY;
        ck_assert_int_gt(copies, 56);
    }
}
END_TEST

/* ---- where ranks share processors ---- */

enum { KIB = 1024, EXCHANGES = 10 };

static uint32_t copied_up_to_32(const struct peer *peer)
{
    (void)peer;
    return way_bit(16 * KIB) | way_bit(32 * KIB);
}

static uint32_t reading_is_dear(const struct peer *peer)
{
    return advice_of(copied_up_to_32(peer), way_bit(32 * KIB) | way_bit(64 * KIB));
}

/* How many of the messages of an exchange with so many others ask; answered: they send as many; waits: and are
 * waited for meanwhile. */
static int asked_of(const struct link *link, int others, size_t bytes, bool answered,
                    bool waits)
{
    struct peer peers[8] = { { 0 } };
    struct wire copied = { .flags = WIRE_PLAIN, .total = bytes };
    struct trip trip;
    int asked = 0;
    for (int i = 0; i <= EXCHANGES; i++) {
        for (int k = 0; k < others; k++) {
            peers[k].link = link;
            asked += trip_asks(&peers[k], bytes, waits) && i > 0;
        }
        for (int k = 0; answered && k < others; k++)
            trip_begin(&trip, &peers[k], &copied, true, true);
    }
    return asked;
}

static int asked(int others, size_t bytes, bool answered)
{
    static const struct link link = { .advised = copied_up_to_32 };
    return asked_of(&link, others, bytes, answered, answered);
}

START_TEST(exchanges_with_many_are_read)
{
    static const struct link dear = { .advised = reading_is_dear },
                             cheap = { .advised = copied_up_to_32 };
    params_read();
    trips_open();
    boot.crowded = true;
    ck_assert_int_eq(asked(1, 32 * KIB, true), 0);
    ck_assert_int_eq(asked(2, 32 * KIB, true), 0);
    ck_assert_int_eq(asked(4, 16 * KIB, true), 0);
    ck_assert_int_eq(asked(4, 16 * KIB + 1, true), 4 * EXCHANGES);
    ck_assert_int_eq(asked(3, 32 * KIB, true), 3 * EXCHANGES);
    ck_assert_int_eq(asked(8, 32 * KIB, false), 0);
    ck_assert_int_eq(asked(1, 64 * KIB, false), EXCHANGES);
    ck_assert_int_eq(asked_of(&cheap, 4, 32 * KIB, true, true), 4 * EXCHANGES);
    /* in turn, as roots of bcasts */
    ck_assert_int_eq(asked_of(&cheap, 4, 32 * KIB, true, false), 0);
    ck_assert_int_eq(asked_of(&dear, 4, 32 * KIB, true, true), 0);
    ck_assert_int_eq(asked_of(&dear, 4, 64 * KIB, true, true), 0);
    ck_assert_int_eq(asked_of(&dear, 4, 64 * KIB + 1, true, true), 4 * EXCHANGES);
    boot.crowded = false;
    ck_assert_int_eq(asked(4, 32 * KIB, true), 0);
}
END_TEST

/* ---- what copies cost ---- */

static void pay(int times, enum toll toll, size_t bytes, uint64_t ticks_per_kib)
{
    for (int i = 0; i < times; i++)
        toll_paid(toll, bytes, ticks_per_kib * bytes / KIB);
}

START_TEST(reading_is_dear_if_two_copies_cost_less)
{
    uint32_t all = way_bit(16 * KIB) | way_bit(32 * KIB) | way_bit(64 * KIB);
    tolls_open();
    pay(100, TOLL_OUT, 16 * KIB, 70);
    pay(100, TOLL_IN, 16 * KIB, 80);
    ck_assert_int_eq(tolls_dear(), 0); /* nobody knows */
    pay(15, TOLL_READ, 32 * KIB, 300);
    ck_assert_int_eq(tolls_dear(), 0);
    pay(1, TOLL_READ, 32 * KIB, 300);
    ck_assert_int_eq(tolls_dear(), way_bit(32 * KIB));
    pay(100, TOLL_READ, 64 * KIB, 149);
    pay(100, TOLL_READ, 16 * KIB, 500);
    pay(100, TOLL_READ, 128 * KIB, 500); /* not looked at */
    ck_assert_int_eq(tolls_dear(), all & ~way_bit(64 * KIB));
    /* smaller ones count at once, larger ones slowly, and short pieces never */
    pay(1, TOLL_READ, 32 * KIB, 140);
    ck_assert_int_eq(tolls_dear(), way_bit(16 * KIB));
    pay(3, TOLL_IN, 2 * KIB, 1);
    pay(1, TOLL_READ, 32 * KIB, 250);
    ck_assert_int_eq(tolls_dear(), way_bit(16 * KIB));
    pay(100, TOLL_READ, 32 * KIB, 250);
    ck_assert_int_eq(tolls_dear(), all & ~way_bit(64 * KIB));
}
END_TEST

START_TEST(who_only_reads_learns_what_copies_cost)
{
    tolls_open();
    pay(16, TOLL_READ, 64 * KIB, 100);
    ck_assert_int_eq(tolls_dear(), way_bit(64 * KIB));
    pay(16, TOLL_IN, 16 * KIB, 60); /* and as much to copy out, for all it knows */
    ck_assert_int_eq(tolls_dear(), 0);
    tolls_open();
    pay(16, TOLL_READ, 64 * KIB, 121);
    pay(16, TOLL_IN, 16 * KIB, 60);
    ck_assert_int_eq(tolls_dear(), way_bit(64 * KIB));
    int pieces = 0;
    for (; tolls_dear() && pieces < 100000; pieces++) /* now and then reading is tried again */
        pay(1, TOLL_IN, 16 * KIB, 60);
    ck_assert_int_lt(pieces, 10000);
    pay(8, TOLL_READ, 64 * KIB, 121);
    ck_assert_int_eq(tolls_dear(), way_bit(64 * KIB));
    tolls_open();
    pay(1, TOLL_READ, 32 * KIB, 0); /* a clock that did not move says little */
    pay(200, TOLL_READ, 32 * KIB, 200);
    pay(16, TOLL_IN, 16 * KIB, 60);
    ck_assert_int_eq(tolls_dear(), way_bit(32 * KIB));
}
END_TEST

/* Chunks are made when the first messages are copied out: that is not what the next ones cost. */
START_TEST(a_dear_beginning_is_forgotten)
{
    tolls_open();
    ck_assert_uint_eq(toll_of_out(KIB), 0);
    pay(1, TOLL_OUT, 16 * KIB, 20000);
    ck_assert_uint_eq(toll_of_out(KIB), 20000);
    pay(1, TOLL_OUT, 8 * KIB, 80);
    ck_assert_uint_eq(toll_of_out(KIB), 80);
    pay(1, TOLL_OUT, 16 * KIB, 20000); /* an interruption */
    ck_assert_uint_lt(toll_of_out(KIB), 100);
    pay(100, TOLL_OUT, 16 * KIB, 160);
    ck_assert_uint_gt(toll_of_out(KIB), 158);
    ck_assert_uint_le(toll_of_out(KIB), 160);
}
END_TEST

UNIT_MAIN("way", classes_are_powers_of_two, the_fastest_way_is_taken, the_world_changes,
          interruptions_do_not_count, both_must_be_better_by_half,
          both_stands_not_in_the_way_of_reading, ways_that_are_not_allowed, a_hopeless_try_ends,
          an_interruption_condemns_no_way, a_way_without_times, both_ways_is_another_question,
          long_messages_learn_soon, short_exchanges_learn_soon, exchanges_with_many_are_read,
          reading_is_dear_if_two_copies_cost_less, who_only_reads_learns_what_copies_cost,
          a_dear_beginning_is_forgotten)
