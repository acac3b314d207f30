/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Datatypes where other libraries stumble: MPI_BOTTOM and absolute addresses in MPI_Pack and
 * MPI_Unpack, elements of pair types, sums of 8-bit integers that wrap, types of more than 2^31
 * elements and bytes, which nobody has memory for.
 */
#include "test/conform/check.h"

#include <stdint.h>

static int me, n;

/* Packed from absolute addresses, unpacked to others. */
static void test_bottom(void)
{
    int a[3] = { me, 2, 3 }, in[4] = { 0 }, position = 0, size;
    double b = 0.5, back = 0;
    char packed[100];
    MPI_Aint from[2], to[2];
    int lengths[2] = { 3, 1 };
    MPI_Datatype types[2] = { MPI_INT, MPI_DOUBLE }, source, target;
    CHECK_OK(MPI_Get_address(a, &from[0]));
    CHECK_OK(MPI_Get_address(&b, &from[1]));
    CHECK_OK(MPI_Get_address(&in[1], &to[0]));
    CHECK_OK(MPI_Get_address(&back, &to[1]));
    CHECK_OK(MPI_Type_create_struct(2, lengths, from, types, &source));
    CHECK_OK(MPI_Type_create_struct(2, lengths, to, types, &target));
    CHECK_OK(MPI_Type_commit(&source));
    CHECK_OK(MPI_Type_commit(&target));
    CHECK_OK(MPI_Pack_size(1, source, MPI_COMM_WORLD, &size));
    CHECK(size >= 20 && size <= (int)sizeof packed);
    CHECK_OK(MPI_Pack(MPI_BOTTOM, 1, source, packed, size, &position, MPI_COMM_WORLD));
    int end = position;
    position = 0;
    CHECK_OK(MPI_Unpack(packed, end, &position, MPI_BOTTOM, 1, target, MPI_COMM_WORLD));
    CHECK(position == end && in[0] == 0 && in[1] == me && in[3] == 3 && back == 0.5);
    MPI_Aint at = 0, room = 0;
    CHECK_OK(MPI_Pack_external_size("external32", 1, source, &room));
    CHECK(room == 20);
    CHECK_OK(MPI_Pack_external("external32", MPI_BOTTOM, 1, source, packed, room, &at));
    back = in[1] = at = 0;
    CHECK_OK(MPI_Unpack_external("external32", packed, room, &at, MPI_BOTTOM, 1, target));
    CHECK(at == 20 && in[1] == me && back == 0.5);
    CHECK_OK(MPI_Sendrecv(MPI_BOTTOM, 1, source, (me + 1) % n, 0, MPI_BOTTOM, 1, target,
                          (me + n - 1) % n, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in[1] == (me + n - 1) % n && in[2] == 2);
    CHECK_OK(MPI_Type_free(&source));
    CHECK_OK(MPI_Type_free(&target));
}

/* A pair counts as two elements, half a pair as one. */
static void pair_counts(MPI_Datatype pair, MPI_Datatype first, int bytes)
{
    MPI_Status status;
    int size, count, elements;
    char out[128] = { 0 }, in[128];
    CHECK_OK(MPI_Type_size(pair, &size));
    CHECK(size == bytes);
    CHECK_OK(MPI_Sendrecv(out, 3, pair, me, 0, in, 4, pair, me, 0, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, pair, &count));
    CHECK_OK(MPI_Get_elements(&status, pair, &elements));
    CHECK(count == 3 && elements == 6);
    CHECK_OK(MPI_Sendrecv(out, 1, first, me, 0, in, 4, pair, me, 0, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, pair, &count));
    CHECK_OK(MPI_Get_elements(&status, pair, &elements));
    CHECK(count == MPI_UNDEFINED && elements == 1);
    CHECK_OK(MPI_Sendrecv(out, 0, first, me, 0, in, 4, pair, me, 0, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_elements(&status, pair, &elements));
    CHECK(elements == 0);
    CHECK_OK(MPI_Status_set_elements(&status, pair, 5));
    CHECK_OK(MPI_Get_elements(&status, pair, &elements));
    CHECK_OK(MPI_Get_count(&status, pair, &count));
    CHECK(elements == 5 && count == MPI_UNDEFINED);
}

/* Wraps as the C type does, whatever the algorithm computes with. */
static void test_wrap(int count)
{
    int8_t *out = malloc((size_t)count), *in = malloc((size_t)count);
    uint8_t *unsigned_out = malloc((size_t)count), *unsigned_in = malloc((size_t)count);
    int8_t sum = 0;
    uint8_t unsigned_sum = 0, product = 1;
    for (int r = 0; r < n; r++) {
        sum = (int8_t)(uint8_t)(sum + 100 + r);
        unsigned_sum = (uint8_t)(unsigned_sum + 200 + r);
        product = (uint8_t)(product * (17 + r));
    }
    memset(out, 100 + me, (size_t)count);
    memset(unsigned_out, 200 + me, (size_t)count);
    CHECK_OK(MPI_Allreduce(out, in, count, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD));
    CHECK(in[0] == sum && in[count - 1] == sum);
    CHECK_OK(MPI_Allreduce(out, in, count, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD));
    CHECK(in[0] == sum && in[count / 2] == sum);
    CHECK_OK(
        MPI_Allreduce(unsigned_out, unsigned_in, count, MPI_UINT8_T, MPI_SUM, MPI_COMM_WORLD));
    CHECK(unsigned_in[0] == unsigned_sum && unsigned_in[count - 1] == unsigned_sum);
    CHECK_OK(
        MPI_Scan(unsigned_out, unsigned_in, count, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD));
    CHECK(me < n - 1 || unsigned_in[count - 1] == unsigned_sum);
    memset(unsigned_out, 17 + me, (size_t)count);
    CHECK_OK(
        MPI_Reduce(unsigned_out, unsigned_in, count, MPI_UINT8_T, MPI_PROD, 0, MPI_COMM_WORLD));
    CHECK(me > 0 || unsigned_in[count - 1] == product);
    free(out);
    free(in);
    free(unsigned_out);
    free(unsigned_in);
}

static void test_large_old(void)
{
    MPI_Datatype megabyte, huge;
    MPI_Count size, lb, extent;
    MPI_Aint small_lb, small_extent;
    int small;
    CHECK_OK(MPI_Type_contiguous(1 << 20, MPI_CHAR, &megabyte));
    CHECK_OK(MPI_Type_vector(1 << 13, 1, 2, megabyte, &huge));
    CHECK_OK(MPI_Type_commit(&huge));
    CHECK_OK(MPI_Type_size(huge, &small));
    CHECK(small == MPI_UNDEFINED);
    CHECK_OK(MPI_Type_size_x(huge, &size));
    CHECK(size == (MPI_Count)1 << 33);
    CHECK_OK(MPI_Type_get_extent_x(huge, &lb, &extent));
    CHECK(lb == 0 && extent == ((MPI_Count)2 << 33) - (1 << 20));
    CHECK_OK(MPI_Type_get_true_extent(huge, &small_lb, &small_extent));
    CHECK(small_lb == 0 && small_extent == extent);
    CHECK_OK(MPI_Type_free(&megabyte));
    CHECK_OK(MPI_Type_free(&huge));
}

#if MPI_VERSION >= 4
static void test_large(void)
{
    MPI_Count bytes = (MPI_Count)1 << 33, size, elements;
    MPI_Datatype huge, shifted;
    MPI_Status status;
    int small, count;
    char nothing = 0;
    CHECK_OK(MPI_Type_contiguous_c(bytes, MPI_BYTE, &huge));
    CHECK_OK(MPI_Type_commit(&huge));
    CHECK_OK(MPI_Type_size_c(huge, &size));
    CHECK(size == bytes);
    CHECK_OK(MPI_Type_size(huge, &small));
    CHECK(small == MPI_UNDEFINED);
    CHECK_OK(MPI_Pack_size_c(3, huge, MPI_COMM_WORLD, &size));
    CHECK(size >= 3 * bytes);
    CHECK_OK(MPI_Pack_size(1, huge, MPI_COMM_WORLD, &small));
    CHECK(small == MPI_UNDEFINED);
    /* A receive may have room for more than there is memory. */
    CHECK_OK(
        MPI_Sendrecv(&me, 1, MPI_INT, me, 0, &small, 1, huge, me, 0, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_elements_c(&status, huge, &elements));
    CHECK_OK(MPI_Get_count(&status, huge, &count));
    CHECK(small == me && elements == 4 && count == MPI_UNDEFINED);
    /* More elements than an int counts, of a message that says so. */
    MPI_Count many = (MPI_Count)5 << 31;
    CHECK_OK(MPI_Status_set_elements_c(&status, MPI_INT, many));
    CHECK_OK(MPI_Get_count_c(&status, MPI_INT, &elements));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(elements == many && count == MPI_UNDEFINED);
    CHECK_OK(MPI_Get_elements_c(&status, MPI_2INT, &elements));
    CHECK_OK(MPI_Get_elements(&status, MPI_2INT, &count));
    CHECK(elements == many && count == MPI_UNDEFINED);
    CHECK_OK(MPI_Get_elements_x(&status, MPI_SHORT, &elements));
    CHECK(elements == 2 * many);
    CHECK_OK(MPI_Get_count(&status, huge, &count));
    CHECK(count == 5);
    /* Nothing of it is sent. */
    CHECK_OK(MPI_Sendrecv(&nothing, 0, huge, me, 0, &nothing, 0, huge, me, 0, MPI_COMM_WORLD,
                          &status));
    CHECK_OK(MPI_Get_count(&status, huge, &count));
    CHECK(count == 0);
    /* Far displacements: two bytes, one at each end. */
    MPI_Count lengths[2] = { 1, 1 }, displs[2] = { -bytes, bytes };
    CHECK_OK(MPI_Type_create_hindexed_c(2, lengths, displs, MPI_BYTE, &shifted));
    CHECK_OK(MPI_Type_get_true_extent_c(shifted, &size, &elements));
    CHECK(size == -bytes && elements == 2 * bytes + 1);
    CHECK_OK(MPI_Type_size_c(shifted, &size));
    CHECK(size == 2);
    CHECK_OK(MPI_Type_free(&shifted));
    CHECK_ERROR(MPI_Type_contiguous_c((MPI_Count)1 << 40, huge, &shifted), MPI_ERR_COUNT);
    CHECK_OK(MPI_Type_free(&huge));
}
#else
static void test_large(void)
{
}
#endif

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    me = world_rank();
    n = world_size();
    test_bottom();
    pair_counts(MPI_2INT, MPI_INT, 8);
    pair_counts(MPI_FLOAT_INT, MPI_FLOAT, 8);
    pair_counts(MPI_DOUBLE_INT, MPI_DOUBLE, 12);
    pair_counts(MPI_LONG_INT, MPI_LONG, 12);
    pair_counts(MPI_SHORT_INT, MPI_SHORT, 6);
    pair_counts(MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, (int)sizeof(long double) + 4);
    for (int count = 1; count <= 300000; count = count * 7 + 1)
        test_wrap(count);
    test_large_old();
    test_large();
    return check_done();
}
