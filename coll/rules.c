/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which algorithms there are, and when which is used.  First match wins; XMPI_EXPLAIN says which
 * rule did, XMPI_COLL overrules them.
 *
 * Crowded: with more ranks than CPUs a hop costs a turn of the scheduler, ten times a message, so
 * what counts is how many hops lie one behind the other, not how many messages there are.
 *
 * Bytes are those that every rank knows, or ranks would choose differently:
 *     bcast, reductions, scans         the vector (reduce_scatter: all blocks together)
 *     gather, scatter, allgather,
 *     alltoall                         one block (allgatherv: the mean block)
 *     gatherv, scatterv, alltoallv, w,
 *     between neighbours               not known to all, so never asked for
 */
#include "coll/rules.h"

#include "coll/algorithms.h"
#include "coll/own.h"
#include "coll/tiny.h"
#include "runtime/reading.h"

#include <limits.h>
#include <stdio.h>

const struct algorithm algorithms[] = {
    { COLL_BARRIER, "tiny", 0, .ordered = true },
    { COLL_BARRIER, "dissemination", barrier_dissemination, .ordered = true, .never_cut = true,
      .radix = 2 },

    { COLL_BCAST, "tiny", 0, .ordered = true },
    { COLL_BCAST, "attach", 0, .ordered = true, .attaches = true },
    { COLL_BCAST, "binomial", bcast_binomial, .ordered = true, .pipelines = true },
    { COLL_BCAST, "chain", bcast_chain, .ordered = true, .pipelines = true },
    { COLL_BCAST, "scatter-allgather", bcast_scatter_allgather, .ordered = true,
      .pipelines = true },
    { COLL_BCAST, "knomial", bcast_knomial, .ordered = true, .pipelines = true, .radix = 4 },
    { COLL_BCAST, "double-tree", bcast_double_tree, .ordered = true, .pipelines = true },
    { COLL_BCAST, "bine", bcast_bine, .ordered = true, .pipelines = true,
      .needs = NEEDS_POWER_OF_2 },
    { COLL_BCAST, "levels", bcast_levels, .ordered = true, .pipelines = true,
      .needs = NEEDS_PLACES },

    { COLL_GATHER, "tiny", 0, .ordered = true },
    { COLL_GATHER, "attach", 0, .ordered = true, .attaches = true },
    { COLL_GATHER, "linear", gather_linear, .ordered = true },
    { COLL_GATHER, "binomial", gather_binomial, .ordered = true },
    { COLL_GATHERV, "tiny", 0, .ordered = true },
    { COLL_GATHERV, "linear", gather_linear, .ordered = true },
    { COLL_GATHERV, "binomial", gather_binomial, .ordered = true, .sized = true },
    { COLL_SCATTER, "tiny", 0, .ordered = true },
    { COLL_SCATTER, "attach", 0, .ordered = true, .attaches = true },
    { COLL_SCATTER, "linear", scatter_linear, .ordered = true },
    { COLL_SCATTER, "binomial", scatter_binomial, .ordered = true },
    { COLL_SCATTERV, "tiny", 0, .ordered = true },
    { COLL_SCATTERV, "linear", scatter_linear, .ordered = true },
    { COLL_SCATTERV, "binomial", scatter_binomial, .ordered = true, .sized = true },

    { COLL_ALLGATHER, "tiny", 0, .ordered = true },
    { COLL_ALLGATHER, "attach", 0, .ordered = true, .attaches = true },
    { COLL_ALLGATHER, "ring", allgather_ring, .ordered = true },
    { COLL_ALLGATHER, "bruck", allgather_bruck, .ordered = true, .radix = 2 },
    { COLL_ALLGATHER, "spread", allgather_spread, .ordered = true },
    { COLL_ALLGATHER, "ring-both", allgather_ring_both, .ordered = true },
    { COLL_ALLGATHER, "neighbour", allgather_neighbour, .ordered = true, .needs = NEEDS_EVEN },
    { COLL_ALLGATHER, "multiplying", allgather_multiplying, .ordered = true, .radix = 2 },
    { COLL_ALLGATHER, "nhr", allgather_nhr, .ordered = true },
    { COLL_ALLGATHER, "pat", allgather_pat, .ordered = true, .radix = 8 },
    { COLL_ALLGATHER, "swing", allgather_swing, .ordered = true, .needs = NEEDS_POWER_OF_2 },
    { COLL_ALLGATHER, "torus", allgather_torus, .ordered = true },
    { COLL_ALLGATHER, "circulant", allgather_circulant, .ordered = true },
    { COLL_ALLGATHERV, "tiny", 0, .ordered = true },
    { COLL_ALLGATHERV, "attach", 0, .ordered = true, .attaches = true },
    { COLL_ALLGATHERV, "ring", allgather_ring, .ordered = true },
    { COLL_ALLGATHERV, "bruck", allgather_bruck, .ordered = true, .radix = 2 },
    { COLL_ALLGATHERV, "spread", allgather_spread, .ordered = true },
    { COLL_ALLGATHERV, "ring-both", allgather_ring_both, .ordered = true },
    { COLL_ALLGATHERV, "neighbour", allgather_neighbour, .ordered = true, .needs = NEEDS_EVEN },
    { COLL_ALLGATHERV, "multiplying", allgather_multiplying, .ordered = true, .radix = 2 },
    { COLL_ALLGATHERV, "nhr", allgather_nhr, .ordered = true },
    { COLL_ALLGATHERV, "pat", allgather_pat, .ordered = true, .radix = 8 },
    { COLL_ALLGATHERV, "swing", allgather_swing, .ordered = true, .needs = NEEDS_POWER_OF_2 },
    { COLL_ALLGATHERV, "torus", allgather_torus, .ordered = true },
    { COLL_ALLGATHERV, "circulant", allgather_circulant, .ordered = true },

    { COLL_ALLTOALL, "tiny", 0, .ordered = true },
    { COLL_ALLTOALL, "attach", 0, .ordered = true, .attaches = true },
    { COLL_ALLTOALL, "spread", alltoall_spread, .ordered = true },
    { COLL_ALLTOALL, "throttled", alltoall_throttled, .ordered = true, .radix = 8 },
    { COLL_ALLTOALL, "pairwise", alltoall_pairwise, .ordered = true },
    { COLL_ALLTOALL, "bruck", alltoall_bruck, .ordered = true, .radix = 2 },
    { COLL_ALLTOALL, "leaders", alltoall_leaders, .ordered = true, .needs = NEEDS_PLACES },
    { COLL_ALLTOALLV, "tiny", 0, .ordered = true },
    { COLL_ALLTOALLV, "spread", alltoall_spread, .ordered = true },
    { COLL_ALLTOALLV, "throttled", alltoall_throttled, .ordered = true, .radix = 8 },
    { COLL_ALLTOALLV, "pairwise", alltoall_pairwise, .ordered = true },
    { COLL_ALLTOALLV, "bruck", alltoall_bruck, .ordered = true, .radix = 2, .sized = true },
    { COLL_ALLTOALLW, "tiny", 0, .ordered = true },
    { COLL_ALLTOALLW, "spread", alltoall_spread, .ordered = true },
    { COLL_ALLTOALLW, "throttled", alltoall_throttled, .ordered = true, .radix = 8 },
    { COLL_ALLTOALLW, "pairwise", alltoall_pairwise, .ordered = true },
    { COLL_ALLTOALLW, "bruck", alltoall_bruck, .ordered = true, .radix = 2, .sized = true },

    { COLL_NEIGHBOR_ALLGATHER, "direct", neighbor_allgather, .ordered = true },
    { COLL_NEIGHBOR_ALLGATHERV, "direct", neighbor_allgather, .ordered = true },
    { COLL_NEIGHBOR_ALLTOALL, "direct", neighbor_alltoall, .ordered = true },
    { COLL_NEIGHBOR_ALLTOALLV, "direct", neighbor_alltoall, .ordered = true },
    { COLL_NEIGHBOR_ALLTOALLW, "direct", neighbor_alltoall, .ordered = true },

    { COLL_REDUCE, "tiny", 0, .ordered = true },
    { COLL_REDUCE, "attach", 0, .ordered = true, .attaches = true },
    { COLL_REDUCE, "binomial", reduce_binomial, .pipelines = true },
    { COLL_REDUCE, "ordered", reduce_ordered, .ordered = true, .pipelines = true },
    { COLL_REDUCE, "linear", reduce_linear, .ordered = true, .pipelines = true },
    { COLL_REDUCE, "scatter-gather", reduce_scatter_gather, .pipelines = true },
    { COLL_REDUCE, "knomial", reduce_knomial, .pipelines = true, .radix = 8 },
    { COLL_REDUCE, "chain", reduce_chain, .pipelines = true },
    { COLL_REDUCE, "double-tree", reduce_double_tree, .pipelines = true },
    { COLL_REDUCE, "in-order", reduce_in_order, .ordered = true, .pipelines = true },
    { COLL_REDUCE, "bine", reduce_bine, .pipelines = true, .needs = NEEDS_POWER_OF_2 },
    { COLL_REDUCE, "levels", reduce_levels, .pipelines = true, .needs = NEEDS_PLACES },

    { COLL_ALLREDUCE, "tiny", 0, .ordered = true },
    { COLL_ALLREDUCE, "attach", 0, .ordered = true, .attaches = true },
    { COLL_ALLREDUCE, "doubling", allreduce_doubling, .ordered = true, .pipelines = true },
    { COLL_ALLREDUCE, "spread", allreduce_spread, .ordered = true, .pipelines = true },
    { COLL_ALLREDUCE, "circulant", allreduce_circulant, .pipelines = true },
    { COLL_ALLREDUCE, "knomial", allreduce_knomial, .ordered = true, .pipelines = true,
      .radix = 8 },
    { COLL_ALLREDUCE, "ring", allreduce_ring, .pipelines = true },
    { COLL_ALLREDUCE, "ring-both", allreduce_ring_both, .pipelines = true },
    { COLL_ALLREDUCE, "multiplying", allreduce_multiplying, .ordered = true, .pipelines = true,
      .radix = 4 },
    { COLL_ALLREDUCE, "all-pairs", allreduce_all_pairs, .ordered = true, .pipelines = true },
    { COLL_ALLREDUCE, "dual-root", allreduce_dual_root, .ordered = true, .pipelines = true },
    { COLL_ALLREDUCE, "double-tree", allreduce_double_tree, .pipelines = true },
    { COLL_ALLREDUCE, "halving", allreduce_halving, .pipelines = true, .radix = 2 },
    { COLL_ALLREDUCE, "bcube", allreduce_halving, .pipelines = true, .radix = 4 },
    { COLL_ALLREDUCE, "bruck", allreduce_bruck, .pipelines = true, .radix = 2 },
    { COLL_ALLREDUCE, "nhr", allreduce_nhr, .pipelines = true },
    { COLL_ALLREDUCE, "swing", allreduce_swing, .pipelines = true, .needs = NEEDS_POWER_OF_2 },
    { COLL_ALLREDUCE, "torus", allreduce_torus, .pipelines = true },
    { COLL_ALLREDUCE, "levels", allreduce_levels, .pipelines = true, .needs = NEEDS_PLACES },
    { COLL_ALLREDUCE, "factored", allreduce_factored, .pipelines = true,
      .needs = NEEDS_PLACES },

    { COLL_REDUCE_SCATTER, "tiny", 0, .ordered = true },
    { COLL_REDUCE_SCATTER, "attach", 0, .ordered = true, .attaches = true },
    { COLL_REDUCE_SCATTER, "circulant", reduce_scatter_circulant, .pipelines = true },
    { COLL_REDUCE_SCATTER, "linear", reduce_scatter_linear, .ordered = true,
      .pipelines = true },
    { COLL_REDUCE_SCATTER_BLOCK, "tiny", 0, .ordered = true },
    { COLL_REDUCE_SCATTER_BLOCK, "attach", 0, .ordered = true, .attaches = true },
    { COLL_REDUCE_SCATTER_BLOCK, "circulant", reduce_scatter_circulant, .pipelines = true },
    { COLL_REDUCE_SCATTER_BLOCK, "linear", reduce_scatter_linear, .ordered = true,
      .pipelines = true },
    { COLL_REDUCE_SCATTER, "ring", reduce_scatter_ring, .pipelines = true },
    { COLL_REDUCE_SCATTER, "ring-both", reduce_scatter_ring_both, .pipelines = true },
    { COLL_REDUCE_SCATTER, "neighbour", reduce_scatter_neighbour, .pipelines = true,
      .needs = NEEDS_EVEN },
    { COLL_REDUCE_SCATTER, "bruck", reduce_scatter_bruck, .pipelines = true, .radix = 2 },
    { COLL_REDUCE_SCATTER, "halving", reduce_scatter_multiplying, .pipelines = true,
      .radix = 2 },
    { COLL_REDUCE_SCATTER, "nhr", reduce_scatter_nhr, .pipelines = true },
    { COLL_REDUCE_SCATTER, "pat", reduce_scatter_pat, .pipelines = true, .radix = 8 },
    { COLL_REDUCE_SCATTER, "swing", reduce_scatter_swing, .pipelines = true,
      .needs = NEEDS_POWER_OF_2 },
    { COLL_REDUCE_SCATTER, "torus", reduce_scatter_torus, .pipelines = true },
    { COLL_REDUCE_SCATTER_BLOCK, "ring", reduce_scatter_ring, .pipelines = true },
    { COLL_REDUCE_SCATTER_BLOCK, "ring-both", reduce_scatter_ring_both, .pipelines = true },
    { COLL_REDUCE_SCATTER_BLOCK, "neighbour", reduce_scatter_neighbour, .pipelines = true,
      .needs = NEEDS_EVEN },
    { COLL_REDUCE_SCATTER_BLOCK, "bruck", reduce_scatter_bruck, .pipelines = true, .radix = 2 },
    { COLL_REDUCE_SCATTER_BLOCK, "halving", reduce_scatter_multiplying, .pipelines = true,
      .radix = 2 },
    { COLL_REDUCE_SCATTER_BLOCK, "nhr", reduce_scatter_nhr, .pipelines = true },
    { COLL_REDUCE_SCATTER_BLOCK, "pat", reduce_scatter_pat, .pipelines = true, .radix = 8 },
    { COLL_REDUCE_SCATTER_BLOCK, "swing", reduce_scatter_swing, .pipelines = true,
      .needs = NEEDS_POWER_OF_2 },
    { COLL_REDUCE_SCATTER_BLOCK, "torus", reduce_scatter_torus, .pipelines = true },

    { COLL_SCAN, "tiny", 0, .ordered = true },
    { COLL_SCAN, "attach", 0, .ordered = true, .attaches = true },
    { COLL_SCAN, "doubling", scan_doubling, .ordered = true, .pipelines = true },
    { COLL_SCAN, "chain", scan_chain, .ordered = true, .pipelines = true },
    { COLL_EXSCAN, "tiny", 0, .ordered = true },
    { COLL_EXSCAN, "attach", 0, .ordered = true, .attaches = true },
    { COLL_EXSCAN, "doubling", exscan_doubling, .ordered = true, .pipelines = true },
    { COLL_EXSCAN, "chain", exscan_chain, .ordered = true, .pipelines = true },

    { COLL_BARRIER, "union", barrier_dissemination, .ordered = true, .inter = true,
      .never_cut = true, .radix = 2 },
    { COLL_BCAST, "tree", inter_bcast, .ordered = true, .inter = true },
    { COLL_GATHER, "linear", inter_gather, .ordered = true, .inter = true },
    { COLL_GATHERV, "linear", inter_gather, .ordered = true, .inter = true },
    { COLL_SCATTER, "linear", inter_scatter, .ordered = true, .inter = true },
    { COLL_SCATTERV, "linear", inter_scatter, .ordered = true, .inter = true },
    { COLL_ALLGATHER, "spread", inter_allgather, .ordered = true, .inter = true },
    { COLL_ALLGATHERV, "spread", inter_allgather, .ordered = true, .inter = true },
    { COLL_ALLTOALL, "spread", inter_alltoall, .ordered = true, .inter = true },
    { COLL_ALLTOALLV, "spread", inter_alltoall, .ordered = true, .inter = true },
    { COLL_ALLTOALLW, "spread", inter_alltoall, .ordered = true, .inter = true },
    { COLL_REDUCE, "leaders", inter_reduce, .ordered = true, .inter = true },
    { COLL_ALLREDUCE, "leaders", inter_allreduce, .ordered = true, .inter = true },
    { COLL_REDUCE_SCATTER, "leaders", inter_reduce_scatter, .ordered = true, .inter = true,
      .never_cut = true },
    { COLL_REDUCE_SCATTER_BLOCK, "leaders", inter_reduce_scatter, .ordered = true,
      .inter = true, .never_cut = true },
    { COLL_KINDS, 0, 0, .ordered = false },
};

