/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pieces of a message taken from both ends: each byte once, by two threads at once as well.
 */
#include "pml/claim.h"

#include "test/unit/unit.h"

#include <pthread.h>
#include <string.h>

static const size_t totals[] = { 1,      4096,    32768,   32769,           65536,
                                 100000, 1000003, 5 << 20, (size_t)3 << 30, (size_t)100 << 30 };
enum { NTOTALS = sizeof totals / sizeof totals[0] };

START_TEST(pieces_cover_the_message)
{
    for (int i = 0; i < NTOTALS; i++)
        for (unsigned order = 0; order < 3; order++) {
            claim_word word;
            struct claimed piece;
            size_t front = 0, back = totals[i];
            claim_begin(&word, 7);
            for (unsigned turn = 0;; turn++) {
                bool from_back = order == 2 ? turn % 2 : order;
                if (!claim_take(&word, 7, totals[i], from_back, &piece))
                    break;
                ck_assert_uint_gt(piece.bytes, 0);
                if (from_back)
                    ck_assert_uint_eq(piece.offset + piece.bytes, back);
                else
                    ck_assert_uint_eq(piece.offset, front);
                front += from_back ? 0 : piece.bytes;
                back -= from_back ? piece.bytes : 0;
                ck_assert_uint_lt(turn, 2000);
            }
            ck_assert_uint_eq(front, back);
        }
}
END_TEST

START_TEST(late_comers_find_nothing)
{
    claim_word word;
    struct claimed piece;
    claim_begin(&word, 1);
    ck_assert(!claim_take(&word, 2, 100000, true, &piece));
    ck_assert(claim_take(&word, 1, 100000, true, &piece));
    claim_begin(&word, 2);
    ck_assert(!claim_take(&word, 1, 100000, true, &piece));
    ck_assert(claim_take(&word, 2, 100000, true, &piece));
    ck_assert_uint_eq(piece.offset + piece.bytes, 100000);
}
END_TEST

/* ---- two at once ---- */

enum { ROUNDS = 2000, TOTAL = 40 << 20 };
static claim_word word;
static _Atomic uint32_t round_of[2];
static _Atomic size_t taken[ROUNDS + 1];

static void *taker(void *back)
{
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        if (!back)
            claim_begin(&word, round);
        atomic_store(&round_of[back != NULL], round);
        while (atomic_load(&round_of[back == NULL]) < round)
            sched_yield();
        struct claimed piece;
        while (claim_take(&word, round, TOTAL, back != NULL, &piece))
            atomic_fetch_add(&taken[round], piece.bytes);
        atomic_store(&round_of[back != NULL], round);
        /* The next round begins when both have seen the end of this one: taken is full. */
        while (atomic_load(&taken[round]) < TOTAL)
            sched_yield();
    }
    return NULL;
}

START_TEST(no_piece_is_taken_twice)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, taker, &word), 0);
    taker(NULL);
    pthread_join(thread, NULL);
    for (int round = 1; round <= ROUNDS; round++)
        ck_assert_uint_eq(taken[round], TOTAL);
}
END_TEST

UNIT_MAIN("claim", pieces_cover_the_message, late_comers_find_nothing, no_piece_is_taken_twice)
