/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scratch memory: large blocks come back, small ones and giants do not stay, and what is handed
 * out belongs to one taker only.
 */
#include "coll/scratch.h"

#include "test/unit/unit.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>

enum { KiB = 1 << 10, MiB = 1 << 20 };

START_TEST(a_large_block_comes_back)
{
    char *first = scratch_take(MiB);
    memset(first, 1, MiB);
    ck_assert_uint_eq((uintptr_t)first % 64, 0);
    scratch_give(first);
    ck_assert_ptr_eq(scratch_take(MiB - 1000), first);
    char *second = scratch_take(MiB);
    ck_assert_ptr_ne(second, first);
    memset(second, 2, MiB);
    scratch_give(second);
    ck_assert_ptr_eq(scratch_take(100 * KiB), second);
    scratch_give(first);
    scratch_give(second);
    scratch_clear();
}
END_TEST

START_TEST(the_best_fit_is_taken)
{
    char *block[3] = { scratch_take(4 * MiB), scratch_take(64 * KiB), scratch_take(MiB) };
    for (int i = 0; i < 3; i++)
        scratch_give(block[i]);
    ck_assert_ptr_eq(scratch_take(40 * KiB), block[1]);
    ck_assert_ptr_eq(scratch_take(65 * KiB), block[2]);
    ck_assert_ptr_eq(scratch_take(2 * MiB), block[0]);
    for (int i = 0; i < 3; i++)
        scratch_give(block[i]);
    scratch_clear();
}
END_TEST

static size_t in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

START_TEST(what_is_kept_is_bounded)
{
    static char *block[100];
    size_t before = in_use();
    for (int i = 0; i < 100; i++)
        block[i] = scratch_take(i % 3 ? (size_t)(3 * MiB) : 33u * KiB);
    for (int i = 0; i < 100; i++)
        scratch_give(block[i]);
    ck_assert_uint_le(in_use() - before, 33 * MiB);
    scratch_give(scratch_take(100 * MiB));
    ck_assert_uint_le(in_use() - before, 33 * MiB);
    scratch_clear();
    ck_assert_uint_le(in_use() - before, 4 * KiB);
}
END_TEST

START_TEST(nothing_and_too_much)
{
    scratch_give(NULL);
    char *empty = scratch_take(0);
    ck_assert_ptr_nonnull(empty);
    scratch_give(empty);
    ck_assert_ptr_null(scratch_take(SIZE_MAX));
    ck_assert_ptr_null(scratch_take(SIZE_MAX / 2));
    scratch_clear();
}
END_TEST

UNIT_MAIN("coll_scratch", a_large_block_comes_back, the_best_fit_is_taken,
          what_is_kept_is_bounded, nothing_and_too_much)
