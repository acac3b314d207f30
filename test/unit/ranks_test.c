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

/* Pieces of any shape in any order give the list that they spell. */
START_TEST(drafts_are_what_was_added)
{
    srand(11);
    for (int round = 0; round < 3000; round++) {
        struct ranks_draft draft = { 0 };
        int world[200], n = 0, ordered[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
        int shuffled[] = { 3, 9, 0, 1, 2, 8, 8, 20, 5, 4 };
        struct ranks *parts[] = { ranks_list(10, ordered), ranks_list(10, shuffled) };
        for (int pieces = rand() % 6; pieces > 0; pieces--) {
            int count = rand() % 5, stride = rand() % 7 - 3, first = rand() % 10;
            bool goes_on = n > 0 && rand() % 2;
            if (goes_on)
                first = world[n - 1] + stride;
            if (!goes_on && rand() % 2) {
                struct ranks *part = parts[rand() % 2];
                int at = rand() % 5, step = 1 + rand() % 2;
                count = count > 3 ? 3 : count;
                ranks_add_part(&draft, part, count, at, step);
                for (int i = 0; i < count; i++)
                    world[n++] = ranks_world(part, at + i * step);
                continue;
            }
            ranks_add_range(&draft, count, first, stride);
            for (int i = 0; i < count; i++)
                world[n++] = first + i * stride;
        }
        struct ranks *made = ranks_finish(&draft), *model = ranks_list(n, world);
        ck_assert_int_eq(!made->list, !model->list);
        ck_assert(ranks_are_equal(made, model));
        ranks_drop(model);
        check_map(made, n, world);
        ranks_drop(parts[0]);
        ranks_drop(parts[1]);
    }
}
END_TEST

START_TEST(equal_maps)
{
    const int up[] = { 3, 4, 5 }, other[] = { 3, 4, 6 }, one[] = { 3 };
    struct ranks *a = ranks_list(3, up), *b = ranks_list(3, other), *c = ranks_range(1, 3, 9);
    struct ranks *d = ranks_list(1, one), *e = ranks_join(a, b), *f = ranks_join(a, c);
    ck_assert(!ranks_are_equal(a, b) && !ranks_are_equal(a, d) && !ranks_are_equal(b, e));
    ck_assert(ranks_are_equal(a, a) && ranks_are_equal(c, d));
    ck_assert(e->n == 6 && f->n == 4 && ranks_world(f, 3) == 3);
    struct ranks *all[] = { a, b, c, d, e, f };
    for (int i = 0; i < 6; i++)
        ranks_drop(all[i]);
}
END_TEST

UNIT_MAIN("ranks", ranges_map_both_ways, regular_lists_become_ranges,
          irregular_lists_are_copied, extremes_do_not_overflow, shared_by_reference,
          drafts_are_what_was_added, equal_maps)
