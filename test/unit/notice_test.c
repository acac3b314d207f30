/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Notices: who listens hears what was asked for, and nothing else.
 */
#include "runtime/notice.h"

#include "test/unit/unit.h"

static int heard[NOTICES];
static int64_t last;

static void listen(enum notice what, const int64_t *values)
{
    heard[what]++;
    last = values[0];
}

static void give_all(int64_t value)
{
    for (int what = 0; what < NOTICES; what++)
        if (notice_is_wanted(what))
            notice_give(what, &value);
}

START_TEST(only_what_is_wanted)
{
    give_all(1);
    notices_listen(1u << NOTICE_PLAN, listen);
    give_all(2);
    notices_listen(1u << NOTICE_PLAN | 1u << NOTICE_SLEEP, listen);
    give_all(3);
    ck_assert_int_eq(heard[NOTICE_PLAN], 2);
    ck_assert_int_eq(heard[NOTICE_SLEEP], 1);
    ck_assert_int_eq(heard[NOTICE_UNEXPECTED], 0);
    ck_assert_int_eq(last, 3);
}
END_TEST

/* Asked before, gone when it is told. */
START_TEST(gone_in_between)
{
    int64_t value = 4;
    notices_listen(0, NULL);
    notice_give(NOTICE_SLEEP, &value);
    ck_assert_int_eq(heard[NOTICE_SLEEP], 0);
}
END_TEST

UNIT_MAIN("notice", only_what_is_wanted, gone_in_between)
