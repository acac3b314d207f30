/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who am I, who else is there, and how do we give up.  Three ways to find out, tried in order:
 *   launcher    the inherited boot segment (XMPI_BOOT); no server, no messages, no waiting
 *   pmix        a PMIx server (Slurm, prterun): libpmix is opened, node leaders share a segment
 *   singleton   neither: one rank, a private segment of the same form
 */
#ifndef XMPI_BOOT_H
#define XMPI_BOOT_H

#include "runtime/bootseg.h"

#include <stdbool.h>

struct boot {
    int rank, size;         /* in MPI_COMM_WORLD */
    int local_rank, nlocal; /* on this node */
    int node, nnodes;
    int appnum, universe; /* -1 where unknown */
    bool crowded;         /* more ranks than CPUs here */
    const char *how;      /* "launcher", "pmix", "singleton" */
    struct boot_header *segment;
};
extern struct boot boot;

/* Find out.  MPI_ERR_OTHER with a text when the environment says we are part of a job but the
 * job cannot be joined: never a silent singleton. */
int boot_open(void);
void boot_close(void);

/* Tell the launcher and the other ranks how far we are. */
void boot_reached(enum boot_state state);

/* End the whole job with this exit code.  The launcher prints the text once. */
void boot_abort(int code, const char *text) __attribute__((noreturn));

/* Local rank of a world rank, or -1 when it lives on another node. */
int boot_local(int world);

static inline struct boot_rank *boot_record(int local)
{
    return bootseg_rank(boot.segment, local);
}

static inline char *boot_area(int local)
{
    return bootseg_area(boot.segment, local);
}

#endif
