/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Wrong arguments that only the function itself can find: arrays, combinations, states.  Each
 * call has to return the standard's class and to name the argument.
 */
#include "check.h"

static MPI_Group world_group;
static int n, flag, value, size, rank;
static int ints[8], more[8];
static char text[MPI_MAX_OBJECT_NAME];

static void groups(void)
{
    MPI_Group group;
    int ranks[] = { 0, 0 }, far[] = { 1000 }, negative[] = { -1 };
    int range[1][3] = { { 0, 0, 0 } }, wide[1][3] = { { 0, 1000, 1 } };
    FAILS(MPI_Group_incl(world_group, 2, ranks, &group), MPI_ERR_RANK, "ranks");
    FAILS(MPI_Group_incl(world_group, 1, far, &group), MPI_ERR_RANK, "ranks");
    FAILS(MPI_Group_excl(world_group, 1, negative, &group), MPI_ERR_RANK, "ranks");
    FAILS(MPI_Group_range_incl(world_group, 1, range, &group), MPI_ERR_ARG, "ranges");
    FAILS(MPI_Group_range_incl(world_group, 1, wide, &group), MPI_ERR_RANK, "ranges");
    FAILS(MPI_Group_translate_ranks(world_group, 1, far, world_group, ints), MPI_ERR_RANK,
          "ranks1");
}

static void communicators(void)
{
    MPI_Comm comm;
    FAILS(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &comm), MPI_ERR_ARG, "color");
    FAILS(MPI_Comm_split_type(MPI_COMM_WORLD, 99, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG,
          "split_type");
    comm = MPI_COMM_WORLD;
    FAILS(MPI_Comm_free(&comm), MPI_ERR_COMM, "comm");
    CHECK(comm == MPI_COMM_WORLD);
    FAILS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL,
          "keyval");
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value), MPI_ERR_KEYVAL, "keyval");
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, 99999, &value), MPI_ERR_KEYVAL, "keyval");
    FAILS(MPI_Comm_delete_attr(MPI_COMM_WORLD, 99999), MPI_ERR_KEYVAL, "keyval");
    value = 99999;
    FAILS(MPI_Comm_free_keyval(&value), MPI_ERR_KEYVAL, "keyval");
}

static void topologies(void)
{
    MPI_Comm grid, other;
    int huge[] = { 1000, 1000 }, negative[] = { -2 }, one[] = { 1 }, yes[] = { 1 },
        no[] = { 0 };
    int impossible[] = { size + 1, 0 }, outside[] = { 5 };
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 2, huge, ints, 0, &grid), MPI_ERR_ARG, "grid");
    FAILS(MPI_Cart_create(MPI_COMM_WORLD, 1, negative, ints, 0, &grid), MPI_ERR_DIMS, "dims");
    FAILS(MPI_Dims_create(size, 2, impossible), MPI_ERR_DIMS, "dims");
    FAILS(MPI_Cart_rank(MPI_COMM_WORLD, ints, &n), MPI_ERR_TOPOLOGY, "comm");
    FAILS(MPI_Cartdim_get(MPI_COMM_WORLD, &n), MPI_ERR_TOPOLOGY, "comm");
    FAILS(MPI_Cart_sub(MPI_COMM_WORLD, yes, &other), MPI_ERR_TOPOLOGY, "comm");
    MPI_Cart_create(MPI_COMM_SELF, 1, one, no, 0, &grid);
    FAILS(MPI_Cart_shift(grid, 1, 1, &n, &value), MPI_ERR_DIMS, "direction");
    FAILS(MPI_Cart_rank(grid, outside, &n), MPI_ERR_ARG, "coords");
    FAILS(MPI_Cart_rank(grid, NULL, &n), MPI_ERR_ARG, "coords");
    FAILS(MPI_Cart_sub(grid, NULL, &other), MPI_ERR_ARG, "remain_dims");
    FAILS(MPI_Graph_create(MPI_COMM_SELF, 1, one, NULL, 0, &other), MPI_ERR_ARG, "edges");
    MPI_Cart_create(MPI_COMM_SELF, 1, one, yes, 0, &other);
    FAILS(MPI_Neighbor_alltoall(ints, 1, MPI_INT, ints, 1, MPI_INT, other), MPI_ERR_BUFFER,
          "MPI_IN_PLACE has no meaning between neighbours");
    MPI_Comm_free(&other);
    FAILS(MPI_Cart_coords(grid, 0, 0, ints), MPI_ERR_ARG, "maxdims");
    MPI_Comm_free(&grid);
}

