/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting and ending: flags before, between and after, thread levels, environment, memory,
 * sessions beside and after the world.
 */
#include "test/conform/check.h"

#include <stdint.h>

static int is_initialized(void)
{
    int flag;
    MPI_Initialized(&flag);
    return flag;
}

static int is_finalized(void)
{
    int flag;
    MPI_Finalized(&flag);
    return flag;
}

static void test_versions(void)
{
    int version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    MPI_Get_version(&version, &subversion);
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    MPI_Get_library_version(text, &length);
    CHECK(length > 0 && (int)strlen(text) == length);
}

static void test_environment(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length, flag;
    void *memory = NULL;
    CHECK_OK(MPI_Get_processor_name(name, &length));
    CHECK(length > 0 && (int)strlen(name) == length);
    CHECK_OK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory));
    CHECK(memory && (uintptr_t)memory % 16 == 0);
    memset(memory, 1, 1000);
    CHECK_OK(MPI_Free_mem(memory));
    CHECK_OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    CHECK(MPI_Wtick() > 0);
    double before = MPI_Wtime();
    CHECK(MPI_Wtime() >= before);
}

static void test_twice(int *argc, char ***argv)
{
    CHECK_ERROR(MPI_Init(argc, argv), MPI_ERR_OTHER);
    CHECK(is_initialized() && !is_finalized());
}

#if MPI_VERSION >= 4
static int text_of(MPI_Info info, const char *key, char *value, int room)
{
    int flag;
    CHECK_OK(MPI_Info_get_string(info, key, &room, value, &flag));
    return flag;
}

static void test_psets(MPI_Session session, int size)
{
    int n, length = 0, found = 0;
    char name[MPI_MAX_PSET_NAME_LEN], value[16];
    MPI_Info info;
    CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
    for (int i = 0; i < n; i++) {
        length = 0;
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL));
        CHECK(length > 1 && length <= (int)sizeof name);
        CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        found += !strcmp(name, "mpi://WORLD") || !strcmp(name, "mpi://SELF");
    }
    CHECK(found == 2);
    CHECK_OK(MPI_Session_get_pset_info(session, "mpi://WORLD", &info));
    CHECK(text_of(info, "mpi_size", value, sizeof value) && atoi(value) == size);
    CHECK_OK(MPI_Info_free(&info));
}

static void test_session(int size)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    int n, one = 1, sum = 0;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    test_psets(session, size);
    CHECK_ERROR(MPI_Group_from_session_pset(session, "mpi://nowhere", &all), MPI_ERR_ARG);
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_size(all, &n));
    CHECK(n == size);
    CHECK_OK(MPI_Comm_create_from_group(all, "org.example.test", MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
}
#endif

int main(int argc, char **argv)
{
    int provided = -1, level, size;
    CHECK(!is_initialized() && !is_finalized());
    test_versions();
    CHECK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    errors_return();
    CHECK_OK(MPI_Query_thread(&level));
    CHECK(level == provided && is_initialized() && !is_finalized());
    test_environment();
    test_twice(&argc, &argv);
    size = world_size();
#if MPI_VERSION >= 4
    test_session(size);
    test_session(size);
#endif
    if (check_done())
        return 1;
    CHECK(is_initialized() && is_finalized());
    test_versions();
    (void)size;
    return 0;
}
