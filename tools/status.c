/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi status: the launcher knows how to look into jobs (launcher/peek.c), so it becomes
 * xmpirun --status.
 */
#include "tools/status.h"

#include "tools/beside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int usage(FILE *to, int code)
{
    fputs("usage: xmpi status [JOB]\n\n"
          "Says of each rank of the jobs that run here which call it is in, what that waits "
          "for, for\n"
          "how long and at which line of the program, and why nothing moves; as xmpirun "
          "--status\n"
          "does.  The jobs do not notice.\n\n"
          "  JOB   only this one: its number, or the process number of its xmpirun or of a "
          "rank\n",
          to);
    return code;
}

int status_main(int argc, char **argv)
{
    char self[BESIDE_CHARS], launcher[BESIDE_CHARS];
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return usage(stdout, 0);
    if (argc > 2 || (argc > 1 && *argv[1] == '-')) {
        fprintf(stderr, "xmpi status: %s is not understood\n\n", argv[argc - 1]);
        return usage(stderr, 2);
    }
    if (!beside_find("status", self, launcher))
        return 1;
    execl(launcher, launcher, "--status", argc > 1 ? argv[1] : NULL, (char *)NULL);
    fprintf(stderr, "xmpi status: cannot start %s: %s\n", launcher, strerror(errno));
    return 1;
}
