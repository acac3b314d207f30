/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pages of 2 MiB under memory of ours that other processes copy by system calls.
 *
 * process_vm_readv pins the pages of the other process one by one.  In pages of 4 KiB that is more work than the
 * copy itself: 1 MiB takes 80 us, 8 MiB 980; in pages of 2 MiB 39 and 380 (AMD EPYC, Linux 6.18; 32 KiB
 * 4.2 and 2.7).  Only the side that did not make the call counts.  So the owner of memory that was reached
 * often enough has the kernel move it to such pages (MADV_COLLAPSE, Linux 6.1), where the kernel does not do it by
 * itself.  Contents, addresses and rights stay as they are.
 *
 * When: moving a block of 2 MiB takes some 100 to 600 us, on a virtual machine whose host has to find the memory 5
 * ms (the processor's time, which is measured), and saves some 120 ns for each page of each later copy.  So a
 * block is moved when its pages have cost half of what moving will (four times as much where ranks exceed CPUs, as
 * it delays others), and all moving together takes a quarter of the time at most; whoever uses its memory a few
 * times only, or gives it back each time, pays next to nothing.  The time that nothing was moved counts, too: the
 * blocks of a window become due at once, and with a rest after each it would take as many windows until all are
 * moved.  A block that was moved is tried again after 4 times as many pages, as it may be other memory by then:
 * programs free a buffer and get the next one at the same addresses.  Where it is the same the kernel has nothing
 * to do, and it stays at 4 times; where it was other memory, it is 4 times as many again, so that what is given
 * back each time costs less and less.  One that cannot be moved is tried after 16 times as many.  When failures
 * have taken too long in all there are no more tries.
 *
 * What it can cost: a block is moved as a whole, so parts of it that were never touched, or that an allocator has
 * given back to the kernel, become memory; and all of it comes to lie on one NUMA node, the one that most of it lies
 * on.  Where the heap or another mapping has a part of a block only it is given the rest first (huge_heap.h,
 * huge_gap.h): address space, which is memory from then on, so that the mapping cannot grow in place, and who writes
 * past its end may not be stopped there.  XMPI_HUGE_PAGES=no turns it off, and so does an administrator who allows
 * no such pages at all (/sys/kernel/mm/transparent_hugepage/enabled).
 */
#ifndef XMPI_HUGE_H
#define XMPI_HUGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HUGE_BLOCK = 2 << 20,
    HUGE_PAGE = 4096,
    HUGE_SAVES_NS = 120,    /* per page and copy */
    HUGE_FIRST_NS = 600000, /* that moving a block is taken to take, until one was moved */
    HUGE_RECENT = 4,        /* then what it took of late counts: so much of it the last one */
    HUGE_PARTS = 1,         /* of HUGE_WHOLE: half of what moving takes, */
    HUGE_PARTS_CROWDED = 8, /* or four times as much where ranks exceed CPUs */
    HUGE_WHOLE = 2,
    HUGE_LEAST_NS = 100000,    /* quicker: there was nothing to do */
    HUGE_WASTE_NS = 200000000, /* that failures may take in all */
    HUGE_ENTRIES = 4096,       /* blocks that are counted at a time */
    HUGE_RESTS = 3,            /* after a try, times what it took, */
    HUGE_SAVED_NS = 128000000, /* but rests of so long may be made in advance */
    HUGE_MOST_TRIES = 24
};

/* ---- the count; pure ---- */

struct huge_block {
    uintptr_t number; /* address / HUGE_BLOCK; 0: none */
    uint32_t pages;   /* reached since it was tried */
    uint8_t tries;
};
struct huge_count {
    struct huge_block block[HUGE_ENTRIES];
    uint64_t parts;  /* of what a move takes, that copies must have cost */
    uint64_t ns;     /* of the processor, that moving a block takes */
    uint64_t wasted; /* ns that failures have taken */
    uint64_t rests;  /* until then, in ns */
};

enum huge_outcome {
    HUGE_MOVED,
    HUGE_BUSY,
    HUGE_NEVER
}; /* BUSY: somebody is copying it, or has it pinned */

void huge_begin(struct huge_count *count, bool crowded);

/* So many pages of a block were reached, or are about to be.  NULL, or the block had better be moved now. */
struct huge_block *huge_due(struct huge_count *count, uintptr_t number, uint32_t pages);

/* Time has come for another try. */
bool huge_may(const struct huge_count *count, uint64_t now);

/* It was tried, which took so much of the processor's time, until now.  True: it was moved. */
bool huge_tried(struct huge_count *count, struct huge_block *block, enum huge_outcome outcome,
                uint64_t ns, uint64_t now);

/* ---- and the memory ---- */

void huge_open(bool crowded); /* do ranks exceed CPUs? */
void huge_close(void);        /* XMPI_LOG=1: how many blocks were moved */

/* Another process is told of these bytes, and may copy from or to them.  By whoever holds the engine. */
void huge_reached(const void *memory, size_t bytes);

extern uint64_t huge_moved; /* blocks */

#endif
