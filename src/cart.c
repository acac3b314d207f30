/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cartesian topologies (MPI 5.0, 8.5).  Ranks run through the grid with the last dimension
 * fastest:
 *
 *     dims 2 x 3      0 1 2      rank = coords[0] * 3 + coords[1]
 *                     3 4 5
 *
 * Who belongs to a grid or to a slice of one follows from the arguments, so making them costs no
 * more than telling the members their ticket: processes outside are not waited for.  Except with
 * reorder, when the whole communicator agrees on a map (src/remap.h).
 */
#include "coll/neighbours.h"
#include "runtime/fail.h"
#include "src/api/topology.h"
#include "src/context.h"
#include "src/remap.h"
#include "src/topo.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- the shape ---- */

static int no_memory(int ndims)
{
    return fail(MPI_ERR_NO_MEM, "no memory for a grid of %d dimensions", ndims);
}

static void coords_of(int ndims, const int *dims, int rank, int *coords)
{
    for (int i = ndims - 1; i >= 0; i--) {
        coords[i] = rank % dims[i];
        rank /= dims[i];
    }
}

/* A coordinate brought into 0 .. size - 1; for periodic dimensions. */
static int wrapped(int64_t at, int size)
{
    int inside = (int)(at % size);
    return inside < 0 ? inside + size : inside;
}

/* A grid in one piece of memory: dims, coords and periods lie behind the struct. */
static struct topology *cart_new(int ndims)
{
    size_t n = (size_t)ndims;
    struct topology *t = calloc(1, sizeof *t + n * (2 * sizeof(int) + sizeof(bool)));
    if (!t)
        return NULL;
    t->kind = TOPOLOGY_CART;
    t->cart.ndims = ndims;
    t->cart.dims = (int *)(t + 1);
    t->cart.coords = t->cart.dims + n;
    t->cart.periods = (bool *)(t->cart.coords + n);
    return t;
}

struct topology *cart_copy(const struct topology *old)
{
    struct topology *t = cart_new(old->cart.ndims);
    if (!t)
        return NULL;
    size_t n = (size_t)old->cart.ndims;
    memcpy(t->cart.dims, old->cart.dims, n * sizeof(int));
    memcpy(t->cart.coords, old->cart.coords, n * sizeof(int));
    memcpy(t->cart.periods, old->cart.periods, n * sizeof(bool));
    return t;
}

/* The number of places, or an error when the group is too small for them. */
static int cart_places(int size, int ndims, const int *dims, int *places)
{
    int64_t n = 1;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] <= 0)
            return fail(MPI_ERR_DIMS, "argument dims[%d] is %d, it must be 1 or more", i,
                        dims[i]);
        n *= dims[i];
        if (n > INT_MAX)
            n = INT_MAX;
    }
    if (n > size)
        return fail(MPI_ERR_ARG, "the grid has %s%lld places, the communicator %d processes",
                    n == INT_MAX ? "at least " : "", (long long)n, size);
    *places = (int)n;
    return MPI_SUCCESS;
}

/* ---- making ---- */

static struct topology *cart_shape(int ndims, const int dims[], const int periods[], int rank)
{
    struct topology *shape = cart_new(ndims);
    if (!shape)
        return NULL;
    for (int i = 0; i < ndims; i++) {
        shape->cart.dims[i] = dims[i];
        shape->cart.periods[i] = periods[i] != 0;
    }
    coords_of(ndims, dims, rank, shape->cart.coords);
    return shape;
}

/* Which process gets which place; NULL: everybody its own.  A pair has nothing to gain. */
static int cart_remap(struct comm *comm, int places, int ndims, const int dims[],
                      const int periods[], int **map)
{
    struct pattern pattern = { .n = places };
    *map = NULL;
    if (places <= 2)
        return MPI_SUCCESS;
    if (comm_rank(comm) == 0 && !pattern_of_grid(places, ndims, dims, periods, &pattern))
        return no_memory(ndims);
    *map = malloc((size_t)places * sizeof **map);
    int rc = *map ? remap_agree(comm, &pattern, "MPI_Cart_create", *map) : no_memory(ndims);
    free((void *)pattern.bonds);
    return rc;
}

