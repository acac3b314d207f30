/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pinned memory between a device, of which the driver is a pretended one, and a link: what goes out
 * is right however the link takes it, what comes in is there after a flush and not before, copies
 * are ahead, and memory is bounded.
 */
#include "pml/stage.h"

#include "runtime/gpu.h"
#include "runtime/param.h"
#include "test/device/fake.h"

#include "unit.h"

#include <string.h>

enum { BLOCK = 4096, BYTES = 5 * BLOCK + 77 };
static char data[2 * BYTES], flat[BYTES];

static void driver_begin(const char *pool)
{
    setenv("XMPI_LIBCUDA", FAKE_DRIVER, 1);
    setenv("XMPI_CUDA_BLOCK", "4096", 1);
    setenv("XMPI_CUDA_POOL", pool, 1);
    ck_assert(gpu_is_here());
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 2654435761u >> 13);
}

static struct buffer on_device(const struct layout *layout, size_t count)
{
    return (struct buffer){ fake_device(data), count, layout, AWAY };
}

/* Pieces that do not fit the halves, one refused now and then. */
static void out_check(const struct layout *layout, size_t count)
{
    struct buffer away = on_device(layout, count), here = away;
    here.base = data;
    here.where = HERE;
    size_t total = buffer_bytes(&away);
    struct stage *stage = stage_open(&away, total);
    ck_assert_ptr_nonnull(stage);
    for (size_t offset = 0, round = 0; offset < total; round++) {
        struct buffer ready = stage_out(stage, offset);
        size_t n = ready.count < 1500 ? ready.count : 1500;
        ck_assert_uint_gt(n, 0);
        ck_assert_uint_le(offset + ready.count, total);
        buffer_pack(&here, offset, flat, n);
        ck_assert_int_eq(memcmp(ready.base, flat, n), 0);
        offset += round % 3 ? n : 0;
    }
    stage_close(stage);
    ck_assert_int_eq(gpu_check(), 0);
}

START_TEST(test_out)
{
    driver_begin("1M");
    struct layout *rows = layout_vector(BYTES / 12, 12, 20, &layout_bytes);
    out_check(&layout_bytes, BYTES);
    out_check(&layout_bytes, BLOCK);
    out_check(&layout_bytes, 2 * BLOCK);
    out_check(rows, 1);
    layout_drop(rows);
    stages_close();
}
END_TEST

START_TEST(test_in)
{
    driver_begin("1M");
    struct buffer away = on_device(&layout_bytes, BYTES);
    for (size_t i = 0; i < BYTES; i++)
        flat[i] = (char)~data[i];
    struct stage *stage = stage_open(&away, BYTES);
    ck_assert_ptr_nonnull(stage);
    for (size_t offset = 0, n; offset < BYTES; offset += n) {
        n = BYTES - offset < 1000 ? BYTES - offset : 1000;
        stage_in(stage, offset, flat + offset, n);
    }
    ck_assert_int_ne(data[BYTES - 1], flat[BYTES - 1]); /* the last piece is not there yet */
    stage_flush(stage);
    ck_assert_int_eq(memcmp(data, flat, BYTES), 0);
    stage_in(stage, 100, flat, 50); /* pieces that are not neighbours */
    stage_in(stage, 7000, flat, 50);
    stage_flush(stage);
    stage_close(stage);
    ck_assert_int_eq(memcmp(data + 100, flat, 50), 0);
    ck_assert_int_eq(memcmp(data + 7000, flat, 50), 0);
    ck_assert_int_eq(gpu_check(), 0);
    stages_close();
}
END_TEST

START_TEST(test_pool_is_bounded)
{
    driver_begin("16384");
    struct buffer away = on_device(&layout_bytes, BYTES);
    struct stage *one = stage_open(&away, BYTES), *two = stage_open(&away, BYTES);
    ck_assert_ptr_nonnull(one);
    ck_assert_ptr_nonnull(two);
    ck_assert_ptr_null(stage_open(&away, BYTES));
    stage_close(one);
    ck_assert_ptr_eq(stage_open(&away, BYTES), one);
    stage_close(one);
    stage_close(two);
    stages_close();
}
END_TEST

/* A copy that is begun is not over before its mark is awaited, and others do not end it. */
START_TEST(test_marks)
{
    char first[8] = "", second[8] = "";
    struct gpu_mark marks[2];
    driver_begin("1M");
    memcpy(data, "one.two.", 8);
    struct buffer away = on_device(&layout_bytes, 8);
    gpu_move_start(&away, 0, first, 4, true);
    gpu_mark_set(&marks[0]);
    gpu_move_start(&away, 4, second, 4, true);
    gpu_mark_set(&marks[1]);
    ck_assert_str_eq(first, "");
    gpu_mark_await(&marks[0]);
    ck_assert_str_eq(first, "one.");
    ck_assert_str_eq(second, "");
    gpu_mark_await(&marks[1]);
    ck_assert_str_eq(second, "two.");
    gpu_mark_await(&marks[1]);
    ck_assert_int_eq(gpu_check(), 0);
}
END_TEST

/* What fails while something is tried is not the error of anybody else; and the other way round. */
START_TEST(test_trying)
{
    char to[8];
    driver_begin("1M");
    struct buffer broken = { (void *)((uintptr_t)fake_device(data) | FAKE_BROKEN), 8,
                             &layout_bytes, AWAY };
    gpu_try();
    buffer_pack(&broken, 0, to, 8);
    ck_assert_ptr_nonnull(strstr(gpu_tried(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
    ck_assert_int_eq(gpu_check(), 0);
    buffer_pack(&broken, 0, to, 8);
    gpu_try();
    ck_assert_ptr_null(gpu_tried());
    ck_assert_int_ne(gpu_check(), 0);
}
END_TEST

UNIT_MAIN("stage", test_out, test_in, test_pool_is_bounded, test_marks, test_trying)
