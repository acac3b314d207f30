/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Virtual topologies and the collectives between their neighbours (MPI 5.0, chapter 8).
 */
#ifndef XMPI_API_TOPOLOGY_H
#define XMPI_API_TOPOLOGY_H

#include "src/api/kinds.h"

/* ---- Cartesian grids ---- */

/* Arrange the processes as a grid; those that find no place get MPI_COMM_NULL. */
int xmpi_cart_create(intra_t comm_old, length_t ndims, ints_t dims, ints_t periods, int reorder,
                     comm_out_t *comm_cart);

/* Fill in the zeros of dims so that the product is nnodes and the factors are close together. */
int xmpi_dims_create(int nnodes, length_t ndims, ints_out_t dims);

/* The coordinates of a rank. */
int xmpi_cart_coords(intra_t comm, rank_t rank, length_t maxdims, ints_out_t coords);

/* Dimensions, periods and my coordinates. */
int xmpi_cart_get(intra_t comm, length_t maxdims, ints_out_t dims, ints_out_t periods,
                  ints_out_t coords);

/* Where the grid would put me: a hint for programs that reorder on their own. */
int xmpi_cart_map(intra_t comm, length_t ndims, ints_t dims, ints_t periods,
                  int_out_t *newrank);

/* The rank at these coordinates; periodic dimensions wrap round. */
int xmpi_cart_rank(intra_t comm, const int coords[], int_out_t *rank);

/* Whom I receive from and send to when data moves `disp` steps along a dimension. */
int xmpi_cart_shift(intra_t comm, int direction, int disp, int_out_t *rank_source,
                    int_out_t *rank_dest);

/* Cut the grid into slices that keep the dimensions marked in remain_dims. */
int xmpi_cart_sub(intra_t comm, const int remain_dims[], comm_out_t *newcomm);

/* How many dimensions the grid has. */
int xmpi_cartdim_get(intra_t comm, int_out_t *ndims);

/* ---- graphs known whole to every process ---- */

/* Arrange the processes as a graph: indx[i] is the number of edges of the nodes 0 to i. */
int xmpi_graph_create(intra_t comm_old, length_t nnodes, ints_t indx, const int edges[],
                      int reorder, comm_out_t *comm_graph);

/* The graph as it was given. */
int xmpi_graph_get(intra_t comm, length_t maxindex, length_t maxedges, int indx[], int edges[]);

/* Where the graph would put me. */
int xmpi_graph_map(intra_t comm, length_t nnodes, ints_t indx, const int edges[],
                   int_out_t *newrank);

/* The neighbours of a rank. */
int xmpi_graph_neighbors(intra_t comm, rank_t rank, length_t maxneighbors,
                         ints_out_t neighbors);

/* How many neighbours a rank has. */
int xmpi_graph_neighbors_count(intra_t comm, rank_t rank, int_out_t *nneighbors);

/* How many nodes and edges the graph has. */
int xmpi_graphdims_get(intra_t comm, int_out_t *nnodes, int_out_t *nedges);

/* ---- graphs of which every process knows a part ---- */

/* Make a graph of edges that any process may contribute. */
int xmpi_dist_graph_create(intra_t comm_old, length_t n, ints_t sources, ints_t degrees,
                           const int destinations[], const int *weights, info_t info,
                           int reorder, comm_out_t *comm_dist_graph);

/* Make a graph of which every process gives its own edges. */
int xmpi_dist_graph_create_adjacent(intra_t comm_old, length_t indegree, ints_t sources,
                                    const int *sourceweights, length_t outdegree,
                                    ints_t destinations, const int *destweights, info_t info,
                                    int reorder, comm_out_t *comm_dist_graph);

/* My neighbours, with the weights of the edges. */
int xmpi_dist_graph_neighbors(intra_t comm, length_t maxindegree, int sources[],
                              int *sourceweights, length_t maxoutdegree, int destinations[],
                              int *destweights);

/* How many neighbours I have. */
int xmpi_dist_graph_neighbors_count(intra_t comm, int_out_t *indegree, int_out_t *outdegree,
                                    flag_t *weighted);

/* Which topology a communicator has: MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH or MPI_UNDEFINED. */
int xmpi_topo_test(comm_t comm, int_out_t *status);

/* ---- collectives between neighbours ---- */

/* Send one block to all neighbours and collect one of each. */
int xmpi_neighbor_allgather(in_t sendbuf, count_t sendcount, committed_t sendtype,
                            out_t recvbuf, count_t recvcount, committed_t recvtype,
                            intra_t comm);

