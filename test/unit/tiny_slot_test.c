/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared slots of three ranks, written here by hand: who waits for its turn compares what others have
 * said some operations ago, and who has spoken wakes those who sleep for that.
 */
#include "coll/tell.h"
#include "coll/tiny_slot.h"
#include "runtime/fail.h"

#include "test/unit/unit.h"

#include <string.h>

enum { RANKS = 3, DEPTH = 8, NEXT = 9 /* the first operation that has to wait for its turn */ };

static _Alignas(64) char slots[RANKS][DEPTH][64];
static struct team team;
static struct tiny *tiny;

static uint64_t said_by_all(uint64_t s)
{
    return s << 32 | 1;
}

static void slot_write(int rank, uint64_t s, uint64_t said)
{
    struct slot *slot = slot_of(tiny, rank, s);
    slot->said = said;
    slot->before = said_by_all(s - 1);
}

/* The ranks have begun all operations to these. */
static void begin_to(const uint64_t last[RANKS])
{
    memset(slots, 0, sizeof slots);
    tiny = calloc(1, sizeof *tiny + RANKS * sizeof tiny->member[0]);
    tiny->slots = slots[0][0];
    tiny->slot_bytes = sizeof slots[0][0];
    tiny->rank_bytes = sizeof slots[0];
    tiny->depth = DEPTH;
    tiny->n = RANKS;
    tiny->channel = &team.channel;
    tiny->sequence = last[0];
    memset(tiny->readers, EVERYBODY, sizeof tiny->readers);
    for (int rank = 0; rank < RANKS; rank++)
        for (uint64_t s = 1; s <= last[rank]; s++) {
            slot_write(rank, s, said_by_all(s));
            atomic_store(&slot_of(tiny, rank, s)->sequence, s);
        }
}

/* The operation that the turn is compared at. */
static uint64_t looked_at(void)
{
    return NEXT - DEPTH / 4;
}

static int error_of_turn(void)
{
    struct round round = { .everywhere = false };
    tiny_all(&round, tiny);
    ck_assert_int_eq(tiny_begin(&round, said_by_all(NEXT), said_by_all(NEXT - 1)), 0);
    int error = round.error;
    free(tiny);
    return error;
}

START_TEST(what_all_said_is_right)
{
    begin_to((const uint64_t[]){ NEXT - 1, NEXT - 1, NEXT - 1 });
    ck_assert_int_eq(error_of_turn(), 0);
    begin_to((const uint64_t[]){ NEXT - 1, NEXT - 2, NEXT + DEPTH / 2 });
    ck_assert_int_eq(error_of_turn(), 0);
}
END_TEST

START_TEST(what_one_said_is_wrong)
{
    begin_to((const uint64_t[]){ NEXT - 1, NEXT - 1, NEXT + DEPTH / 2 });
    slot_write(1, looked_at(), said_by_all(looked_at()) + 1);
    ck_assert_int_ne(error_of_turn(), 0);
    begin_to((const uint64_t[]){ NEXT - 1, NEXT - 1, NEXT + DEPTH / 2 });
    slot_write(2, looked_at(), said_by_all(looked_at()) + 1);
    ck_assert_int_ne(error_of_turn(), 0);
}
END_TEST

/* What rank 1 has called, and this one, where this one says so and rank 1 that. */
static void parted(const struct round *said, const struct slot *seen, const char *theirs,
                   const char *mine)
{
    begin_to((const uint64_t[]){ 1, 1, 1 });
    struct round round = { .tiny = tiny, .said = said->said, .before = said->before };
    tiny_mismatch(&round, 1, seen);
    ck_assert_int_ne(round.error, 0);
    ck_assert_msg(strstr(fail_text(), theirs) && strstr(fail_text(), mine), "%s", fail_text());
    free(tiny);
}

/* One is in the last collective that numbers go to, the other in the next one, which is number 0: they have parted in
 * the one before. */
