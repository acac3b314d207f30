/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program is told about itself: MPI_INFO_ENV before, during and after MPI, the memory that
 * may be communicated (memory allocation kinds), and hints that come and go with communicators.
 */
#include "test/conform/check.h"

/* The length with the final zero, -1 when the key is not there. */
static int lookup(MPI_Info info, const char *key, char *value)
{
    int flag, room = MPI_MAX_INFO_VAL;
#if MPI_VERSION >= 4
    CHECK(MPI_Info_get_string(info, key, &room, value, &flag) == MPI_SUCCESS);
#else
    CHECK(MPI_Info_get(info, key, room - 1, value, &flag) == MPI_SUCCESS);
    room = flag ? (int)strlen(value) + 1 : 0;
#endif
    return flag ? room : -1;
}

static void check_env(const char *program)
{
    char value[MPI_MAX_INFO_VAL];
    CHECK(lookup(MPI_INFO_ENV, "command", value) > 0 && !strcmp(value, program));
    if (lookup(MPI_INFO_ENV, "wdir", value) > 0)
        CHECK(value[0] == '/');
    if (lookup(MPI_INFO_ENV, "argv", value) > 0)
        CHECK(value[0]);
    CHECK(lookup(MPI_INFO_ENV, "no such key", value) == -1);
}

static void test_env(void)
{
    char value[MPI_MAX_INFO_VAL], host[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Info copy;
    CHECK_OK(MPI_Get_processor_name(host, &length));
    if (lookup(MPI_INFO_ENV, "host", value) > 0)
        CHECK(!strcmp(value, host));
    if (lookup(MPI_INFO_ENV, "maxprocs", value) > 0)
        CHECK(atoi(value) == world_size());
    CHECK_OK(MPI_Info_dup(MPI_INFO_ENV, &copy));
    CHECK(lookup(copy, "command", value) > 0);
    CHECK_OK(MPI_Info_set(copy, "command", "another"));
    CHECK(lookup(MPI_INFO_ENV, "command", value) > 0 && strcmp(value, "another"));
    CHECK_OK(MPI_Info_free(&copy));
    CHECK_ERROR(MPI_Info_delete(MPI_INFO_ENV, "command"), MPI_ERR_INFO);
    MPI_Info env = MPI_INFO_ENV;
    CHECK_ERROR(MPI_Info_free(&env), MPI_ERR_INFO);
}

static int has_kind(MPI_Info info, const char *kind)
{
    char value[MPI_MAX_INFO_VAL];
    if (lookup(info, "mpi_memory_alloc_kinds", value) < 0)
        return 0;
    for (char *word = strtok(value, ","); word; word = strtok(NULL, ","))
        if (!strcmp(word, kind))
            return 1;
    return 0;
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void check_kinds(MPI_Info info)
{
    CHECK(has_kind(info, "system") && has_kind(info, "mpi"));
    CHECK(has_kind(info, "mpi:alloc_mem"));
    CHECK(!has_kind(info, "no such kind"));
}

/* System memory is always there, kinds nobody knows are not promised. */
/* A communicator of the session answers as the session does, and its duplicates as well. */
static void check_made_in(MPI_Session session)
{
    char value[MPI_MAX_INFO_VAL];
    MPI_Group group;
    MPI_Comm comm[2];
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(
        MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm[0]));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Comm_dup(comm[0], &comm[1]));
    for (int i = 0; i < 2; i++) {
        MPI_Info used;
        CHECK_OK(MPI_Comm_get_info(comm[i], &used));
        CHECK(lookup(used, "mpi_memory_alloc_kinds", value) > 0);
        CHECK(!strcmp(value, "mpi,system,mpi:alloc_mem"));
        CHECK_OK(MPI_Info_free(&used));
        CHECK_OK(MPI_Comm_free(&comm[i]));
    }
}

