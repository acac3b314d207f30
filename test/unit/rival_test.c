/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attach and messages in turns: the results are right, all ranks go the same way in each call, and where there is no
 * rival nobody else is asked.
 */
#include "coll/coll.h"
#include "coll/rival.h"
#include "coll/rules.h"
#include "coll/tiny_slot.h"
#include "mpi.h"
#include "runtime/fail.h"
#include "runtime/reading.h"

#include "test/unit/fragile.h"
#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

enum { COUNT = 70000, CALLS = 60, RUN = 8 };

static void job_begin(struct team *world, struct team *team, int rank, int n)
{
    boot.reading = READING_DEAR;
    boot.crowded = false;
    world_open(world, rank, n);
    team_make(team, world);
}

static struct call call_of(enum collective what, uint32_t *in, uint32_t *out)
{
    struct call call = { .what = what, .root = 0 };
    call.send = (struct part){ .base = in, .layout = ints(), .count = COUNT };
    call.recv = (struct part){ .base = out, .layout = ints(), .count = COUNT };
    if (is_reduction(what))
        call.reduction = (struct reduction){ .commutes = true,
                                             .layout = ints(),
                                             .kernel = reduce_find(REDUCE_SUM, BASIC_UINT32) };
    return call;
}

/* What block b of the result has at i, in call k. */
static uint32_t expected(enum collective what, int n, int b, int k, size_t i)
{
    uint32_t sum = 0;
    for (int r = 0; is_reduction(what) && r < n; r++)
        sum += value(r, k, i);
    return is_reduction(what) ? sum : value(b, k, i);
}

/* One call, with numbers of its own.  Was it attached? */
static bool call_once(struct team *team, enum collective what, int k)
{
    int n = team->channel.size, me = team->channel.rank;
    int blocks = is_reduction(what) ? 1 : n;
    uint32_t *in = malloc(COUNT * 4), *out = calloc((size_t)blocks * COUNT, 4);
    for (size_t i = 0; i < COUNT; i++)
        in[i] = value(me, k, i);
    struct call call = call_of(what, in, out);
    WRONG_UNLESS(coll_run(team, &call) == 0);
    bool takes = !is_rooted(what) || me == 0;
    for (int b = 0; b < blocks && takes; b++)
        for (size_t i = 0; i < COUNT; i++)
            WRONG_UNLESS(out[(size_t)b * COUNT + i] == expected(what, n, b, k, i));
    free(in);
    free(out);
    return algorithms[team->chosen[what] - 1].attaches;
}

/* How many of these calls were attached; each rank sees the same ones. */
static int attached_of(struct team *team, enum collective what)
{
    uint64_t mine = 0, all[4];
    for (int k = 0; k < CALLS; k++)
        mine |= (uint64_t)call_once(team, what, k) << k;
    struct call call = { .what = COLL_ALLGATHER };
    call.send = (struct part){ .base = &mine, .layout = ints(), .count = 2 };
    call.recv = (struct part){ .base = all, .layout = ints(), .count = 2 };
    WRONG_UNLESS(coll_run(team, &call) == 0);
    for (int r = 0; r < team->channel.size; r++)
        WRONG_UNLESS(all[r] == mine);
    return __builtin_popcountll(mine);
}

/* ---- the tests ---- */

static const enum collective kinds[] = { COLL_ALLREDUCE, COLL_REDUCE, COLL_ALLGATHER,
                                         COLL_GATHER };
enum { KINDS = sizeof kinds / sizeof *kinds };

static void compete(int rank, int n)
{
    struct team world, team;
    job_begin(&world, &team, rank, n);
    for (int i = 0; i < KINDS; i++) {
        int attached = attached_of(&team, kinds[i]);
        bool has_rival = n == 2 || !is_reduction(kinds[i]);
        if (has_rival)
            WRONG_UNLESS(attached >= 2 * RUN && attached <= CALLS - 2 * RUN);
        else
            WRONG_UNLESS(attached ==
                         (kinds[i] == COLL_ALLREDUCE ? CALLS : 0)); /* as rules say */
    }
    team_close(&team);
    team_close(&world);
}

START_TEST(both_ways_come_in_turns)
{
    for (int n = 2; n <= 3; n++)
        ck_assert_msg(job_run(n, compete), "%d ranks", n);
}
END_TEST

static void obey(int rank, int n)
{
    struct team world, team;
    job_begin(&world, &team, rank, n);
    WRONG_UNLESS(team_force(&team, "allreduce=attach", "rival_test") == 0);
    WRONG_UNLESS(attached_of(&team, COLL_ALLREDUCE) == CALLS);
    team_close(&team);
    boot.crowded = true; /* no CPU each */
    team_make(&team, &world);
    WRONG_UNLESS(!team.tiny->rivals);
    team_close(&team);
    boot.crowded = false;
    boot.reading = READING_FAIR;
    team_make(&team, &world);
    WRONG_UNLESS(attached_of(&team, COLL_ALLREDUCE) == CALLS);
    team_close(&team);
    team_close(&world);
}

START_TEST(orders_have_no_rival)
{
    ck_assert(job_run(2, obey));
}
END_TEST

/* In the call in which the ranks would tell what the first ones took. */
static void part(int rank, int n)
{
    struct team world, team;
    job_begin(&world, &team, rank, n);
    for (int k = 0; k < RUN; k++)
        WRONG_UNLESS(call_once(&team, COLL_ALLREDUCE, k));
    uint32_t *in = calloc(COUNT, 4), *out = calloc((size_t)n * COUNT, 4);
    struct call call = call_of(rank ? COLL_ALLGATHER : COLL_ALLREDUCE, in, out);
    WRONG_UNLESS(coll_run(&team, &call) == MPI_ERR_OTHER);
    WRONG_UNLESS(strstr(fail_text(), "MPI_Allreduce") && strstr(fail_text(), "MPI_Allgather"));
    team_close(&team);
    team_close(&world);
    free(in);
    free(out);
}

START_TEST(mismatches_are_told)
{
    ck_assert(job_run(2, part));
}
END_TEST

UNIT_MAIN("rival", both_ways_come_in_turns, orders_have_no_rival, mismatches_are_told)
