/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks that share CPUs, but whose yields do not reach each other.  The scheduler of Linux makes a
 * group of each session (autogroup), and a yield does not leave its group; so under a launcher that
 * gives each rank a session of its own, only sleeping lets another rank run.
 *
 *     CPU 0    A works    B awake, waits: in A's way, sleeps at once
 *     CPU 1    C awake, waits, alone on its CPU: stays, since a CPU that nobody uses takes ten
 *              times as long to wake as one that changes from rank to rank
 *     asleep   D, E, F
 *
 * To ring a rank that sleeps on another CPU interrupts that one, which costs the ringer 11 us in a virtual machine,
 * ten times as much as a ring on its own.  So where somebody is awake there and waits, it is left to it:
 *
 *     CPU 0    A writes what B and D wait for:    "B, you lend a hand, and D is owed a ring"
 *     CPU 1    B awake, waits, sees both          rings D before it goes on
 *
 * Somebody who was stopped meanwhile rings nobody; those who are owed look up when their nap is over, after 10 to
 * 320 ms.
 *
 * Each rank says in its doorbell which group it is in, and which CPU it was on when it waited
 * last (oncpu.h).  A look at the others costs a load of a line per rank of the node.
 *
 * Groups of containers or jobs (cgroups with shares of their own) are not looked at.
 */
#ifndef XMPI_APART_H
#define XMPI_APART_H

#include <stdbool.h>
#include <stddef.h>

struct doorbell; /* runtime/progress.h */

/* `mine` is our doorbell where ranks share CPUs and tells our group from now on, else NULL: then
 * nobody asks. */
void apart_open(struct doorbell *mine);

/* The doorbells of the `n` ranks of the node, one every `stride` bytes; n = 0: not known. */
void apart_neighbours(const struct doorbell *bells, size_t stride, int n);

/* Is some other rank in another group?  Not all may have told yet. */
enum apart { APART_UNKNOWN, APART_NO, APART_YES };
enum apart apart_find(void);

/* How many of them were on this CPU when they told last? */
int apart_ranks_on(unsigned cpu);

/* From now on our rings fence, and others may rely on it (doorbell.c).  `bell` is ours, NULL: apart_open's. */
void apart_fence(struct doorbell *bell);

/* Do all who may ring our bell fence?  Not all may be known. */
bool apart_all_fence(void);

/* ---- waking each other (apart.c) ---- */

/* From now on our rings may be passed on (doorbell_pass). */
void apart_pass_rings(void);

/* We are awake and wait: whoever is to be woken on our CPU may be left to us, until that is over.
 * Wakes those who have been. */
void apart_lend(void);
void apart_lend_no_more(void);

/* Is another rank awake on the CPU we are on?  Tells that we are here. */
bool apart_is_in_the_way(void);

#endif
