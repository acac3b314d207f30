/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1 /* CPU_SET */
#include "runtime/oncpu.h"
#include "runtime/partner.h"

#include "test/unit/unit.h"

#include <sched.h>
#include <unistd.h>

static struct doorbell bells[2]; /* ours and the partner's */

static unsigned bind_here(void)
{
    unsigned here = (unsigned)sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(here, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    return here;
}

static unsigned open_here(void)
{
    unsigned here = bind_here();
    partner_open(&bells[0]);
    return here;
}

START_TEST(nobody_waits_for_nobody)
{
    partner_open(NULL);
    partner_is(&bells[1]);
    oncpu_tell(&bells[1], 1 + bind_here());
    ck_assert(!partner_may_answer(0)); /* ranks do not share CPUs */
    partner_open(&bells[0]);
    ck_assert(!partner_may_answer(0)); /* nothing was sent */
    partner_missed(0);
}
END_TEST

START_TEST(a_partner_on_another_cpu_may_answer)
{
    unsigned here = open_here();
    ck_assert(oncpu_is(&bells[0], here));
    partner_is(&bells[1]);
    ck_assert(!partner_may_answer(0)); /* it never told */
    oncpu_tell(&bells[1], here + 1);
    ck_assert(partner_may_answer(0));
    ck_assert(partner_may_answer(100));
    ck_assert(!partner_may_answer(100000));
    oncpu_leave(&bells[1]);
    ck_assert(!partner_may_answer(0));
    oncpu_tell(&bells[1], here);
    ck_assert(!partner_may_answer(0));
}
END_TEST

START_TEST(spinning_in_vain_is_given_up)
{
    unsigned here = open_here();
    partner_is(&bells[1]);
    oncpu_tell(&bells[1], here + 1);
    int waits = 0, spins = 0;
    for (; waits < 1280; waits++) {
        bool spin = partner_may_answer(0);
        spins += spin;
        partner_missed(spin ? 100000 : 0);
    }
    ck_assert_int_ge(spins, 8);
    ck_assert_int_le(spins, 20);
    partner_answered();
    ck_assert(partner_may_answer(0));
}
END_TEST

/* Waits that yielded for other reasons are no reason to give up. */
START_TEST(a_partner_that_did_not_run_may_answer_later)
{
    unsigned here = open_here();
    partner_is(&bells[1]);
    for (int i = 0; i < 50; i++)
        partner_missed(1);
    oncpu_tell(&bells[1], here + 1);
    ck_assert(partner_may_answer(0));
}
END_TEST

/* One in a few waits stays while the partner waits for another CPU.  How often, of so many? */
static int lingers(int waits, bool answered, int together_us)
{
    int n = 0;
    for (int i = 0; i < waits; i++) {
        bool stays = partner_may_answer(50);
        n += stays;
        if (stays && answered)
            partner_answered();
        if (stays && together_us)
            usleep((useconds_t)together_us);
        ck_assert(stays == false || answered || partner_may_answer(900));
        ck_assert(answered || !partner_may_answer(100000));
        partner_missed(stays ? 1000 : 50);
    }
    return n;
}

START_TEST(who_waits_for_the_partners_turn_meets_it)
{
    unsigned here = open_here();
    partner_is(&bells[1]);
    oncpu_tell(&bells[1], here + 1);
    oncpu_leave(&bells[1]);
    ck_assert_int_eq(lingers(400, true, 1000), 100); /* they stay together for a while */
    ck_assert_int_le(lingers(4000, true, 0), 200);   /* it went away at once */
    partner_open(&bells[0]);
    partner_is(&bells[1]);
    int rarely = lingers(4000, false, 0); /* it never came */
    ck_assert_int_ge(rarely, 10);
    ck_assert_int_le(rarely, 30);
    ck_assert_int_le(lingers(10240, false, 0), 11);
}
END_TEST

START_TEST(nobody_waits_for_a_turn_on_its_own_cpu)
{
    unsigned here = open_here();
    partner_is(&bells[1]);
    oncpu_tell(&bells[1], here);
    oncpu_leave(&bells[1]);
    ck_assert_int_eq(lingers(100, false, 0), 0);
}
END_TEST

START_TEST(longer_messages_make_companions)
{
    unsigned here = open_here();
    oncpu_tell(&bells[1], here + 1);
    partner_is(&bells[1]);
    partner_copies(&bells[1]);
    ck_assert(!partner_may_answer(0)); /* no spin while it copies */
    partner_is(&bells[1]);
    ck_assert(partner_may_answer(0));
    for (int i = 0; i < 10; i++)
        partner_copies(&bells[1]);
    uint32_t row = companion_copies;
    partner_copies(&bells[0]);
    ck_assert_uint_eq(row, 10);
    ck_assert_uint_eq(companion_copies,
                      0); /* in rings and pipelines it is somebody else each time */
    partner_crowd(4, 2);
    size_t few = partner_most;
    ck_assert_uint_eq(partner_most_alone, few);
    partner_crowd(16, 2);
    size_t many = partner_most;
    ck_assert_uint_gt(many, few);
    partner_is_apart();
    ck_assert_uint_gt(partner_most, many);
    ck_assert_uint_ge(partner_most_alone, partner_most);
    partner_crowd(4, 2); /* others come, and these stay apart */
    ck_assert_uint_gt(partner_most, many);
    partner_open(&bells[0]);
    ck_assert_uint_eq(partner_most, few);
}
END_TEST

static void turns(int n, uint64_t ns)
{
    while (n > 0)
        if (partner_times_yield()) {
            partner_yielded(ns);
            n--;
        }
}

/* Two CPUs are better for a message alone if it takes long until the others had their turns on one. */
START_TEST(turns_may_be_dear)
{
    open_here();
    partner_crowd(8, 2);
    turns(15, 4 * 1500);
    ck_assert_uint_eq(partner_most_alone, partner_most); /* not known yet */
    turns(1000, 100);                                    /* nobody else was there */
    ck_assert_uint_eq(partner_most_alone, partner_most);
    turns(1, 4 * 1500);
    ck_assert_uint_gt(partner_most_alone, partner_most);
    turns(1, 4 * 900);
    ck_assert_uint_eq(partner_most_alone, partner_most);
    turns(5, 4000000); /* somebody works */
    ck_assert_uint_eq(partner_most_alone, partner_most);
    turns(1000, 4 * 2000);
    ck_assert_uint_gt(partner_most_alone, partner_most);
    partner_open(&bells[0]);
    ck_assert_uint_eq(partner_most_alone, partner_most);
}
END_TEST

UNIT_MAIN("partner", nobody_waits_for_nobody, a_partner_on_another_cpu_may_answer,
          spinning_in_vain_is_given_up, a_partner_that_did_not_run_may_answer_later,
          who_waits_for_the_partners_turn_meets_it, nobody_waits_for_a_turn_on_its_own_cpu,
          longer_messages_make_companions, turns_may_be_dear)
