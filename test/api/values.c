/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Plain numbers out of range: the arguments that are of no kind (src/api/kinds.h), so that no
 * table is made of them, and those of intercommunicators.  The class has to be the standard's, the
 * text has to name function and argument.  cover.py reads this file: together with cases.py and
 * fuzz.py it has to name every argument of every function.
 */
#include "check.h"

#include <mpix.h>

#define WRONG(function, argument, class, ...)                                                  \
    FAILS(function(__VA_ARGS__), class, #function ": argument " #argument " is ")

static int n, flag, ints[4], size = 4;
static int one[] = { 1 }, parts[] = { 1, 1 }, zeros[4], none[] = { MPI_DISTRIBUTE_NONE };
static MPI_Count one_c[] = { 1 }, zeros_c[4];
static char text[MPI_MAX_ERROR_STRING];
static void *value;

static void communicators(void)
{
    MPI_Comm comm;
    MPI_Group self;
    MPI_Comm_group(MPI_COMM_SELF, &self);
    WRONG(MPI_Comm_split, color, MPI_ERR_ARG, MPI_COMM_SELF, -5, 0, &comm);
    WRONG(MPI_Comm_split_type, split_type, MPI_ERR_ARG, MPI_COMM_SELF, 99, 0, MPI_INFO_NULL,
          &comm);
    WRONG(MPI_Intercomm_create, remote_leader, MPI_ERR_RANK, MPI_COMM_SELF, 0, MPI_COMM_SELF,
          77, 0, &comm);
    WRONG(MPI_Intercomm_create, tag, MPI_ERR_TAG, MPI_COMM_SELF, 0, MPI_COMM_SELF, 0, -7,
          &comm);
    WRONG(MPI_Comm_create_group, tag, MPI_ERR_TAG, MPI_COMM_SELF, self, -7, &comm);
    WRONG(MPI_Intercomm_create_from_groups, local_leader, MPI_ERR_RANK, self, 77, self, 0,
          "values", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    WRONG(MPI_Intercomm_create_from_groups, remote_leader, MPI_ERR_RANK, self, 0, self, 77,
          "values", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&self);
}

static void keyvals(void)
{
    WRONG(MPI_Comm_set_attr, comm_keyval, MPI_ERR_KEYVAL, MPI_COMM_SELF, 99999, &n);
    WRONG(MPI_Comm_get_attr, comm_keyval, MPI_ERR_KEYVAL, MPI_COMM_SELF, 99999, &value, &flag);
    WRONG(MPI_Comm_delete_attr, comm_keyval, MPI_ERR_KEYVAL, MPI_COMM_SELF, 99999);
    WRONG(MPI_Type_set_attr, type_keyval, MPI_ERR_KEYVAL, MPI_INT, 99999, &n);
    WRONG(MPI_Type_get_attr, type_keyval, MPI_ERR_KEYVAL, MPI_INT, 99999, &value, &flag);
    WRONG(MPI_Type_delete_attr, type_keyval, MPI_ERR_KEYVAL, MPI_INT, 99999);
    FAILS(MPI_Attr_put(MPI_COMM_SELF, 99999, &n), MPI_ERR_KEYVAL, "keyval is 99999");
    FAILS(MPI_Attr_get(MPI_COMM_SELF, 99999, &value, &flag), MPI_ERR_KEYVAL, "keyval is 99999");
    FAILS(MPI_Attr_delete(MPI_COMM_SELF, 99999), MPI_ERR_KEYVAL, "keyval is 99999");
}

static void datatypes(void)
{
    MPI_Datatype type;
    int three[] = { 3 };
    MPI_Count three_c[] = { 3 };
    WRONG(MPI_Type_create_subarray, order, MPI_ERR_ARG, 1, one, one, zeros, 77, MPI_INT, &type);
    WRONG(MPI_Type_create_subarray_c, order, MPI_ERR_ARG, 1, one_c, one_c, zeros_c, 77, MPI_INT,
          &type);
    WRONG(MPI_Type_create_darray, size, MPI_ERR_ARG, 0, 0, 1, three, none, one, one,
          MPI_ORDER_C, MPI_INT, &type);
    WRONG(MPI_Type_create_darray_c, size, MPI_ERR_ARG, 0, 0, 1, three_c, none, one, one,
          MPI_ORDER_C, MPI_INT, &type);
    WRONG(MPI_Type_create_darray, rank, MPI_ERR_ARG, 1, 5, 1, three, none, one, one,
          MPI_ORDER_C, MPI_INT, &type);
    WRONG(MPI_Type_create_darray_c, rank, MPI_ERR_ARG, 1, 5, 1, three_c, none, one, one,
          MPI_ORDER_C, MPI_INT, &type);
    WRONG(MPI_Type_create_darray, order, MPI_ERR_ARG, 1, 0, 1, three, none, one, one, 77,
          MPI_INT, &type);
    WRONG(MPI_Type_create_darray_c, order, MPI_ERR_ARG, 1, 0, 1, three_c, none, one, one, 77,
          MPI_INT, &type);
    WRONG(MPI_Type_match_size, typeclass, MPI_ERR_ARG, 77, 4, &type);
    WRONG(MPI_Type_match_size, size, MPI_ERR_ARG, MPI_TYPECLASS_REAL, 3, &type);
    WRONG(MPI_Type_create_f90_real, p, MPI_ERR_ARG, 1000, MPI_UNDEFINED, &type);
    WRONG(MPI_Type_create_f90_real, r, MPI_ERR_ARG, MPI_UNDEFINED, 100000, &type);
    WRONG(MPI_Type_create_f90_complex, p, MPI_ERR_ARG, 1000, MPI_UNDEFINED, &type);
    WRONG(MPI_Type_create_f90_complex, r, MPI_ERR_ARG, MPI_UNDEFINED, 100000, &type);
    WRONG(MPI_Type_create_f90_integer, r, MPI_ERR_ARG, 1000, &type);
}

static void packing(void)
{
    MPI_Aint at = 0;
    MPI_Count at_c = 0;
    WRONG(MPI_Pack_external, outsize, MPI_ERR_ARG, "external32", ints, 1, MPI_INT, text, -4,
          &at);
    WRONG(MPI_Pack_external_c, outsize, MPI_ERR_ARG, "external32", ints, 1, MPI_INT, text, -4,
          &at_c);
    WRONG(MPI_Unpack_external, insize, MPI_ERR_ARG, "external32", text, -4, &at, ints, 1,
          MPI_INT);
    WRONG(MPI_Unpack_external_c, insize, MPI_ERR_ARG, "external32", text, -4, &at_c, ints, 1,
          MPI_INT);
}

static void errors(void)
{
    int yes = 1, no = 0;
    WRONG(MPI_Abi_get_fortran_booleans, logical_size, MPI_ERR_ARG, 3, &yes, &no, &flag);
    WRONG(MPI_Abi_set_fortran_booleans, logical_size, MPI_ERR_ARG, 3, &yes, &no);
    WRONG(MPI_Comm_call_errhandler, errorcode, MPI_ERR_ARG, MPI_COMM_SELF, -5);
    WRONG(MPI_File_call_errhandler, errorcode, MPI_ERR_ARG, MPI_FILE_NULL, -5);
    WRONG(MPI_Error_string, errorcode, MPI_ERR_ARG, -5, text, &n);
    WRONG(MPI_Error_class, errorcode, MPI_ERR_ARG, -5, &n);
    WRONG(MPI_Remove_error_class, errorclass, MPI_ERR_ARG, MPI_ERR_TAG);
    WRONG(MPI_Add_error_code, errorclass, MPI_ERR_ARG, -5, &n);
    WRONG(MPI_Remove_error_code, errorcode, MPI_ERR_ARG, MPI_ERR_TAG);
    WRONG(MPI_Add_error_string, errorcode, MPI_ERR_ARG, MPI_ERR_TAG, "text");
    WRONG(MPI_Remove_error_string, errorcode, MPI_ERR_ARG, MPI_ERR_TAG);
}

static void infos_and_sessions(void)
{
    MPI_Info info;
    MPI_Session session;
    char *words[] = { "program", NULL };
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    WRONG(MPI_Info_get, valuelen, MPI_ERR_ARG, info, "key", -1, text, &flag);
    WRONG(MPI_Info_get_nthkey, n, MPI_ERR_ARG, info, 7, text);
    WRONG(MPI_Info_create_env, argc, MPI_ERR_ARG, -1, words, &info);
    MPI_Info_free(&info);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    n = sizeof text;
    WRONG(MPI_Session_get_nth_pset, n, MPI_ERR_ARG, session, MPI_INFO_NULL, 1000, &n, text);
    WRONG(MPI_Session_call_errhandler, errorcode, MPI_ERR_ARG, session, -5);
    MPI_Session_finalize(&session);
}

/* With MPI_BUFFER_AUTOMATIC any size will do (conform/bsend.c). */
static void buffers(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    WRONG(MPI_Buffer_attach, size, MPI_ERR_ARG, text, -1);
    WRONG(MPI_Buffer_attach_c, size, MPI_ERR_ARG, text, -1);
    WRONG(MPI_Comm_attach_buffer, size, MPI_ERR_ARG, MPI_COMM_SELF, text, -1);
    WRONG(MPI_Comm_attach_buffer_c, size, MPI_ERR_ARG, MPI_COMM_SELF, text, -1);
    WRONG(MPI_Session_attach_buffer, size, MPI_ERR_ARG, session, text, -1);
    WRONG(MPI_Session_attach_buffer_c, size, MPI_ERR_ARG, session, text, -1);
    MPI_Session_finalize(&session);
}

static void partitions(void)
{
    MPI_Request send, receive;
    MPI_Psend_init(ints, 2, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_INFO_NULL, &send);
    MPI_Precv_init(zeros, 2, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_INFO_NULL, &receive);
    MPI_Start(&send);
    MPI_Start(&receive);
    WRONG(MPI_Pready, partition, MPI_ERR_ARG, 2, send);
    WRONG(MPI_Pready_range, partition_low, MPI_ERR_ARG, -1, 1, send);
    WRONG(MPI_Pready_range, partition_high, MPI_ERR_ARG, 0, 2, send);
    WRONG(MPI_Parrived, partition, MPI_ERR_ARG, receive, 2, &flag);
    MPI_Pready_range(0, 1, send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
}

static void topologies(void)
{
    MPI_Comm grid;
    WRONG(MPI_Dims_create, nnodes, MPI_ERR_ARG, 0, 2, parts);
    MPI_Cart_create(MPI_COMM_SELF, 1, one, zeros, 0, &grid);
    WRONG(MPI_Cart_shift, direction, MPI_ERR_DIMS, grid, 1, 1, &n, &flag);
    MPI_Comm_free(&grid);
}

/* Tools get codes of their own, with texts nevertheless. */
static void tools(void)
{
    MPI_T_enum items = MPI_T_ENUM_NULL;
    MPI_T_cvar_handle cvar;
    MPI_T_pvar_handle pvar;
    MPI_T_pvar_session session;
    MPI_T_event_registration event;
    MPI_Count stamp;
    MPI_Info info;
    MPI_T_cb_safety none_such = (MPI_T_cb_safety)77;
    const int wrong = MPI_T_ERR_INVALID_INDEX;
    WRONG(MPI_T_init_thread, provided, MPI_T_ERR_INVALID, MPI_THREAD_SINGLE, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &n);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; items == MPI_T_ENUM_NULL; i++)
        if (MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL))
            break;
    WRONG(MPI_T_enum_get_item, indx, wrong, items, 77, &n, NULL, NULL);
    WRONG(MPI_T_cvar_get_info, cvar_index, wrong, 99999, NULL, NULL, NULL, NULL, NULL, NULL,
          NULL, NULL, NULL);
    WRONG(MPI_T_cvar_handle_alloc, cvar_index, wrong, 99999, NULL, &cvar, &n);
    WRONG(MPI_T_pvar_get_info, pvar_index, wrong, -1, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
          NULL, NULL, NULL, NULL, NULL);
    WRONG(MPI_T_pvar_get_index, var_class, MPI_T_ERR_INVALID_NAME, "messages_sent", 77, &n);
    WRONG(MPI_T_pvar_handle_alloc, pvar_index, wrong, session, 99999, NULL, &pvar, &n);
    WRONG(MPI_T_source_get_info, source_index, wrong, 99999, NULL, NULL, NULL, NULL, NULL, NULL,
          NULL, NULL);
    WRONG(MPI_T_source_get_timestamp, source_index, wrong, 99999, &stamp);
    WRONG(MPI_T_event_get_info, event_index, wrong, 99999, NULL, NULL, NULL, NULL, NULL, NULL,
          NULL, NULL, NULL, NULL, NULL);
    WRONG(MPI_T_event_handle_alloc, event_index, wrong, 99999, NULL, MPI_INFO_NULL, &event);
    MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &event);
    WRONG(MPI_T_event_register_callback, cb_safety, MPI_T_ERR_INVALID, event, none_such,
          MPI_INFO_NULL, NULL, NULL);
    WRONG(MPI_T_event_callback_set_info, cb_safety, MPI_T_ERR_INVALID, event, none_such,
          MPI_INFO_NULL);
    WRONG(MPI_T_event_callback_get_info, cb_safety, MPI_T_ERR_INVALID, event, none_such, &info);
    MPI_T_event_handle_free(event, NULL, NULL);
    WRONG(MPI_T_category_get_info, cat_index, wrong, 99999, NULL, NULL, NULL, NULL, NULL, NULL,
          NULL);
    WRONG(MPI_T_category_get_num_events, cat_index, wrong, 99999, &n);
    WRONG(MPI_T_category_get_cvars, cat_index, wrong, 99999, 4, ints);
    WRONG(MPI_T_category_get_pvars, cat_index, wrong, 99999, 4, ints);
    WRONG(MPI_T_category_get_events, cat_index, wrong, 99999, 4, ints);
    WRONG(MPI_T_category_get_categories, cat_index, wrong, 99999, 4, ints);
    WRONG(MPI_T_category_get_cvars, len, MPI_T_ERR_INVALID, 0, -1, ints);
    WRONG(MPI_T_category_get_pvars, len, MPI_T_ERR_INVALID, 0, -1, ints);
    WRONG(MPI_T_category_get_events, len, MPI_T_ERR_INVALID, 0, -1, ints);
    WRONG(MPI_T_category_get_categories, len, MPI_T_ERR_INVALID, 0, -1, ints);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
}

