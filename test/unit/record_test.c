/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/record.h"
#include "runtime/clock.h"
#include "runtime/polling.h"

#include "test/unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct record_area area;

static void begin(void)
{
    memset(&area, 0, sizeof area);
    record_open(&area);
    record_enter("MPI_Send", NULL);
}

static const char *name_of(const struct record_event *event)
{
    return area.names[event->bytes_name & 0xff];
}

START_TEST(events_are_kept_in_order)
{
    begin();
    record_event(2, 1, 7, 100);
    record_enter("MPI_Recv", NULL);
    record_event(4, -1, -2, 1ull << 40);
    struct record_event event;
    ck_assert(record_event_read(&area, 0, &event));
    ck_assert_int_eq(event.peer, 1);
    ck_assert_int_eq(event.tag, 7);
    ck_assert_uint_eq(event.context, 2);
    ck_assert_uint_eq(event.bytes_name >> 8, 100);
    ck_assert_str_eq(name_of(&event), "MPI_Send");
    uint64_t first = event.ticks;
    ck_assert(record_event_read(&area, 1, &event));
    ck_assert_uint_eq(event.bytes_name >> 8, 1ull << 40);
    ck_assert_str_eq(name_of(&event), "MPI_Recv");
    ck_assert_uint_ge(event.ticks, first);
    ck_assert(!record_event_read(&area, 2, &event));
}
END_TEST

static void tell_peer(const void *what, struct record_wait *wait)
{
    record_item_new(wait)->peer = *(const int *)what;
}

static uint64_t cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void ask_for(int peer)
{
    progress();
    polling_missed(tell_peer, &peer, (uintptr_t)peer + 1);
}

/* Tests for 0.5 s of the CPU, and computes for so long in between. */
static void compute(uint64_t between_ns)
{
    for (uint64_t all = 0; all < 500000000; all += between_ns) {
        uint64_t begin = cpu_ns();
        ask_for(0);
        while (cpu_ns() - begin < between_ns)
            ;
    }
}

/* Until it is told of; a busy machine takes its time. */
static bool told_of(int n, struct record_wait *copy)
{
    uint64_t end = clock_ns() + 30000000000u;
    for (int peer = 0; clock_ns() < end; peer = (peer + 1) % n) {
        ask_for(peer);
        if (record_wait_read(&area.waits[0], copy) && copy->nitems >= n)
            return true;
    }
    return false;
}

START_TEST(tests_that_find_nothing_are_a_wait)
{
    struct record_wait copy;
    begin();
    record_enter("MPI_Test", NULL);
    polling_missed(tell_peer, &(int){ 0 }, 1);
    ck_assert(!record_wait_read(&area.waits[0], &copy)); /* too early */
    ck_assert(told_of(1, &copy));
    ck_assert_str_eq(copy.call, "MPI_Test");
    ck_assert_int_eq(copy.any, 0);
    ck_assert_uint_ne(copy.polled, 0);
    uint64_t before = copy.polled;
    ck_assert(told_of(3, &copy)); /* whatever is asked for meanwhile */
    ck_assert_int_eq(copy.nitems, 3);
    ck_assert_int_eq(copy.any, 1);
    ck_assert_uint_gt(copy.polled, before);
    ck_assert(told_of(RECORD_ITEMS + 1, &copy)); /* too much to be told */
    ck_assert_int_gt(copy.nitems, RECORD_ITEMS);
    record_event(2, 1, 7, 100);
    polling_missed(tell_peer, &(int){ 0 }, 1);
    ck_assert(!record_wait_read(&area.waits[0], &copy)); /* has done something else */
}
END_TEST

START_TEST(a_wait_ends_the_tests_before_it)
{
    struct record_wait copy;
    begin();
    ck_assert(told_of(1, &copy));
    polling_over();
    ck_assert(!record_wait_read(&area.waits[0], &copy));
}
END_TEST

/* The CPU's time is what counts, so a busy machine changes nothing. */
START_TEST(who_computes_and_tests_now_and_then_does_not_wait)
{
    struct record_wait copy;
    begin();
    for (uint64_t between_ns = 1000000; between_ns > 50000; between_ns /= 4) {
        compute(between_ns);
        ck_assert(!record_wait_read(&area.waits[0], &copy));
        ck_assert(told_of(1, &copy));
        compute(between_ns);
        ck_assert(!record_wait_read(&area.waits[0], &copy));
    }
}
END_TEST

START_TEST(the_ring_keeps_the_last_events)
{
    begin();
    for (int i = 0; i < 3 * RECORD_EVENTS + 5; i++)
        record_event(2, i, 0, 0);
    struct record_event event;
    ck_assert_uint_eq(area.head, 3 * RECORD_EVENTS + 5);
    ck_assert(
        !record_event_read(&area, 2 * RECORD_EVENTS + 5, &event)); /* may be overwritten */
    ck_assert(record_event_read(&area, 2 * RECORD_EVENTS + 6, &event));
    ck_assert_int_eq(event.peer, 2 * RECORD_EVENTS + 6);
}
END_TEST

