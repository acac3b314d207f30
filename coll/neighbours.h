/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whom a rank exchanges with in the neighbourhood collectives.
 *
 * An edge is a message in each of them, and a block in the buffer at either end.  The k-th edge
 * here that leads to rank q meets the k-th edge of q that comes from here: messages are numbered
 * in the order of the lists.  Blocks need not stand in that order.  On a ring of two processes
 *
 *     destination   (1, block 0: to the left)      (1, block 1: to the right)
 *     source        (1, block 1: from the right)   (1, block 0: from the left)
 *
 * because what is sent to the left comes from the right.
 */
#ifndef XMPI_NEIGHBOURS_H
#define XMPI_NEIGHBOURS_H

struct edge {
    int peer; /* a team rank; negative: nobody, and the block is not touched */
    int block;
};

struct neighbours {
    int nsources, ndestinations; /* edges, and blocks of OUT and IN */
    struct edge *source, *destination;
};

/* Edges that lead to nobody, block i at place i, to be filled in.  One allocation, for free();
 * NULL when memory is out. */
struct neighbours *neighbours_new(int nsources, int ndestinations);

/* Of a rank of a torus whose last dimension varies fastest, in the order of MPI_Cart_create: along each
 * dimension the one below and the one above.  For free(); NULL when memory is out. */
struct neighbours *neighbours_torus(int ndims, const int *dims, int me);

#endif
