/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who should play which part: places of a graph for processes that sit somewhere.  Pure
 * functions; src/remap.c brings the facts together and shares the result.
 */
#ifndef XMPI_REORDER_H
#define XMPI_REORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a process runs.  Packages, NUMA nodes, L3 caches and cores are numbered per node; -1 is
 * unknown, or more than one. */
struct seat {
    int32_t node;
    int16_t package, numa, l3, core;
};

/* Two parts that talk, and how much. */
struct bond {
    int32_t a, b, weight;
};

/* Hops between two processes: 1 on one core, 2 below one L3 cache, 4 on one NUMA node, 8 in one
 * package, 16 on one node, 64 otherwise. */
int seat_distance(const struct seat *a, const struct seat *b);

struct pattern {
    int n; /* parts */
    size_t nbonds;
    const struct bond *bonds;
    int ndims; /* 0, or the parts are the places of a grid, the last dimension fastest */
    const int *dims;
};

/* The bonds of a grid of n places, malloced: one per place and dimension to the place above, and
 * round the end where it is periodic (a ring of two has two).  False when memory is out. */
bool pattern_of_grid(int n, int ndims, const int *dims, const int *periods,
                     struct pattern *pattern);

/* The sum of weight * distance over all bonds, when part i is played by the process
 * seats[map[i]]; map NULL is the identity. */
int64_t reorder_cost(const struct pattern *pattern, const struct seat *seats, const int *map);

/* Find a permutation that costs less than the identity: map[i] is the process for part i, and
 * the identity where none was found.  Equal arguments give equal results.  About
 * O((bonds + n) log^2 n) time, and for up to 256 parts some milliseconds of trying exchanges, with
 * very many bonds up to a second.  False when memory is out; then map is the identity too. */
bool reorder_map(const struct pattern *pattern, const struct seat *seats, int *map);

#endif
