/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpid: runs the share of one host of a job, for the launcher it calls.
 */
#ifndef XMPI_LAUNCHER_UPLINK_H
#define XMPI_LAUNCHER_UPLINK_H

#include "launcher/remote.h"

struct call {
    const char *addresses; /* "10.0.0.1:4711,[fd00::1]:4711" */
    int number;            /* we are this host */
    const uint8_t *secret;
    int ranks, ranks_here; /* of the job and of this host, as `own` says; 0: it does not */
    const struct options
        *own;    /* NULL: an agent has started us, and xmpirun says all there is */
    int seconds; /* it may be so long until somebody answers; 0: only now */
};

/* Call, say hello, and do what is said.  The exit code of xmpid. */
int uplink_run(const struct call *call);

/* ---- between uplink.c (the connection, and all before the job) and uplink_job.c ---- */

enum { UPLINK_WINDOW = 1 << 20 };

struct uplink {
    struct wire wire;
    struct launch launch; /* the hosts below us */
    const char *name;     /* of this host, for xmpirun; NULL: not said yet */
    size_t ahead[3];      /* bytes of output not acknowledged, by stream */
    int code;             /* of ours, when there is no job */
    bool over;            /* we may go: xmpirun has said so, or is lost */
    bool noted;           /* our exit code is known above */
    bool told;            /* that we stop, or we were told to */
    struct pack share;    /* as it came; options and plan point into it */
    struct job *job;      /* NULL: not yet */
    const struct options *own;
};
extern struct uplink up;

/* Run the share; the exit code of xmpid. */
int uplink_job(void);

/* A frame from above while it runs. */
void uplink_said(int kind, struct unpack *payload);

/* Say that something has failed here or below; `stops`: with it the job. */
void uplink_failed(int code, bool stops);

/* Nobody is there any more who wants to know how this ends. */
void uplink_abandon(void);

#endif
