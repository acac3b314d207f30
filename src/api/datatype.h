/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datatypes and packing (MPI 5.0, chapter 5).
 */
#ifndef XMPI_API_DATATYPE_H
#define XMPI_API_DATATYPE_H

#include "src/api/kinds.h"

/* ---- making datatypes ---- */

/* `count` elements in a row. */
int xmpi_type_contiguous(count_t count, type_t oldtype, is_large_t large, type_out_t *newtype);

/* `count` blocks, their starts `stride` elements apart. */
int xmpi_type_vector(count_t count, count_t blocklength, wide_t stride, type_t oldtype,
                     is_large_t large, type_out_t *newtype);

/* `count` blocks, their starts `stride` bytes apart. */
int xmpi_type_create_hvector(count_t count, count_t blocklength, extent_t stride,
                             type_t oldtype, is_large_t large, type_out_t *newtype);

/* Blocks of different lengths, displaced by multiples of the element. */
int xmpi_type_indexed(count_t count, counts_t array_of_blocklengths,
                      counts_t array_of_displacements, type_t oldtype, is_large_t large,
                      type_out_t *newtype);

/* Blocks of different lengths, displaced by bytes. */
int xmpi_type_create_hindexed(count_t count, counts_t array_of_blocklengths,
                              extents_t array_of_displacements, type_t oldtype,
                              is_large_t large, type_out_t *newtype);

/* Blocks of one length, displaced by multiples of the element. */
int xmpi_type_create_indexed_block(count_t count, count_t blocklength,
                                   counts_t array_of_displacements, type_t oldtype,
                                   is_large_t large, type_out_t *newtype);

/* Blocks of one length, displaced by bytes. */
int xmpi_type_create_hindexed_block(count_t count, count_t blocklength,
                                    extents_t array_of_displacements, type_t oldtype,
                                    is_large_t large, type_out_t *newtype);

/* Blocks of different types, displaced by bytes: a C struct. */
int xmpi_type_create_struct(count_t count, counts_t array_of_blocklengths,
                            extents_t array_of_displacements,
                            const MPI_Datatype array_of_types[], is_large_t large,
                            type_out_t *newtype);

/* A box cut out of an array with several dimensions. */
int xmpi_type_create_subarray(length_t ndims, counts_t array_of_sizes,
                              counts_t array_of_subsizes, counts_t array_of_starts, int order,
                              type_t oldtype, type_out_t *newtype);

/* The part of a distributed array that one process holds. */
int xmpi_type_create_darray(int size, int rank, length_t ndims, counts_t array_of_gsizes,
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, type_t oldtype,
                            type_out_t *newtype);

/* The same data with another lower bound and extent. */
int xmpi_type_create_resized(type_t oldtype, extent_t lb, extent_t extent, is_large_t large,
                             type_out_t *newtype);

/* A datatype like another one, with the attributes that want to be copied. */
int xmpi_type_dup(type_t oldtype, type_out_t *newtype);

/* Make a datatype ready for communication. */
int xmpi_type_commit(type_at_t datatype);

/* Give a datatype back; what is in flight and what was made of it stays. */
int xmpi_type_free(type_free_t *datatype);

/* The predefined pair of a value and an index type; MPI_DATATYPE_NULL when there is none.  Beside
 * the pairs with names there are those of signed integers of 32 and 64 bits, float, double and
 * long double with indices of 32 or 64 bits. */
int xmpi_type_get_value_index(type_t value_type, type_t index_type, type_out_t *pair_type);

/* ---- asking ---- */

/* The address of a place in memory. */
anytime int xmpi_get_address(const void *location, aint_out_t *address);

/* base + disp, for addresses of MPI_Get_address. */
manual MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp);

/* addr1 - addr2, for addresses of MPI_Get_address. */
manual MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2);

/* How many bytes of data one element has. */
int xmpi_type_size(type_t datatype, count_out_t *size);

/* Lower bound and extent: how elements follow each other in memory. */
int xmpi_type_get_extent(type_t datatype, extent_out_t *lb, extent_out_t *extent);

/* Lower bound and extent of the data alone, without padding. */
int xmpi_type_get_true_extent(type_t datatype, extent_out_t *true_lb,
                              extent_out_t *true_extent);

/* How a datatype was made, and how many arguments MPI_Type_get_contents returns.
 * num_large_counts is NULL when called as MPI_Type_get_envelope. */
int xmpi_type_get_envelope(type_t datatype, count_out_t *num_integers,
                           count_out_t *num_addresses, large_out_t num_large_counts,
                           count_out_t *num_datatypes, int_out_t *combiner);

/* The arguments a datatype was made with. */
int xmpi_type_get_contents(type_t datatype, count_t max_integers, count_t max_addresses,
                           large_t max_large_counts, count_t max_datatypes, is_large_t large,
                           int array_of_integers[], MPI_Aint array_of_addresses[],
                           large_array_t array_of_large_counts,
                           MPI_Datatype array_of_datatypes[]);

/* ---- packing ---- */

/* Append elements to a packed buffer and move `position` behind them. */
int xmpi_pack(data_t inbuf, count_t incount, committed_t datatype, out_t outbuf,
              bytes_t outsize, position_t *position, comm_t comm);

/* Take elements from a packed buffer and move `position` behind them. */
int xmpi_unpack(in_t inbuf, bytes_t insize, position_t *position, room_t outbuf,
                count_t outcount, committed_t datatype, comm_t comm);

/* How many bytes MPI_Pack may need. */
int xmpi_pack_size(count_t incount, committed_t datatype, comm_t comm, count_out_t *size);

/* Pack in the portable representation "external32". */
int xmpi_pack_external(string_t datarep, data_t inbuf, count_t incount, committed_t datatype,
                       out_t outbuf, extent_t outsize, extent_out_t *position);

/* Unpack from the portable representation "external32". */
int xmpi_unpack_external(string_t datarep, in_t inbuf, extent_t insize, extent_out_t *position,
                         room_t outbuf, count_t outcount, committed_t datatype);

/* How many bytes MPI_Pack_external needs. */
int xmpi_pack_external_size(string_t datarep, count_t incount, committed_t datatype,
                            extent_out_t *size);

#endif
