/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Algorithms chosen per communicator: by the info key xmpi_coll, by the control variable
 * XMPI_COMM_COLL, and seen through the performance variables xmpi_plan_*.  What cannot be obeyed is
 * an error that changes nothing.
 */
#include "check.h"

#include <unistd.h>

static MPI_T_pvar_session session;

/* The name of the algorithm that performed the last allreduce of a communicator. */
static void plan_of(MPI_Comm comm, char text[64])
{
    int index, count, state = -1, value, class, bind, length = 0;
    MPI_T_enum words;
    MPI_T_pvar_handle handle;
    CHECK(MPI_T_pvar_get_index("xmpi_plan_allreduce", MPI_T_PVAR_CLASS_STATE, &index) == 0);
    MPI_T_pvar_get_info(index, NULL, NULL, NULL, &class, NULL, &words, NULL, NULL, &bind, NULL,
                        NULL, NULL);
    CHECK(class == MPI_T_PVAR_CLASS_STATE && bind == MPI_T_BIND_MPI_COMM);
    CHECK(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count) == 0 && count == 1);
    CHECK(MPI_T_pvar_read(session, handle, &state) == 0);
    length = 64;
    CHECK(MPI_T_enum_get_item(words, state, &value, text, &length) == 0 && value == state);
    MPI_T_pvar_handle_free(session, &handle);
}

enum { N = 1000 }; /* more than shared slots hold */

static char usual[64]; /* what is chosen when nothing is forced */

static void expect_plan(MPI_Comm comm, const char *name)
{
    char text[64] = "";
    plan_of(comm, text);
    CHECK(strcmp(text, name) == 0);
}

static void sum(MPI_Comm comm)
{
    int n, me;
    long mine[N], all[N];
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    for (int i = 0; i < N; i++)
        mine[i] = me + i;
    CHECK(MPI_Allreduce(mine, all, N, MPI_LONG, MPI_SUM, comm) == MPI_SUCCESS);
    for (int i = 0; i < N; i++)
        CHECK(all[i] == (long)n * (n - 1) / 2 + (long)n * i);
}

/* The same call so often that it is known, by whatever it is performed. */
static void again(MPI_Comm comm)
{
    int n, one = 1;
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < 4; i++) {
        int all = 0;
        CHECK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
        CHECK(all == n);
    }
}

static int give(MPI_Comm comm, const char *text)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "xmpi_coll", text);
    int rc = MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    return rc;
}

static void by_info(void)
{
    MPI_Comm one, two;
    MPI_Info info, used;
    char text[64];
    int length = sizeof text, flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "xmpi_coll", "allreduce=ring:pieces=2,bcast=chain");
    CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &one) == MPI_SUCCESS);
    MPI_Info_free(&info);
    expect_plan(one, "none");
    sum(one);
    expect_plan(one, "ring");
    MPI_Comm_get_info(one, &used);
    MPI_Info_get_string(used, "xmpi_coll", &length, text, &flag);
    CHECK(flag && strcmp(text, "allreduce=ring:pieces=2,bcast=chain") == 0);
    MPI_Info_free(&used);
    MPI_Comm_dup(one, &two); /* orders are not inherited */
    sum(two);
    expect_plan(two, usual);
    CHECK(give(two, "allreduce=circulant") == MPI_SUCCESS);
    sum(two);
    expect_plan(two, "circulant");
    expect_plan(one, "ring");

    MPI_Comm_set_errhandler(two, MPI_ERRORS_RETURN);
    CHECK(give(two, "allreduce=rnig") == MPI_ERR_INFO_VALUE);
    sum(two);
    expect_plan(two, "circulant");
    CHECK(give(two, "") == MPI_SUCCESS);
    sum(two);
    expect_plan(two, usual);
    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
}

static void by_info_between(void)
{
    MPI_Comm comm;
    char few[64];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    again(comm);
    plan_of(comm, few);
    for (int i = 0; i < 3; i++) {
        CHECK(give(comm, "allreduce=ring") == MPI_SUCCESS);
        again(comm);
        expect_plan(comm, "ring");
        CHECK(give(comm, "") == MPI_SUCCESS);
        again(comm);
        expect_plan(comm, few);
    }
    MPI_Comm_free(&comm);
}

