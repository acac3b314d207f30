/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/unit/unit.h"

#include "runtime/reading.h"

static const char *const nowhere = "/nowhere/libxpmem.so";

START_TEST(wishes_are_not_measured)
{
    ck_assert_int_eq(reading_here("none", NULL), READING_DEAR);
    ck_assert_int_eq(reading_here("none", nowhere), READING_DEAR);
    ck_assert_int_eq(reading_here("cma", NULL), READING_FAIR);
    ck_assert_int_eq(reading_here("cma", nowhere), READING_FAIR);
    ck_assert_int_eq(reading_here("auto", nowhere), READING_MAPPED);
    ck_assert_int_eq(reading_here(NULL, nowhere), READING_MAPPED);
}
END_TEST

START_TEST(two_copies_and_a_half_are_dear)
{
    ck_assert_int_eq(reading_judge((struct reading_times){ 2400, 1000 }), READING_FAIR);
    ck_assert_int_eq(reading_judge((struct reading_times){ 2500, 1000 }), READING_DEAR);
    ck_assert_int_eq(reading_judge((struct reading_times){ 100, 1000 }), READING_FAIR);
}
END_TEST

START_TEST(what_is_not_allowed_is_dear)
{
    ck_assert_int_eq(reading_judge((struct reading_times){ UINT64_MAX, 0 }), READING_DEAR);
    ck_assert_int_eq(reading_judge((struct reading_times){ UINT64_MAX, 1000000 }),
                     READING_DEAR);
}
END_TEST

/* 32 KiB are not moved in less than 100 ns, nor does it take seconds. */
START_TEST(both_are_measured)
{
    struct reading_times times = reading_measure();
    ck_assert_uint_gt(times.copied_twice, 100);
    ck_assert_uint_lt(times.copied_twice, 1000000000);
    ck_assert_uint_gt(times.read, 100);
    ck_assert(times.read == UINT64_MAX || times.read < 1000000000);
}
END_TEST

UNIT_MAIN("reading", wishes_are_not_measured, two_copies_and_a_half_are_dear,
          what_is_not_allowed_is_dear, both_are_measured)
