/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread that only helps (progress_assist): when it sleeps on the doorbell, what for, and what it costs those who
 * ring.
 */
#include "runtime/param.h"
#include "runtime/progress.h"

#include "test/unit/unit.h"

#include <stdlib.h>

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

UNIT_MAIN("assist", it_rests_while_the_program_polls, it_sleeps_through_blocking_calls,
          ringers_fence_where_all_are_helped)
