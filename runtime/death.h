/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Deaths: who of the job has gone, and how that is learnt.
 *
 *     the launcher   sets a word in the rank's record when it reaps a process, counts up the epoch
 *                    of the segment, and wakes everybody (boot_announce in bootseg.h; for a rank
 *                    of another node, as its launcher says, boot_announce_other)
 *     PMIx           tells of other processes in a thread of its own: death_of_stranger
 *     a look         a rank that sleeps watches the next living rank of its node by a pidfd, in
 *                    case nobody else tells (death_watch); not under Valgrind
 *
 * All three end in the epoch, which progress compares: one load per round while nobody has died.
 * Links may find out as well, but that is between them and pml (pml/failure.h).
 */
#ifndef XMPI_DEATH_H
#define XMPI_DEATH_H

#include "runtime/boot.h"

/* Changes whenever somebody of this node, or a stranger, has died. */
static inline uint32_t death_epoch(void)
{
    return atomic_load_explicit(&boot.segment->dead_epoch, memory_order_acquire);
}

/* A process has died, as somebody else says; from any thread.  0, or -1 when memory is out. */
int death_tell(int world);

/* One of the processes on other nodes that were told of since the last call, or -1. */
int death_of_stranger(void);

/* "was killed by signal 9 (Killed)", "exited with code 3", ...: what the word says. */
void death_text(uint32_t dead, char *text, size_t room);

/* Look whether the next living rank of the node still lives, and announce it if not; at most
 * five times a second.  For waits that last. */
void death_watch(void);
void death_close(void);

#endif
