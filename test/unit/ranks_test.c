/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/ranks.h"

#include "test/unit/unit.h"

/* Every map answers like the plain list it was made from. */
static void check_map(struct ranks *r, int n, const int *world)
{
    ck_assert_int_eq(r->n, n);
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(ranks_world(r, i), world[i]);
    for (int w = -20; w < 120; w++) {
        int found = -1;
        for (int i = n - 1; i >= 0; i--)
            if (world[i] == w)
                found = i;
        ck_assert_int_eq(ranks_find(r, w), found);
    }
    ranks_drop(r);
}

START_TEST(ranges_map_both_ways)
{
    for (int n = 0; n < 12; n++)
        for (int first = 0; first < 40; first += 13)
            for (int stride = -3; stride <= 5; stride++) {
                int world[12];
                for (int i = 0; i < n; i++)
                    world[i] = first + i * stride;
                if (stride != 0 || n <= 1)
                    check_map(ranks_range(n, first, stride), n, world);
            }
}
END_TEST

START_TEST(regular_lists_become_ranges)
{
    const int one[] = { 7 }, two[] = { 9, 4 }, five[] = { 10, 8, 6, 4, 2 };
    struct ranks *r = ranks_list(5, five);
    ck_assert_ptr_null(r->list);
    check_map(r, 5, five);
    check_map(ranks_list(1, one), 1, one);
    check_map(ranks_list(2, two), 2, two);
    check_map(ranks_list(0, one), 0, one);
}
END_TEST

START_TEST(irregular_lists_are_copied)
{
    int list[] = { 3, 1, 4, 15, 9, 2, 6 };
    struct ranks *r = ranks_list(7, list);
    ck_assert_ptr_nonnull(r->list);
    const int copy[] = { 3, 1, 4, 15, 9, 2, 6 };
    list[0] = 99;
    check_map(r, 7, copy);
}
END_TEST

START_TEST(extremes_do_not_overflow)
{
    struct ranks *r = ranks_range(2, INT32_MAX - 1, 1);
    ck_assert_int_eq(ranks_find(r, INT32_MIN), -1);
    ck_assert_int_eq(ranks_find(r, INT32_MAX), 1);
    ranks_drop(r);
    const int far[] = { INT32_MIN, 0, INT32_MAX };
    r = ranks_list(3, far);
    ck_assert_int_eq(ranks_world(r, 2), INT32_MAX);
    ranks_drop(r);
}
END_TEST

START_TEST(shared_by_reference)
{
    struct ranks *r = ranks_range(4, 0, 1);
    ck_assert_ptr_eq(ranks_hold(r), r);
    ranks_drop(r);
    ck_assert_int_eq(ranks_world(r, 3), 3);
    ranks_drop(r);
    ranks_drop(NULL);
}
END_TEST

UNIT_MAIN("ranks", ranges_map_both_ways, regular_lists_become_ranges,
          irregular_lists_are_copied, extremes_do_not_overflow, shared_by_reference)
