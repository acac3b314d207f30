/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the functions of wrap.py need to turn the arguments of MPI_X into those of MPI_X_c: longer
 * arrays, the number of their elements, a user function that gets a count of the other size.
 *
 * Arrays of nonblocking and persistent operations are never freed: MPI may look at them until
 * the operation is over.  Ops have room for OPS different functions.
 */
#ifndef LARGE_H
#define LARGE_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An array of MPI_Count or MPI_Aint. */
static inline void *widened(const int *numbers, int n)
{
    _Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8, "one array for both");
    if (!numbers)
        return NULL;
    int64_t *wide = malloc((size_t)(n > 0 ? n : 1) * sizeof *wide);
    for (int i = 0; i < n; i++)
        wide[i] = numbers[i];
    return wide;
}

static inline int narrowed(MPI_Count number)
{
    return number < INT_MIN || number > INT_MAX ? MPI_UNDEFINED : (int)number;
}

/* ---- how many elements an array has ---- */

static inline bool is_inter(MPI_Comm comm)
{
    int inter = 0;
    return PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

static inline int own_size(MPI_Comm comm)
{
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

static inline int peers(MPI_Comm comm)
{
    int size = own_size(comm);
    if (is_inter(comm))
        PMPI_Comm_remote_size(comm, &size);
    return size;
}

static inline bool is_root(MPI_Comm comm, int root)
{
    int rank = MPI_PROC_NULL;
    PMPI_Comm_rank(comm, &rank);
    return root == (is_inter(comm) ? MPI_ROOT : rank);
}

static inline int neighbours(MPI_Comm comm, bool out)
{
    int kind, in_degree = 0, out_degree = 0, weighted, rank;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &in_degree, &out_degree, &weighted);
        return out ? out_degree : in_degree;
    }
    if (kind == MPI_GRAPH)
        PMPI_Graph_neighbors_count(comm, rank, &in_degree);
    else if (kind == MPI_CART && PMPI_Cartdim_get(comm, &in_degree) == MPI_SUCCESS)
        in_degree *= 2;
    return in_degree;
}

/* ---- user functions: each gets a function of its own, for it is told nothing but its data ---- */

#define OPS 16
#define EACH_OP(do)                                                                            \
    do                                                                                         \
    (0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(  \
        14) do(15)

static MPI_User_function *small_functions[OPS];

#define LARGE_FUNCTION(i)                                                                      \
    static void large_function_##i(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)    \
    {                                                                                          \
        int small = (int)*n;                                                                   \
        small_functions[i](in, inout, &small, type);                                           \
    }
EACH_OP(LARGE_FUNCTION)
#undef LARGE_FUNCTION

static inline MPI_User_function_c *widened_function(MPI_User_function *small)
{
#define LARGE_NAME(i) large_function_##i,
    static MPI_User_function_c *const large[OPS] = { EACH_OP(LARGE_NAME) };
#undef LARGE_NAME
    for (int i = 0; i < OPS; i++)
        if (!small_functions[i] || small_functions[i] == small) {
            small_functions[i] = small;
            return small ? large[i] : NULL;
        }
    fprintf(stderr, "more than %d functions of the user\n", OPS);
    abort();
}

/* ---- */

static inline void report_called(const char *const *names, const bool *called, int n)
{
    const char *path = getenv("XMPI_TEST_CALLED");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file)
        return;
    setvbuf(file, NULL, _IOFBF, 1 << 16); /* one write, which appends whole */
    for (int i = 0; i < n; i++)
        if (called[i])
            fprintf(file, "%s\n", names[i]);
    fclose(file);
}

#endif
