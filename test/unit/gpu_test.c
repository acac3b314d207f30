/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory of a device, of which the driver is a pretended one (test/device): what belongs to it,
 * moves that fail, and types behind MPI_BOTTOM.  Moves of all kinds of types are in pack_test.
 */
#include "runtime/gpu.h"
#include "runtime/gpu_reduce.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "test/device/fake.h"

#include "unit.h"

#include <dlfcn.h>

static void driver_begin(void)
{
    setenv("XMPI_LIBCUDA", FAKE_DRIVER, 1);
    ck_assert(gpu_is_here());
}

static struct buffer on_device(void *host, size_t bytes)
{
    return (struct buffer){ fake_device(host), bytes, &layout_bytes, AWAY };
}

START_TEST(test_no_driver_no_device)
{
    int mine;
    setenv("XMPI_LIBCUDA", FAKE_DRIVER, 1);
    setenv("XMPI_CUDA", "0", 1);
    ck_assert(gpu_possible);
    ck_assert_int_eq(buffer_where(fake_device(&mine), &layout_bytes), HERE);
    ck_assert(!gpu_possible);
    ck_assert(!gpu_is_here());
}
END_TEST

START_TEST(test_library_without_symbols)
{
    setenv("XMPI_LIBCUDA", "libm.so.6", 1);
    ck_assert(!gpu_is_here());
    ck_assert(!gpu_holds(fake_device(&gpu_possible)));
}
END_TEST

START_TEST(test_who_owns_an_address)
{
    static int here;
    driver_begin();
    ck_assert(!gpu_holds(&here));
    ck_assert(!gpu_holds(NULL));
    ck_assert(!gpu_holds((void *)-1)); /* MPI_IN_PLACE and the like */
    ck_assert(gpu_holds(fake_device(&here)));
    ck_assert_int_eq(buffer_user(fake_device(&here), 1, &layout_bytes).where, AWAY);
    ck_assert_int_eq(buffer_user(&here, 1, &layout_bytes).where, HERE);
    ck_assert_ptr_null(buffer_flat(&(struct buffer){ &here, 1, &layout_bytes, AWAY }));
}
END_TEST

/* Two ints, one on either side. */
START_TEST(test_bottom_with_both_sides)
{
    int data[2] = { 17, 19 }, flat[2] = { 0 };
    driver_begin();
    struct layout *one = layout_basic(BASIC_INT32, 4, 4);
    const struct layout *old[] = { one };
    ptrdiff_t at[] = { (ptrdiff_t)&data[0], (ptrdiff_t)fake_device(&data[1]) };
    size_t lengths[] = { 1, 1 };
    struct layout *both = layout_blocks(2, lengths, at, old, true);
    struct layout *none = layout_blocks(1, lengths, at, old, true);
    ck_assert_int_eq(buffer_where(NULL, none), HERE);
    struct buffer buffer = buffer_user(NULL, 1, both);
    ck_assert_int_eq(buffer.where, AWAY);
    buffer_pack(&buffer, 0, flat,
                sizeof flat[0]); /* what is here, by a thread without a context */
    ck_assert_int_eq(flat[0], 17);
    ck_assert_int_eq(gpu_check(), 0);
    buffer_pack(&buffer, 0, flat, sizeof flat);
    ck_assert_int_eq(flat[0], 17);
    ck_assert_int_eq(flat[1], 19);
    flat[0] = 23, flat[1] = 29;
    buffer_unpack(&buffer, 2, (char *)flat + 2, 6);
    ck_assert_int_eq(data[0] & 0xffff, 17);
    ck_assert_int_eq(data[1], 29);
    ck_assert_int_eq(gpu_check(), 0);
    layout_drop(both);
    layout_drop(none);
    layout_drop(one);
}
END_TEST

