/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The exit policy.
 *
 *     end of a rank          not in MPI yet        inside MPI              after MPI_Finalize
 *     exit 0                 fine                  stop soon, code 1       fine
 *     exit N                 noted, code N         stop, code N            noted, code N
 *                            (stop, if others
 *                            wait inside MPI)
 *     signal S               stop, code 128 + S    stop, code 128 + S      stop, code 128 + S
 *
 * A program that never calls MPI_Init is an ordinary program: its failure does not concern the
 * others.  A shell around the program reports a signal as exit code 128 + S; inside MPI that is
 * read as the signal it was.
 */
#include "launcher/verdict.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The signal that ended the MPI process, directly or below a shell. */
static int signal_of(const struct ending *e)
{
    if (WIFSIGNALED(e->wait_status))
        return WTERMSIG(e->wait_status);
    int code = WEXITSTATUS(e->wait_status);
    bool shell_says_so =
        e->wrapped && e->state == BOOT_INITED && code > 128 && code < 128 + NSIG;
    return shell_says_so ? code - 128 : 0;
}

struct verdict verdict_of(const struct ending *e)
{
    int signal = signal_of(e);
    if (signal)
        return (struct verdict){ REACTION_STOP, 128 + signal, signal };
    int code = WEXITSTATUS(e->wait_status);
    if (code == 0)
        return e->state == BOOT_INITED ? (struct verdict){ REACTION_STOP_SOON, 1, 0 }
                                       : (struct verdict){ REACTION_NONE, 0, 0 };
    bool stop = e->state == BOOT_INITED || (e->state == BOOT_STARTED && e->others_in_mpi);
    return (struct verdict){ stop ? REACTION_STOP : REACTION_NOTE, code, 0 };
}

void verdict_text(const struct ending *e, char *text, size_t room)
{
    int signal = signal_of(e), code = WEXITSTATUS(e->wait_status);
    const char *core =
        WIFSIGNALED(e->wait_status) && WCOREDUMP(e->wait_status) ? ", core dumped" : "";
    const char *forgot = e->in_session ? " without calling MPI_Session_finalize"
                                       : " without calling MPI_Finalize";
    if (signal)
        snprintf(text, room, "was killed by signal %d (%s%s)", signal, strsignal(signal), core);
    else if (code)
        snprintf(text, room, "exited with code %d%s", code,
                 e->state == BOOT_INITED ? forgot : "");
    else
        snprintf(text, room, "ended%s", forgot);
}

int abort_exit_code(int code)
{
    return code & 255 ? code & 255 : 1;
}
