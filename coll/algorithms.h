/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The programs: every algorithm of the room, by collective.  A new one is a function of at most
 * forty lines, a line here and a row in rules.c, whose rows test/plan walks along.  Its file
 * includes this header and no other of the house (test/rooms.sh looks).
 */
#ifndef XMPI_ALGORITHMS_H
#define XMPI_ALGORITHMS_H

#include "coll/plan.h"

/* "ordered" in a comment: folds in rank order, so any associative operation will do. */

program barrier_dissemination;

program bcast_binomial, bcast_knomial, bcast_chain, bcast_scatter_allgather, bcast_double_tree,
    bcast_bine, bcast_levels;

program reduce_binomial, reduce_knomial, reduce_chain, reduce_scatter_gather,
    reduce_double_tree, reduce_bine, reduce_levels;
program reduce_ordered, reduce_in_order, reduce_linear; /* ordered */

program allreduce_ring, allreduce_ring_both, allreduce_circulant, allreduce_bruck,
    allreduce_halving, allreduce_nhr, allreduce_swing, allreduce_torus, allreduce_double_tree,
    allreduce_levels, allreduce_factored;
program allreduce_doubling, allreduce_multiplying, allreduce_all_pairs, allreduce_spread,
    allreduce_dual_root, allreduce_knomial; /* ordered */

program reduce_scatter_circulant, reduce_scatter_ring, reduce_scatter_ring_both,
    reduce_scatter_neighbour, reduce_scatter_bruck, reduce_scatter_multiplying,
    reduce_scatter_nhr, reduce_scatter_pat, reduce_scatter_swing, reduce_scatter_torus;
program reduce_scatter_linear; /* ordered */

program scan_doubling, exscan_doubling, scan_chain, exscan_chain; /* ordered */

program gather_linear, gather_binomial;
program scatter_linear, scatter_binomial;
program allgather_ring, allgather_ring_both, allgather_neighbour, allgather_bruck,
    allgather_circulant, allgather_spread, allgather_multiplying, allgather_nhr, allgather_pat,
    allgather_swing, allgather_torus;
program alltoall_spread, alltoall_throttled, alltoall_pairwise, alltoall_bruck,
    alltoall_leaders;

program neighbor_allgather, neighbor_alltoall;

/* Between the two groups of an intercommunicator; the rank that is not in the root's group and
 * not the root itself takes no part in rooted ones. */
program inter_bcast, inter_gather, inter_scatter, inter_allgather, inter_alltoall;
program inter_reduce, inter_allreduce, inter_reduce_scatter; /* ordered */

/* ---- parts that several programs share ---- */

/* Ranks in the subtree of v in the binomial tree, v included: v .. v + subtree_size - 1. */
static inline int subtree_size(int v, int p)
{
    return v == 0 ? p : least(v & -v, p - v);
}

/* Everybody sends to everybody, a block each, or the same one to all (`alike`), starting with the neighbour so that no
 * rank is asked by all at once (alltoall.c).  All sends come first, so that none waits for a receive in program
 * order; among more ranks than WIDE each is followed by a receive, and the plan can be rolled up. */
enum { WIDE = 512 };
void to_everybody(struct plan *plan, int me, int p, bool alike);

/* For an allgather whose ranks begin with another block than their own: this one begins with block `kept`, and
 * rank `keeper` with this one's.  One message, none where they are the same (allgather.c). */
void hand_in(struct plan *plan, int me, int kept, int keeper);

/* Traeff's circulant (circulant.c).  From IN, p blocks on each rank, to the sum of block `me` in
 * `last`; partial sums go to `room`, cut in p blocks.  plan->radix is the number of nodes that
 * ranks are dealt out to in turn, 0 if that does not matter. */
void circulant_fold(struct plan *plan, int me, int p, enum room room, struct span last);

/* From block me of OUT on each rank to all p blocks everywhere. */
void circulant_spread(struct plan *plan, int me, int p);

#endif