START_TEST(names_that_collide_and_too_many_of_them)
{
    static char names[2 * RECORD_NAMES][8];
    begin();
    for (int i = 0; i < 2 * RECORD_NAMES; i++) {
        snprintf(names[i], sizeof names[i], "f%d", i);
        uint32_t at = record_name(names[i]);
        ck_assert_uint_lt(at, RECORD_NAMES);
        ck_assert(at == 0 || strcmp(area.names[at], names[i]) == 0);
        ck_assert_uint_eq(record_name(names[i]), at);
    }
    ck_assert_str_eq(area.names[0], "");
    ck_assert_uint_eq(record_name(NULL), 0);
}
END_TEST

START_TEST(times_of_events_are_those_of_the_clock)
{
    begin();
    uint64_t before = clock_ns();
    while (clock_ns() - before < 20000000)
        ;
    record_event(2, 0, 0, 0);
    uint64_t after = clock_ns();
    struct record_event event;
    ck_assert(record_event_read(&area, 0, &event));
    uint64_t when = record_event_ns(&area, &event);
    ck_assert_uint_ge(when + 1000000, before + 20000000);
    ck_assert_uint_le(when, after + 1000000);
}
END_TEST

static void two_items(const void *what, struct record_wait *wait)
{
    for (int i = 0; i < *(const int *)what; i++) {
        struct record_item *item = record_item_new(wait);
        if (item)
            item->world = i;
    }
}

START_TEST(a_wait_is_told_once_more_and_over)
{
    begin();
    int slot = 0, n = 2;
    struct record_wait copy;
    ck_assert(!record_wait_read(&area.waits[0], &copy));
    record_wait_tell(&slot, &record_now, two_items, &n);
    ck_assert_int_eq(slot, 1);
    ck_assert(record_wait_read(&area.waits[0], &copy));
    ck_assert_str_eq(copy.call, "MPI_Send");
    ck_assert_int_eq(copy.nitems, 2);
    ck_assert_int_eq(copy.items[1].world, 1);
    uint64_t since = copy.since;
    uint32_t serial = copy.serial;
    n = RECORD_ITEMS + 3;
    record_wait_tell(&slot, &record_now, two_items, &n);
    ck_assert(record_wait_read(&area.waits[0], &copy));
    ck_assert_int_eq(copy.nitems, RECORD_ITEMS + 3);
    ck_assert_uint_eq(copy.since, since);
    ck_assert_uint_eq(copy.serial, serial);
    record_wait_over(slot);
    ck_assert(!record_wait_read(&area.waits[0], &copy));
}
END_TEST

START_TEST(more_waits_than_slots)
{
    begin();
    int slots[RECORD_WAITS + 2] = { 0 };
    for (int i = 0; i < RECORD_WAITS + 2; i++)
        record_wait_tell(&slots[i], &record_now, NULL, NULL);
    ck_assert_int_eq(slots[RECORD_WAITS - 1], RECORD_WAITS);
    ck_assert_int_eq(slots[RECORD_WAITS], 0);
    record_wait_over(slots[1]);
    record_wait_tell(&slots[RECORD_WAITS], &record_now, NULL, NULL);
    ck_assert_int_eq(slots[RECORD_WAITS], 2);
}
END_TEST

START_TEST(who_dies_while_writing_is_not_waited_for)
{
    begin();
    int slot = 0;
    struct record_wait copy;
    record_wait_tell(&slot, &record_now, NULL, NULL);
    atomic_fetch_add(&area.waits[0].version, 1);
    ck_assert(!record_wait_read(&area.waits[0], &copy));
}
END_TEST

static void *another_call(void *nothing)
{
    record_enter("MPI_Recv", NULL);
    record_now.inside = &(struct record_scope){ NULL }; /* gone with this thread */
    return nothing;
}

START_TEST(each_thread_has_a_call_of_its_own)
{
    pthread_t other;
    begin();
    ck_assert_int_eq(pthread_create(&other, NULL, another_call, NULL), 0);
    pthread_join(other, NULL);
    ck_assert_str_eq(record_now.function, "MPI_Send");
    ck_assert_ptr_null(record_now.inside);
}
END_TEST

START_TEST(places)
{
    char text[256], none[16];
    record_place((void *)record_open, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "+0x"));
    ck_assert_int_eq(text[0], '/');
    record_place((void *)16, none, sizeof none);
    ck_assert_str_eq(none, "");
}
END_TEST

UNIT_MAIN("record", events_are_kept_in_order, tests_that_find_nothing_are_a_wait,
          a_wait_ends_the_tests_before_it, who_computes_and_tests_now_and_then_does_not_wait,
          the_ring_keeps_the_last_events, names_that_collide_and_too_many_of_them,
          times_of_events_are_those_of_the_clock, a_wait_is_told_once_more_and_over,
          more_waits_than_slots, who_dies_while_writing_is_not_waited_for,
          each_thread_has_a_call_of_its_own, places)