const char *algorithm_objection(const struct algorithm *a, int p, const struct places *places)
{
    if (a->needs == NEEDS_EVEN && p % 2 != 0)
        return "the number of ranks is odd";
    if (a->needs == NEEDS_POWER_OF_2 && (p & (p - 1)) != 0)
        return "the number of ranks is not a power of two";
    if (a->needs == NEEDS_PLACES && !places)
        return "all ranks are in one place";
    return own_objection(a, p);
}

void algorithm_ranks_near(const struct algorithm *a, int from, int to, char *text, size_t size)
{
    int below = from - 1;
    long above = (long)to + 1;
    text[0] = '\0';
    if (a->needs != NEEDS_EVEN && a->needs != NEEDS_POWER_OF_2)
        return;
    while (below > 0 && algorithm_objection(a, below, NULL))
        below--;
    while (above <= INT_MAX && algorithm_objection(a, (int)above, NULL))
        above++;
    if (below > 0 && above <= INT_MAX)
        snprintf(text, size, "%d or %ld", below, above);
    else
        snprintf(text, size, "%ld", below > 0 ? below : above);
}

#define UPTO(x)                                                                                \
    {                                                                                          \
        0, x                                                                                   \
    }
#define FROM(x)                                                                                \
    {                                                                                          \
        x, SIZE_MAX                                                                            \
    }