START_TEST(test_copies_that_fail)
{
    char from[100] = "x", to[100];
    driver_begin();
    struct buffer broken = on_device((void *)((uintptr_t)from | FAKE_BROKEN), sizeof from);
    struct buffer good = on_device(from, sizeof from);
    buffer_pack(&broken, 0, to, sizeof to);
    buffer_pack(&good, 0, to, sizeof to);
    ck_assert_int_eq(gpu_check(), MPI_ERR_OTHER);
    ck_assert_ptr_nonnull(strstr(fail_text(), "cuMemcpyAsync"));
    ck_assert_ptr_nonnull(strstr(fail_text(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
    ck_assert_int_eq(gpu_check(), 0);
    ck_assert_str_eq(to, "x");
}
END_TEST

/* Backwards, on top of each other, and farther apart than a device counts: no copies of rows. */
START_TEST(test_rows_of_all_kinds)
{
    static const ptrdiff_t steps[] = { -12, 4, 8, 12 };
    char data[400], flat[80], back[80];
    driver_begin();
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        struct layout *l = layout_vector(10, 8, steps[k], &layout_bytes);
        struct buffer here = { data + 200, 1, l, HERE };
        struct buffer away = { fake_device(data + 200), 1, l, AWAY };
        buffer_pack(&here, 0, flat, sizeof flat);
        buffer_pack(&away, 0, back, sizeof back);
        ck_assert_int_eq(memcmp(flat, back, sizeof flat), 0);
        layout_drop(l);
    }
    ck_assert_int_eq(gpu_check(), 0);
}
END_TEST

/* 500 structures of two members, and 4 rows in each of 300 planes: a copy per member, and per row. */
START_TEST(test_columns)
{
    enum { STRUCTS = 500, PLANES = 300, BYTES = PLANES * 128 };
    static char data[BYTES], flat[BYTES], back[BYTES];
    setenv("XMPI_CUDA_PACK", "0", 1);
    driver_begin();
    unsigned (*copies)(void);
    *(void **)&copies = dlsym(dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL), "fake_copies");
    ck_assert_ptr_nonnull(copies);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 2654435761u >> 13);
    const struct layout *old[] = { &layout_bytes, &layout_bytes };
    size_t lengths[] = { 5, 8 };
    ptrdiff_t at[] = { 0, 16 };
    struct layout *two = layout_blocks(2, lengths, at, old, true);
    struct layout *rows = layout_vector(4, 10, 20, &layout_bytes);
    struct layout *planes = layout_vector(PLANES, 1, 128, rows);
    struct buffer away[] = { { fake_device(data), STRUCTS, two, AWAY },
                             { fake_device(data), 1, planes, AWAY } };
    const unsigned most[] = { 2, 4 };
    for (int i = 0; i < 2; i++) {
        struct buffer here = { data, away[i].count, away[i].layout, HERE };
        size_t bytes = buffer_bytes(&here);
        unsigned before = copies();
        buffer_pack(&here, 0, flat, bytes);
        buffer_pack(&away[i], 0, back, bytes);
        ck_assert_uint_le(copies() - before, most[i]);
        ck_assert_int_eq(memcmp(flat, back, bytes), 0);
        buffer_unpack(&away[i], 0, back + 1, bytes - 1);
        ck_assert_uint_gt(copies() - before, 2 * most[i]); /* and the end of the last element */
        buffer_pack(&here, 0, flat, bytes);
        ck_assert_int_eq(memcmp(flat, back + 1, bytes - 1), 0);
    }
    ck_assert_int_eq(gpu_check(), 0);
    layout_drop(planes);
    layout_drop(rows);
    layout_drop(two);
}
END_TEST

/* Behind 4 GiB of packed bytes, by a kernel; elements lie on top of each other, so that they fit. */
START_TEST(test_far_into_the_packed_form)
{
    enum { PIECES = 20, BYTES = 800, COUNT = 1 << 26 };
    static char data[1024], flat[BYTES], back[BYTES];
    size_t lengths[PIECES];
    ptrdiff_t at[PIECES];
    unsigned (*launches)(void);
    driver_begin();
    *(void **)&launches = dlsym(dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL), "fake_launches");
    ck_assert_ptr_nonnull(launches);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 2654435761u >> 13);
    for (int i = 0; i < PIECES; i++) {
        lengths[i] = (size_t)(8 + 4 * (i % 5));
        at[i] = (i * 7) % PIECES * 48;
    }
    struct layout *old =
        layout_blocks(PIECES, lengths, at, &(const struct layout *){ &layout_bytes }, true);
    struct layout *l = layout_resized(old, 0, 0);
    const size_t skips[] = { 0, ((size_t)1 << 32) - 400, 5000000004, COUNT * l->size - BYTES };
    struct buffer here = { data, COUNT, l, HERE };
    struct buffer away = { fake_device(data), COUNT, l, AWAY };
    for (int i = 0; i < 4; i++) {
        unsigned before = launches();
        buffer_pack(&here, skips[i], flat, BYTES);
        buffer_pack(&away, skips[i], back, BYTES);
        ck_assert_int_eq(memcmp(flat, back, BYTES), 0);
        ck_assert_uint_eq(launches() - before, 1);
    }
    ck_assert_int_eq(gpu_check(), 0);
    layout_drop(l);
    layout_drop(old);
}
END_TEST

/* A table that stays with a type would keep a collective's scratch for itself. */
START_TEST(test_what_stays_takes_no_large_room)
{
    int near;
    driver_begin();
    void *large = gpu_room_take(1 << 20, fake_device(&near));
    ck_assert_ptr_nonnull(large);
    gpu_room_give(large);
    void *table = gpu_room_take_long(100, fake_device(&near));
    ck_assert_ptr_nonnull(table);
    ck_assert_ptr_ne(table, large);
    ck_assert_ptr_eq(gpu_room_take(1 << 19, fake_device(&near)), large);
    gpu_room_give(table);
    gpu_room_give(large);
}
END_TEST

UNIT_MAIN("gpu", test_what_stays_takes_no_large_room, test_far_into_the_packed_form,
          test_no_driver_no_device, test_library_without_symbols, test_who_owns_an_address,
          test_bottom_with_both_sides, test_copies_that_fail, test_rows_of_all_kinds,
          test_columns)
