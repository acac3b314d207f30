/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long plans rolled up: they say what they said, take few bytes, and their steps wait in a window
 * for what they would wait for when written out.
 */
#include "coll/algorithms.h"
#include "coll/roll.h"
#include "coll/rules.h"
#include "coll/window.h"

#include "test/unit/unit.h"

static struct plan_key key_of(const struct algorithm *a, int me, int p)
{
    return (struct plan_key){ .me = me, .size = p, .pieces = 1, .radix = a ? a->radix : 0 };
}

static bool same_span(struct span a, struct span b)
{
    return a.n == b.n && (a.n == 0 || (a.room == b.room && a.first == b.first));
}

static void compare(const struct plan *written, const struct plan *rolled)
{
    struct step space;
    ck_assert_int_eq(written->nsteps, rolled->nsteps);
    ck_assert_int_eq(written->nfolds, rolled->nfolds);
    ck_assert_int_eq(written->most, rolled->most);
    for (int i = 0; i < written->nsteps; i++) {
        const struct step *a = &written->step[i], *b = plan_step(rolled, i, &space);
        ck_assert_int_eq(a->verb, b->verb);
        ck_assert_int_eq(a->side, b->side);
        ck_assert_int_eq(a->peer, b->peer);
        ck_assert(step_is_local(a) || a->slot == b->slot);
        ck_assert(same_span(a->to, b->to) && same_span(a->from, b->from));
    }
}

/* Every program that may be rolled, on 1 to 40 ranks, rolled from the first step on and later. */
START_TEST(what_is_rolled_comes_out_as_it_was)
{
    int rolled_ones = 0;
    for (const struct algorithm *a = algorithms; a->name; a++)
        for (int p = 1; p <= 40; p++) {
            if (!a->program || a->inter || is_neighbourhood(a->what) ||
                algorithm_objection(a, p, NULL))
                continue;
            struct plan_key key = key_of(a, p / 3, p);
            struct plan written, rolled;
            ck_assert_int_eq(plan_make(&written, &key, a->program), 0);
            roll_bounds.steps = 1 + p % 7;
            ck_assert_int_eq(plan_keep(&rolled, &key, a->program), 0);
            rolled_ones += rolled.roll != NULL;
            compare(&written, &rolled);
            plan_free(&written);
            plan_free(&rolled);
        }
    ck_assert_int_gt(rolled_ones, 100);
}
END_TEST

/* A program that is not regular at all, with peers, blocks and rounds at random. */
static uint64_t state;

static int draw(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)below);
}

static void anyhow(struct plan *plan, int me, int p)
{
    (void)me;
    plan_rooms(plan, 9, 9, 9);
    plan->rolls = true;
    plan->in_flight = draw(4); /* 0: all at once */
    plan->by_rounds = draw(2);
    for (int part = 0; part < 20; part++) {
        int at[4] = { draw(9), draw(p), draw(9), draw(p) }, rounds = draw(8), on = draw(9);
        for (int i = 0; i < rounds; i++) {
            plan_send(plan, (at[1] + i) % p, out((at[0] + i * on) % 9, 1));
            if (part % 3)
                plan_fold(plan, at[3], tmp((at[2] + 2 * i) % 9, 1), in(i, 1), INCOMING_LAST);
            if (part % 5 == 0)
                plan_copy(plan, out(i, 1), tmp(at[0], 1));
        }
    }
}

START_TEST(irregular_steps_come_out_as_they_were)
{
    for (int i = 0; i < 200; i++) {
        struct plan_key key = key_of(NULL, 0, 5);
        struct plan written, rolled;
        state = (uint64_t)i;
        ck_assert_int_eq(plan_make(&written, &key, anyhow), 0);
        state = (uint64_t)i;
        roll_bounds.steps = 1;
        ck_assert_int_eq(plan_keep(&rolled, &key, anyhow), 0);
        ck_assert(rolled.roll || written.nsteps < 2);
        compare(&written, &rolled);
        plan_free(&written);
        plan_free(&rolled);
    }
}
END_TEST

