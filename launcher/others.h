/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The other hosts of a job, as the job of this host sees them.  xmpirun tells all of them
 * (remote.c), xmpid tells xmpirun, which passes it on (uplink.c).  A job on one host has none.
 */
#ifndef XMPI_LAUNCHER_OTHERS_H
#define XMPI_LAUNCHER_OTHERS_H

#include <stdbool.h>
#include <stdint.h>

struct job;
struct pack;

enum { NODES_END = -2 }; /* of a list of the other hosts' nodes */

struct others {
    /* The ranks of this host have been started (or could not be: job->failed). */
    void (*started)(struct job *job);
    /* This host stops its ranks. */
    void (*stopping)(struct job *job, int grace_ms);
    /* The user has sent a signal for the ranks. */
    void (*signalled)(struct job *job, int signal);
    /* A rank of this host (its number there) has ended; `word` is what survivors are to know (enum
     * boot_dead), 0: nothing. */
    void (*ended)(struct job *job, int number, uint32_t word);
    /* Once per turn of the loop. */
    void (*turn)(struct job *job);
    /* Something still happens on other hosts, so the loop must go on. */
    bool (*running)(const struct job *job);
    /* Others were told to stop and have not ended: they are left alone. */
    void (*late)(struct job *job);
    /* This host is done: its ranks have ended, their output has been passed on. */
    void (*finish)(struct job *job);
    /* Send a frame on its way to a launcher, or to all others (post.h). */
    void (*send)(int to, int kind, const struct pack *frame);
    /* The number of the other host with this node, -1: none. */
    int (*host_of)(int node);
    /* A child that is no rank has ended: was it theirs? */
    bool (*child_died)(int pid, int wait_status);
};

#endif
