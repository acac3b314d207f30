/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Info objects from inside: many keys, order, copies, what MPI_INFO_ENV stands for.
 */
#include "src/info.h"

#include "mpi.h"
#include "src/api/info.h"
#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>

START_TEST(test_many)
{
    struct info *info = info_new();
    char key[16], value[16];
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "k%d", i % 500);
        snprintf(value, sizeof value, "v%d", i);
        ck_assert_int_eq(info_set(info, key, value), 0);
    }
    ck_assert_int_eq(info->n, 500);
    ck_assert_str_eq(info_get(info, "k7"), "v507");
    for (int i = 0; i < 500; i += 2) {
        snprintf(key, sizeof key, "k%d", i);
        ck_assert_int_eq(xmpi_info_delete(info, key), 0);
    }
    ck_assert_int_eq(info->n, 250);
    for (int i = 0; i < 250; i++) { /* the rest, in the old order */
        ck_assert_int_eq(xmpi_info_get_nthkey(info, i, key), 0);
        snprintf(value, sizeof value, "k%d", 2 * i + 1);
        ck_assert_str_eq(key, value);
    }
    info_delete(info);
}
END_TEST

START_TEST(test_copy)
{
    struct info *info = info_new();
    ck_assert_int_eq(info_set(info, "a", "1"), 0);
    struct info *copy = info_copy(info), *empty = info_copy(NULL);
    ck_assert_int_eq(info_set(info, "a", "2"), 0);
    ck_assert_str_eq(info_get(copy, "a"), "1");
    ck_assert_int_eq(empty->n, 0);
    ck_assert_ptr_null(info_get(NULL, "a"));
    info_delete(info);
    info_delete(copy);
    info_delete(empty);
    info_delete(NULL);
}
END_TEST

START_TEST(test_env)
{
    struct info *env = info_env(), *made;
    ck_assert_ptr_nonnull(env);
    ck_assert_ptr_eq(env, info_env());
    ck_assert_ptr_nonnull(strstr(info_get(env, "command"), "info_test"));
    ck_assert_ptr_nonnull(info_get(env, "wdir"));
    ck_assert_int_eq(xmpi_info_set(env, "wdir", "/"), MPI_ERR_INFO);
    ck_assert_int_eq(xmpi_info_delete(env, "wdir"), MPI_ERR_INFO);
    struct info *handle = env;
    ck_assert_int_eq(xmpi_info_free(&handle), MPI_ERR_INFO);
    ck_assert_ptr_eq(handle, env);
    char program[] = "solver", first[] = "-n", second[] = "3 4",
         *argv[] = { program, first, second, NULL };
    ck_assert_int_eq(xmpi_info_create_env(3, argv, &made), 0);
    ck_assert_str_eq(info_get(made, "command"), "solver");
    ck_assert_str_eq(info_get(made, "argv"), "-n 3 4");
    ck_assert_int_eq(xmpi_info_free(&made), 0);
}
END_TEST

static void kinds(const char *asked, bool device, const char *wanted)
{
    char text[MPI_MAX_INFO_VAL];
    memory_kinds_of(asked, device, text, sizeof text);
    ck_assert_str_eq(text, wanted);
}

START_TEST(test_memory_kinds)
{
    kinds(NULL, false, "mpi,system,mpi:alloc_mem");
    kinds(NULL, true, "mpi,system,mpi:alloc_mem,cuda,cuda:device,cuda:host,cuda:managed");
    kinds("", true, "mpi,system");
    kinds("system,cuda", true, "mpi,system,cuda");
    kinds("system,cuda", false, "mpi,system");
    kinds("cuda:managed:device, mpi:win_allocate:alloc_mem,rocm:device", true,
          "mpi,system,mpi:alloc_mem,cuda:device,cuda:managed");
    kinds("cuda:dev,cudas,cud,:device,cuda::,,", true, "mpi,system");
}
END_TEST

UNIT_MAIN("info", test_many, test_copy, test_env, test_memory_kinds)
