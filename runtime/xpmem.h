/* SPDX-License-Identifier: BSD-3-Clause
 *
 * XPMEM's library, opened when it is first asked for: where /dev/xpmem may be opened libxpmem.so.0, or
 * whatever XMPI_LIBXPMEM names (tests have one that pretends, test/xpmem).
 *
 * What the kernel's module promises (hjelmn/xpmem, module 2.6.5, kernel/): an attachment is a view of addresses of
 * its owner, not of pages.  Pages come by faults, 4 KiB each, pinned, and go when the owner unmaps or forks
 * (an mmu notifier); the next access sees what lies at the address then.  Where nothing lies, or the owner
 * has died, it is a SIGBUS.  So an attachment never has to be checked, and may be kept; whole or not at
 * all: who unmaps a part of one is killed.
 */
#ifndef XMPI_XPMEM_H
#define XMPI_XPMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

struct xpmem_addr { /* as xpmem.h has it */
    int64_t apid;
    off_t offset;
};

struct xpmem {
    int64_t (*make)(void *at, size_t size, int permit_type, void *permit_value);
    int64_t (*get)(int64_t segment, int flags, int permit_type, void *permit_value);
    int (*release)(int64_t permit);
    void *(*attach)(struct xpmem_addr addr, size_t size, void *at);
    int (*detach)(void *at);
};

#define XPMEM_WHOLE SIZE_MAX /* all of an address space */
enum { XPMEM_BY_MODE = 1, XPMEM_READ_WRITE = 2, XPMEM_OWNER = 0600 };

/* Is it wanted, and is there anything to open?  By the values of XMPI_SHM_SINGLE_COPY and XMPI_LIBXPMEM, NULL where
 * they are not set.  For whoever makes a boot segment, which tells all ranks of a node. */
static inline bool xpmem_may_be(const char *wish, const char *library)
{
    if (wish && (!strcmp(wish, "none") || !strcmp(wish, "cma")))
        return false;
    return (library && *library) || access("/dev/xpmem", R_OK | W_OK) == 0;
}

/* NULL: *why is a clause that says so. */
const struct xpmem *xpmem_open(const char **why);

#endif
