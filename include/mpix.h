/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What xmpi has beyond the standard: buffers in the memory of a GPU, operations in the order of its
 * streams, small allreduces put together, types of 16 bits, survivors of processes that fail.
 */
#ifndef MPIX_H_XMPI
#define MPIX_H_XMPI

#include "mpi.h"

#ifdef __cplusplus
extern "C" {
#endif

#define XMPI_VERSION_MAJOR 0
#define XMPI_VERSION_MINOR 1
#define XMPI_VERSION_PATCH 0
#define XMPI_VERSION       "0.1.0"

/* Buffers in the memory of an NVIDIA GPU may be passed wherever data are sent, received, packed or
 * reduced: 1 when this library was built for that.  MPIX_Query_cuda_support tells whether it found the
 * driver of a GPU, cudaSetDevice(MPIX_Query_cuda_device()) takes a device near to this rank. */
#define MPIX_CUDA_AWARE_SUPPORT 1

/* ---- operations in the order of a stream of a GPU ----
 * What ends in _enqueue is put into the stream of its communicator and returns at once: it starts
 * after earlier work of that stream, and later work of it sees the result.
 *
 *     MPI_Info_set(info, "type", "cudaStream_t");
 *     MPIX_Info_set_hex(info, "value", &stream, sizeof stream);      a cudaStream_t or CUstream
 *     MPIX_Stream_create(info, &mpi_stream);
 *     MPIX_Stream_comm_create(comm, mpi_stream, &stream_comm);
 *     kernel<<<.., stream>>>(gradients);
 *     MPIX_Allreduce_enqueue(MPI_IN_PLACE, gradients, n, MPI_FLOAT, MPI_SUM, stream_comm);
 *     update<<<.., stream>>>(weights, gradients);
 *
 * Wrong arguments are errors of the call.  What goes wrong later meets the error handler of the
 * communicator when it is fatal, else the next call that uses the stream.  Buffers, on the device
 * or not, must stay until the stream has done the operation.
 *
 * With XMPI_TRACE=FILE each stream has a track in the time line of the job.  What the program itself
 * puts into one, kernels and copies, is seen there when it has a name:
 *
 *     MPIX_Trace_begin("layer 7", mpi_stream);
 *     kernel<<<.., stream>>>(..);
 *     MPIX_Trace_end(mpi_stream);  */
typedef struct XMPI_Stream *MPIX_Stream;
#define MPIX_STREAM_NULL ((MPIX_Stream)0)

#include "mpix_functions.h"

/* ---- many small reductions ----
 * Between MPIX_Group_start and MPIX_Group_end small allreduces are put off, whatever their kind; at
 * the end those that can be are performed as one.
 *
 *     MPIX_Group_start();
 *     for (int i = 0; i < n; i++)
 *         MPI_Allreduce(MPI_IN_PLACE, tensor[i], length[i], MPI_FLOAT, MPI_SUM, comm);
 *     MPIX_Group_end();                                  now all results are there
 *
 * All ranks put the same operations into a group, in the same order. */

/* ---- 16-bit floating point, and means ----
 * Constants like those of mpi.h, with values in the ranges that MPI 5.0 (20.3) sets aside for
 * predefined handles, at their upper ends.  The two datatypes have the values that MPICH gives
 * them behind the standard ABI.  They may be used wherever a predefined datatype may. */

/* Two bytes each: _Float16 or __fp16 (IEEE binary16) and __bf16 where the compiler has them, or
 * uint16_t.  For MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX and MPIX_AVG.  They are combined in float and
 * rounded to the nearest, ties to even: once, at the end, where all items come together, which is in
 * collectives of up to a kibibyte, and of much data, between ranks that share memory; else, as from
 * node to node, each combination of two items is rounded.  All ranks get the same bits. */
#define MPIX_C_FLOAT16 ((MPI_Datatype)0x2f0)
#define MPIX_BFLOAT16  ((MPI_Datatype)0x2f1)

/* The arithmetic mean over the processes: the result of MPI_SUM, rounding and overflow
 * included (see above for 16 bits), divided once by the number of contributions, of MPI_Scan and MPI_Exscan by those
 * up to the process.  For all reductions over a communicator and for floating point and
 * complex numbers; integers have no mean among themselves, and MPI_Reduce_local has no
 * processes: MPI_ERR_OP. */
#define MPIX_AVG ((MPI_Op)0x3f)

/* ---- processes that fail ----
 * The class of errors for what depends on a process that has died, with the rank and the cause in
 * the text of MPI_Error_string.  Under `xmpirun --keep-going` and an error handler that returns,
 * survivors go on: each call that needs the lost process ends with this class, and others work.
 * Receives from MPI_ANY_SOURCE, and collectives, need all processes of their communicator, so they
 * end too, and fail from then on; what has arrived can be received. */
#define MPIX_ERR_PROC_FAILED 16380

#ifdef __cplusplus
}
#endif

#endif