static int cart_make(struct comm *comm_old, int ndims, const int dims[], const int periods[],
                     int reorder, struct comm **comm_cart)
{
    int places, *map = NULL, rank = comm_rank(comm_old);
    int rc = cart_places(comm_size(comm_old), ndims, dims, &places);
    *comm_cart = NULL;
    if (!rc && reorder)
        rc = cart_remap(comm_old, places, ndims, dims, periods, &map);
    if (!rc && rank < places) {
        struct group *group = topology_group(comm_old, places, map);
        struct topology *shape = cart_shape(ndims, dims, periods, group ? group->rank : 0);
        rc = topology_comm(comm_old, group, STEP_TOPOLOGY, shape, comm_cart);
    } else if (!rc) {
        rc = comm_of_part(comm_old, &group_empty, STEP_TOPOLOGY, comm_cart); /* has no place */
    }
    free(map);
    return rc;
}

int xmpi_cart_create(intra_t comm_old, length_t ndims, const int dims[], const int periods[],
                     int reorder, comm_out_t *comm_cart)
{
    uint32_t before = comm_old->team.calls;
    int rc = cart_make(comm_old, ndims, dims, periods, reorder, comm_cart);
    return comm_made(comm_old, before, rc, comm_cart);
}

/* The shape of my slice: the dimensions that remain. */
static struct topology *slice_shape(const struct topology *cart, const int remain[])
{
    int n = 0;
    for (int i = 0; i < cart->cart.ndims; i++)
        n += remain[i] != 0;
    struct topology *slice = cart_new(n);
    n = 0;
    for (int i = 0; slice && i < cart->cart.ndims; i++)
        if (remain[i]) {
            slice->cart.dims[n] = cart->cart.dims[i];
            slice->cart.periods[n] = cart->cart.periods[i];
            slice->cart.coords[n++] = cart->cart.coords[i];
        }
    return slice;
}

/* Add the places that differ from mine in what remains, from dimension `dim` on; `rank` is where
 * the dimensions before it have led. */
static void slice_add(struct ranks_draft *draft, const struct comm *comm, const int remain[],
                      int dim, int rank)
{
    const struct topology *cart = comm->topology;
    if (dim == cart->cart.ndims) {
        ranks_add(draft, ranks_world(comm->group->ranks, rank));
        return;
    }
    int size = cart->cart.dims[dim], mine = cart->cart.coords[dim];
    for (int at = remain[dim] ? 0 : mine; at < (remain[dim] ? size : mine + 1); at++)
        slice_add(draft, comm, remain, dim + 1, rank * size + at);
}

static struct group *slice_group(const struct comm *comm, const int remain[])
{
    struct ranks_draft draft = { 0 };
    slice_add(&draft, comm, remain, 0, 0);
    return group_new(ranks_finish(&draft));
}

int xmpi_cart_sub(intra_t comm, const int remain_dims[], comm_out_t *newcomm)
{
    const struct topology *cart;
    uint32_t before = comm->team.calls;
    int rc = topology_of(comm, TOPOLOGY_CART, &cart);
    if (!rc && cart->cart.ndims > 0 && !remain_dims)
        rc = fail_null(MPI_ERR_ARG, "remain_dims");
    if (rc)
        return rc;
    struct topology *slice = slice_shape(cart, remain_dims);
    struct group *group = slice ? slice_group(comm, remain_dims) : NULL;
    rc = topology_comm(comm, group, STEP_SUBGRID, slice, newcomm);
    return comm_made(comm, before, rc, newcomm);
}

int xmpi_cart_map(intra_t comm, length_t ndims, const int dims[], const int periods[],
                  int_out_t *newrank)
{
    struct pattern pattern;
    int places, rc = cart_places(comm_size(comm), ndims, dims, &places);
    if (rc)
        return rc;
    if (!pattern_of_grid(places, ndims, dims, periods, &pattern))
        return no_memory(ndims);
    rc = remap_guess(comm, &pattern, newrank);
    free((void *)pattern.bonds);
    return rc;
}

/* ---- asking ---- */

int xmpi_cartdim_get(intra_t comm, int_out_t *ndims)
{
    const struct topology *cart;
    int rc = topology_of(comm, TOPOLOGY_CART, &cart);
    if (!rc)
        *ndims = cart->cart.ndims;
    return rc;
}

