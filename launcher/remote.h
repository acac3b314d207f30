/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The other hosts of a job.  An agent starts xmpid on some of them, and these start the rest
 * (tree.h); xmpirun and every xmpid deal alike with those they have started.
 */
#ifndef XMPI_LAUNCHER_REMOTE_H
#define XMPI_LAUNCHER_REMOTE_H

#include "launcher/others.h"
#include "launcher/plan.h"
#include "launcher/wire.h"

/* ---- xmpirun (remote_ask.c) ---- */

/* Start an xmpid on every host that is not this machine and wait for all to call; fills in their
 * budgets, and shapes where the options depend on them.  0, or an exit status after a complaint that names the host. */
int remote_ask(const struct options *options, struct host *hosts, int nhosts);

/* Run a job that has ranks on other hosts; the exit code of xmpirun.  After remote_ask. */
int remote_run(const struct options *options, const struct plan *plan);

/* ---- starting (remote_start.c) ---- */

struct agent;

struct remote { /* a host that we have started, and those below it */
    int number; /* of other hosts of the job, from 0; it and those below it follow each other */
    int n;      /* it and those below it */
    const char *name;
    struct agent *agent;
    struct wire *wire; /* NULL: none yet, or lost */
    bool here;         /* it has said hello */
    bool done;         /* nothing is expected from it any more */
    bool fed;          /* a piece of input is on its way there */
    size_t owed[3];    /* bytes of output that were not acknowledged, by stream */
};

struct remotes {
    struct remote *list;
    int n;
    int height; /* levels of hosts below us */
    /* What one says after the hello by which we know it, and that it is lost. */
    void (*said)(struct remote *remote, int kind, struct unpack *payload);
    void (*lost)(struct remote *remote, const char *why);
};
extern struct remotes remotes;

struct launch {
    const uint8_t *secret;
    const char *template;     /* of the agents' commands; NULL: the user starts them himself */
    int port;                 /* where we listen; 0: anywhere */
    int fanout, seconds;      /* how many we start; how long it may take */
    int pulse_ms;             /* how long a host may be silent (pulse.h) */
    bool shapes;              /* each is to say what its CPUs share */
    int first, n;             /* hosts first .. first + n - 1 are below us */
    const char *const *names; /* of these */
};

/* The template of the agents' commands, from the options, the environment or the batch system. */
const char *remote_template(const struct options *options);

/* Start agents.  0, or an exit status after a complaint; what `launch` points to must stay. */
int remote_start(const struct launch *launch);

/* Wait for news, while not all we have started are here.  False once somebody cannot come, after a
 * complaint. */
bool remote_await(void);
bool remote_are_here(void);

/* How many ms another host may be silent: as XMPI_HOST_TIMEOUT says.  -1 after a complaint. */
int remote_silence(void);

/* How long others may take to come: as XMPI_START_TIMEOUT says, or `usual` seconds.  -1 after a
 * complaint. */
int remote_patience(int usual);

/* The same, or as long as the job may run. */
int remote_seconds(const struct options *options, int patience);

/* Complain, once, about what makes the start fail. */
void remote_fail_start(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A host has not come in time; `agent_says` as below, or "". */
void remote_fail_late(const char *name, const char *agent_says);

/* Nothing shall be run, or nothing more: goodbye to all that we have started.  They hear of a status
 * that is not 0, and the last complaint. */
void remote_dismiss(int status);

/* "; its launch agent says: ...", or "". */
const char *remote_agent_says(struct remote *remote);

/* Its agent has ended badly: how. */
bool remote_agent_failed(const struct remote *remote, char *how, size_t room);

/* A child has ended; was it an agent? */
bool remote_child_died(int pid, int wait_status);

/* ---- the topology of a host on its way to xmpirun (shape.c) ---- */

/* Numbers n, then n times: CPU, core, L3 cache, NUMA node, package (-1: none).  n is 0 where it is
 * not known.  Then how many GPUs, and of each the texts of its place, UUID and CPUs. */
void shape_pack(struct pack *pack, const struct topology *topology);

/* Of this host.  `own`: the options of an xmpirun that was started here (--node-rank), whose environment
 * says which GPUs are visible; NULL: all are told. */
void shape_pack_here(struct pack *pack, const struct options *own);

/* `from` is bad afterwards when it makes no sense; then and when it is not known, npus is 0. */
void shape_unpack(struct unpack *from, struct topology *topology);

/* ---- while the job runs (remote.c) ---- */

/* Begin.  node_of: of each other host by its number, -1 where nobody runs, and
 * NODES_END.  `up` tells who has
 * started us, NULL: we are xmpirun. */
void remote_begin(struct job *job, const int32_t *node_of,
                  void (*up)(int kind, const struct pack *payload));

/* Tell all that we have started but this one (NULL: none). */
void remote_tell(const struct remote *but, int kind, const struct pack *payload);

/* Hand out nothing they say until the job runs. */
void remote_hold(void);

/* What came from above (FRAME_ENDED, FRAME_CARDS) concerns us and all below; FRAME_POST may. */
void remote_heard(int kind, struct unpack *payload);
void remote_post(struct unpack *frame);

/* Does anybody on it or below it read what comes on stdin? */
bool remote_reads(const struct remote *remote);

/* The members of struct others (others.h) for what is below. */
void remote_started(struct job *job);
void remote_stopping(struct job *job, int grace_ms);
void remote_signalled(struct job *job, int signal);
void remote_ended(struct job *job, int number, uint32_t word);
void remote_turn(struct job *job);
bool remote_running(const struct job *job);
void remote_late(struct job *job);
void remote_finish(struct job *job);

/* There is no way to xmpirun any more: those below shall not wait for answers of it. */
void remote_abandon(void);

/* As struct others has them, for post. */
void remote_send(int to, int kind, const struct pack *frame);
int remote_host_of(int node);

#endif
