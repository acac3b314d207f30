/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The few functions of CUDA's driver that are called here, as its binary interface has them since
 * version 4 (names with _v2 are how 64-bit sizes came in).  With these, no CUDA is needed to build,
 * and the same library runs where there is none.
 */
#ifndef XMPI_CUDA_ABI_H
#define XMPI_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int cuda_result; /* 0 is success */
typedef uint64_t cuda_address;
typedef void *cuda_context, *cuda_stream, *cuda_event;

enum {
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_NOT_INITIALIZED = 3,
    CUDA_ALREADY_MAPPED = 208,
    CUDA_NOT_READY = 600,
    CUDA_CAPTURE_IMPLICIT =
        906 /* of the default stream, which another one's capture may not meet */
};

/* The stream that a thread has without making one; it does not wait for those of other threads. */
#define CUDA_STREAM_PER_THREAD ((cuda_stream)2)

/* A stream that does not wait for the default one. */
enum { CUDA_STREAM_NON_BLOCKING = 1 };

enum { CUDA_MEMORY_HOST = 1, CUDA_MEMORY_DEVICE = 2, CUDA_MEMORY_UNIFIED = 4 };

/* What is asked about a device: do processes use it at a time, by MPS? */
enum { CUDA_DEVICE_MPS = 133 };

/* What is asked about a pointer, and the type of the answer. */
enum cuda_attribute {
    CUDA_POINTER_CONTEXT = 1,        /* cuda_context */
    CUDA_POINTER_MEMORY_TYPE = 2,    /* unsigned */
    CUDA_POINTER_DEVICE_POINTER = 3, /* cuda_address, for kernels of the current context */
    CUDA_POINTER_SYNC_MEMOPS = 6,    /* unsigned, to be set: copies that wait do wait */
    CUDA_POINTER_BUFFER_ID = 7,      /* uint64_t, of the allocation: no other one ever has it */
    CUDA_POINTER_IS_MANAGED = 8,     /* unsigned */
    CUDA_POINTER_DEVICE = 9          /* int */
};

/* Names an allocation to other processes of the same machine. */
struct cuda_ipc_handle {
    char bytes[64];
};
enum { CUDA_IPC_LAZY_PEER_ACCESS = 1 };

enum { CUDA_HOST_PORTABLE = 1 }; /* pinned memory of all contexts */
enum {
    CUDA_EVENT_TIMING = 0,   /* an event that knows when it was reached */
    CUDA_EVENT_NO_TIMING = 2 /* an event that only says whether */
};

/* A copy of `height` rows of `width` bytes. */
struct cuda_copy_2d {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    cuda_address from;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    cuda_address to;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
};

typedef cuda_result cuda_pointer_get_attributes(unsigned n, enum cuda_attribute *attributes,
                                                void **answers, cuda_address pointer);
typedef cuda_result cuda_pointer_set_attribute(const void *value, enum cuda_attribute attribute,
                                               cuda_address pointer);
typedef cuda_result cuda_mem_get_address_range(cuda_address *base, size_t *bytes,
                                               cuda_address pointer);
typedef cuda_result cuda_ipc_get_mem_handle(struct cuda_ipc_handle *handle,
                                            cuda_address pointer);
typedef cuda_result cuda_ipc_open_mem_handle(cuda_address *pointer,
                                             struct cuda_ipc_handle handle, unsigned flags);
typedef cuda_result cuda_ipc_close_mem_handle(cuda_address pointer);
typedef cuda_result cuda_mem_host_alloc(void **memory, size_t bytes, unsigned flags);
typedef cuda_result cuda_mem_free_host(void *memory);
typedef cuda_result cuda_event_create(cuda_event *event, unsigned flags);
typedef cuda_result cuda_event_record(cuda_event event, cuda_stream stream);
typedef cuda_result cuda_event_query(cuda_event event);
typedef cuda_result cuda_event_elapsed_time(float *milliseconds, cuda_event from,
                                            cuda_event to);
