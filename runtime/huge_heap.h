/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two ends of the heap, which rarely lie where a block of 2 MiB ends: such a block has memory in part only, and
 * cannot be moved to a large page (huge.h).  A heap of less than 2 MiB is nothing but ends.
 *
 *     block      |                 block         |                 block          |
 *     heap           |first malloc ......... program break|
 *     made whole |gap|                                    | space for malloc       |
 *
 * The gap below is mapped, which nobody but the kernel's brk could use; above, the allocator is given so much to do
 * that it has the heap grow, and keeps the space.
 */
#ifndef XMPI_HUGE_HEAP_H
#define XMPI_HUGE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Is this a block that the heap has a part of, and has it all of it now?  Memory of it that was there stays as it
 * is.  False also where it had all of it before. */
bool huge_heap_fill(uintptr_t block, uintptr_t bytes);

#endif
