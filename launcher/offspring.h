/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Spawned jobs, as xmpirun sees them.  Each has a launcher of its own, a child of this one, which
 * started as `xmpirun --spawned` (spawned.c) and plans, starts, watches and ends its ranks as this one
 * does with its own.
 */
#ifndef XMPI_LAUNCHER_OFFSPRING_H
#define XMPI_LAUNCHER_OFFSPRING_H

#include "launcher/job.h"

struct letters;
struct offspring;
struct pack;
struct wish;

struct offspring_events {
    /* `job` says what it will be, and no rank runs: offspring_go or offspring_refuse. */
    void (*ready)(struct offspring *child);
    void (*started)(struct offspring *child);
    void (*gone)(struct offspring *child, int rank, int wait_status);
    /* Its launcher has ended, as from waitpid; `child` is forgotten after this. */
    void (*ended)(struct offspring *child, int wait_status);
};

struct offspring {
    struct offspring *next;
    const struct offspring_events *events;
    void *owner; /* whatever the events want to find here */
    int number;  /* of the job: 2, 3, .. */
    pid_t pid;   /* of its launcher; 0: it has ended */
    bool introduced, started;
    bool serves; /* its clients have PMIx servers of their own: then nothing of below is here */
    struct watch watch;      /* the way to it */
    struct letters *letters; /* mail for its launchers, and from them */
    /* On several hosts: ranks of each one as in wish.h, and of this one. */
    struct strings busy;
    int here;
    /* From its hello: segment, psets, nranks, running; and as parts of its plan and options what is
     * asked for here: who runs which program, and places. */
    struct job job;
    struct plan plan;
    struct options options;
    size_t mapped; /* bytes of the segment */
};

/* Start a launcher for it; NULL after a complaint.  `wish`: number, beside and pty are filled in. */
struct offspring *offspring_start(struct job *job, struct wish *wish,
                                  const struct offspring_events *events, void *owner);

/* Its ranks may start, all with these variables (NAME=VALUE, up to NULL), or with none (NULL). */
void offspring_go(struct offspring *child, char *const *variables);
void offspring_refuse(struct offspring *child, const char *why);

/* Send it a letter; false: its clients are ours, or it has ended. */
bool offspring_letter(int number, const struct pack *letter);

void offspring_lost(struct offspring *child, int rank);
void offspring_abort(struct offspring *child, int rank, int code, const char *text);

#endif
