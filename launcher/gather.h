/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job whose user starts an xmpirun on every host himself (--node-rank): that of node 0 listens at
 * --master-addr and --master-port, the others call it.
 */
#ifndef XMPI_LAUNCHER_GATHER_H
#define XMPI_LAUNCHER_GATHER_H

#include "launcher/cli.h"
#include "launcher/siphash.h"

enum {
    GATHER_SECONDS = 300,    /* how long nodes wait for each other (XMPI_START_TIMEOUT), */
    GATHER_HINT_SECONDS = 5, /* and when they say so */
    GATHER_MOST_RANKS = 1 << 20
};

/* --node-rank was given, and there are other nodes. */
bool gather_is_wanted(const struct options *options);

/* Are the options complete?  0, or an exit status after a complaint. */
int gather_check(const struct options *options);

/* The port of --master-port. */
int gather_port(const struct options *options);

/* The ranks that the user of this node wants here (--nproc-per-node), and in the whole job (-np); 0: not
 * said. */
int gather_ranks_here(const struct options *options, const struct budget *budget);
int gather_ranks(const struct options *options);

/* The hosts as node 0 sees them: itself and "node1", "node2", ..., malloced. */
struct host *gather_hosts(const struct options *options);

/* What all nodes know: XMPI_SECRET, and --rdzv-id if there is one. */
void gather_secret(const struct options *options, uint8_t secret[KEY_BYTES]);

/* In every node but 0: call node 0 and run our share; the exit code. */
int gather_join(const struct options *options);

#endif
