/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher of a spawned job: xmpirun as a child of xmpirun.
 */
#ifndef XMPI_LAUNCHER_SPAWNED_H
#define XMPI_LAUNCHER_SPAWNED_H

struct environment;
struct job;
struct options;
struct wish;

/* ---- the way to xmpirun (spawned_link.c) ---- */

void spawned_link(int socket, int letters);

int spawned_start(struct job *job);
int spawned_rank_env(struct job *job, int rank, struct environment *env);
void spawned_started(struct job *job);
void spawned_other_gone(struct job *job, int world);
void spawned_rank_gone(struct job *job, int rank, int wait_status);
void spawned_stop(struct job *job);

/* The last thing to do: nobody writes letters any more. */
void spawned_flush(void);

/* Options of the first job's command line become those of a job of this wish, on each of its hosts.  0,
 * or an exit status after a complaint. */
int spawned_apply(struct options *options, struct wish *wish);

#endif
