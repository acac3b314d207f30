/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the end of one rank means for the job.  Pure.
 */
#ifndef XMPI_LAUNCHER_VERDICT_H
#define XMPI_LAUNCHER_VERDICT_H

#include "runtime/bootseg.h"

#include <stdbool.h>
#include <stddef.h>

struct ending {            /* of one rank */
    int wait_status;       /* as from waitpid */
    enum boot_state state; /* how far it got in MPI */
    bool wrapped;          /* the MPI process was a descendant, not the process we started */
    bool others_in_mpi;    /* some other rank is between MPI_Init and MPI_Finalize */
    bool in_session;       /* it is in MPI by a session alone */
};

enum reaction {
    REACTION_NONE,      /* a good end */
    REACTION_NOTE,      /* a bad one, but the others can go on; it counts for the exit code */
    REACTION_STOP,      /* stop the job now */
    REACTION_STOP_SOON, /* give the others a moment to end by themselves, then stop */
};

struct verdict {
    enum reaction reaction;
    int code;   /* exit code of the job if this is its first failure */
    int signal; /* that killed the rank; 0: it exited */
};

struct verdict verdict_of(const struct ending *ending);

/* "was killed by signal 9 (Killed)", "exited with code 3", "ended without MPI_Finalize". */
void verdict_text(const struct ending *ending, char *text, size_t room);

/* Exit code for MPI_Abort(code): the low 8 bits, but never 0. */
int abort_exit_code(int code);

#endif
