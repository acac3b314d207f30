/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects of every kind made, used and freed again and again, by each rank alone (churn.c has
 * communicators of several): the memory of the process must not grow all the time.  Once it may, when
 * a network opens meanwhile or a connection comes.  CHURN=1000000 in the environment makes as many of
 * each.
 */
#include "test/conform/memory.h"

enum { PARTS = 4, LEAST_KIB = 24 }; /* so much may come by chance in each part of the cycles */

static int numbers[16];

static void make_vector(void)
{
    MPI_Datatype type;
    CHECK_OK(MPI_Type_vector(3, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_free(&type));
}

static void make_struct(void)
{
    static const int lengths[] = { 1, 2, 3 };
    static const MPI_Aint at[] = { 0, 16, 64 };
    MPI_Datatype members[] = { MPI_INT, MPI_CHAR, MPI_DOUBLE }, type, twin;
    CHECK_OK(MPI_Type_create_struct(3, lengths, at, members, &type));
    CHECK_OK(MPI_Type_dup(type, &twin));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_commit(&twin));
    CHECK_OK(MPI_Type_free(&twin));
}

static void make_indexed(void)
{
    static const int lengths[] = { 1, 2, 3 }, at[] = { 0, 5, 9 };
    MPI_Datatype type, wide;
    CHECK_OK(MPI_Type_indexed(3, lengths, at, MPI_INT, &type));
    CHECK_OK(MPI_Type_create_resized(type, 0, 400, &wide));
    CHECK_OK(MPI_Type_commit(&wide));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&wide));
}

static void make_darray(void)
{
    static const int size[] = { 10 }, how[] = { MPI_DISTRIBUTE_CYCLIC }, block[] = { 2 },
                     grid[] = { 2 };
    MPI_Datatype type;
    CHECK_OK(
        MPI_Type_create_darray(2, 1, 1, size, how, block, grid, MPI_ORDER_C, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Type_free(&type));
}

static void make_group(void)
{
    static const int first[] = { 0 };
    MPI_Group world, one, both;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_incl(world, 1, first, &one));
    CHECK_OK(MPI_Group_union(world, one, &both));
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_Group_free(&one));
    CHECK_OK(MPI_Group_free(&both));
}

static void make_info(void)
{
    MPI_Info info, twin;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "colour", "green"));
    CHECK_OK(MPI_Info_set(info, "size", "large"));
    CHECK_OK(MPI_Info_delete(info, "colour"));
    CHECK_OK(MPI_Info_dup(info, &twin));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Info_free(&twin));
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void make_op(void)
{
    MPI_Op op;
    int two = 2, five = 5;
    CHECK_OK(MPI_Op_create(add, 1, &op));
    CHECK_OK(MPI_Reduce_local(&two, &five, 1, MPI_INT, op));
    CHECK(five == 7);
    CHECK_OK(MPI_Op_free(&op));
}

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static void make_errhandler(void)
{
    MPI_Errhandler before, handler;
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &before));
    CHECK_OK(MPI_Comm_create_errhandler(ignore, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, before));
    CHECK_OK(MPI_Errhandler_free(&before));
}

static void make_keyval(void)
{
    int keyval;
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, numbers));
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
}

static void make_comm(void)
{
    static const int dims[] = { 1 }, periods[] = { 0 }, me[] = { 0 }, weight[] = { 1 };
    MPI_Comm twin, grid, graph;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &twin));
    CHECK_OK(MPI_Cart_create(twin, 1, dims, periods, 0, &grid));
    CHECK_OK(MPI_Dist_graph_create_adjacent(grid, 1, me, weight, 1, me, weight, MPI_INFO_NULL,
                                            0, &graph));
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_OK(MPI_Comm_free(&grid));
    CHECK_OK(MPI_Comm_free(&graph));
}

static void make_persistent(void)
{
    MPI_Request request;
    CHECK_OK(MPI_Send_init(numbers, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Recv(numbers + 8, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
}

static void make_message(void)
{
    MPI_Request request;
    MPI_Message message;
    CHECK_OK(MPI_Isend(numbers, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Mprobe(0, 1, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Mrecv(numbers + 8, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void make_cancelled(void)
{
    MPI_Request request;
    CHECK_OK(MPI_Irecv(numbers, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    return MPI_Status_set_elements(status, MPI_BYTE, 0);
}

static int nothing(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void make_grequest(void)
{
    MPI_Request request;
    CHECK_OK(MPI_Grequest_start(query, nothing, cancel, NULL, &request));
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

#if MPI_VERSION >= 4
static void make_collective(void)
{
    MPI_Request request;
    CHECK_OK(MPI_Allreduce_init(numbers, numbers + 8, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF,
                                MPI_INFO_NULL, &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
}

static void make_partitioned(void)
{
    MPI_Request requests[2];
    CHECK_OK(
        MPI_Psend_init(numbers, 4, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, requests));
    CHECK_OK(MPI_Precv_init(numbers + 8, 4, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL,
                            requests + 1));
    CHECK_OK(MPI_Startall(2, requests));
    CHECK_OK(MPI_Pready_range(0, 3, requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
}

static void make_session(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    CHECK_OK(MPI_Comm_create_from_group(group, "one", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
}
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
static void make_error_class(void)
{
    int class, code;
    CHECK_OK(MPI_Add_error_class(&class));
    CHECK_OK(MPI_Add_error_code(class, &code));
    CHECK_OK(MPI_Add_error_string(code, "a text"));
    CHECK_OK(MPI_Remove_error_string(code));
    CHECK_OK(MPI_Remove_error_code(code));
    CHECK_OK(MPI_Remove_error_class(class));
}
#endif

static const struct kind {
    const char *name;
    void (*make)(void);
} kinds[] = {
    { "vector", make_vector },
    { "struct", make_struct },
    { "indexed", make_indexed },
    { "darray", make_darray },
    { "group", make_group },
    { "info", make_info },
    { "op", make_op },
    { "errhandler", make_errhandler },
    { "keyval", make_keyval },
    { "communicator", make_comm },
    { "persistent", make_persistent },
    { "message", make_message },
    { "cancelled", make_cancelled },
    { "grequest", make_grequest },
#if MPI_VERSION >= 4
    { "collective", make_collective },
    { "partitioned", make_partitioned },
    { "session", make_session },
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    { "error class", make_error_class },
#endif
};

static void churn(const struct kind *kind, int cycles)
{
    long at[PARTS + 1], least = 0;
    for (int part = 0; part <= PARTS; part++) { /* the first part does not count */
        for (int i = 0; i < cycles / PARTS; i++)
            kind->make();
        at[part] = memory();
        long more = part ? at[part] - at[part - 1] : 0;
        least = part <= 1 || more < least ? more : least;
    }
    if (getenv("CHURN") && world_rank() == 0)
        printf("%-12s %d cycles: %ld KiB, then %ld KiB\n", kind->name, cycles, at[0],
               at[PARTS]);
    if (!SANITIZED && least > LEAST_KIB)
        fprintf(stderr, "%s: %ld KiB, then %ld KiB\n", kind->name, at[0], at[PARTS]);
    CHECK(SANITIZED || least <= LEAST_KIB);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    const char *wanted = getenv("CHURN");
    int cycles = wanted ? atoi(wanted) : SANITIZED ? 200 : 10000;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        churn(&kinds[i], cycles);
    return check_done();
}
