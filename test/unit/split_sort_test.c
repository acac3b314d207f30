/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorted votes: every colour's members in the order of key and rank, regular or not; and what is
 * picked for some voters is all that they need and no more.
 */
#include "src/split_sort.h"

#include "mpi.h"
#include "unit.h"

#include <stdlib.h>

enum { MOST = 40 };

static struct vote votes[MOST];
static int n;

static void votes_draw(int colors, int keys)
{
    n = 1 + rand() % MOST;
    for (int i = 0; i < n; i++) {
        votes[i].color = rand() % 5 ? 1000000000 / (1 + rand() % colors) : MPI_UNDEFINED;
        votes[i].key = keys ? rand() % keys - keys / 2 : INT32_MAX - i;
    }
}

/* Is b behind a in the new order? */
static bool is_behind(int a, int b)
{
    return votes[b].key > votes[a].key || (votes[b].key == votes[a].key && b > a);
}

static void check_class(const struct classes *classes, int32_t color, struct ranks *peers)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += votes[i].color == color;
    struct ranks *members = classes_members(classes, color, peers);
    ck_assert_int_eq(members->n, count);
    for (int i = 0; i < count; i++) {
        int at = ranks_find(peers, ranks_world(members, i));
        ck_assert_int_eq(votes[at].color, color);
        ck_assert(i == 0 || is_behind(ranks_find(peers, ranks_world(members, i - 1)), at));
    }
    ranks_drop(members);
}

static bool is_named(int32_t color, int first, int count)
{
    for (int i = first; i < first + count; i++)
        if (votes[i].color == color)
            return true;
    return false;
}

static void check_picked(const struct classes *all, int first, int count, struct ranks *peers)
{
    struct classes picked;
    ck_assert(classes_pick(all, votes + first, count, &picked));
    for (int i = 0; i < n; i++)
        if (votes[i].color == MPI_UNDEFINED)
            continue;
        else if (is_named(votes[i].color, first, count)) {
            check_class(&picked, votes[i].color, peers);
        } else {
            struct ranks *nobody = classes_members(&picked, votes[i].color, peers);
            ck_assert_int_eq(nobody->n, 0);
            ranks_drop(nobody);
        }
    free(picked.words);
}

START_TEST(all_and_picked)
{
    srand(5);
    for (int round = 0; round < 1000; round++) {
        struct classes all;
        votes_draw(1 + rand() % 6, round % 3 * 4);
        struct ranks *peers = ranks_range(n, 100, 3);
        ck_assert(classes_sort(votes, n, 0, &all));
        check_picked(&all, 0, n, peers);
        int first = rand() % n;
        check_picked(&all, first, 1 + rand() % (n - first), peers);
        check_picked(&all, first, 0, peers);
        free(all.words);
        ranks_drop(peers);
    }
}
END_TEST

START_TEST(regular_classes_are_short)
{
    struct classes all;
    n = MOST;
    for (int i = 0; i < n; i++)
        votes[i] = (struct vote){ i % 4, -i };
    ck_assert(classes_sort(votes, n, 10, &all));
    ck_assert_int_eq(all.length, 4 * 4);
    ck_assert(all.words[1] == n / 4 && all.words[2] == 10 + n - 4 && all.words[3] == -4);
    free(all.words);
    for (int i = 0; i < n; i++)
        votes[i].color = MPI_UNDEFINED;
    ck_assert(classes_sort(votes, n, 0, &all));
    ck_assert_int_eq(all.length, 0);
    free(all.words);
}
END_TEST

UNIT_MAIN("split_sort", all_and_picked, regular_classes_are_short)