#define END                                                                                    \
    {                                                                                          \
        .use = 0                                                                               \
    }
enum { KiB = 1 << 10, MiB = 1 << 20 };

static const struct rule barrier_rules[] = {
    { .one_node = true, .use = "tiny" },
    { .use = "dissemination" },
    END,
};
static const struct rule bcast_rules[] = {
    { .one_node = true, .bytes = UPTO(256), .use = "tiny" },
    { .one_node = true, .ranks = UPTO(2), .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .crowded = true, .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .crowded = true, .ranks = FROM(12), .bytes = FROM(24 * KiB), .use = "attach" },
    { .reads = READING_FAIR,
      .crowded = true,
      .ranks = FROM(7),
      .bytes = FROM(32 * KiB),
      .use = "attach" },
    { .reads = READING_FAIR, .crowded = true, .bytes = FROM(48 * KiB), .use = "attach" },
    { .crowded = true, .bytes = FROM(96 * KiB), .use = "attach" },
    { .crowded = true, .use = "knomial" },
    { .bytes = UPTO(64 * KiB), .use = "binomial" },
    { .ranks = UPTO(2), .use = "binomial" },
    { .bytes = FROM(512 * KiB), .ranks = UPTO(8), .use = "chain", .piece = 64 * KiB },
    { .use = "scatter-allgather" },
    END,
};
static const struct rule gather_rules[] = {
    { .one_node = true, .bytes = UPTO(256), .use = "tiny" },
    { .one_node = true, .ranks = UPTO(2), .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .crowded = true, .ranks = UPTO(4), .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .crowded = true, .ranks = UPTO(8), .bytes = UPTO(512), .use = "tiny" },
    { .crowded = true, .bytes = UPTO(24 * KiB), .use = "linear" },
    { .reads = READING_FAIR, .bytes = FROM(16 * KiB), .use = "attach" },
    { .crowded = true, .bytes = UPTO(96 * KiB), .use = "linear" },
    { .one_node = true, .bytes = FROM(24 * KiB), .use = "attach" },
    { .crowded = true, .use = "linear" },
    { .bytes = UPTO(2 * KiB), .use = "binomial" },
    { .use = "linear" },
    END,
};
static const struct rule scatter_rules[] = {
    { .one_node = true, .bytes = UPTO(256), .use = "tiny" },
    { .one_node = true, .ranks = UPTO(2), .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .crowded = true, .bytes = FROM(32 * KiB), .use = "attach" },
    { .crowded = true, .use = "linear" },
    { .bytes = UPTO(2 * KiB), .use = "binomial" },
    { .use = "linear" },
    END,
};
static const struct rule allgather_rules[] = {
    /* and of allgatherv */
    { .one_node = true, .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .reads = READING_FAIR,
      .crowded = true,
      .ranks = FROM(7),
      .bytes = FROM(12 * KiB),
      .use = "attach" },
    { .reads = READING_FAIR, .bytes = FROM(16 * KiB), .use = "attach" },
    { .crowded = true, .ranks = UPTO(6), .bytes = FROM(48 * KiB), .use = "attach" },
    { .crowded = true, .bytes = FROM(16 * KiB), .use = "spread" },
    { .one_node = true, .bytes = FROM(24 * KiB), .use = "attach" },
    { .crowded = true, .ranks = UPTO(8), .bytes = UPTO(8 * KiB), .use = "spread" },
    { .bytes = UPTO(32 * KiB), .use = "bruck" },
    { .use = "ring" },
    END,
};
static const struct rule alltoall_rules[] = {
    { .one_node = true, .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .reads = READING_FAIR, .ranks = UPTO(2), .bytes = FROM(16 * KiB), .use = "attach" },
    { .one_node = true, .ranks = UPTO(2), .bytes = FROM(24 * KiB), .use = "attach" },
    { .crowded = true, .ranks = FROM(7), .bytes = FROM(96 * KiB), .use = "spread" },
    { .reads = READING_FAIR,
      .crowded = true,
      .ranks = FROM(12),
      .bytes = FROM(6 * KiB),
      .use = "attach" },
    { .reads = READING_FAIR,
      .crowded = true,
      .ranks = FROM(6),
      .bytes = FROM(12 * KiB),
      .use = "attach" },
    { .reads = READING_FAIR, .crowded = true, .bytes = FROM(32 * KiB), .use = "attach" },
    { .crowded = true, .ranks = FROM(12), .bytes = FROM(24 * KiB), .use = "attach" },
    { .crowded = true, .ranks = UPTO(11), .bytes = FROM(48 * KiB), .use = "attach" },
    { .crowded = true, .ranks = UPTO(32), .use = "spread" },
    { .ranks = FROM(8), .bytes = UPTO(128), .use = "bruck" },
    { .use = "spread" },
    END,
};
static const struct rule reduce_rules[] = {
    { .one_node = true, .bytes = UPTO(256), .use = "tiny" },
    { .one_node = true, .ranks = UPTO(2), .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .crowded = true, .ranks = UPTO(4), .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .crowded = true, .ranks = UPTO(8), .bytes = UPTO(512), .use = "tiny" },
    { .one_node = true, .ranks = UPTO(2), .bytes = FROM(64 * KiB), .use = "attach" },
    { .crowded = true, .ranks = UPTO(8), .bytes = FROM(128 * KiB), .use = "attach" },
    { .crowded = true, .bytes = FROM(256 * KiB), .use = "attach" },
    { .crowded = true, .ranks = UPTO(32), .bytes = UPTO(16 * KiB), .use = "linear" },
    { .away = true, .use = "binomial" },
    { .ordered = true, .use = "ordered", .piece = 64 * KiB },
    { .crowded = true, .bytes = UPTO(256 * KiB), .use = "knomial" },
    { .bytes = UPTO(64 * KiB), .use = "binomial" },
    { .ranks = UPTO(2), .use = "binomial", .piece = 64 * KiB },
    { .use = "scatter-gather" },
    END,
};
static const struct rule allreduce_rules[] = {
    { .one_node = true, .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .reads = READING_MAPPED, .ranks = UPTO(2), .bytes = FROM(16 * KiB), .use = "attach" },
    { .one_node = true, .ranks = UPTO(2), .bytes = FROM(128 * KiB), .use = "attach" },
    { .crowded = true, .ranks = FROM(3), .bytes = UPTO(32 * KiB), .use = "knomial" },
    { .crowded = true, .ranks = FROM(7), .bytes = UPTO(64 * KiB), .use = "knomial" },
    { .crowded = true, .ranks = FROM(20), .bytes = UPTO(256 * KiB), .use = "knomial" },
    { .one_node = true, .ranks = FROM(3), .bytes = FROM(64 * KiB), .use = "attach" },
    { .bytes = UPTO(8 * KiB), .use = "doubling" },
    { .ordered = true, .use = "spread" },
    { .ranks = UPTO(2), .bytes = UPTO(1 * MiB), .use = "doubling" },
    { .away = true, .use = "circulant" },
    { .bytes = FROM(4 * MiB), .ranks = FROM(3), .use = "ring", .piece = 1 * MiB },
    { .use = "circulant" },
    END,
};
static const struct rule reduce_scatter_block_rules[] = {
    { .one_node = true, .bytes = UPTO(2 * KiB), .use = "tiny" },
    { .one_node = true, .ranks = UPTO(2), .bytes = FROM(16 * KiB), .use = "attach" },
    { .crowded = true, .bytes = FROM(96 * KiB), .use = "attach" },
    { .ordered = true, .use = "linear" },
    { .use = "circulant" },
    END,
};
static const struct rule reduce_scatter_rules[] = {
    { .one_node = true, .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .one_node = true, .ranks = UPTO(2), .bytes = FROM(16 * KiB), .use = "attach" },
    { .crowded = true, .bytes = FROM(96 * KiB), .use = "attach" },
    { .ordered = true, .use = "linear" },
    { .use = "circulant" },
    END,
};
static const struct rule listed_rules[] = {
    { .one_node = true, .use = "tiny" },
    { .use = "linear" },
    END,
};
static const struct rule letters_rules[] = {
    { .one_node = true, .use = "tiny" },
    { .use = "spread" },
    END,
};
static const struct rule linear_rules[] = { { .use = "linear" }, END };
static const struct rule spread_rules[] = { { .use = "spread" }, END };
static const struct rule direct_rules[] = { { .use = "direct" }, END };
static const struct rule scan_rules[] = {
    { .one_node = true, .crowded = true, .bytes = UPTO(TINY_TRACK_BYTES), .use = "tiny" },
    { .crowded = true, .ranks = UPTO(4), .bytes = UPTO(128), .use = "tiny" },
    { .crowded = true, .ranks = FROM(3), .bytes = UPTO(64 * KiB), .use = "chain" },
    { .crowded = true, .ranks = FROM(7), .bytes = UPTO(256 * KiB), .use = "chain" },
    { .crowded = true,
      .ranks = FROM(3),
      .bytes = FROM(384 * KiB),
      .use = "chain",
      .piece = 256 * KiB },
    { .one_node = true, .bytes = UPTO(1 * KiB), .use = "tiny" },
    { .one_node = true, .ranks = UPTO(2), .bytes = FROM(128 * KiB), .use = "attach" },
    { .bytes = UPTO(64 * KiB), .use = "doubling" },
    { .use = "chain", .piece = 32 * KiB },
    END,
};
static const struct rule union_rules[] = { { .use = "union" }, END };
static const struct rule tree_rules[] = { { .use = "tree" }, END };
static const struct rule leaders_rules[] = { { .use = "leaders" }, END };

