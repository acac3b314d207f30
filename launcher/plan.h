/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What will run where: everything that is decided before the first process starts.
 */
#ifndef XMPI_LAUNCHER_PLAN_H
#define XMPI_LAUNCHER_PLAN_H

#include "launcher/cli.h"

struct planned {   /* one rank */
    int world;     /* its number in the job */
    int app, host; /* host: index in the hosts of the plan */
    int local;     /* its number on the host */
};

/* Of a whole job, or the share of one host in it: then hosts is that host, and nranks its ranks. */
struct plan {
    struct host *hosts;
    int nhosts, nranks;
    int world;                     /* ranks of the job */
    int node, nnodes;              /* which host this is, of how many with ranks */
    const int32_t *node_of;        /* of each rank of the job; NULL: one host */
    const int32_t *app_of;         /* likewise, its program; of a share of several hosts */
    const char *const *node_names; /* likewise, of each node */
    struct planned *ranks;
    struct map_options decided;
    struct placement *placements; /* by rank; NULL: nobody is bound, places are not known */
    bool crowded;
};

/* The names of the nodes of a whole job on several hosts; malloced. */
const char **plan_node_names(const struct plan *whole);

/* 0, or an exit status after a complaint. */
int plan_make(const struct options *options, struct plan *plan);

/* The share of one host, with CPUs chosen: for this machine.  `whole` must outlive it. */
int plan_share(const struct options *options, const struct plan *whole, int host,
               struct plan *share);

/* Choose the CPUs of a share on this machine, its only host, whose budget has been read;
 * --report-bindings tells them. */
int plan_cpus(const struct options *options, struct plan *share);

/* Are there other hosts than this machine? */
bool plan_is_spread(const struct plan *plan);

/* The same without telling; for hosts whose shape is known, wherever they are. */
int plan_choose(const struct options *options, struct plan *share);

/* ---- for plan.c (plan_fit.c) ---- */

/* By GPU, and the user has not said what ranks are bound to: cores are not shared while others, far
 * from the GPUs, are idle. */
void plan_bind_near_gpus(const struct options *options, const struct host *host,
                         struct plan *share);

/* Ranks that are bound get the cores that were asked for, and with no-overload their own: 0, or an exit
 * status after a complaint. */
int plan_check_fit(const struct options *options, const struct host *host,
                   const struct plan *share);

/* "0-3,8" or "any": of a rank by its place in the plan. */
const char *plan_cpus_of(const struct plan *plan, int rank, char *text, size_t room);

/* The GPU that it should use, by its place on PCI; NULL: nobody knows, or there is none.  Of a share, or
 * of a job on one host. */
const char *plan_gpu_of(const struct plan *plan, int rank);

#endif
