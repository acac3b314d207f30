/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of two means moves bytes between the memory of a peer and ours faster.  What is best depends on the machine
 * and on what a program does with its buffers, so it is measured, per length:
 *
 *     a system call, or a copy where the peer's memory is mapped (pml/shm/reach.c)
 *     the giver writes, or the taker reads (coll/attach_blocks.c)
 *
 * Pure: where the same is told to all ranks, they all choose alike.
 *
 * Pieces of about one length go the same way in runs; the first of a run pays for the change.
 */
#ifndef XMPI_MEANS_H
#define XMPI_MEANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum means { MEANS_FIRST, MEANS_SECOND, MEANS };
enum { MEANS_CLASSES = 8 }; /* up to 8 KiB, 16 KiB, ... 512 KiB, and longer */

struct means_state {       /* zeros: nothing known */
    uint32_t cost[MEANS];  /* 1/16 ticks per KiB */
    uint8_t known[MEANS];  /* samples, up to a few */
    uint8_t now, best;     /* in this run */
    uint8_t taken;         /* pieces in this run */
    uint8_t samples;       /* of them, that count */
    uint16_t wait, left;   /* runs of the best until one of the other */
    uint64_t ticks, bytes; /* of this run */
};
struct means_table {
    struct means_state of[MEANS_CLASSES];
};

/* What the run took that the next piece of so many bytes ends, in ticks: to be put right before that is asked for, where
 * others know it better.  NULL: there is none, or nothing of it counts. */
uint64_t *means_over(struct means_table *table, size_t bytes);

/* For the next piece of so many bytes. */
enum means means_take(struct means_table *table, size_t bytes);

/* It took so long. */
void means_took(struct means_table *table, enum means means, size_t bytes, uint64_t ticks);

/* Is it known what is best? */
bool means_known(const struct means_table *table, size_t bytes);

/* For XMPI_LOG=1: "`what`: up to 64 KiB read (...)", by the names of the means. */
void means_log(const struct means_table *table, const char *what,
               const char *const names[MEANS]);

#endif