static void test_memory_kinds(void)
{
    MPI_Info info, used;
    MPI_Session session;
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_get_info(MPI_COMM_WORLD, &used));
    check_kinds(used);
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK_OK(MPI_Comm_get_info(comm, &used));
    check_kinds(used);
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_memory_alloc_kinds",
                          "no such kind,system,mpi:win_allocate:alloc_mem"));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Session_get_info(session, &used));
    check_kinds(used);
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Info_free(&info));
    check_made_in(session);
    CHECK_OK(MPI_Session_finalize(&session));
}
#else
static void test_memory_kinds(void)
{
    (void)has_kind;
}
#endif

/* A hint that is understood is shown by the communicator it was given to and no duplicate (7.4.2);
 * that has its default (7.4.4). */
static void test_hints(void)
{
    const char *key = "mpi_assert_no_any_tag";
    char value[MPI_MAX_INFO_VAL];
    MPI_Comm parent, child, sibling;
    MPI_Info info, used;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, "true"));
    CHECK_OK(MPI_Info_set(info, "com.example.unknown", "true"));
    CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &parent));
    CHECK_OK(MPI_Comm_dup(parent, &child));
    CHECK_OK(MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, &sibling));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_get_info(parent, &used));
    CHECK(lookup(used, key, value) == 5 && !strcmp(value, "true"));
    CHECK(lookup(used, "com.example.unknown", value) == -1);
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Comm_get_info(child, &used));
    CHECK(lookup(used, key, value) == 6 && !strcmp(value, "false"));
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Comm_get_info(sibling, &used));
    CHECK(lookup(used, key, value) == 6 && !strcmp(value, "false"));
    CHECK_OK(MPI_Info_free(&used));
    CHECK_OK(MPI_Comm_free(&parent));
    CHECK_OK(MPI_Comm_free(&child));
    CHECK_OK(MPI_Comm_free(&sibling));
}

/* Many at once, given back in another order; each once, and nothing that was never given. */
static void test_free_mem(void)
{
    enum { N = 1000 };
    static char *blocks[N];
    char mine[64];
    for (int i = 0; i < N; i++) {
        CHECK_OK(MPI_Alloc_mem(1 + i, MPI_INFO_NULL, &blocks[i]));
        memset(blocks[i], i, (size_t)i + 1);
    }
    CHECK_ERROR(MPI_Free_mem(mine), MPI_ERR_BASE);
    CHECK_ERROR(MPI_Free_mem(blocks[7] + 1), MPI_ERR_BASE);
    for (int i = 0; i < N; i++) {
        char *block = blocks[i * 7 % N];
        CHECK(block[i * 7 % N] == (char)(i * 7 % N));
        CHECK_OK(MPI_Free_mem(block));
    }
    CHECK_ERROR(MPI_Free_mem(blocks[3]), MPI_ERR_BASE);
    CHECK_OK(MPI_Free_mem(NULL));
}

static void test_alloc_mem(void)
{
    MPI_Info info;
    char *memory = NULL;
    CHECK_OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &memory));
    CHECK_OK(MPI_Free_mem(memory));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    CHECK_OK(MPI_Alloc_mem(100000, info, &memory));
#if MPI_VERSION >= 4
    CHECK((size_t)memory % 4096 == 0);
#endif
    memset(memory, 1, 100000);
    CHECK_OK(MPI_Free_mem(memory));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_ERROR(MPI_Alloc_mem((MPI_Aint)1 << 60, MPI_INFO_NULL, &memory), MPI_ERR_NO_MEM);
    test_free_mem();
    CHECK_ERROR(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
#if MPI_VERSION >= 4
    check_env(argv[0]);
#endif
    MPI_Init(&argc, &argv);
    errors_return();
    check_env(argv[0]);
    test_env();
    test_memory_kinds();
    test_hints();
    test_alloc_mem();
    int rc = check_done();
#if MPI_VERSION >= 4
    check_env(argv[0]);
#endif
    return rc;
}
