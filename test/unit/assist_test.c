/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread that only helps (progress_assist): when it sleeps on the doorbell, what for, and what it costs those who
 * ring.
 */
#include "runtime/param.h"
#include "runtime/progress.h"

#include "test/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct doorbell bell;

static bool is_armed(void)
{
    return atomic_load(&bell.sleeping) == 1;
}

START_TEST(it_rests_while_the_program_polls)
{
    struct wait w = WAIT_INIT;
    w.helps = true;
    w.hands = progress_rounds();
    progress_open(&bell, false);
    progress_assist(&w);
    ck_assert(is_armed());
    progress(); /* the program */
    progress_assist(&w);
    ck_assert(!is_armed());
    progress_assist(&w); /* the program has not polled again */
    ck_assert(is_armed());
    wait_end(&w);
    progress_close();
}
END_TEST

START_TEST(it_sleeps_through_blocking_calls)
{
    struct wait w = WAIT_INIT;
    w.helps = true;
    w.hands = progress_rounds();
    progress_open(&bell, false);
    progress_assist(&w);
    ck_assert_uint_eq(atomic_load(&bell.where), AWAITS_NO_CALL);
    progress_completed(); /* what the program has completed is none of its business */
    ck_assert(is_armed());
    doorbell_ring(&bell);
    ck_assert(!is_armed());
    wait_end(&w);
    progress_close();
}
END_TEST

START_TEST(ringers_fence_where_all_are_helped)
{
    struct doorbell *bells = calloc(2, sizeof *bells);
    setenv("XMPI_ASYNC", "1", 1);
    progress_open(&bells[0], false);
    ck_assert(doorbells_fence && bells[0].fences == 1);
    progress_close();
    params[PARAM_ID_ASYNC].number = 0;
    progress_open(&bells[0], false); /* the next use of MPI */
    ck_assert(!doorbells_fence && bells[0].fences == 0);
    progress_close();
    free(bells);
}
END_TEST

/* ---- while a call goes on ---- */

static struct doorbell node[2]; /* ours and a neighbour's */
static int busy;                /* for so many rounds there is work */

static int work(void)
{
    return busy > 0 ? busy-- : 0;
}

/* The helper sleeps on node[0]; the other rank fences before it rings, or does not. */
static struct wait asleep(bool all_fence)
{
    setenv("XMPI_ASYNC", "1", 1);
    memset(node, 0, sizeof node);
    progress_open(&node[0], false);
    atomic_store(&node[1].fences, all_fence);
    progress_neighbours(node, sizeof node[0], 2, 1);
    progress_add(work);
    return (struct wait){ .helps = true, .hands = progress_rounds(), .call = record_now };
}

static void done(struct wait *w)
{
    wait_end(w);
    progress_remove(work);
    progress_neighbours(NULL, 0, 0, 1);
    progress_close();
}

START_TEST(a_call_takes_the_bell_down_and_puts_it_up)
{
    struct wait w = asleep(true);
    progress_assist(&w);
    ck_assert_uint_eq(atomic_load(&node[0].sleeping), 1);
    uint32_t rings = atomic_load(&node[0].bell);
    progress_spare();
    ck_assert_uint_eq(atomic_load(&node[0].sleeping), 0);
    ck_assert(progress_is_owed);
    doorbell_ring(&node[0]); /* costs the other rank nothing */
    ck_assert_uint_eq(atomic_load(&node[0].bell), rings);
    progress();
    ck_assert_uint_eq(atomic_load(&node[0].sleeping), 0);
    ck_assert(progress_is_owed);
    progress_settle();
    ck_assert_uint_eq(atomic_load(&node[0].sleeping), 1);
    ck_assert_uint_eq(atomic_load(&node[0].where), AWAITS_NO_CALL);
    ck_assert(!progress_is_owed);
    doorbell_ring(&node[0]);
    ck_assert_uint_eq(atomic_load(&node[0].bell), rings + 1);
    done(&w);
}
END_TEST

START_TEST(what_a_call_finds_last_it_does_or_leaves_to_the_helper)
{
    struct wait w = asleep(true);
    progress_assist(&w);
    uint32_t rings = atomic_load(&node[0].bell);
    progress_spare();
    busy = 3;
    progress_settle();
    ck_assert_int_eq(busy, 0);
    ck_assert_uint_eq(atomic_load(&node[0].bell), rings);
    progress_spare();
    busy = 1000;
    progress_settle();
    ck_assert_int_gt(busy, 900);
    ck_assert_uint_eq(atomic_load(&node[0].bell), rings + 1);
    busy = 0;
    done(&w);
}
END_TEST

START_TEST(the_bell_stays_up_where_somebody_does_not_fence)
{
    struct wait w = asleep(false);
    progress_assist(&w);
    progress_spare();
    ck_assert_uint_eq(atomic_load(&node[0].sleeping), 1);
    ck_assert(!progress_is_owed);
    done(&w);
}
END_TEST

START_TEST(the_bell_stays_up_where_another_thread_sleeps)
{
    struct wait w = asleep(true), other = WAIT_INIT;
    int flag = 0;
    progress_assist(&w);
    other.flag = &flag;
    while (other.phase != w.phase)
        wait_poll(&other);
    progress_spare();
    ck_assert_uint_eq(atomic_load(&node[0].sleeping), 1);
    wait_end(&other);
    progress_spare();
    ck_assert_uint_eq(atomic_load(&node[0].sleeping), 0);
    progress_settle();
    done(&w);
}
END_TEST

UNIT_MAIN("assist", it_rests_while_the_program_polls, it_sleeps_through_blocking_calls,
          ringers_fence_where_all_are_helped, a_call_takes_the_bell_down_and_puts_it_up,
          what_a_call_finds_last_it_does_or_leaves_to_the_helper,
          the_bell_stays_up_where_somebody_does_not_fence,
          the_bell_stays_up_where_another_thread_sleeps)