START_TEST(who_is_ahead_has_parted_before)
{
    const uint32_t barrier = 1u << KIND_SHIFT, bcast = 2u << KIND_SHIFT;
    uint64_t last = said_word(COLL_NUMBERS, barrier), other = said_word(COLL_NUMBERS, bcast);
    uint64_t next = said_word(0, barrier);
    parted(&(struct round){ .said = last }, &(struct slot){ .said = next, .before = other },
           "rank 1 called MPI_Bcast", "rank 0 called MPI_Barrier");
    team.said[COLL_NUMBERS % TEAM_SAID] = other;
    parted(&(struct round){ .said = next, .before = other }, &(struct slot){ .said = last },
           "rank 1 called MPI_Barrier", "rank 0 called MPI_Bcast");
}
END_TEST

/* One is ahead by nearly all of its slots, and is just writing the one that is looked at again. */
START_TEST(what_is_being_written_says_nothing)
{
    uint64_t again = looked_at() + DEPTH;
    begin_to((const uint64_t[]){ NEXT - 1, NEXT - 1, again - 1 });
    slot_write(2, again, said_by_all(again));
    ck_assert_uint_eq(atomic_load(&slot_of(tiny, 2, again)->sequence), looked_at());
    ck_assert_int_eq(error_of_turn(), 0);
}
END_TEST

/* Rank 1 sleeps for this, rank 2 is awake, and this one, rank 0, has begun operation 3, as rank 1 has.
 * Is rank 1 woken? */
static bool is_for_blocking_calls; /* the block of slots: it has tracks beside */
static bool wakes(struct awaited awaited, uint64_t last_of_rank_2)
{
    static struct doorbell bells[RANKS];
    begin_to((const uint64_t[]){ 3, 3, last_of_rank_2 });
    tiny->block = is_for_blocking_calls ? (struct block *)slots : NULL;
    tiny->tracks = is_for_blocking_calls;
    for (int rank = 0; rank < RANKS; rank++) {
        bells[rank] = (struct doorbell){ .sleeping = rank == 1 };
        tiny->member[rank].bell = &bells[rank];
    }
    atomic_store(&bells[1].where, awaited.where);
    atomic_store(&bells[1].who, awaited.who);
    tiny_wake(&(struct round){ .tiny = tiny, .sequence = 3, .last = RANKS - 1 });
    ck_assert_uint_eq(atomic_load(&bells[0].bell) + atomic_load(&bells[2].bell), 0);
    ck_assert_uint_ne(atomic_load(&bells[1].bell), atomic_load(&bells[1].sleeping));
    free(tiny);
    return atomic_load(&bells[1].bell) == 1;
}

START_TEST(sleepers_are_woken_for_what_they_wait_for)
{
    uint64_t here = 2 * team.channel.context + 1, elsewhere = here + 2;
    ck_assert(wakes((struct awaited){ .where = 0 }, 2));
    ck_assert(wakes((struct awaited){ elsewhere, AWAITS_ALL }, 2));
    ck_assert(wakes((struct awaited){ elsewhere, 2 }, 2));
    ck_assert(wakes((struct awaited){ here, 0 }, 2)); /* for this rank */
    ck_assert(!wakes((struct awaited){ here, 2 }, 2));
    ck_assert(!wakes((struct awaited){ here, 2 }, 3));
    ck_assert(!wakes((struct awaited){ here, AWAITS_ALL }, 2)); /* rank 2 will do it */
    ck_assert(wakes((struct awaited){ here, AWAITS_ALL }, 3));
    ck_assert(wakes((struct awaited){ here, AWAITS_ALL }, 3 + DEPTH)); /* long ago */
}
END_TEST

START_TEST(helpers_are_not_woken_for_blocking_calls)
{
    struct awaited helper = { .where = AWAITS_NO_CALL };
    ck_assert(wakes(helper, 3));
    is_for_blocking_calls = true;
    ck_assert(!wakes(helper, 3));
    ck_assert(wakes((struct awaited){ .where = 0 }, 3));
    is_for_blocking_calls = false;
}
END_TEST

UNIT_MAIN("tiny_slot", what_all_said_is_right, what_one_said_is_wrong,
          who_is_ahead_has_parted_before, what_is_being_written_says_nothing,
          sleepers_are_woken_for_what_they_wait_for, helpers_are_not_woken_for_blocking_calls)
