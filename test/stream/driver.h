/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The pretended driver (test/device) for programs: streams, events and kernels, and how often
 * anybody has waited for the device.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "check.h"
#include "test/device/fake.h"

#include <dlfcn.h>
#include <mpix.h>

static struct {
    cuda_result (*stream_create)(cuda_stream *stream, unsigned flags);
    cuda_result (*stream_destroy)(cuda_stream stream);
    cuda_result (*stream_wait_event)(cuda_stream stream, cuda_event event, unsigned flags);
    cuda_stream_synchronize *stream_synchronize;
    cuda_event_create *event_create;
    cuda_event_record *event_record;
    cuda_event_destroy *event_destroy;
    cuda_ctx_push_current *ctx_push_current;
    cuda_context (*context)(int device);
    fake_launch_kernel *launch;
    fake_count_waits *waits;
    unsigned (*launches)(void);
    size_t (*pinned)(void);
} driver;

static void driver_find(void *at, const char *name)
{
    void *library = dlopen(getenv("XMPI_LIBCUDA"), RTLD_NOW);
    void *found = library ? dlsym(library, name) : NULL;
    CHECK(found);
    memcpy(at, &found, sizeof found);
}

static inline void driver_open(void)
{
    driver_find(&driver.stream_create, "cuStreamCreate");
    driver_find(&driver.stream_destroy, "cuStreamDestroy_v2");
    driver_find(&driver.stream_wait_event, "cuStreamWaitEvent");
    driver_find(&driver.stream_synchronize, "cuStreamSynchronize");
    driver_find(&driver.event_create, "cuEventCreate");
    driver_find(&driver.event_record, "cuEventRecord");
    driver_find(&driver.event_destroy, "cuEventDestroy_v2");
    driver_find(&driver.ctx_push_current, "cuCtxPushCurrent_v2");
    driver_find(&driver.context, "fake_context");
    driver_find(&driver.launch, "fake_launch");
    driver_find(&driver.waits, "fake_waits");
    driver_find(&driver.launches, "fake_launches");
    driver_find(&driver.pinned, "fake_pinned");
    CHECK(driver.ctx_push_current(driver.context(0)) == 0);
}

static inline cuda_stream stream_new(void)
{
    cuda_stream stream;
    CHECK(driver.stream_create(&stream, 0) == 0);
    return stream;
}

static inline MPIX_Stream stream_for_mpi(cuda_stream stream)
{
    MPI_Info info;
    MPIX_Stream made;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "type", "cudaStream_t"));
    CHECK_OK(MPIX_Info_set_hex(info, "value", &stream, sizeof stream));
    CHECK_OK(MPIX_Stream_create(info, &made));
    CHECK_OK(MPI_Info_free(&info));
    return made;
}

/* A communicator of all with this stream. */
static inline MPI_Comm comm_with(cuda_stream stream)
{
    MPIX_Stream attached = stream_for_mpi(stream);
    MPI_Comm comm;
    CHECK_OK(MPIX_Stream_comm_create(MPI_COMM_WORLD, attached, &comm));
    CHECK_OK(MPIX_Stream_free(&attached));
    CHECK(attached == MPIX_STREAM_NULL);
    return comm;
}

/* Later work of `stream` comes after what `before` holds now.  Streams that come to the same event in any
 * order need one each, NULL at first. */
static inline void stream_after(cuda_event *event, cuda_stream stream, cuda_stream before)
{
    if (!*event)
        CHECK(driver.event_create(event, CUDA_EVENT_NO_TIMING) == 0);
    CHECK(driver.event_record(*event, before) == 0);
    CHECK(driver.stream_wait_event(stream, *event, 0) == 0);
}

#endif
