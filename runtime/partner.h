/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where ranks exceed CPUs: the rank that we sent to last is likely to be the one that we wait for.
 * Two that have a CPU each at the same time answer each other in a tenth of what a switch takes.
 *
 *     CPU 0    a ping        a ping        a ... until the scheduler takes one of the CPUs away;
 *     CPU 1      b pong        b pong        then the next two
 *
 * So while the partner runs on another CPU a wait goes on spinning, and does not yield, for about as
 * long as a few switches take; unless that was in vain several times, then it is tried now and
 * then.  While it does not run, one in a few waits lingers: for as long as the ranks on the partner's
 * CPU need for a turn each, so that it comes, finds us running, and both stay.
 *
 * Partners that find themselves on one CPU again and again never run at the same time: one
 * of them moves (runtime/seat.h).
 *
 * Copying more than a few KiB is work that two CPUs do one after the other, so nobody spins for it, and
 * the two had better be on one CPU: they are companions.  16 KiB to and fro among 4 to 16 ranks take 1.1 to
 * 1.35 of the time with a spin, and 0.5 to 0.8 on one CPU.  Messages of 4 KiB alone are better on two
 * where a turn of another rank takes long, 0.55 to 0.8 of the time (AMD EPYC); windows of them on one, 0.5.
 */
#ifndef XMPI_PARTNER_H
#define XMPI_PARTNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct doorbell; /* runtime/progress.h */

/* NULL: nobody.  A partner is spun for, a companion (see above) is not. */
extern struct doorbell *partner __attribute__((visibility("hidden")));
extern struct doorbell *companion __attribute__((visibility("hidden")));
extern uint32_t companion_copies __attribute__((visibility("hidden"))); /* for it, in a row */
enum { COPIES_IN_A_ROW = 64 };

/* Bytes that a partner is sent at most in a packet; in a message that neither follows others nor is followed. */
extern size_t partner_most __attribute__((visibility("hidden")));
extern size_t partner_most_alone __attribute__((visibility("hidden")));

/* A short message goes to the rank with this doorbell. */
static inline void partner_is(struct doorbell *bell)
{
    partner = bell;
}

/* COPIES_IN_A_ROW for the same one. */
void partner_copied(void);

/* Memory is copied for a message to or from it, by both or by who receives it. */
static inline void partner_copies(struct doorbell *bell)
{
    partner = NULL;
    companion_copies = companion == bell ? companion_copies + 1 : 0;
    companion = bell;
    if (__builtin_expect(companion_copies == COPIES_IN_A_ROW, 0))
        partner_copied();
}

/* `mine` is our doorbell where ranks share CPUs, else NULL: then there are no partners. */
void partner_open(struct doorbell *mine);

/* So many ranks of this node share so many CPUs. */
void partner_crowd(int ranks, int cpus);

/* Yields do not reach the others (apart.h), so a switch is a sleep and a wake. */
void partner_is_apart(void);

/* We run: before a wait, or after a yield.  We are about to yield. */
void partner_tell(void);
void partner_leave(void);

/* Is this yield to be timed?  It was. */
bool partner_times_yield(void);
void partner_yielded(uint64_t ns);

/* Is it better to poll on, after so many polls in vain, than to yield? */
bool partner_may_answer(uint32_t polls);

/* The wait yields after so many polls; it was over after more than usual without a yield. */
void partner_missed(uint32_t polls);
void partner_answered(void);

#endif
