/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where shared slots lie: of all numbers of ranks, in the areas of a node that was made by hand.  No two ranks
 * write to one place, nothing lies outside, and what everybody has left is drawn again.
 */
#include "coll/tiny_slot.h"

#include "pml/shm/area.h"
#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

enum { LINE = 128, LINES = AREA_TINY_BYTES / LINE, MOST_BLOCKS = 2048 };

static bool taken[LINES]; /* of the area that is looked at */
static struct channel channel;

static void node_of(int n, int drawer)
{
    params_read();
    memset(taken, 0, sizeof taken);
    boot = (struct boot){ .rank = drawer,
                          .size = n,
                          .local_rank = drawer,
                          .nlocal = n,
                          .nnodes = 1,
                          .segment = job_segment(n) };
    channel = (struct channel){ .peers = ranks_range(n, 0, 1), .size = n };
}

static void node_close(void)
{
    ranks_drop(channel.peers);
    munmap(boot.segment, bootseg_bytes(boot.size, boot.size, NULL));
}

/* These bytes of the area of this rank are somebody's alone. */
static void take(const char *at, size_t bytes, int local)
{
    size_t first = (size_t)(at - boot_area(local) - AREA_TINY_OFFSET) / LINE;
    ck_assert(at >= boot_area(local) + AREA_TINY_OFFSET + LINE); /* behind a header */
    ck_assert_uint_eq((size_t)(at - boot_area(local)) % LINE, 0);
    ck_assert_uint_eq(bytes % LINE, 0);
    ck_assert_uint_le(first + bytes / LINE, LINES);
    for (size_t i = first; i < first + bytes / LINE; i++) {
        ck_assert(!taken[i]);
        taken[i] = true;
    }
}

static void take_slots(const struct tiny *t, int local)
{
    ck_assert_uint_ge(t->depth, 2);
    ck_assert_uint_le(t->depth, TINY_DEPTH);
    ck_assert_uint_eq(t->depth & (t->depth - 1), 0);
    ck_assert_uint_le(TINY_HEAD + t->room, t->slot_bytes);
    for (int r = 0; r < t->n; r++)
        for (uint64_t s = 0; s < t->depth; s++) {
            const struct slot *slot = slot_of(t, r, s);
            ck_assert_uint_eq(atomic_load(&slot->sequence), 0);
            take((const char *)slot, t->slot_bytes, local);
        }
}

static void take_block(uint64_t name, int local)
{
    struct tiny *t = tiny_open(name, &channel);
    take_slots(t, local);
    ck_assert_uint_ge(t->room, TINY_TRACK_BYTES);
    ck_assert_uint_eq(t->long_bytes % (2 * LINE), 0); /* in two halves of whole lines */
    if (t->long_bytes)
        take(t->longs, t->long_bytes * (size_t)t->n, local);
    for (int i = 0; i < t->tracks; i++) {
        struct tiny *track = tiny_track(t, i);
        take_slots(track, local);
        tiny_close(track);
    }
    tiny_close(t);
}

/* Everybody else leaves it. */
static void leave_block(uint64_t name, int n)
{
    for (int r = 1; r < n; r++)
        tiny_close(tiny_open(name, &channel));
}

/* All sorts of blocks, until there is no room. */
static int draw_all(int n, uint64_t names[MOST_BLOCKS])
{
    int drawn = 0;
    size_t bytes = 8;
    for (bool bound = true; drawn < MOST_BLOCKS; bound = !bound, bytes = bytes * 5 % 1021) {
        uint64_t name = bound ? tiny_draw_bound(n, bytes, drawn % 4 == 0) : 0;
        name = name ? name : tiny_draw(n);
        if (!name)
            return drawn;
        names[drawn++] = name;
    }
    return drawn;
}

static void look_at_node(int n, int drawer)
{
    static uint64_t names[MOST_BLOCKS];
    node_of(n, drawer);
    if (drawer == n - 1)
        take_block(tiny_world(), drawer);
    int drawn = draw_all(n, names);
    ck_assert_int_gt(drawn, 0);
    for (int i = 0; i < drawn; i++)
        take_block(names[i], drawer);
    ck_assert_uint_eq(tiny_draw(n), 0);
    for (int i = 0; i < drawn; i++)
        leave_block(names[i], n);
    memset(taken, 0, sizeof taken);
    take_block(tiny_draw(n), drawer);
    node_close();
}

START_TEST(slots_of_all_numbers_of_ranks_lie_apart)
{
    for (int n = 2; n <= TINY_RANKS; n++) {
        look_at_node(n, 0);
        look_at_node(n, n - 1);
    }
}
END_TEST

START_TEST(too_many_ranks_have_none)
{
    node_of(TINY_RANKS + 1, 0);
    ck_assert_uint_eq(tiny_draw(TINY_RANKS + 1), 0);
    ck_assert_uint_eq(tiny_world(), 0);
    node_close();
}
END_TEST

UNIT_MAIN("tiny_block", slots_of_all_numbers_of_ranks_lie_apart, too_many_ranks_have_none)
