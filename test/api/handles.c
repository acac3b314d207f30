/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The binary interface: handles as integers, versions, Fortran's properties, and what may be
 * called before initialisation and after finalisation (MPI 5.0, 11.4.1 and chapter 20).
 */
#include "check.h"

#include <mpix.h>
#include <stdlib.h>

static void integers(void)
{
    MPI_Comm comm;
    MPI_Info info;
    MPI_Datatype type;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info_create(&info);
    MPI_Type_contiguous(3, MPI_INT, &type);
    int c = MPI_Comm_toint(comm), i = MPI_Info_toint(info), t = MPI_Type_toint(type);
    CHECK(c >= 4096 && i >= 4096 && t >= 4096 && c != i && i != t);
    CHECK(MPI_Comm_fromint(c) == comm && MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm);
    CHECK(MPI_Info_fromint(i) == info && MPI_Type_fromint(t) == type);
    CHECK(MPI_Comm_fromint(i) == MPI_COMM_NULL); /* an info object is no communicator */
    CHECK(MPI_Comm_fromint(0) == MPI_COMM_NULL && MPI_Comm_fromint(-1) == MPI_COMM_NULL);
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && MPI_Comm_fromint(0x102) == MPI_COMM_SELF);
    CHECK(MPI_Type_toint(MPI_INT) == 0x209 && MPI_Type_fromint(0x240) == MPI_INT8_T);
    CHECK(MPI_Op_toint(MPI_SUM) == 0x21 && MPI_Request_toint(MPI_REQUEST_NULL) == 0x180);
    CHECK(MPI_Win_fromint(0x110) == MPI_WIN_NULL && MPI_File_toint(MPI_FILE_NULL) == 0x118);
    MPI_Comm_free(&comm);
    CHECK(MPI_Comm_fromint(c) == MPI_COMM_NULL && PMPI_Comm_f2c(c) == MPI_COMM_NULL);
    MPI_Info_free(&info);
    MPI_Type_free(&type);
}

static void size_is(MPI_Info info, const char *key, size_t size)
{
    char value[32];
    int length = sizeof value, found;
    MPI_Info_get_string(info, key, &length, value, &found);
    CHECK(found && strtoul(value, NULL, 10) == size);
}

static void versions(void)
{
    int major, minor, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    CHECK(MPI_Get_version(&major, &minor) == MPI_SUCCESS && major == 5 && minor == 0);
    CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0);
    MPI_Get_library_version(text, &length);
    CHECK((int)strlen(text) == length && strstr(text, "xmpi " XMPI_VERSION));
    MPI_Info info;
    MPI_Abi_get_info(&info);
    size_is(info, "mpi_aint_size", sizeof(MPI_Aint));
    size_is(info, "mpi_count_size", sizeof(MPI_Count));
    size_is(info, "mpi_offset_size", sizeof(MPI_Offset));
    MPI_Info_free(&info);
    CHECK(MPIX_Query_cuda_support() == 0 || MPIX_CUDA_AWARE_SUPPORT);
}

static void fortran_statuses(void)
{
    MPI_Status status = { .MPI_SOURCE = 3, .MPI_TAG = 4, .MPI_ERROR = 5 }, back;
    MPI_Fint words[MPI_F_STATUS_SIZE];
    MPI_F08_status modern;
    MPI_Status_set_elements_x(&status, MPI_INT, ((MPI_Count)1 << 40) + 7);
    CHECK(MPI_Status_c2f(&status, words) == MPI_SUCCESS && words[MPI_F_SOURCE] == 3);
    CHECK(words[MPI_F_TAG] == 4 && words[MPI_F_ERROR] == 5);
    CHECK(MPI_Status_f2f08(words, &modern) == MPI_SUCCESS && modern.MPI_TAG == 4);
    CHECK(MPI_Status_f082c(&modern, &back) == MPI_SUCCESS);
    CHECK(memcmp(&back, &status, sizeof back) == 0);
}

static void fortran(void)
{
    MPI_Info info, got;
    int yes = 1, no = 0, yes_got = 7, no_got = 7, is_set;
    CHECK(MPI_Abi_get_fortran_info(&got) == MPI_SUCCESS && got == MPI_INFO_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_integer_size", "8");
    FAILS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI, "mpi_integer_size");
    MPI_Info_set(info, "mpi_integer_size", "4");
    CHECK(MPI_Abi_set_fortran_info(info) == MPI_SUCCESS);
    FAILS(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI, "before");
    CHECK(MPI_Abi_get_fortran_info(&got) == MPI_SUCCESS && got != MPI_INFO_NULL);
    size_is(got, "mpi_integer_size", 4);
    MPI_Info_free(&got);
    MPI_Info_free(&info);
    MPI_Abi_get_fortran_booleans(4, &yes_got, &no_got, &is_set);
    CHECK(!is_set && yes_got == 7);
    CHECK(MPI_Abi_set_fortran_booleans(4, &yes, &no) == MPI_SUCCESS);
    FAILS(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_ERR_ABI, "before");
    FAILS(MPI_Abi_set_fortran_booleans(3, &yes, &no), MPI_ERR_ARG, "logical_size");
    MPI_Abi_get_fortran_booleans(4, &yes_got, &no_got, &is_set);
    CHECK(is_set && yes_got == 1 && no_got == 0);
}

/* Everything here may be called at any time. */
static void at_any_time(void)
{
    MPI_Info info, copy;
    int flag, n, class, length;
    char value[16], text[MPI_MAX_ERROR_STRING];
    versions();
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && MPI_Finalized(&flag) == MPI_SUCCESS);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_dup(info, &copy);
    MPI_Info_get_nkeys(copy, &n);
    length = sizeof value;
    MPI_Info_get_string(copy, "key", &length, value, &flag);
    CHECK(n == 1 && flag && strcmp(value, "value") == 0);
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    CHECK(MPI_Error_class(MPI_ERR_TAG, &class) == MPI_SUCCESS && class == MPI_ERR_TAG);
    CHECK(MPI_Error_string(MPI_ERR_TAG, text, &length) == MPI_SUCCESS);
    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101);
    int provided, cvars;
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_num(&cvars) == MPI_SUCCESS && cvars > 0);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_num(&cvars) == MPI_T_ERR_NOT_INITIALIZED);
}

int main(int argc, char **argv)
{
    at_any_time();
    MPI_Init(&argc, &argv);
    errors_return();
    at_any_time();
    integers();
    fortran_statuses();
    fortran();
    MPI_Finalize();
    at_any_time();
    return checks_failed != 0;
}
