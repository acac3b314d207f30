/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Partitioned communication (MPI 5.0, chapter 4).
 */
#ifndef XMPI_API_PARTITIONED_H
#define XMPI_API_PARTITIONED_H

#include "src/api/kinds.h"

/* Prepare to send a message in partitions that become ready one by one. */
int xmpi_psend_init(in_t buf, length_t partitions, whole_count_t count, committed_t datatype,
                    dest_t dest, tag_t tag, comm_t comm, info_t info, request_out_t *request);

/* Prepare to receive a message in partitions. */
int xmpi_precv_init(out_t buf, length_t partitions, whole_count_t count, committed_t datatype,
                    dest_t dest, tag_t tag, comm_t comm, info_t info, request_out_t *request);

/* One partition is ready to be sent. */
int xmpi_pready(int partition, MPI_Request request);

/* Several partitions are ready to be sent. */
int xmpi_pready_list(length_t length, const int array_of_partitions[], MPI_Request request);

/* A range of partitions is ready to be sent. */
int xmpi_pready_range(int partition_low, int partition_high, MPI_Request request);

/* Has a partition arrived? */
int xmpi_parrived(MPI_Request request, int partition, flag_t *flag);

#endif
