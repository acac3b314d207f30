/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams of a device, of which the driver is a pretended one: what is put into a stream waits for
 * what was there before, later work for the word, and nobody for the device.  Kernels wait until the
 * test lets them go, so nothing depends on time.
 */
#include "runtime/gpu_stream.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "test/device/fake.h"

#include <dlfcn.h>
#include <sched.h>

#include "unit.h"

static void *function_of_driver(const char *name)
{
    void *found = dlsym(dlopen(FAKE_DRIVER, RTLD_NOW), name);
    ck_assert_ptr_nonnull(found);
    return found;
}

static cuda_stream stream_of_program(void)
{
    cuda_result (*create)(cuda_stream *, unsigned) = function_of_driver("cuStreamCreate");
    cuda_context (*context)(int) = function_of_driver("fake_context");
    cuda_ctx_push_current *push = function_of_driver("cuCtxPushCurrent_v2");
    cuda_ctx_pop_current *pop = function_of_driver("cuCtxPopCurrent_v2");
    cuda_context mine;
    cuda_stream made;
    setenv("XMPI_LIBCUDA", FAKE_DRIVER, 1);
    ck_assert(gpu_is_here());
    ck_assert_int_eq(push(context(0)), 0);
    ck_assert_int_eq(create(&made, 0), 0);
    ck_assert_int_eq(pop(&mine), 0); /* the library has to borrow it */
    return made;
}

static unsigned waits(void)
{
    fake_count_waits *count = function_of_driver("fake_waits");
    return count();
}

static void await(const uint32_t *word, uint32_t value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
        sched_yield();
}

static uint32_t gate, due;
static int data[4];

static void producer(void *argument)
{
    await(&gate, 1);
    for (int i = 0; i < 4; i++)
        data[i] = *(int *)argument + i;
}

static void begin(void *argument)
{
    __atomic_store_n((uint32_t *)argument, 1, __ATOMIC_RELEASE);
}

START_TEST(test_in_the_order_of_the_stream)
{
    static int first = 100;
    struct gpu_stream stream;
    cuda_stream handle = stream_of_program();
    fake_launch_kernel *launch = function_of_driver("fake_launch");
    ck_assert_int_eq(gpu_stream_wrap(&stream, handle), 0);
    uint32_t *word = gpu_pinned_new(&stream, 64);
    int *copy = (int *)(word + 4);
    struct buffer device = { fake_device(data), sizeof data, &layout_bytes, AWAY };
    *word = 0;
    ck_assert_int_eq(launch(handle, producer, &first), 201); /* we have no context */
    cuda_ctx_push_current *push = function_of_driver("cuCtxPushCurrent_v2");
    ck_assert_int_eq(push(stream.context), 0);
    ck_assert_int_eq(launch(handle, producer, &first), 0);
    unsigned before = waits();

    gpu_queue_begin(&stream);
    gpu_move(&device, 0, (char *)copy, sizeof data, true);
    ck_assert(gpu_queue_call(begin, &due));
    gpu_queue_wait(word, 1);
    gpu_move(&device, 0, (char *)copy, sizeof data, false);
    gpu_queue_write(word, 2);
    ck_assert_int_eq(gpu_queue_end(), 0);
    ck_assert_int_eq(waits(), before);
    ck_assert_int_eq(__atomic_load_n(&due, __ATOMIC_ACQUIRE), 0);

    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    await(&due, 1);
    ck_assert_int_eq(copy[3], 103);
    copy[3] = 17;
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    await(word, 2);
    ck_assert_int_eq(data[0], 100);
    ck_assert_int_eq(data[3], 17);
}
END_TEST

/* A copy that cannot be: nothing after it is there, least of all a wait without an end. */
START_TEST(test_nothing_after_an_error)
{
    struct gpu_stream stream;
    ck_assert_int_eq(gpu_stream_wrap(&stream, stream_of_program()), 0);
    uint32_t *word = gpu_pinned_new(&stream, 64);
    int copy;
    struct buffer broken = { fake_device((void *)((uintptr_t)data | FAKE_BROKEN)), sizeof copy,
                             &layout_bytes, AWAY };
    struct buffer whole = { fake_device(data), sizeof data, &layout_bytes, AWAY };
    *word = due = 0;
    data[0] = 41;
    word[4] = 42;
    gpu_queue_begin(&stream);
    gpu_move(&broken, 0, (char *)&copy, sizeof copy, true);
    ck_assert(!gpu_queue_call(begin, &due));
    gpu_queue_wait(word, 1);
    gpu_move(&whole, 0, (char *)(word + 4), sizeof data, false);
    ck_assert_int_eq(gpu_queue_end(), MPI_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(fail_text(), "cuMemcpyAsync"));
    ck_assert_ptr_nonnull(strstr(fail_text(), "into the stream"));
    gpu_queue_begin(&stream);
    gpu_queue_write(word, 5);
    ck_assert_int_eq(gpu_queue_end(), 0);
    await(word, 5);
    ck_assert_int_eq(due, 0);
    ck_assert_int_eq(data[0], 41);
}
END_TEST

/* Outside of a stream copies are waited for, as before. */
START_TEST(test_copies_without_a_stream)
{
    struct gpu_stream stream;
    ck_assert_int_eq(gpu_stream_wrap(&stream, stream_of_program()), 0);
    gpu_queue_begin(&stream);
    ck_assert_int_eq(gpu_queue_end(), 0);
    int from = 3, to = 0;
    struct buffer device = { fake_device(&from), sizeof from, &layout_bytes, AWAY };
    unsigned before = waits();
    buffer_pack(&device, 0, &to, sizeof to);
    ck_assert_int_eq(to, 3);
    ck_assert_int_eq(waits(), before + 1);
}
END_TEST

START_TEST(test_what_is_no_stream)
{
    struct gpu_stream stream;
    stream_of_program();
    ck_assert_int_eq(gpu_stream_wrap(&stream, &stream), MPI_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(fail_text(), "no stream of CUDA: cuStreamGetCtx, error 400"));
}
END_TEST

START_TEST(test_no_driver_no_stream)
{
    struct gpu_stream stream;
    setenv("XMPI_LIBCUDA", "libm.so.6", 1);
    ck_assert_int_eq(gpu_stream_wrap(&stream, NULL), MPI_ERR_UNSUPPORTED_OPERATION);
}
END_TEST

UNIT_MAIN("gpu_stream", test_in_the_order_of_the_stream, test_nothing_after_an_error,
          test_copies_without_a_stream, test_what_is_no_stream, test_no_driver_no_stream)
