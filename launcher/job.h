/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job: its ranks from the first start to the last word.
 *
 *     starting --> running --> (stopping) --> draining --> over
 *                     |             ^
 *                     `-- failure --'    TERM, grace, KILL
 */
#ifndef XMPI_LAUNCHER_JOB_H
#define XMPI_LAUNCHER_JOB_H

#include "launcher/loop.h"
#include "launcher/plan.h"
#include "runtime/bootseg.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    GRACE_MS = 300,          /* between TERM and KILL after a failure */
    POLITE_GRACE_MS = 5000,  /* when the user or a batch system asked us to end */
    FINALIZE_GRACE_MS = 500, /* a rank ended without MPI_Finalize */
    WRAPPER_GRACE_MS = 200,  /* an MPI process below a wrapper died: the wrapper may say how */
    ABSENT_MS = 500,         /* how often to look whether MPI ranks wait for one that is not */
    DRAIN_MS = 500,          /* output pipes still open after the last rank has ended */
};

struct rank {
    pid_t pid;   /* the process we started; 0 before that and once it is reaped */
    pid_t group; /* its process group, while anything may live in it; else 0 */
    int status;  /* as from waitpid, once it has ended */
    bool ended;
    pid_t claimed; /* the MPI process, when it is a descendant of ours (a wrapper between) */
    struct watch claimed_death;
    bool card_sent; /* other hosts know how the network reaches it, */
    bool left_sent; /* or that it has left MPI and has no card */
    bool lost;      /* that process has gone without MPI_Finalize, its wrapper has not ended */
};

enum deadline {
    DEADLINE_TIMEOUT, /* --timeout */
    DEADLINE_STOP,    /* then job_stop: somebody did not finalize, a wrapper did not end */
    DEADLINE_ABSENT,  /* then job_look_for_absent */
    DEADLINE_HANG,    /* then explain_watch */
    DEADLINE_KILL,    /* then KILL to everything */
    DEADLINE_ANSWER,  /* the ranks were interrupted: then tell it */
    DEADLINE_OTHERS,  /* other hosts were told to stop: then others->late */
    DEADLINE_SPAWNED, /* spawned jobs were told to stop: then offspring_late */
    DEADLINE_SURVEY,  /* other hosts were asked what they do: then explain_late */
    DEADLINE_COUNT
};

struct others;

struct job { /* the share of this host, see plan.h */
    const struct options *options;
    const struct plan *plan;
    const struct others *others; /* NULL: one host */
    int host;                    /* our number among the others (post.h), -1: xmpirun */
    char id[BOOT_JOB_CHARS];     /* no colon in it; the same on all hosts */
    char **programs;             /* the file of each app, for the services' start */
    int nranks, running;         /* ranks that were started and have not ended */
    struct rank *ranks;
    struct boot_header *segment;
    char *psets; /* process sets of the whole job, as in the segment */
    int segment_fd;
    bool stopping, killed; /* TERM, KILL has been sent */
    int absent;            /* 1 + a rank elsewhere that ended without MPI_Init; 0: none */
    int exit_code;         /* of the first failure; 0: none so far */
    bool failed;
    bool alone;                         /* there is no way to xmpirun any more */
    int interrupted;                    /* signal that asked us to end, 0 none */
    bool interrupted_first;             /* ... before anything had failed */
    uint64_t deadlines[DEADLINE_COUNT]; /* clock_ns, 0: not set */
    long oom_kills;
};

/* Run the ranks of this host to their end; the exit code of the launcher.  The caller has filled in
 * options, plan, others, and on several hosts id and psets. */
int job_run(struct job *job);

/* As a launcher of a spawned job (spawned.c); `where`: "SOCKET,WISH,LETTERS", descriptors.  The exit code. */
int spawned_main(const char *where);

/* The number in the job of a rank of this host. */
int job_world(const struct job *job, int number);

/* The number of a rank of the job here; -1: it is elsewhere. */
int job_number(const struct job *job, int world);

/* Ranks run here or elsewhere, or spawned jobs do. */
bool job_is_running(const struct job *job);

/* Ids are unique on the host of whoever makes them. */
void job_name(char id[BOOT_JOB_CHARS]);

/* ---- for services ---- */

/* The job fails with this exit code, unless it has failed before: complain with the text, once,
 * and stop all ranks. */
void job_fail(struct job *job, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Other hosts hear that this rank is dead; `word` is what survivors are to know (enum boot_dead), 0: nothing. */
void job_tell_others(struct job *job, int number, uint32_t word);

/* Send a signal to every process group of the job. */
void job_signal(struct job *job, int signal);

/* ---- between job.c, spawn.c, reap.c, stop.c and signals.c ---- */

int job_check_limits(
    const struct job *job);     /* more than can ever run is refused; 0 or exit status */
int job_spawn(struct job *job); /* the same */
void job_stop(struct job *job, int grace_ms);  /* TERM, and KILL after the grace */
void job_reap(struct job *job);                /* SIGCHLD */
bool job_is_aborted(struct job *job);          /* MPI_Abort was called; acts on it, once */
void job_look_below_wrappers(struct job *job); /* a rank rings */
void job_look_for_absent(struct job *job);
/* A rank of another host has ended; `word` is what survivors are to know, 0: nothing. */
void job_other_ended(struct job *job, int world, uint32_t word);
void job_report_lost(struct job *job);  /* below a wrapper; its wrapper does not end */
void job_check_groups(struct job *job); /* forget those in which nothing lives */
void job_clean(struct job *job);        /* nothing but us and the guardian is left */
void job_set_deadline(struct job *job, enum deadline which, int ms);

/* ---- spawned jobs (offspring.c), for the same ---- */

bool offspring_run(void); /* some of them do */
void offspring_stop(struct job *job, int grace_ms);
void offspring_signal(struct job *job, int signal);
void offspring_late(const struct job *job); /* DEADLINE_SPAWNED */
bool offspring_died(struct job *job, pid_t pid,
                    int wait_status); /* was it a launcher of one? */

int signals_open(struct job *job);   /* 0 or -1 with errno */
bool signals_ask_to_end(int signal); /* is it one of those by which somebody wants that? */

#endif
