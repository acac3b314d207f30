/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Point-to-point communication (MPI 5.0, chapter 3).
 */
#ifndef XMPI_API_P2P_H
#define XMPI_API_P2P_H

#include "src/api/kinds.h"

/* ---- blocking ---- */

/* Send a message and return once the buffer may be reused. */
quick solo int xmpi_send(data_t buf, count_t count, committed_t datatype, dest_t dest,
                         tag_t tag, comm_t comm);

/* Send through the buffer that the program attached: never waits for the receiver. */
int xmpi_bsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
               comm_t comm);

/* Send and return once the receiver has begun to receive. */
int xmpi_ssend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
               comm_t comm);

/* Send a message whose receive is known to be posted. */
int xmpi_rsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
               comm_t comm);

/* Receive a message: wait until it is here. */
quick solo int xmpi_recv(room_t buf, count_t count, committed_t datatype, source_t source,
                         anytag_t tag, comm_t comm, status_t status);

/* Send one message and receive another; the two may cross. */
int xmpi_sendrecv(data_t sendbuf, count_t sendcount, committed_t sendtype, dest_t dest,
                  tag_t sendtag, room_t recvbuf, count_t recvcount, committed_t recvtype,
                  source_t source, anytag_t recvtag, comm_t comm, status_t status);

/* Send what is in the buffer and receive into the same buffer. */
int xmpi_sendrecv_replace(room_t buf, count_t count, committed_t datatype, dest_t dest,
                          tag_t sendtag, source_t source, anytag_t recvtag, comm_t comm,
                          status_t status);

/* ---- nonblocking: complete the request with MPI_Wait or MPI_Test ---- */

/* Start a send. */
quick solo int xmpi_isend(data_t buf, count_t count, committed_t datatype, dest_t dest,
                          tag_t tag, comm_t comm, request_out_t *request);

/* Start a send through the attached buffer. */
int xmpi_ibsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                comm_t comm, request_out_t *request);

/* Start a send that completes once the receiver has begun to receive. */
int xmpi_issend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                comm_t comm, request_out_t *request);

/* Start a send whose receive is known to be posted. */
int xmpi_irsend(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                comm_t comm, request_out_t *request);

/* Start a receive. */
quick solo int xmpi_irecv(room_t buf, count_t count, committed_t datatype, source_t source,
                          anytag_t tag, comm_t comm, request_out_t *request);

/* Start a send and a receive under one request. */
int xmpi_isendrecv(data_t sendbuf, count_t sendcount, committed_t sendtype, dest_t dest,
                   tag_t sendtag, room_t recvbuf, count_t recvcount, committed_t recvtype,
                   source_t source, anytag_t recvtag, comm_t comm, request_out_t *request);

/* Start a send and a receive that share a buffer. */
int xmpi_isendrecv_replace(room_t buf, count_t count, committed_t datatype, dest_t dest,
                           tag_t sendtag, source_t source, anytag_t recvtag, comm_t comm,
                           request_out_t *request);

/* ---- persistent: prepared once, started any number of times ---- */

/* Prepare a send. */
int xmpi_send_init(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                   comm_t comm, request_out_t *request);

/* Prepare a send through the attached buffer. */
int xmpi_bsend_init(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                    comm_t comm, request_out_t *request);

/* Prepare a send that completes once the receiver has begun to receive. */
int xmpi_ssend_init(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                    comm_t comm, request_out_t *request);

/* Prepare a send whose receive will be posted whenever it is started. */
int xmpi_rsend_init(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                    comm_t comm, request_out_t *request);

/* Prepare a receive. */
int xmpi_recv_init(room_t buf, count_t count, committed_t datatype, source_t source,
                   anytag_t tag, comm_t comm, request_out_t *request);

/* Start a persistent operation. */
int xmpi_start(request_t *request);

/* Start several persistent operations. */
int xmpi_startall(n_t count, MPI_Request array_of_requests[]);

/* ---- completing ---- */

/* Wait for an operation. */
solo int xmpi_wait(request_t *request, status_t status);

/* Is an operation complete?  If so, finish it. */
solo int xmpi_test(request_t *request, flag_t *flag, status_t status);

/* Wait for one of several operations. */
int xmpi_waitany(n_t count, MPI_Request array_of_requests[], int_out_t *indx, status_t status);

/* Is one of several operations complete?  If so, finish it. */
int xmpi_testany(n_t count, MPI_Request array_of_requests[], int_out_t *indx, flag_t *flag,
                 status_t status);

/* Wait for all of several operations. */
solo int xmpi_waitall(n_t count, MPI_Request array_of_requests[],
                      MPI_Status *array_of_statuses);

/* Are all of several operations complete?  If so, finish them. */
solo int xmpi_testall(n_t count, MPI_Request array_of_requests[], flag_t *flag,
                      MPI_Status *array_of_statuses);

