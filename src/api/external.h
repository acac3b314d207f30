/* SPDX-License-Identifier: BSD-3-Clause
 *
 * External interfaces: requests and statuses that the program completes (MPI 5.0, chapter 13).
 */
#ifndef XMPI_API_EXTERNAL_H
#define XMPI_API_EXTERNAL_H

#include "src/api/kinds.h"

/* A request that the program itself completes with MPI_Grequest_complete. */
int xmpi_grequest_start(MPI_Grequest_query_function *query_fn,
                        MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
                        request_out_t *request);

/* Mark such a request as complete. */
int xmpi_grequest_complete(MPI_Request request);

/* Let a status say how many basic elements there were. */
int xmpi_status_set_elements(status_out_t status, type_t datatype, count_t count);

/* Let a status say whether the operation was cancelled. */
int xmpi_status_set_cancelled(status_out_t status, int flag);

/* Set the source of a status. */
anytime int xmpi_status_set_source(status_out_t status, int source);

/* Set the tag of a status. */
anytime int xmpi_status_set_tag(status_out_t status, int tag);

/* Set the error code of a status. */
anytime int xmpi_status_set_error(status_out_t status, int error);

#endif