static const struct {
    const char *name;
    const struct rule *within, *between;
} collectives[COLL_KINDS] = {
    [COLL_BARRIER] = { "barrier", barrier_rules, union_rules },
    [COLL_BCAST] = { "bcast", bcast_rules, tree_rules },
    [COLL_GATHER] = { "gather", gather_rules, linear_rules },
    [COLL_GATHERV] = { "gatherv", listed_rules, linear_rules },
    [COLL_SCATTER] = { "scatter", scatter_rules, linear_rules },
    [COLL_SCATTERV] = { "scatterv", listed_rules, linear_rules },
    [COLL_ALLGATHER] = { "allgather", allgather_rules, spread_rules },
    [COLL_ALLGATHERV] = { "allgatherv", allgather_rules, spread_rules },
    [COLL_ALLTOALL] = { "alltoall", alltoall_rules, spread_rules },
    [COLL_ALLTOALLV] = { "alltoallv", letters_rules, spread_rules },
    [COLL_ALLTOALLW] = { "alltoallw", letters_rules, spread_rules },
    [COLL_NEIGHBOR_ALLGATHER] = { "neighbor_allgather", direct_rules, 0 },
    [COLL_NEIGHBOR_ALLGATHERV] = { "neighbor_allgatherv", direct_rules, 0 },
    [COLL_NEIGHBOR_ALLTOALL] = { "neighbor_alltoall", direct_rules, 0 },
    [COLL_NEIGHBOR_ALLTOALLV] = { "neighbor_alltoallv", direct_rules, 0 },
    [COLL_NEIGHBOR_ALLTOALLW] = { "neighbor_alltoallw", direct_rules, 0 },
    [COLL_REDUCE] = { "reduce", reduce_rules, leaders_rules },
    [COLL_ALLREDUCE] = { "allreduce", allreduce_rules, leaders_rules },
    [COLL_REDUCE_SCATTER] = { "reduce_scatter", reduce_scatter_rules, leaders_rules },
    [COLL_REDUCE_SCATTER_BLOCK] = { "reduce_scatter_block", reduce_scatter_block_rules,
                                    leaders_rules },
    [COLL_SCAN] = { "scan", scan_rules, 0 },
    [COLL_EXSCAN] = { "exscan", scan_rules, 0 },
};

const struct rule *rules_of(enum collective what, bool inter)
{
    return inter ? collectives[what].between : collectives[what].within;
}

struct reach rules_attach(enum collective what, struct node_kind node)
{
    struct reach reach = { SIZE_MAX, SIZE_MAX };
    for (const struct rule *r = rules_of(what, false); r->use; r++) {
        if ((r->crowded && !node.crowded) || r->ordered || r->reads > node.reading || r->away ||
            !rule_reaches((size_t)node.ranks, r->ranks))
            continue;
        if (strcmp(r->use, "attach") == 0)
            return (struct reach){ r->bytes.from, reach.to };
        if (r->bytes.to == 0) /* the rest is for it */
            break;
        if (r->bytes.to == SIZE_MAX)
            reach.to = r->bytes.from - 1;
    }
    return reach;
}

const char *collective_name(enum collective what)
{
    return collectives[what].name;
}