/* Wait until at least one of several operations is complete and finish all that are. */
int xmpi_waitsome(n_t incount, MPI_Request array_of_requests[], int_out_t *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses);

/* Finish those of several operations that are complete. */
int xmpi_testsome(n_t incount, MPI_Request array_of_requests[], int_out_t *outcount,
                  int array_of_indices[], MPI_Status *array_of_statuses);

/* Give up the handle; the operation itself goes on. */
int xmpi_request_free(request_t *request);

/* Ask to cancel an operation; it must still be completed. */
int xmpi_cancel(request_t *request);

/* Is an operation complete?  The request stays as it is. */
int xmpi_request_get_status(MPI_Request request, flag_t *flag, status_t status);

/* Is one of several operations complete?  The requests stay as they are. */
int xmpi_request_get_status_any(n_t count, const MPI_Request array_of_requests[],
                                int_out_t *indx, flag_t *flag, status_t status);

/* Are all of several operations complete?  The requests stay as they are. */
int xmpi_request_get_status_all(n_t count, const MPI_Request array_of_requests[], flag_t *flag,
                                MPI_Status *array_of_statuses);

/* Which of several operations are complete?  The requests stay as they are. */
int xmpi_request_get_status_some(n_t incount, const MPI_Request array_of_requests[],
                                 int_out_t *outcount, int array_of_indices[],
                                 MPI_Status *array_of_statuses);

/* ---- statuses ---- */

/* How many elements of a datatype a message had; MPI_UNDEFINED when it ends inside one. */
int xmpi_get_count(status_in_t status, type_t datatype, count_out_t *count);

/* How many basic elements a message had. */
int xmpi_get_elements(status_in_t status, type_t datatype, count_out_t *count);

/* Was the operation cancelled? */
int xmpi_test_cancelled(status_in_t status, flag_t *flag);

/* The rank a message came from. */
anytime int xmpi_status_get_source(status_in_t status, int_out_t *source);

/* The tag of a message. */
anytime int xmpi_status_get_tag(status_in_t status, int_out_t *tag);

/* The error code of an operation. */
anytime int xmpi_status_get_error(status_in_t status, int_out_t *error);

/* ---- probing ---- */

/* Wait until a message can be received and say which. */
int xmpi_probe(source_t source, anytag_t tag, comm_t comm, status_t status);

/* Is there a message that can be received? */
int xmpi_iprobe(source_t source, anytag_t tag, comm_t comm, flag_t *flag, status_t status);

/* Wait for a message and take it out of matching; MPI_Mrecv receives it. */
int xmpi_mprobe(source_t source, anytag_t tag, comm_t comm, message_t *message,
                status_t status);

/* Is there a message?  If so, take it out of matching. */
int xmpi_improbe(source_t source, anytag_t tag, comm_t comm, flag_t *flag, message_t *message,
                 status_t status);

/* Receive a message that was taken out of matching. */
int xmpi_mrecv(room_t buf, count_t count, committed_t datatype, message_t *message,
               status_t status);

/* Start to receive a message that was taken out of matching. */
int xmpi_imrecv(room_t buf, count_t count, committed_t datatype, message_t *message,
                request_out_t *request);

/* ---- the buffer of buffered sends: of the process, of a communicator, of a session ---- */

/* Give the library a buffer; MPI_BUFFER_AUTOMATIC lets it allocate as needed. */
int xmpi_buffer_attach(void *buffer, wide_t size);

/* Wait until the buffer is empty and take it back. */
int xmpi_buffer_detach(pointer_out_t buffer_addr, count_out_t *size);

/* Wait until all messages in the buffer have left. */
int xmpi_buffer_flush(void);

/* Start waiting until all messages in the buffer have left. */
int xmpi_buffer_iflush(request_out_t *request);

/* Give a communicator a buffer of its own. */
int xmpi_comm_attach_buffer(comm_t comm, void *buffer, wide_t size);

/* Take the buffer of a communicator back. */
int xmpi_comm_detach_buffer(comm_t comm, pointer_out_t buffer_addr, count_out_t *size);

/* Wait until all messages in the buffer of a communicator have left. */
int xmpi_comm_flush_buffer(comm_t comm);

/* Start waiting until all messages in the buffer of a communicator have left. */
int xmpi_comm_iflush_buffer(comm_t comm, request_out_t *request);

/* Give a session a buffer. */
int xmpi_session_attach_buffer(session_t session, void *buffer, wide_t size);

/* Take the buffer of a session back. */
int xmpi_session_detach_buffer(session_t session, pointer_out_t buffer_addr, count_out_t *size);

/* Wait until all messages in the buffer of a session have left. */
int xmpi_session_flush_buffer(session_t session);

/* Start waiting until all messages in the buffer of a session have left. */
int xmpi_session_iflush_buffer(session_t session, request_out_t *request);

#endif
