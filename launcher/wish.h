/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a process wants to have spawned: programs, and options as on a command line.
 */
#ifndef XMPI_LAUNCHER_WISH_H
#define XMPI_LAUNCHER_WISH_H

#include "launcher/cli.h"

struct pack;
struct unpack;

struct wish {
    struct strings options; /* of the whole job, as words of a command line */
    bool own_hosts;   /* with hosts among them: those of xmpirun's command line do not count */
    struct app *apps; /* argv, np, wdir, and of env set and unset */
    int napps;
    /* said by xmpirun */
    int number; /* of the job */
    int beside; /* ranks of other jobs on this host */
    bool pty;   /* the user sees it on a terminal */
};

void wish_pack(const struct wish *wish, struct pack *pack);

/* Points into the bytes, and to memory that is never freed.  False: they make no sense. */
bool wish_take(struct unpack *from, struct wish *wish);

/* Forget the lists, not the texts in them. */
void wish_free(struct wish *wish);

#endif