static size_t bytes_of(program *f, int me, int p)
{
    struct plan plan;
    struct plan_key key = key_of(NULL, me, p);
    roll_bounds.steps = 1024;
    ck_assert_int_eq(plan_keep(&plan, &key, f), 0);
    size_t bytes = plan_bytes(&plan);
    plan_free(&plan);
    return bytes;
}

START_TEST(a_million_ranks_have_short_plans)
{
    int p = 1 << 20;
    for (int me = 0; me < p; me += p / 2 - 1) {
        ck_assert_uint_le(bytes_of(allreduce_ring, me, p), 512);
        ck_assert_uint_le(bytes_of(allgather_ring, me, p), 512);
        ck_assert_uint_le(bytes_of(reduce_scatter_ring, me, p), 512);
        ck_assert_uint_le(bytes_of(allgather_neighbour, me, p), 1024);
        ck_assert_uint_le(bytes_of(allreduce_ring_both, me, p), 1024);
        ck_assert_uint_le(bytes_of(allreduce_doubling, me, p), 4096);
        ck_assert_uint_le(bytes_of(barrier_dissemination, me, p), 6144);
    }
    ck_assert_uint_le(bytes_of(alltoall_pairwise, p / 3, p - 1), 512);
    ck_assert_uint_le(bytes_of(alltoall_pairwise, p / 3, p), 512);
    ck_assert_uint_le(bytes_of(alltoall_spread, p / 3, p), 512);
    ck_assert_uint_le(bytes_of(alltoall_throttled, p / 3, p), 512);
    ck_assert_uint_le(bytes_of(allgather_spread, p / 3, p), 512);
    ck_assert_uint_le(bytes_of(gather_linear, 0, p), 512);
    ck_assert_uint_le(bytes_of(scatter_linear, 0, p), 512);
}
END_TEST

/* Steps end in any order that the window allows: of two that touch one block, of which one writes,
 * the earlier is over before the later may begin. */
static void walk(const struct plan *plan, const struct plan *written)
{
    struct window w;
    int waits[WINDOW_MOST];
    bool *over = calloc((size_t)plan->nsteps + 1, 1);
    window_begin(&w, plan);
    for (int left = plan->nsteps; left > 0; left--) {
        while (window_has_room(&w)) {
            int at = w.entered % w.size;
            waits[at] = window_enter(&w);
        }
        int open[WINDOW_MOST], n = 0;
        for (int i = w.oldest; i < w.entered; i++)
            if (waits[i % w.size] == 0 && !over[i])
                open[n++] = i;
        ck_assert_int_gt(n, 0);
        int chosen = open[draw(n)];
        for (int i = 0; i < chosen; i++) /* who must be over by now, as inferred for all */
            for (int k = 0; k < written->step[i].nnext; k++)
                if (written->next[written->step[i].first_next + k] == chosen)
                    ck_assert(over[i]);
        over[chosen] = true;
        for (uint64_t after = window_leave(&w, chosen); after; after &= after - 1)
            waits[__builtin_ctzll(after)]--;
    }
    free(over);
}

START_TEST(in_a_window_steps_wait_for_the_same)
{
    for (int size = 1; size <= WINDOW_MOST; size *= 4)
        for (int i = 0; i < 60; i++) {
            program *f = i == 0 ? allreduce_ring : i == 1 ? alltoall_pairwise : anyhow;
            struct plan_key key = key_of(NULL, 1, 5);
            struct plan written, rolled;
            roll_bounds = (struct roll_bounds){ 1, size };
            state = (uint64_t)i;
            ck_assert_int_eq(plan_make(&written, &key, f), 0);
            state = (uint64_t)i;
            ck_assert_int_eq(plan_keep(&rolled, &key, f), 0);
            if (rolled.roll)
                walk(&rolled, &written);
            plan_free(&written);
            plan_free(&rolled);
        }
}
END_TEST

UNIT_MAIN("roll", what_is_rolled_comes_out_as_it_was, irregular_steps_come_out_as_they_were,
          a_million_ranks_have_short_plans, in_a_window_steps_wait_for_the_same)
