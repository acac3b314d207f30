/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Extension, declared for programs in mpix.h: which GPU, operations in the order of its streams, and
 * streams in time lines.  Not part of MPI 5.0; names and arguments are MPICH's or Open MPI's where
 * they have the function.
 *
 * All that ends in _enqueue takes a communicator with a stream (MPIX_Stream_comm_create) and returns
 * at once.  The operation starts when the stream has done what was put into it before, and what is
 * put into it later finds the result.  Nobody waits for the stream meanwhile.
 */
#ifndef XMPI_API_STREAM_H
#define XMPI_API_STREAM_H

#include "src/api/kinds.h"

/* May buffers in the memory of an NVIDIA GPU be passed wherever data are sent, received, packed or
 * reduced?  1 when the driver of a GPU was found, which is looked for the first time; 0 otherwise. */
manual int MPIX_Query_cuda_support(void);

/* The device that this process should take, for cudaSetDevice, or -1 if CUDA shows none.  Where xmpirun
 * has placed the ranks (--map-by gpu, --bind-to) it is one near to the CPUs of this rank, and ranks are
 * spread over all; otherwise, as under torchrun or srun, the number of the process on its node
 * (LOCAL_RANK, SLURM_LOCALID), modulo the number of devices. */
manual int MPIX_Query_cuda_device(void);

/* Make a stream out of one of the program's; info has "type", which is "cudaStream_t", and
 * "value", the handle's bytes in hexadecimal (MPIX_Info_set_hex); "name", which is up to the program, is
 * its name in time lines.  Without "type" it is a stream that no operation can be put into.  Its first use starts a thread that makes progress, so calls
 * of MPI take a lock from then on. */
int xmpix_stream_create(info_t info, stream_out_t *stream);

/* Give a stream back; the program's own stays.  Communicators go on using it. */
int xmpix_stream_free(stream_free_t *stream);

/* Duplicate a communicator and attach a stream of this process; collective.  Each process has its
 * own stream, or MPIX_STREAM_NULL. */
int xmpix_stream_comm_create(intra_t comm, stream_or_null_t stream, comm_out_t *newcomm);

/* Set an info key to bytes in hexadecimal. */
int xmpix_info_set_hex(info_live_t info, string_t key, pointer_in_t value, length_t value_size);

/* Begin a piece of work that shall have this name in the time line of the job: what is put into the
 * stream from here to MPIX_Trace_end.  MPIX_STREAM_NULL: what this thread does from here on. */
int xmpix_trace_begin(string_t name, stream_or_null_t stream);

/* End the piece of work of this stream, or of this thread, that was begun last. */
int xmpix_trace_end(stream_or_null_t stream);

/* Send in the order of the stream. */
int xmpix_send_enqueue(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                       comm_t comm);

/* Receive in the order of the stream.  The status is written before the stream goes on. */
int xmpix_recv_enqueue(room_t buf, count_t count, committed_t datatype, source_t source,
                       anytag_t tag, comm_t comm, status_t status);

/* Start a send in the order of the stream, which does not wait for its end.  The request goes to
 * MPIX_Wait_enqueue, or to MPI_Wait and its kind. */
int xmpix_isend_enqueue(data_t buf, count_t count, committed_t datatype, dest_t dest, tag_t tag,
                        comm_t comm, request_out_t *request);

/* Start a receive in the order of the stream, which does not wait for its end. */
int xmpix_irecv_enqueue(room_t buf, count_t count, committed_t datatype, source_t source,
                        anytag_t tag, comm_t comm, request_out_t *request);

/* Let the stream of the request's communicator wait for it.  The request is MPI_REQUEST_NULL
 * afterwards. */
int xmpix_wait_enqueue(request_t *request, status_t status);

/* Let the streams of the requests' communicators wait for them. */
int xmpix_waitall_enqueue(n_t count, MPI_Request array_of_requests[],
                          MPI_Status *array_of_statuses);

/* Barrier in the order of the stream. */
int xmpix_barrier_enqueue(comm_t comm);

/* Broadcast in the order of the stream. */
int xmpix_bcast_enqueue(inout_t buffer, count_t count, committed_t datatype, root_t root,
                        comm_t comm);

/* Allgather in the order of the stream. */
int xmpix_allgather_enqueue(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                            out_t recvbuf, count_t recvcount, committed_t recvtype,
                            comm_t comm);

/* Exchange blocks between all in the order of the stream. */
int xmpix_alltoall_enqueue(in_t sendbuf, mine_count_t sendcount, mine_type_t sendtype,
                           out_t recvbuf, count_t recvcount, committed_t recvtype, comm_t comm);

/* Reduce to the root in the order of the stream. */
int xmpix_reduce_enqueue(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype,
                         op_t op, root_t root, comm_t comm);

/* Reduce for all in the order of the stream. */
int xmpix_allreduce_enqueue(in_t sendbuf, out_t recvbuf, count_t count, committed_t datatype,
                            op_t op, comm_t comm);

/* Reduce and scatter equal blocks in the order of the stream. */
int xmpix_reduce_scatter_block_enqueue(in_t sendbuf, out_t recvbuf, count_t recvcount,
                                       committed_t datatype, op_t op, comm_t comm);

/* Reduce and scatter blocks in the order of the stream. */
int xmpix_reduce_scatter_enqueue(in_t sendbuf, out_t recvbuf, counts_t recvcounts,
                                 committed_t datatype, op_t op, comm_t comm);

#endif