/* Given before the new communicator is there, they hold when it is. */
static void by_info_early(void)
{
    MPI_Comm mine, made;
    MPI_Info info;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    MPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "xmpi_coll", "allreduce=ring");
    CHECK(MPI_Comm_idup_with_info(mine, info, &made, &request) == MPI_SUCCESS);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    sum(made);
    expect_plan(made, "ring");
    CHECK(give(made, "") == MPI_SUCCESS);
    sum(made);
    expect_plan(made, usual);
    MPI_Comm_free(&made);
    MPI_Info_set(info, "xmpi_coll", "allreduce=rnig");
    CHECK(MPI_Comm_idup_with_info(mine, info, &made, &request) == MPI_ERR_INFO_VALUE);
    MPI_Info_free(&info);
    MPI_Comm_free(&mine);
}

static void by_variable(void)
{
    MPI_Comm comm, never = MPI_COMM_NULL;
    MPI_T_cvar_handle handle, other;
    int index, count;
    char text[256] = "x";
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(MPI_T_cvar_get_index("XMPI_COMM_COLL", &index) == 0);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_handle_alloc(index, &never, &handle, &count) == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_handle_alloc(index, &comm, &handle, &count) == 0 && count == 256);
    CHECK(MPI_T_cvar_handle_alloc(index, &comm, &other, &count) == 0 && other != handle);
    CHECK(MPI_T_cvar_read(handle, text) == 0 && text[0] == '\0');
    CHECK(MPI_T_cvar_write(handle, "allreduce=ring") == 0);
    sum(comm);
    expect_plan(comm, "ring");
    CHECK(MPI_T_cvar_write(handle, "allreduce=none") == MPI_T_ERR_INVALID);
    CHECK(MPI_T_cvar_read(other, text) == 0 && strcmp(text, "allreduce=ring") == 0);
    CHECK(MPI_T_cvar_write(other, "") == 0);
    sum(comm);
    expect_plan(comm, usual);
    MPI_Comm_free(&comm);
    CHECK(MPI_T_cvar_write(handle, "") == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_cvar_handle_free(&handle) == 0 && handle == MPI_T_CVAR_HANDLE_NULL);
}

/* Ranks of one communicator do not disturb those of another. */
static void apart(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
    CHECK(give(half, world_rank() % 2 ? "allreduce=ring" : "allreduce=spread") == 0);
    for (int i = 0; i < 3; i++) {
        sum(half);
        sum(MPI_COMM_WORLD);
    }
    expect_plan(half, world_rank() % 2 ? "ring" : "spread");
    MPI_Comm_free(&half);
}

/* An algorithm of one's own, by info key: from the root to everybody. */
static void of_ones_own(void)
{
    char path[] = "/tmp/xmpi-choice.XXXXXX";
    int file = mkstemp(path), value = world_rank() == 0 ? 42 : 0;
    const char *text = "algorithm mine for bcast\n"
                       "blocks in 0 out 1 tmp 0\n"
                       "for r in 0 .. p - 1 {\n"
                       "    if me == root and r != root { send out[0] -> r }\n"
                       "}\n"
                       "if me != root { recv out[0] <- root }\n";
    MPI_Info info, used;
    MPI_Comm comm;
    char given[64];
    int length = sizeof given, flag;
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    MPI_Info_create(&info);
    MPI_Info_set(info, "xmpi_plan", path);
    MPI_Info_set(info, "xmpi_coll", "bcast=mine");
    CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm) == MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK(MPI_Bcast(&value, 1, MPI_INT, 0, comm) == MPI_SUCCESS && value == 42);
    MPI_Comm_get_info(comm, &used);
    MPI_Info_get_string(used, "xmpi_plan", &length, given, &flag);
    CHECK(flag && strcmp(given, path) == 0);
    length = sizeof given;
    MPI_Info_get_string(used, "xmpi_coll", &length, given, &flag);
    CHECK(flag && strcmp(given, "bcast=mine") == 0);
    MPI_Info_free(&used);
    MPI_Comm_free(&comm);
    close(file);
    unlink(path);
}

/* A file that cannot be read is an error though nothing of it is asked for yet. */
static void of_nowhere(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "xmpi_plan", "/nowhere/algorithms");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = MPI_Comm_set_info(MPI_COMM_WORLD, info), class;
    MPI_Error_class(error, &class);
    CHECK(class == MPI_ERR_INFO_VALUE);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    sum(MPI_COMM_WORLD);
    plan_of(MPI_COMM_WORLD, usual);
    CHECK(strcmp(usual, "none") != 0 && strcmp(usual, "ring") != 0);
    by_info();
    by_info_between();
    by_info_early();
    by_variable();
    apart();
    of_ones_own();
    of_nowhere();
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return check_done();
}