/* Start an allgather between neighbours; complete it with MPI_Wait. */
int xmpi_ineighbor_allgather(in_t sendbuf, count_t sendcount, committed_t sendtype,
                             out_t recvbuf, count_t recvcount, committed_t recvtype,
                             intra_t comm, request_out_t *request);

/* Prepare an allgather between neighbours that MPI_Start can start any number of times. */
int xmpi_neighbor_allgather_init(in_t sendbuf, count_t sendcount, committed_t sendtype,
                                 out_t recvbuf, count_t recvcount, committed_t recvtype,
                                 intra_t comm, info_t info, request_out_t *request);

/* Send one block to all neighbours and collect blocks of different lengths. */
int xmpi_neighbor_allgatherv(in_t sendbuf, count_t sendcount, committed_t sendtype,
                             out_t recvbuf, counts_t recvcounts, displs_t displs,
                             committed_t recvtype, intra_t comm);

/* Start an allgather of different lengths between neighbours; complete it with MPI_Wait. */
int xmpi_ineighbor_allgatherv(in_t sendbuf, count_t sendcount, committed_t sendtype,
                              out_t recvbuf, counts_t recvcounts, displs_t displs,
                              committed_t recvtype, intra_t comm, request_out_t *request);

/* Prepare an allgather of different lengths between neighbours that MPI_Start can start any number of times. */
int xmpi_neighbor_allgatherv_init(in_t sendbuf, count_t sendcount, committed_t sendtype,
                                  out_t recvbuf, counts_t recvcounts, displs_t displs,
                                  committed_t recvtype, intra_t comm, info_t info,
                                  request_out_t *request);

/* Exchange a block of its own with every neighbour. */
int xmpi_neighbor_alltoall(in_t sendbuf, count_t sendcount, committed_t sendtype, out_t recvbuf,
                           count_t recvcount, committed_t recvtype, intra_t comm);

/* Start an exchange between neighbours; complete it with MPI_Wait. */
int xmpi_ineighbor_alltoall(in_t sendbuf, count_t sendcount, committed_t sendtype,
                            out_t recvbuf, count_t recvcount, committed_t recvtype,
                            intra_t comm, request_out_t *request);

/* Prepare an exchange between neighbours that MPI_Start can start any number of times. */
int xmpi_neighbor_alltoall_init(in_t sendbuf, count_t sendcount, committed_t sendtype,
                                out_t recvbuf, count_t recvcount, committed_t recvtype,
                                intra_t comm, info_t info, request_out_t *request);

/* Exchange blocks of different lengths with every neighbour. */
int xmpi_neighbor_alltoallv(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                            committed_t sendtype, out_t recvbuf, counts_t recvcounts,
                            displs_t rdispls, committed_t recvtype, intra_t comm);

/* Start an exchange of different lengths between neighbours; complete it with MPI_Wait. */
int xmpi_ineighbor_alltoallv(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                             committed_t sendtype, out_t recvbuf, counts_t recvcounts,
                             displs_t rdispls, committed_t recvtype, intra_t comm,
                             request_out_t *request);

/* Prepare an exchange of different lengths between neighbours that MPI_Start can start any number of times. */
int xmpi_neighbor_alltoallv_init(in_t sendbuf, counts_t sendcounts, displs_t sdispls,
                                 committed_t sendtype, out_t recvbuf, counts_t recvcounts,
                                 displs_t rdispls, committed_t recvtype, intra_t comm,
                                 info_t info, request_out_t *request);

/* Exchange with every neighbour, each with its own count, place (in bytes) and datatype. */
int xmpi_neighbor_alltoallw(in_t sendbuf, counts_t sendcounts, const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], out_t recvbuf, counts_t recvcounts,
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                            intra_t comm);

/* Start an exchange of different datatypes between neighbours; complete it with MPI_Wait. */
int xmpi_ineighbor_alltoallw(in_t sendbuf, counts_t sendcounts, const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], out_t recvbuf, counts_t recvcounts,
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             intra_t comm, request_out_t *request);

/* Prepare an exchange of different datatypes between neighbours that MPI_Start can start any number of times. */
int xmpi_neighbor_alltoallw_init(in_t sendbuf, counts_t sendcounts, const MPI_Aint sdispls[],
                                 const MPI_Datatype sendtypes[], out_t recvbuf,
                                 counts_t recvcounts, const MPI_Aint rdispls[],
                                 const MPI_Datatype recvtypes[], intra_t comm, info_t info,
                                 request_out_t *request);

#endif
