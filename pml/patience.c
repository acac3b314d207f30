/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How long a message that no receive wants yet may stay in the memory of its link.
 *
 * There it costs nothing, holds up its sender when that has used up what it may, and goes straight to the
 * buffer of its receive; taken out it is copied once more, into memory that has no bound.  But it is in the way
 * of what the same sender has sent after it, and that may be what is waited for.  So it stays as long as there is
 * something else to do, and for a few rounds in which there is not: the more of them, the more has been taken
 * already, and then little at a time; but all when it comes to sleeping, or some have stayed for a millisecond.
 * Short messages (up to 4 KiB), which are as quickly taken as looked at, stay only when much has been taken, and
 * not for long: a million of them may be in front of what is waited for.
 *
 *     a root that receives from many, of which one is late: the others are some chunks ahead, not more
 *     a receive for the last of 60 messages of one sender: the others are taken as soon as nothing else moves
 */
#include "pml/failure.h"
#include "pml/link.h"
#include "pml/pml.h"
#include "runtime/clock.h"
#include "runtime/progress.h"

#include <stddef.h>
#include <stdint.h>

/* Twice as many rounds for each MiB that was taken and waits for receives. */
enum { ROUNDS = 2, MOST_MIBS = 10, MOST_MIBS_SHORT = 2, LITTLE = 64 /* KiB */ };

static const uint64_t LONG_NS = 1000000;

static uint32_t rounds; /* in a row that found nothing else */
static uint64_t since;  /* some have stayed in each round; 0: none in the last one */
static bool takes_all;  /* in this round */

/* Who sleeps is not woken once more by what is here already. */
int patience_allows(bool is_short)
{
    if (takes_all || waits_asleep > 0 || troubles > 0 ||
        (since > 0 && clock_ns() - since > LONG_NS))
        return PATIENCE_ALL;
    size_t mibs = arrived_held / PATIENCE_MUCH, most = is_short ? MOST_MIBS_SHORT : MOST_MIBS;
    if (rounds < (uint32_t)ROUNDS << (mibs < most ? mibs : most))
        return 0;
    return mibs > 0 && !is_short ? LITTLE : PATIENCE_ALL;
}

void patience_round(bool stayed, int packets)
{
    rounds = stayed && packets == 0 ? rounds + 1 : 0;
    since = !stayed ? 0 : since > 0 ? since : clock_ns();
}

int pml_take_all(void)
{
    takes_all = true;
    int events = progress();
    takes_all = false;
    return events;
}