typedef cuda_result cuda_event_synchronize(cuda_event event);
typedef cuda_result cuda_event_destroy(cuda_event event);
typedef cuda_result cuda_memcpy_async(cuda_address to, cuda_address from, size_t bytes,
                                      cuda_stream stream);
typedef cuda_result cuda_memcpy_2d_async(const struct cuda_copy_2d *copy, cuda_stream stream);
typedef cuda_result cuda_stream_synchronize(cuda_stream stream);
typedef cuda_result cuda_init(unsigned flags);
typedef cuda_result cuda_device_get_count(int *count);
typedef cuda_result cuda_device_get(int *device, int number);
typedef cuda_result cuda_device_get_by_pci_bus_id(int *device, const char *bus);
typedef cuda_result cuda_ctx_get_device(int *device);
typedef cuda_result cuda_device_get_attribute(int *value, int attribute, int device);
typedef cuda_result cuda_device_get_uuid(unsigned char uuid[16], int device);
typedef cuda_result cuda_ctx_get_current(cuda_context *context);
typedef cuda_result cuda_ctx_push_current(cuda_context context);
typedef cuda_result cuda_ctx_pop_current(cuda_context *context);
typedef cuda_result cuda_get_error_name(cuda_result error, const char **name);

/* ---- kernels, and memory for them ---- */

typedef void *cuda_module, *cuda_function;
typedef cuda_result cuda_module_load_data(cuda_module *module, const void *text);
typedef cuda_result cuda_module_unload(cuda_module module);
typedef cuda_result cuda_module_get_function(cuda_function *function, cuda_module module,
                                             const char *name);
typedef cuda_result cuda_func_load(cuda_function function); /* since CUDA 12.4 */
typedef cuda_result cuda_launch_kernel(cuda_function function, unsigned grid_x, unsigned grid_y,
                                       unsigned grid_z, unsigned block_x, unsigned block_y,
                                       unsigned block_z, unsigned shared_bytes,
                                       cuda_stream stream, void **arguments, void **extra);
typedef cuda_result cuda_mem_alloc(cuda_address *at, size_t bytes);
typedef cuda_result cuda_mem_free(cuda_address at);

/* ---- streams of the program ----
 * Waiting for a word of memory is allowed by default since the functions whose names end in _v2,
 * of CUDA 11.7 and later. */
enum { CUDA_WAIT_AT_LEAST = 0, CUDA_WRITE_DEFAULT = 0 };

typedef void cuda_host_function(void *argument);
typedef cuda_result cuda_stream_create(cuda_stream *stream, unsigned flags);
typedef cuda_result cuda_stream_create_with_priority(cuda_stream *stream, unsigned flags,
                                                     int priority);
typedef cuda_result cuda_ctx_get_stream_priority_range(int *least, int *greatest);
typedef cuda_result cuda_stream_get_ctx(cuda_stream stream, cuda_context *context);
typedef cuda_result cuda_launch_host_func(cuda_stream stream, cuda_host_function *function,
                                          void *argument);
typedef cuda_result cuda_stream_wait_value_32(cuda_stream stream, cuda_address word,
                                              uint32_t value, unsigned flags);
typedef cuda_stream_wait_value_32 cuda_stream_write_value_32;

/* A stream that is captured performs nothing: what is put into it becomes part of a graph.  Meanwhile a
 * thread must not make calls that would not, unless it says that it knows. */
enum { CUDA_CAPTURE_NONE = 0, CUDA_CAPTURE_ACTIVE = 1 };
enum { CUDA_CAPTURE_GLOBAL = 0, CUDA_CAPTURE_RELAXED = 2 };
typedef cuda_result cuda_stream_is_capturing(cuda_stream stream, int *status);
typedef cuda_result cuda_thread_exchange_stream_capture_mode(int *mode);

#endif
