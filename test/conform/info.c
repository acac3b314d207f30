/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Info objects: before, during and after MPI; order of keys; lengths; what cannot be.
 */
#include "test/conform/check.h"

static int lookup(MPI_Info info, const char *key, char *value, int room)
{
    int flag, length = room;
    CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
    return flag ? length : -1;
}

static void test_pairs(void)
{
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY], value[16] = "untouched", cut[4];
    int n, flag, length;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n == 0);
    CHECK_OK(MPI_Info_set(info, "zebra", "1"));
    CHECK_OK(MPI_Info_set(info, "ant", "twelve chars"));
    CHECK_OK(MPI_Info_set(info, "zebra", "new"));
    CHECK_OK(MPI_Info_set(info, "empty", ""));
    CHECK_OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n == 3);
    CHECK_OK(MPI_Info_get_nthkey(info, 0, key));
    CHECK(!strcmp(key, "zebra"));
    CHECK_OK(MPI_Info_get_nthkey(info, 1, key));
    CHECK(!strcmp(key, "ant"));
    CHECK(lookup(info, "nothing", value, sizeof value) == -1 && !strcmp(value, "untouched"));
    CHECK(lookup(info, "zebra", value, sizeof value) == 4 && !strcmp(value, "new"));
    CHECK(lookup(info, "ant", cut, sizeof cut) == 13 && !strcmp(cut, "twe"));
    CHECK(lookup(info, "ant", cut, 0) == 13 && !strcmp(cut, "twe"));
    CHECK(lookup(info, "empty", value, sizeof value) == 1 && value[0] == 0);
    CHECK_OK(MPI_Info_get_valuelen(info, "ant", &length, &flag));
    CHECK(flag && length == 12);
    CHECK_OK(MPI_Info_get(info, "ant", 3, cut, &flag));
    CHECK(flag && !strcmp(cut, "twe"));
    CHECK_OK(MPI_Info_dup(info, &copy));
    CHECK_OK(MPI_Info_delete(info, "zebra"));
    CHECK_OK(MPI_Info_get_nthkey(info, 0, key));
    CHECK(!strcmp(key, "ant"));
    CHECK(lookup(copy, "zebra", value, sizeof value) == 4);
    CHECK_OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    CHECK_OK(MPI_Info_free(&copy));
}

static void test_errors(void)
{
    MPI_Info info, null = MPI_INFO_NULL;
    char key[MPI_MAX_INFO_KEY + 2], value[MPI_MAX_INFO_VAL + 2];
    memset(key, 'k', sizeof key - 1);
    memset(value, 'v', sizeof value - 1);
    key[sizeof key - 1] = value[sizeof value - 1] = 0;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_ERROR(MPI_Info_set(info, key, "v"), MPI_ERR_INFO_KEY);
    CHECK_ERROR(MPI_Info_set(info, "k", value), MPI_ERR_INFO_VALUE);
    CHECK_ERROR(MPI_Info_delete(info, "nobody"), MPI_ERR_INFO_NOKEY);
    CHECK_ERROR(MPI_Info_get_nthkey(info, 0, key), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Info_set(null, "k", "v"), MPI_ERR_INFO);
    CHECK_ERROR(MPI_Info_free(&null), MPI_ERR_INFO);
    key[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = 0;
    CHECK_OK(MPI_Info_set(info, key, value));
    CHECK(lookup(info, key, NULL, 0) == MPI_MAX_INFO_VAL);
    CHECK_OK(MPI_Info_free(&info));
}

static void test_environment(int argc, char **argv)
{
    char value[MPI_MAX_INFO_VAL];
    MPI_Info info;
    CHECK(lookup(MPI_INFO_ENV, "command", value, sizeof value) > 0);
    CHECK(strstr(value, "info") != NULL);
    CHECK(lookup(MPI_INFO_ENV, "nobody knows", value, sizeof value) == -1);
#if MPI_VERSION >= 4
    CHECK_OK(MPI_Info_create_env(argc, argv, &info));
    CHECK(lookup(info, "command", value, sizeof value) > 0);
    CHECK(!strcmp(value, argv[0]));
    CHECK_OK(MPI_Info_set(info, "mine", "yes"));
    CHECK_OK(MPI_Info_free(&info));
#endif
    CHECK_ERROR(MPI_Info_set(MPI_INFO_ENV, "k", "v"), MPI_ERR_INFO);
    (void)argc;
    (void)argv;
}

int main(int argc, char **argv)
{
#if MPI_VERSION >= 4
    MPI_Info early;
    CHECK_OK(MPI_Info_create(&early));
    CHECK_OK(MPI_Info_set(early, "when", "before"));
#endif
    MPI_Init(&argc, &argv);
    errors_return();
    test_pairs();
    test_errors();
    test_environment(argc, argv);
    int rc = check_done();
#if MPI_VERSION >= 4
    char value[8] = "";
    CHECK(lookup(early, "when", value, sizeof value) == 7 && !strcmp(value, "before"));
    CHECK_OK(MPI_Info_free(&early));
#endif
    return rc;
}
