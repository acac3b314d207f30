/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher of a spawned job: xmpirun as a child of xmpirun.  It is a service, too (services.h):
 * before its ranks start it tells the other one of them, and gets variables for them.
 */
#ifndef XMPI_LAUNCHER_SPAWNED_H
#define XMPI_LAUNCHER_SPAWNED_H

struct environment;
struct job;

enum { EXIT_ELSEWHERE = 3 }; /* it would have ranks on other hosts */

int spawned_start(struct job *job);
int spawned_rank_env(struct job *job, int rank, struct environment *env);
void spawned_started(struct job *job);
void spawned_rank_gone(struct job *job, int rank, int wait_status);

#endif
