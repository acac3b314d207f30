/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of failures: the thread's own, and those put aside for an operation.
 */
#include "runtime/fail.h"

#include "unit.h"

#include <pthread.h>

#undef fail /* check.h has one as well */

START_TEST(test_last_one_counts)
{
    ck_assert_int_eq(fail(7, "first %d", 1), 7);
    ck_assert_str_eq(fail_text(), "first 1");
    fail(8, "%s, and more", fail_text());
    ck_assert_str_eq(fail_text(), "first 1, and more");
    fail_clear();
    ck_assert_str_eq(fail_text(), "");
}
END_TEST

static void *find(void *whose)
{
    return (void *)(long)fail_keep(whose, fail(9, "found elsewhere"));
}

START_TEST(test_kept_for_another_thread)
{
    int operation;
    void *rc;
    pthread_t thread;
    fail_clear();
    ck_assert(!fail_recall(&operation));
    pthread_create(&thread, NULL, find, &operation);
    pthread_join(thread, &rc);
    ck_assert_int_eq((long)rc, 9);
    ck_assert_str_eq(fail_text(), "");
    ck_assert(fail_recall(&operation));
    ck_assert_str_eq(fail_text(), "found elsewhere");
}
END_TEST

/* One text per operation, the newest; the oldest operations are forgotten first. */
START_TEST(test_room)
{
    char operation[FAIL_KEPT + 1];
    for (int i = 0; i < FAIL_KEPT; i++) {
        fail_keep(&operation[i], fail(1, "old"));
        fail_keep(&operation[i], fail(1, "failure %d", i));
    }
    ck_assert(fail_recall(&operation[0]));
    ck_assert_str_eq(fail_text(), "failure 0");
    fail_keep(&operation[FAIL_KEPT], fail(1, "one more"));
    ck_assert(!fail_recall(&operation[0]));
    ck_assert(fail_recall(&operation[1]));
    ck_assert_str_eq(fail_text(), "failure 1");
    fail_clear();
    fail_keep(&operation[1], 1); /* without words */
    ck_assert(!fail_recall(&operation[1]));
}
END_TEST

UNIT_MAIN("fail", test_last_one_counts, test_kept_for_another_thread, test_room)
