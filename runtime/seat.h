/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where ranks share CPUs: which CPU a rank had better be on, by whom it waits or copies for.
 *
 *     short messages    a CPU for each of the two: both poll, and answer in a tenth of what a switch
 *                       takes (runtime/partner.h)
 *     copies            one CPU for both: while one copies the other has nothing to do, and what it
 *                       wrote lies in the cache of that CPU
 *
 * 16 KiB to and fro, 4, 8 and 16 ranks on 2 CPUs: 0.5, 0.75 and 0.8 of the time.
 *
 * One of the two asks the scheduler for another CPU, when it has waited or copied for the same rank many times
 * in a row with hardly any work in between.  It does so rarely, more rarely where it is soon moved back, and is
 * left free to be moved again.  Nobody leaves a CPU that would be without ranks, nor goes where more are; so
 * pairs spread over the CPUs, and do not heap up on one.
 */
#ifndef XMPI_SEAT_H
#define XMPI_SEAT_H

struct doorbell; /* runtime/progress.h */

/* `mine` is our doorbell, which tells where we run (oncpu.h).  NULL: nobody moves. */
void seat_open(const struct doorbell *mine);

/* A wait for the rank with this doorbell is about to yield. */
void seat_apart(const struct doorbell *whom);

/* Memory was copied for messages to or from that rank, and no other, COPIES_IN_A_ROW times (partner.h). */
void seat_together(const struct doorbell *whom);

#endif
