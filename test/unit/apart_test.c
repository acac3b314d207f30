/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rings that are left to somebody on the sleeper's CPU: three ranks of a node, of which this
 * process is one after the other.
 */
#include "runtime/apart.h"
#include "runtime/oncpu.h"
#include "runtime/progress.h"
#include "test/unit/unit.h"

#include <string.h>

enum { RINGER, LENDER, SLEEPER, RANKS };
enum { NEAR = 3, FAR = 5 }; /* CPUs */

static struct doorbell bells[RANKS];

static void be(int rank)
{
    apart_open(&bells[rank]);
    apart_neighbours(bells, sizeof bells[0], RANKS);
    apart_pass_rings();
}

/* The ringer here, the other two there; who lends a hand does. */
static void lay_out(void)
{
    memset(bells, 0, sizeof bells);
    be(LENDER);
    apart_lend();
    be(RINGER);
    oncpu_tell(&bells[RINGER], NEAR);
    oncpu_tell(&bells[LENDER], FAR);
    oncpu_tell(&bells[SLEEPER], FAR);
    bells[SLEEPER].sleeping = 1;
}

/* It is the lender's turn, who has been told what it has. */
static void be_lender(void (*act)(void))
{
    uint32_t told = bells[LENDER].lends;
    be(LENDER);
    bells[LENDER].lends = told;
    act();
}

static bool was_rung(void)
{
    return !bells[SLEEPER].sleeping && bells[SLEEPER].bell == 1;
}

START_TEST(a_ring_is_left_to_who_is_awake_there)
{
    lay_out();
    doorbell_ring(&bells[SLEEPER]);
    ck_assert(!was_rung());
    doorbell_ring(&bells[SLEEPER]); /* by two of them: the lender knows already */
    ck_assert(!was_rung());
    be_lender(apart_lend);
    ck_assert(was_rung());
    ck_assert_uint_eq(bells[SLEEPER].owed, 0);
    ck_assert_uint_eq(bells[LENDER].lends != 0, 1); /* and goes on lending */
}
END_TEST

START_TEST(who_stops_waiting_rings_first)
{
    lay_out();
    doorbell_ring(&bells[SLEEPER]);
    be_lender(apart_lend_no_more);
    ck_assert(was_rung());
    ck_assert_uint_eq(bells[LENDER].lends, 0);
}
END_TEST

START_TEST(without_anybody_there_the_ringer_rings)
{
    lay_out();
    bells[LENDER].lends = 0; /* computes */
    doorbell_ring(&bells[SLEEPER]);
    ck_assert(was_rung());

    lay_out();
    oncpu_tell(&bells[LENDER], NEAR + 1); /* waits elsewhere */
    doorbell_ring(&bells[SLEEPER]);
    ck_assert(was_rung());

    lay_out();
    oncpu_tell(&bells[SLEEPER], NEAR); /* on the ringer's own CPU */
    doorbell_ring(&bells[SLEEPER]);
    ck_assert(was_rung());

    lay_out();
    bells[SLEEPER].runs = 0; /* nobody knows where */
    doorbell_ring(&bells[SLEEPER]);
    ck_assert(was_rung());
}
END_TEST

/* A ring that could not be left to anybody is forgotten: nobody rings that rank again for it. */
START_TEST(what_was_rung_is_owed_no_more)
{
    lay_out();
    bells[LENDER].lends = LENDS_NOT;
    doorbell_ring(&bells[SLEEPER]);
    ck_assert(was_rung());
    bells[SLEEPER].sleeping = 1;
    be(LENDER);
    bells[LENDER].lends = LENDS_TO_SOMEBODY;
    apart_lend();
    ck_assert_uint_eq(bells[SLEEPER].sleeping, 1);
    ck_assert_uint_eq(bells[SLEEPER].bell, 1);
}
END_TEST

/* Who is rung whether it sleeps or not is rung. */
START_TEST(who_is_awake_is_not_left_to_others)
{
    lay_out();
    bells[SLEEPER].sleeping = 0;
    doorbell_wake(&bells[SLEEPER]);
    ck_assert_uint_eq(bells[SLEEPER].bell, 1);
}
END_TEST

UNIT_MAIN("apart", a_ring_is_left_to_who_is_awake_there, who_stops_waiting_rings_first,
          without_anybody_there_the_ringer_rings, what_was_rung_is_owed_no_more,
          who_is_awake_is_not_left_to_others)