/* Both sides, one process each; on an even number of processes. */
static void intercommunicators(void)
{
    MPI_Comm inter, intra;
    MPI_Group group;
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size % 2)
        return;
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, me ^ 1, 0, &inter);
    WRONG(MPI_Comm_remote_size, size, MPI_ERR_ARG, inter, NULL);
    WRONG(MPI_Comm_remote_group, group, MPI_ERR_ARG, inter, NULL);
    WRONG(MPI_Intercomm_merge, newintracomm, MPI_ERR_ARG, inter, 0, NULL);
    FAILS(MPI_Send(ints, 1, MPI_INT, 1, 0, inter), MPI_ERR_RANK,
          "MPI_Send: argument dest is 1");
    FAILS(MPI_Bcast(ints, 1, MPI_INT, 1, inter), MPI_ERR_ROOT, "MPI_Bcast: argument root is 1");
    FAILS(MPI_Scan(ints, zeros, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM, "argument comm is ");
    FAILS(MPI_Cart_create(inter, 1, one, zeros, 0, &intra), MPI_ERR_COMM,
          "argument comm_old is ");
    MPI_Comm_group(inter, &group);
    MPI_Group_free(&group);
    MPI_Comm_free(&inter);
}

/* What the whole text looks like. */
static void texts(void)
{
    static const char wanted[] =
        "MPI_Send: argument tag is -7; tags run from 0 to MPI_TAG_UB (2147483647) (rank 0 of";
    MPI_Comm solver;
    int length, me;
    MPI_Comm_dup(MPI_COMM_SELF, &solver);
    MPI_Comm_set_name(solver, "solver");
    MPI_Comm_rank(solver, &me);
    MPI_Error_string(MPI_Send(ints, 1, MPI_INT, me, -7, solver), text, &length);
    CHECK(strstr(text, wanted) && strstr(text, "communicator \"solver\")"));
    MPI_Comm_free(&solver);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    communicators();
    keyvals();
    datatypes();
    packing();
    errors();
    infos_and_sessions();
    buffers();
    partitions();
    topologies();
    tools();
    intercommunicators();
    texts();
    MPI_Finalize();
    return checks_failed != 0;
}
