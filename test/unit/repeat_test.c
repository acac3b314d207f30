/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which collectives by messages are kept, and that they are right where what was kept no longer fits.
 */
#include "coll/neighbours.h"
#include "coll/repeat.h"
#include "runtime/param.h"

#include "test/unit/job.h"
#include "test/unit/unit.h"

#include <string.h>

enum { RANKS = 3, BLOCK = 600, LONG_BLOCK = 20000, RING = 2 };

static char out[RING * LONG_BLOCK], in[RING * LONG_BLOCK];

static void ring_open(struct team *team, int rank, int n)
{
    struct ranks *all = ranks_range(n, 0, 1);
    ck_assert_int_eq(team_open(team, &(struct ticket){ 100, 0 }, rank, all, 0), 0);
    ranks_drop(all);
    team->neighbours = neighbours_torus(1, &n, rank);
}

static struct call call_of(enum collective what, size_t bytes)
{
    struct call call = { .what = what };
    call.send = (struct part){ .base = out, .layout = &layout_bytes, .count = bytes };
    call.recv = (struct part){ .base = in, .layout = &layout_bytes, .count = bytes };
    return call;
}

/* What rank `from` sends as block `block` the `time`-th time. */
static char given(int from, int block, int time)
{
    return (char)(1 + from * 40 + block * 20 + time);
}

static void fill(int rank, size_t bytes, int time)
{
    for (int block = 0; block < RING; block++)
        memset(out + (size_t)block * bytes, given(rank, block, time), bytes);
    memset(in, 0, sizeof in);
}

static void compare(int rank, int n, size_t bytes, int time)
{
    for (int block = 0; block < RING; block++) { /* what goes down comes from above */
        int from = block == 0 ? (rank + n - 1) % n : (rank + 1) % n;
        for (size_t i = 0; i < bytes; i++)
            ck_assert_int_eq(in[(size_t)block * bytes + i], given(from, 1 - block, time));
    }
}

static void run(struct team *team, const struct call *call, int rank, int n, int time)
{
    fill(rank, call->send.count, time);
    ck_assert_int_eq(coll_run(team, call), 0);
    compare(rank, n, call->send.count, time);
}

static void run_again(struct repeat *repeat, struct team *team, int rank, int n, int time)
{
    ck_assert(repeat_holds(repeat, team));
    fill(rank, repeat->call.send.count, time);
    ck_assert_int_eq(repeat_run(repeat, team), 0);
    compare(rank, n, repeat->call.send.count, time);
}

static void kept(int rank, int n)
{
    struct team team;
    struct repeat repeat = { .performing = NULL };
    struct call call = call_of(COLL_NEIGHBOR_ALLTOALL, BLOCK);
    ring_open(&team, rank, n);
    run(&team, &call, rank, n, 0);
    run(&team, &call, rank, n,
        1); /* what the first one reads, of what is forced, makes its choice be forgotten */
    ck_assert(repeat_keep(&repeat, &team, &call));
    run_again(&repeat, &team, rank, n, 2);
    /* asked for from now on, so that sends in program order would wait for each other */
    params[PARAM_ID_EAGER].number = BLOCK / 2;
    run_again(&repeat, &team, rank, n, 3);
    ck_assert(repeat_keep(&repeat, &team, &call));
    run_again(&repeat, &team, rank, n, 4);
    run_again(&repeat, &team, rank, n, 5);
    repeat_forget(&repeat);
    team_close(&team);
}

static void not_kept(int rank, int n)
{
    struct team team;
    struct repeat repeat = { .performing = NULL };
    struct call call = call_of(COLL_NEIGHBOR_ALLTOALL, BLOCK),
                longer = call_of(COLL_NEIGHBOR_ALLTOALL, LONG_BLOCK);
    ring_open(&team, rank, n);
    run(&team, &longer, rank, n, 0);
    run(&team, &longer, rank, n, 0);
    ck_assert(repeat_keep(&repeat, &team, &longer)); /* too long for program order */
    run_again(&repeat, &team, rank, n, 1);
    run(&team, &call, rank, n, 1);
    ck_assert(repeat_keep(&repeat, &team, &call));
    /* in pieces, whose lengths and places are listed */
    ck_assert_int_eq(team_force(&team, "neighbor_alltoall=direct:pieces=3", "test"), 0);
    ck_assert(!repeat_holds(&repeat, &team));
    run(&team, &call, rank, n, 2);
    ck_assert(!repeat_keep(&repeat, &team, &call));
    ck_assert_int_eq(team_force(&team, NULL, NULL), 0);
    run(&team, &call, rank, n, 3);
    ck_assert(repeat_keep(&repeat, &team, &call));
    run_again(&repeat, &team, rank, n, 4);
    repeat_forget(&repeat);
    team_close(&team);
}

START_TEST(exchanges_that_come_again_are_kept)
{
    ck_assert(job_run(RANKS, kept));
}
END_TEST

START_TEST(others_are_not)
{
    ck_assert(job_run(RANKS, not_kept));
}
END_TEST

UNIT_MAIN("repeat", exchanges_that_come_again_are_kept, others_are_not)