static void datatypes(void)
{
    MPI_Datatype type, types[] = { MPI_INT, MPI_DATATYPE_NULL };
    int lengths[] = { 1, -1 }, sizes[] = { 4, 4 }, parts[] = { 5, 1 }, starts[] = { 0, 0 };
    MPI_Aint displs[] = { 0, 4 };
    FAILS(MPI_Type_indexed(2, lengths, ints, MPI_INT, &type), MPI_ERR_COUNT,
          "array_of_blocklengths");
    FAILS(MPI_Type_create_struct(2, ints, displs, types, &type), MPI_ERR_TYPE,
          "array_of_types");
    FAILS(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type),
          MPI_ERR_ARG, "array_of_subsizes");
    FAILS(MPI_Type_create_subarray(2, sizes, sizes, starts, 77, MPI_INT, &type), MPI_ERR_ARG,
          "order");
    type = MPI_INT;
    FAILS(MPI_Type_free(&type), MPI_ERR_TYPE, "datatype");
    FAILS(MPI_Type_get_contents(MPI_INT, 0, 0, 0, ints, displs, types), MPI_ERR_TYPE,
          "datatype");
    FAILS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type), MPI_ERR_ARG, "size");
    FAILS(MPI_Type_match_size(7, 4, &type), MPI_ERR_ARG, "typeclass");
    n = 2;
    FAILS(MPI_Pack(ints, 1, MPI_INT, more, 4, &n, MPI_COMM_WORLD), MPI_ERR_TRUNCATE, "outbuf");
    n = 4;
    FAILS(MPI_Unpack(ints, 4, &n, more, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TRUNCATE, "inbuf");
    CHECK(n == 4);
    n = 0;
    FAILS(MPI_Pack(ints, 1, MPI_INT, NULL, 4, &n, MPI_COMM_WORLD), MPI_ERR_BUFFER, "outbuf");
    FAILS(MPI_Unpack(NULL, 4, &n, more, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_BUFFER, "inbuf");
}

static void operations(void)
{
    MPI_Op op = MPI_SUM;
    FAILS(MPI_Op_free(&op), MPI_ERR_OP, "op");
    FAILS(MPI_Allreduce(ints, more, 1, MPI_WCHAR, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP, "op");
    FAILS(MPI_Allreduce(ints, more, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_SELF), MPI_ERR_OP, "op");
    FAILS(MPI_Reduce(ints, more, 1, MPI_INT, MPI_MINLOC, 0, MPI_COMM_SELF), MPI_ERR_OP, "op");
    FAILS(MPI_Reduce_local(ints, more, 1, MPI_BYTE, MPI_PROD), MPI_ERR_OP, "op");
    FAILS(MPI_Reduce_local(NULL, more, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER, "inbuf");
    FAILS(MPI_Reduce_local(ints, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER,
          "inoutbuf");
}

/* What a rank sends to itself is as long as its place. */
static void own_lengths(void)
{
    int one[] = { 1 }, two[] = { 2 }, displs[] = { 0 };
    MPI_Datatype type[] = { MPI_INT };
    MPI_Comm self = MPI_COMM_SELF;
    const char *lengths = "8 bytes belong";
    FAILS(MPI_Gather(ints, 1, MPI_INT, more, 2, MPI_INT, 0, self), MPI_ERR_OTHER, lengths);
    FAILS(MPI_Gatherv(ints, 1, MPI_INT, more, two, displs, MPI_INT, 0, self), MPI_ERR_OTHER,
          lengths);
    FAILS(MPI_Scatter(ints, 1, MPI_INT, more, 2, MPI_INT, 0, self), MPI_ERR_OTHER, lengths);
    FAILS(MPI_Scatterv(ints, one, displs, MPI_INT, more, 2, MPI_INT, 0, self), MPI_ERR_OTHER,
          lengths);
    FAILS(MPI_Allgather(ints, 1, MPI_INT, more, 2, MPI_INT, self), MPI_ERR_OTHER, lengths);
    FAILS(MPI_Allgatherv(ints, 1, MPI_INT, more, two, displs, MPI_INT, self), MPI_ERR_OTHER,
          lengths);
    FAILS(MPI_Alltoall(ints, 1, MPI_INT, more, 2, MPI_INT, self), MPI_ERR_OTHER, lengths);
    FAILS(MPI_Alltoallv(ints, one, displs, MPI_INT, more, two, displs, MPI_INT, self),
          MPI_ERR_OTHER, lengths);
    FAILS(MPI_Alltoallw(ints, one, displs, type, more, two, displs, type, self), MPI_ERR_OTHER,
          lengths);
    FAILS(MPI_Allgather(ints, 3, MPI_INT, more, 1, MPI_DOUBLE, self), MPI_ERR_TRUNCATE,
          lengths);
    CHECK(MPI_Allgather(ints, 2, MPI_INT, more, 1, MPI_DOUBLE, self) == MPI_SUCCESS);
}

static void collectives(void)
{
    int counts[] = { -1 }, displs[] = { 0 };
    FAILS(MPI_Allgatherv(ints, 1, MPI_INT, more, counts, displs, MPI_INT, MPI_COMM_SELF),
          MPI_ERR_COUNT, "recvcounts");
    FAILS(MPI_Gatherv(ints, 1, MPI_INT, more, counts, displs, MPI_INT, 0, MPI_COMM_SELF),
          MPI_ERR_COUNT, "recvcounts");
    FAILS(MPI_Scatterv(ints, counts, displs, MPI_INT, more, 1, MPI_INT, 0, MPI_COMM_SELF),
          MPI_ERR_COUNT, "sendcounts");
    FAILS(MPI_Alltoallv(ints, counts, displs, MPI_INT, more, counts, displs, MPI_INT,
                        MPI_COMM_SELF),
          MPI_ERR_COUNT, "counts");
    FAILS(MPI_Reduce_scatter(ints, more, counts, MPI_INT, MPI_SUM, MPI_COMM_SELF),
          MPI_ERR_COUNT, "recvcounts");
    FAILS(MPI_Allreduce(ints, ints, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_BUFFER,
          "sendbuf and recvbuf are the same memory: say MPI_IN_PLACE");
    FAILS(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER, "buffer");
    own_lengths();
    FAILS(MPI_Allreduce(ints, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_BUFFER,
          "recvbuf");
}

/* Counts whose bytes are no number of 63 bits, also where short messages go a way of their own. */
static void products(void)
{
    MPI_Count most = (MPI_Count)1 << 61, counts[] = { most };
    MPI_Aint displs[] = { 0 };
    MPI_Datatype doubles = MPI_DOUBLE;
    MPI_Request request, both[2];
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < 20; i++) {
        MPI_Irecv(more, 1, MPI_INT, from, 7, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(ints, 1, MPI_INT, to, 7, MPI_COMM_WORLD, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    FAILS(MPI_Isend_c(ints, most, doubles, to, 7, MPI_COMM_WORLD, &request), MPI_ERR_COUNT,
          "argument count is 2305843009213693952");
    FAILS(MPI_Irecv_c(more, most, doubles, from, 7, MPI_COMM_WORLD, &request), MPI_ERR_COUNT,
          "argument count is");
    FAILS(MPI_Send_init_c(ints, most, doubles, to, 7, MPI_COMM_WORLD, &request), MPI_ERR_COUNT,
          "argument count is");
    FAILS(MPI_Sendrecv_c(ints, 1, MPI_INT, to, 7, more, most, doubles, from, 7, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE),
          MPI_ERR_COUNT, "argument recvcount is");
    FAILS(MPI_Bcast_c(ints, most, doubles, 0, MPI_COMM_SELF), MPI_ERR_COUNT, "argument count");
    FAILS(MPI_Gather_c(ints, most, doubles, more, 1, doubles, 0, MPI_COMM_SELF), MPI_ERR_COUNT,
          "argument sendcount");
    FAILS(MPI_Gatherv_c(ints, 1, doubles, more, counts, displs, doubles, 0, MPI_COMM_SELF),
          MPI_ERR_COUNT, "argument recvcounts[0]");
    FAILS(MPI_Alltoallw_c(ints, counts, displs, &doubles, more, counts, displs, &doubles,
                          MPI_COMM_SELF),
          MPI_ERR_COUNT, "argument sendcounts[0]");
    FAILS(MPI_Pack_size_c(most, doubles, MPI_COMM_SELF, counts), MPI_ERR_COUNT, "incount");
}

static void requests(void)
{
    MPI_Request request = (MPI_Request)0x7890, both[2] = { MPI_REQUEST_NULL, request };
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status statuses[2];
    FAILS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "request");
    FAILS(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "request");
    FAILS(MPI_Waitall(2, both, statuses), MPI_ERR_REQUEST, "array_of_requests");
    FAILS(MPI_Waitany(2, both, &n, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "array_of_requests");
    FAILS(MPI_Waitall(2, NULL, statuses), MPI_ERR_ARG, "array_of_requests");
    request = MPI_REQUEST_NULL;
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST, "request");
    FAILS(MPI_Startall(1, NULL), MPI_ERR_ARG, "array_of_requests");
    FAILS(MPI_Cancel(&request), MPI_ERR_REQUEST, "request");
    FAILS(MPI_Request_free(&request), MPI_ERR_REQUEST, "request");
    FAILS(MPI_Grequest_complete(request), MPI_ERR_REQUEST, "request");
    FAILS(MPI_Mrecv(ints, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "message");
    MPI_Isend(ints, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    FAILS(MPI_Start(&request), MPI_ERR_REQUEST, "request");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    FAILS(MPI_Bsend(ints, 1, MPI_INT, rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, "buffer");
}

static void infos(void)
{
    MPI_Info info;
    char long_key[MPI_MAX_INFO_KEY + 2], long_value[MPI_MAX_INFO_VAL + 2], out[16];
    memset(long_key, 'k', sizeof long_key - 1);
    memset(long_value, 'v', sizeof long_value - 1);
    long_key[sizeof long_key - 1] = long_value[sizeof long_value - 1] = 0;
    MPI_Info_create(&info);
    FAILS(MPI_Info_set(info, long_key, "v"), MPI_ERR_INFO_KEY, "key");
    FAILS(MPI_Info_set(info, "k", long_value), MPI_ERR_INFO_VALUE, "value");
    FAILS(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY, "key");
    FAILS(MPI_Info_delete(info, "absent"), MPI_ERR_INFO_NOKEY, "key");
    FAILS(MPI_Info_get_nthkey(info, 0, text), MPI_ERR_ARG, "n is");
    n = -1;
    FAILS(MPI_Info_get_string(info, "k", &n, out, &flag), MPI_ERR_ARG, "buflen");
    MPI_Info_free(&info);
}

static void sessions(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Info info;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    FAILS(MPI_Group_from_session_pset(session, "mpi://nowhere", &group), MPI_ERR_ARG,
          "process set");
    FAILS(MPI_Session_get_pset_info(session, "mpi://nowhere", &info), MPI_ERR_ARG,
          "process set");
    n = sizeof text;
    FAILS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1000, &n, text), MPI_ERR_ARG,
          "n is");
    n = 4;
    FAILS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &n, NULL), MPI_ERR_ARG,
          "pset_name");
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    groups();
    communicators();
    topologies();
    datatypes();
    operations();
    collectives();
    products();
    requests();
    infos();
    sessions();
    FAILS(MPI_Init(&argc, &argv), MPI_ERR_OTHER, "MPI_Init");
    MPI_Group_free(&world_group);
    MPI_Finalize();
    return checks_failed != 0;
}
