/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Mail: what one launcher has to say to another one, of the same job or of any other job of the same
 * xmpirun.
 *
 *     launcher of job 3 --post--> its root --letters--> xmpirun --letters--> root of job 2 --post--> ..
 *
 * The root of a job is the launcher that xmpirun has started for it, of job 1 xmpirun itself.  Jobs whose
 * clients are those of xmpirun's PMIx server have no mail of their own, and who has ended gets none: xmpirun takes it
 * in their stead.  Between two launchers nothing overtakes.
 */
#ifndef XMPI_LAUNCHER_MAIL_H
#define XMPI_LAUNCHER_MAIL_H

#include "launcher/pack.h"

#include <stdbool.h>

struct job;

enum mail_kind {
    MAIL_GET, /* see pmix_far.c */
    MAIL_GOT,
    MAIL_NAMES,
    MAIL_NAMED,
    MAIL_GONE,
    MAIL_SPAWN, /* see pmix_spawn.c */
    MAIL_SPAWNED,
    MAIL_MEET, /* see pmix_union.c */
    MAIL_MET,
    MAIL_JOB_ENDED, /* see pmix_far_ends.c */
    MAIL_RANK_ENDED,
    MAIL_KINDS
};

struct address {
    int job;  /* 1: that of the command line */
    int host; /* as in post.h; or mail_host_of */
};

/* The launcher of this rank, which only its job knows. */
int mail_host_of(int world);

/* That of xmpirun. */
static const struct address mail_xmpirun = { 1, -1 };

/* Of the launcher of this job here. */
struct address mail_own(const struct job *job);

/* It is the root of its job. */
bool mail_is_root(const struct job *job);

/* `text` is bad when it makes no sense. */
typedef void mail_handler(struct job *job, struct address from, struct unpack *text);

/* `late`: what the last launcher on the way does where the host has ended; NULL: nothing. */
void mail_handle(enum mail_kind kind, mail_handler *handler, mail_handler *late);

/* False: it does not fit (post.h). */
bool mail_send(struct job *job, struct address to, enum mail_kind kind,
               const struct pack *text);

/* All launchers, before the job runs. */
void mail_open(void);

/* A letter of another job has come to this root. */
void mail_take(struct job *job, const struct unpack *letter);

/* How letters get from here to other jobs: false when there is no way.  Where there is no such function,
 * there are no other jobs. */
extern bool (*mail_letter)(int to_job, const struct pack *letter);

#endif
