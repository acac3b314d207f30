/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tree of launchers: everybody is started once, and nobody starts too many.
 */
#include "launcher/tree.h"

#include "test/unit/unit.h"

#include <string.h>

enum { MOST = 400 };

/* Start hosts first .. first + n - 1, and mark them; the levels that are needed. */
static int start(int first, int n, int fanout, char *started)
{
    int deepest = 0, parts = tree_parts(n, fanout);
    ck_assert_int_le(parts, fanout);
    ck_assert_int_eq(tree_part(n, fanout, 0), 0);
    ck_assert_int_eq(tree_part(n, fanout, parts), n);
    for (int i = 0; i < parts; i++) {
        int from = tree_part(n, fanout, i), to = tree_part(n, fanout, i + 1);
        ck_assert_int_lt(from, to);
        ck_assert_int_eq(started[first + from]++, 0);
        int levels = 1 + start(first + from + 1, to - from - 1, fanout, started);
        deepest = levels > deepest ? levels : deepest;
    }
    return deepest;
}

START_TEST(all_are_started_once)
{
    char started[MOST];
    for (int fanout = 1; fanout < 40; fanout++)
        for (int n = 0; n < MOST; n += n < 60 ? 1 : 17) {
            memset(started, 0, sizeof started);
            ck_assert_int_eq(start(0, n, fanout, started), tree_height(n, fanout));
            ck_assert_ptr_null(memchr(started, 0, (size_t)n));
        }
}
END_TEST

START_TEST(is_flat)
{
    ck_assert_int_eq(tree_height(0, FANOUT), 0);
    ck_assert_int_eq(tree_height(FANOUT, FANOUT), 1);
    ck_assert_int_eq(tree_height(FANOUT + 1, FANOUT), 2);
    ck_assert_int_eq(tree_height(4096, FANOUT), 3);
    ck_assert_int_eq(tree_height(5, 1), 5);
    ck_assert_int_eq(tree_part(11, 3, 1), 4); /* as tree.h draws it */
    ck_assert_int_eq(tree_part(11, 3, 2), 8);
}
END_TEST

UNIT_MAIN("tree", all_are_started_once, is_flat)
