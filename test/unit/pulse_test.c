/* SPDX-License-Identifier: BSD-3-Clause
 *
 * When the way to another host counts as silent.
 */
#include "test/unit/unit.h"

#include "launcher/loop.h"
#include "launcher/pulse.h"
#include "runtime/clock.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Looks that come one every PULSE_MS after the last sign of life, until `limit` is reached. */
static int looks_until(int limit)
{
    int silent = 0, looks = 0;
    while (silent < limit && looks < 100) {
        looks++;
        struct pulse_seen seen = { true, looks * PULSE_MS };
        silent = pulse_judge(silent, PULSE_MS, &seen);
    }
    return looks;
}

START_TEST(silence_adds_up)
{
    ck_assert_int_eq(looks_until(1000), 5);
    ck_assert_int_eq(looks_until(30), 1);
}
END_TEST

START_TEST(who_answers_is_not_silent)
{
    struct pulse_seen slow = { true, 150 }; /* there is always something on its long way */
    struct pulse_seen calm = { false, 100000 };
    int silent = 0;
    for (int i = 0; i < 100; i++)
        silent = pulse_judge(silent, PULSE_MS, &slow);
    ck_assert_int_le(silent, 150);
    ck_assert_int_eq(pulse_judge(900, PULSE_MS, &calm), 0);
}
END_TEST

START_TEST(who_was_stopped_accuses_nobody)
{
    struct pulse_seen seen = { true, 60000 };
    ck_assert_int_le(pulse_judge(0, 60000, &seen), 2 * PULSE_MS);
}
END_TEST

START_TEST(a_wish)
{
    unsetenv("XMPI_HOST_TIMEOUT");
    ck_assert_int_eq(pulse_limit(), 1000);
    setenv("XMPI_HOST_TIMEOUT", "2.5", 1);
    ck_assert_int_eq(pulse_limit(), 2500);
    setenv("XMPI_HOST_TIMEOUT", "0.0001", 1); /* not for ever */
    ck_assert_int_eq(pulse_limit(), 1);
    setenv("XMPI_HOST_TIMEOUT", "1e-9", 1);
    ck_assert_int_eq(pulse_limit(), 1);
    setenv("XMPI_HOST_TIMEOUT", "0", 1);
    ck_assert_int_eq(pulse_limit(), 0);
    static const char *const wrong[] = { "x", "-1", "1s", "nan", "1e9" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("XMPI_HOST_TIMEOUT", wrong[i], 1);
        ck_assert_int_eq(pulse_limit(), -1);
    }
    pulse_set_limit(7);
    ck_assert_int_eq(pulse_limit(), 7);
}
END_TEST

static struct pulse *one, *two;
static int beats;

static void end_both(void *owner, bool silent)
{
    ck_assert_ptr_eq(owner, &beats);
    ck_assert(!silent);
    beats++;
    pulse_end(one);
    pulse_end(two);
}

/* A beat may end the pulse that would have been next. */
START_TEST(beats_that_end)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ck_assert_int_eq(loop_open(), 0);
    one = pulse_begin(ends[0], &beats, end_both);
    two = pulse_begin(ends[1], &beats, end_both);
    for (uint64_t end = clock_ns() + 3 * PULSE_MS * 1000000ull; clock_ns() < end;)
        loop_turn(10);
    ck_assert_int_eq(beats, 1);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

UNIT_MAIN("pulse", silence_adds_up, who_answers_is_not_silent, who_was_stopped_accuses_nobody,
          a_wish, beats_that_end)
