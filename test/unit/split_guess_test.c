/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Guesses against counting: what is taken for regular gives exactly the groups that sorting
 * gives, whatever the votes; and the usual ways to split are found.
 */
#include "src/split_guess.h"

#include "mpi.h"
#include "unit.h"

#include <string.h>

enum { MOST = 64 };

static struct vote votes[MOST];
static int n;

/* Fold the tallies of ranks [from, to) in some tree. */
static struct tally fold(const struct tally *all, int from, int to)
{
    if (to - from == 1)
        return all[from];
    int middle = from + 1 + rand() % (to - from - 1);
    struct tally a = fold(all, from, middle), b = fold(all, middle, to), both;
    if (rand() % 2)
        tally_fold(&both, &a, &b, sizeof both);
    else
        tally_fold(&both, &b, &a, sizeof both);
    return both;
}

static struct tally everybody(void)
{
    struct tally all[MOST];
    for (int i = 0; i < n; i++)
        all[i] = tally_of(votes[i], i);
    return fold(all, 0, n);
}

/* As src/split.c does it: guess, compare, count. */
static bool is_guessed(struct guess *guess)
{
    struct tally all = everybody();
    int64_t voters = 0;
    if (!guess_from(&all, n, guess))
        return false;
    for (int i = 0; i < n; i++) {
        if (!guess_fits(guess, votes[i], i))
            return false;
        voters += votes[i].color != MPI_UNDEFINED;
    }
    return voters == guess_voters(guess);
}

/* The members of a colour by insertion. */
static int sorted(int32_t color, int *members)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (votes[i].color != color)
            continue;
        int at = count++;
        for (; at > 0 && votes[members[at - 1]].key > votes[i].key; at--)
            members[at] = members[at - 1];
        members[at] = i;
    }
    return count;
}

static bool check(void)
{
    struct guess guess;
    if (!is_guessed(&guess))
        return false;
    for (int i = 0; i < n; i++) {
        int members[MOST], first, stride;
        if (votes[i].color == MPI_UNDEFINED)
            continue;
        int count = sorted(votes[i].color, members);
        ck_assert_int_eq(guess_members(&guess, votes[i].color, &first, &stride), count);
        for (int k = 0; k < count; k++)
            if (first + k * stride != members[k])
                ck_abort_msg("place %d of colour %d", k, votes[i].color);
    }
    return true;
}

/* ---- ways to split ---- */

static int32_t key_of(int how, int rank, int k)
{
    const int32_t keys[] = { 0, rank, -rank, rank / k, rank % k, 1000 - 3 * rank, INT32_MIN };
    return keys[how];
}

static void vote_blocks(int k, int up, int how)
{
    for (int i = 0; i < n; i++)
        votes[i] = (struct vote){ up ? 5 + i / k : 5 + (n - 1) / k - i / k, key_of(how, i, k) };
}

static void vote_cycle(int k, int up, int how)
{
    for (int i = 0; i < n; i++)
        votes[i] = (struct vote){ up ? i % k : k - 1 - i % k, key_of(how, i, k) };
}

START_TEST(usual_splits_are_found)
{
    for (n = 1; n <= 24; n++)
        for (int k = 1; k <= n; k++)
            for (int how = 0; how < 7; how++) {
                vote_blocks(k, 1, how);
                ck_assert_msg(check(), "n %d, rank / %d, key %d", n, k, how);
                vote_blocks(k, 0, how);
                ck_assert(check() || n % k);
                vote_cycle(k, 1, how);
                ck_assert_msg(check(), "n %d, rank %% %d, key %d", n, k, how);
                vote_cycle(k, 0, how);
                ck_assert(check() || n % k);
            }
}
END_TEST

START_TEST(parts_and_leavers_are_found)
{
    for (n = 2; n <= 24; n++)
        for (int k = 1; k < n; k++) {
            for (int i = 0; i < n; i++)
                votes[i] = (struct vote){ i < k ? INT32_MAX : 0, 7 };
            ck_assert(check());
            for (int i = 0; i < n; i++)
                votes[i] = (struct vote){ i < k ? MPI_UNDEFINED : 3, -i };
            ck_assert(check());
            for (int i = 0; i < n; i++)
                votes[i] = (struct vote){ i % k ? MPI_UNDEFINED : 3, 0 };
            ck_assert(check());
        }
}
END_TEST

START_TEST(what_is_irregular_is_not_taken_for_regular)
{
    n = 6;
    const int colors[][6] = {
        { 0, 1, 1, 0, 0, 1 }, { 0, 0, 2, 2, 1, 1 }, { 0, 0, 0, 1, 2, 2 }, { 0, 1, 2, 0, 2, 1 }
    };
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < 6; i++)
            votes[i] = (struct vote){ colors[c][i], 0 };
        ck_assert(!check());
    }
    const int keys[] = { 0, 1, 2, 4, 3, 5 }; /* in order but for two in the middle */
    for (int i = 0; i < 6; i++)
        votes[i] = (struct vote){ 0, keys[i] };
    ck_assert(!check());
    for (int i = 0; i < 6; i++) /* a place of the pattern is taken by somebody who leaves */
        votes[i] = (struct vote){ i == 2 ? MPI_UNDEFINED : 0, 0 };
    ck_assert(!check());
    for (int i = 0; i < 6; i++)
        votes[i] = (struct vote){ MPI_UNDEFINED, 0 };
    ck_assert(!check());
}
END_TEST

START_TEST(any_votes)
{
    int guessed = 0;
    srand(3);
    for (int round = 0; round < 40000; round++) {
        int colors = 1 + rand() % 4, keys = 1 + rand() % 3, leave = rand() % 3;
        n = 1 + rand() % (round % 2 ? 6 : 12);
        for (int i = 0; i < n; i++)
            votes[i] =
                (struct vote){ leave == 0 && rand() % 3 == 0 ? MPI_UNDEFINED : rand() % colors,
                               rand() % keys };
        guessed += check();
    }
    ck_assert_int_gt(guessed, 200);
}
END_TEST

UNIT_MAIN("split_guess", usual_splits_are_found, parts_and_leavers_are_found,
          what_is_irregular_is_not_taken_for_regular, any_votes)
