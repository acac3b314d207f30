/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The programs: every algorithm of the room, by collective.  A new one is a function of at most
 * forty lines, a line here, a row in rules.c and a row in test/plan.
 */
#ifndef XMPI_ALGORITHMS_H
#define XMPI_ALGORITHMS_H

#include "coll/plan.h"

/* "ordered" in a comment: folds in rank order, so any associative operation will do. */

program barrier_dissemination;

program bcast_binomial, bcast_chain, bcast_scatter_allgather;

program reduce_binomial, reduce_scatter_gather;
program reduce_ordered, reduce_linear; /* ordered */

program allreduce_ring, allreduce_circulant;
program allreduce_doubling, allreduce_spread; /* ordered */

program reduce_scatter_circulant;
program reduce_scatter_linear; /* ordered */

program scan_doubling, exscan_doubling, scan_chain, exscan_chain; /* ordered */

program gather_linear, gather_binomial;
program scatter_linear, scatter_binomial;
program allgather_ring, allgather_bruck, allgather_spread;
program alltoall_spread, alltoall_bruck;

program neighbor_allgather, neighbor_alltoall;

/* Between the two groups of an intercommunicator; the rank that is not in the root's group and
 * not the root itself takes no part in rooted ones. */
program inter_bcast, inter_gather, inter_scatter, inter_allgather, inter_alltoall;
program inter_reduce, inter_allreduce, inter_reduce_scatter; /* ordered */

#endif
