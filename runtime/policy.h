/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How patient a wait is: how long it spins, how long it yields, how long it naps.  One policy for
 * the process, chosen from what surrounds it and from the knobs XMPI_SPIN and XMPI_POLITE; the waits
 * themselves are in wait.c.
 *
 * With a CPU per rank a wait spins for some 50-100 us and sleeps after a millisecond of yields.
 * Where ranks exceed CPUs a yield hands the CPU to a rank that has work (1-3 us), a wake-up costs
 * 10-80 us, so it goes on yielding for 2 ms.  Unless yields come back at once: then nobody else
 * wants this CPU or, in a session (scheduler autogroup) of our own, yields do not reach the others,
 * and it sleeps soon.
 *
 * How long it spins there is learnt.  Two partners who happen to have a CPU each at the same time
 * answer each other in a tenth of what a switch takes, so it pays to stay; others spin in vain.
 * So waits that end while spinning make the next ones spin longer, those that do not shorter;
 * and who waits for one rank that runs on another CPU stays longer (partner.h).
 *
 * Launchers that give each rank a session of its own also give it a scheduler group of its own,
 * and a yield does not leave the group.  Such a rank does not yield: it sleeps as soon as another
 * rank is awake on its CPU, and else stays awake for a moment (apart.h).
 */
#ifndef XMPI_POLICY_H
#define XMPI_POLICY_H

#include <stdbool.h>
#include <stdint.h>

struct policy {
    uint32_t spin;         /* polls before the first yield */
    uint32_t looks;        /* of a caller for itself, before it waits */
    uint64_t awake_ns;     /* yields for so long before it sleeps */
    uint64_t impatient_ns; /* the same when yields come back at once */
    uint64_t nap_ns;       /* timeout of the first sleep */
    int nap_growth;        /* each is so many doublings longer than the one before */
    bool learns;           /* crowded: `spin` follows what waits find */
    bool apart;            /* yields do not reach the others */
};
/* Hidden already where it is declared: each round of progress reads it, and so finds it directly. */
extern struct policy policy __attribute__((visibility("hidden")));

/* The number of polls before the first yield that is never gone below, where ranks exceed CPUs. */
enum { CROWDED_LEAST = 1 };

/* Choose: `crowded` says that ranks exceed CPUs on this node, `barrier` that the kernel has what
 * makes long sleeps safe (doorbell.c). */
void policy_open(bool crowded, bool barrier);

/* Where it learns: a wait stopped spinning (`missed`) or was over before. */
void policy_learn(bool missed);

/* Has a wait been awake for long enough, after so many yields? */
bool policy_is_long(uint64_t idle_ns, uint32_t yields);

/* How long is the sleep after so many that brought nothing? */
uint64_t policy_nap_ns(uint32_t naps);

/* Do yields reach the others?  Asked by waits that begin to yield, until all have told. */
void policy_ask_who_is_apart(void);

/* Are rings of the doorbell ordered by who rings it, so that arming needs no barrier? */
bool policy_all_fence(void);

#endif