static int check_maxdims(const struct topology *cart, int maxdims)
{
    if (maxdims >= cart->cart.ndims)
        return MPI_SUCCESS;
    return fail(MPI_ERR_ARG, "argument maxdims is %d, the grid has %d dimensions", maxdims,
                cart->cart.ndims);
}

int xmpi_cart_get(intra_t comm, length_t maxdims, int dims[], int periods[], int coords[])
{
    const struct topology *cart;
    int rc = topology_of(comm, TOPOLOGY_CART, &cart);
    if (!rc)
        rc = check_maxdims(cart, maxdims);
    for (int i = 0; !rc && i < cart->cart.ndims; i++) {
        dims[i] = cart->cart.dims[i];
        periods[i] = cart->cart.periods[i];
        coords[i] = cart->cart.coords[i];
    }
    return rc;
}

int xmpi_cart_coords(intra_t comm, rank_t rank, length_t maxdims, int coords[])
{
    const struct topology *cart;
    int rc = topology_of(comm, TOPOLOGY_CART, &cart);
    if (!rc)
        rc = check_maxdims(cart, maxdims);
    if (!rc)
        coords_of(cart->cart.ndims, cart->cart.dims, rank, coords);
    return rc;
}

int xmpi_cart_rank(intra_t comm, const int coords[], int_out_t *rank)
{
    const struct topology *cart;
    int rc = topology_of(comm, TOPOLOGY_CART, &cart), at = 0;
    if (!rc && cart->cart.ndims > 0 && !coords)
        rc = fail_null(MPI_ERR_ARG, "coords");
    if (rc)
        return rc;
    for (int i = 0; i < cart->cart.ndims; i++) {
        int size = cart->cart.dims[i];
        if (!cart->cart.periods[i] && (coords[i] < 0 || coords[i] >= size))
            return fail(MPI_ERR_ARG,
                        "argument coords[%d] is %d; dimension %d is not periodic and has "
                        "places 0 to %d",
                        i, coords[i], i, size - 1);
        at = at * size + wrapped(coords[i], size);
    }
    *rank = at;
    return MPI_SUCCESS;
}

/* The process `disp` places on along a dimension, MPI_PROC_NULL beyond an open end. */
static int neighbour(const struct topology *cart, int rank, int dimension, int64_t disp)
{
    int size = cart->cart.dims[dimension], mine = cart->cart.coords[dimension], distance = 1;
    int64_t at = mine + disp;
    if (cart->cart.periods[dimension])
        at = wrapped(at, size);
    if (at < 0 || at >= size)
        return MPI_PROC_NULL;
    for (int i = dimension + 1; i < cart->cart.ndims; i++)
        distance *= cart->cart.dims[i];
    return rank + ((int)at - mine) * distance;
}

int xmpi_cart_shift(intra_t comm, int direction, int disp, int_out_t *rank_source,
                    int_out_t *rank_dest)
{
    const struct topology *cart;
    int rc = topology_of(comm, TOPOLOGY_CART, &cart);
    if (rc)
        return rc;
    if (direction < 0 || direction >= cart->cart.ndims)
        return fail(MPI_ERR_DIMS,
                    "argument direction is %d, the grid has %d dimensions counted from 0",
                    direction, cart->cart.ndims);
    *rank_source = neighbour(cart, comm_rank(comm), direction, -(int64_t)disp);
    *rank_dest = neighbour(cart, comm_rank(comm), direction, disp);
    return MPI_SUCCESS;
}

/* Per dimension the neighbour below and the one above.  What one sends down comes from above, so
 * where both are the same process the sources are listed the other way round. */
int cart_neighbours(const struct topology *cart, int rank, struct neighbours **made)
{
    int ndims = cart->cart.ndims;
    struct neighbours *n = neighbours_new(2 * ndims, 2 * ndims);
    if (!n)
        return no_memory(ndims);
    for (int i = 0, at = 0; i < ndims; i++, at += 2) {
        struct edge below = { neighbour(cart, rank, i, -1), at };
        struct edge above = { neighbour(cart, rank, i, 1), at + 1 };
        n->destination[at] = n->source[at + 1] = below;
        n->destination[at + 1] = n->source[at] = above;
    }
    *made = n;
    return MPI_SUCCESS;
}
