/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorted votes: every colour's members in the order of key and rank, regular or not, put together on
 * the way in whatever order; and what is picked for some voters is all that they need and no more.
 */
#include "src/split_voters.h"
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
    struct voters runs[MOST];
    int named = voters_merge(runs, voters_of_votes(votes + first, count, first, runs));
    ck_assert(classes_pick(all, runs, named, &picked));
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

/* Runs of the votes from `first` on, put together by halves as a tree does it. */
static int runs_of_tree(int first, int count, struct voters *runs)
{
    if (count == 1)
        return voters_of_votes(votes + first, 1, first, runs);
    int half = 1 + rand() % (count - 1);
    int low = runs_of_tree(first, half, runs);
    return voters_merge(runs, low + runs_of_tree(first + half, count - half, runs + low));
}

START_TEST(put_together_in_any_order)
{
    srand(6);
    for (int round = 0; round < 1000; round++) {
        struct voters runs[MOST];
        struct classes all;
        votes_draw(1 + rand() % 6, round % 3 * 4);
        if (round % 4 == 0)
            votes[rand() % n].key = round % 8 ? INT32_MAX : INT32_MIN;
        struct ranks *peers = ranks_range(n, 100, 3);
        ck_assert(classes_of_voters(runs, runs_of_tree(0, n, runs), &all));
        check_picked(&all, 0, n, peers);
        free(all.words);
        ranks_drop(peers);
    }
}
END_TEST

/* Four nodes of ten that vote for a number of their own, keys up, down or equal: four runs, however
 * they met. */
START_TEST(nodes_are_runs)
{
    struct voters runs[MOST];
    n = MOST;
    for (int round = 0; round < 100; round++) {
        int up = rand() % 3 - 1;
        for (int i = 0; i < n; i++)
            votes[i] = (struct vote){ 1 << (7 * (i / 10)), up * 5 * i };
        ck_assert_int_eq(runs_of_tree(0, n, runs), 4);
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(runs[i].n, 10);
            ck_assert_int_eq(runs[i].rank, 10 * i + (up < 0 ? 9 : 0));
        }
    }
}
END_TEST

START_TEST(extreme_keys)
{
    static const int32_t keys[] = { INT32_MIN, -1 - (1 << 30), -1, (1 << 30) - 1, INT32_MAX };
    struct classes all;
    n = 5;
    for (int i = 0; i < n; i++)
        votes[i] = (struct vote){ 0, keys[i] };
    struct ranks *peers = ranks_range(n, 0, 1);
    ck_assert(classes_sort(votes, n, 0, &all));
    check_class(&all, 0, peers);
    ck_assert_int_eq(all.length, 4);
    free(all.words);
    n = 2;
    votes[0].key = INT32_MAX;
    votes[1].key = INT32_MIN;
    ck_assert(classes_sort(votes, n, 0, &all));
    ck_assert(all.words[1] == 2 && all.words[2] == 1 && all.words[3] == -1);
    free(all.words);
    ranks_drop(peers);
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

UNIT_MAIN("split_sort", all_and_picked, put_together_in_any_order, nodes_are_runs, extreme_keys,
          regular_classes_are_short)
