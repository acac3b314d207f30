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
    int number;          /* of the job */
    int beside;          /* ranks of other jobs on this host */
    bool pty;            /* the user sees it on a terminal */
    struct strings busy; /* "RANKS HOST", for each job that has ranks on several hosts */
    bool
        serves; /* its ranks do not find a PMIx server at xmpirun: the first job is on several hosts */
    const char *family,
        *parent; /* names of the first job, and of the caller's, as PMIx has them */
    int parent_rank;
};

/* Ranks of other jobs on a host; NULL: on this one. */
int wish_taken(const struct wish *wish, const char *host);

/* What PMIx calls a job of this wish. */
void wish_name(const struct wish *wish, char *name, size_t room);

void wish_pack(const struct wish *wish, struct pack *pack);

/* Points into the bytes, and to memory that is never freed.  False: they make no sense. */
bool wish_take(struct unpack *from, struct wish *wish);

/* Forget the lists, not the texts in them. */
void wish_free(struct wish *wish);

#endif
