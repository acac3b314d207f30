/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pairs of a value and an index: the ones with names are found, the others look like the C
 * struct, describe themselves, reduce with 64-bit indices, and cannot be freed.
 */
#include "check.h"

#include <stddef.h>

struct far {
    double value;
    int64_t index;
};

struct small {
    float value;
    int64_t index;
};

static MPI_Datatype pair(MPI_Datatype value, MPI_Datatype index)
{
    MPI_Datatype found = MPI_INT, again = MPI_INT;
    CHECK_OK(MPI_Type_get_value_index(value, index, &found));
    CHECK_OK(MPI_Type_get_value_index(value, index, &again));
    CHECK(found == again);
    return found;
}

static void names(void)
{
    CHECK(pair(MPI_FLOAT, MPI_INT) == MPI_FLOAT_INT);
    CHECK(pair(MPI_DOUBLE, MPI_INT) == MPI_DOUBLE_INT);
    CHECK(pair(MPI_LONG, MPI_INT) == MPI_LONG_INT);
    CHECK(pair(MPI_INT, MPI_INT) == MPI_2INT);
    CHECK(pair(MPI_SHORT, MPI_INT) == MPI_SHORT_INT);
    CHECK(pair(MPI_LONG_DOUBLE, MPI_INT) == MPI_LONG_DOUBLE_INT);
    CHECK(pair(MPI_REAL, MPI_REAL) == MPI_2REAL);
    CHECK(pair(MPI_INTEGER, MPI_INTEGER) == MPI_2INTEGER);
    CHECK(pair(MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION) == MPI_2DOUBLE_PRECISION);
    CHECK(pair(MPI_C_DOUBLE_COMPLEX, MPI_INT) == MPI_DATATYPE_NULL);
    CHECK(pair(MPI_DOUBLE, MPI_CHAR) == MPI_DATATYPE_NULL);
    MPI_Datatype derived;
    MPI_Type_contiguous(1, MPI_DOUBLE, &derived);
    CHECK(pair(derived, MPI_INT) == MPI_DATATYPE_NULL);
    MPI_Type_free(&derived);
}

static void shape(MPI_Datatype type, int bytes, MPI_Aint length, int external)
{
    int size;
    MPI_Aint lb, extent, portable;
    MPI_Type_size(type, &size);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Pack_external_size("external32", 1, type, &portable);
    CHECK(size == bytes && lb == 0 && extent == length && portable == external);
}

static void shapes(void)
{
    shape(pair(MPI_DOUBLE, MPI_INT64_T), 16, sizeof(struct far), 16);
    shape(pair(MPI_FLOAT, MPI_COUNT), 12, sizeof(struct small), 12);
    shape(pair(MPI_INT32_T, MPI_INT32_T), 8, 8, 8);
    shape(pair(MPI_INT64_T, MPI_AINT), 16, 16, 16);
    shape(pair(MPI_LONG, MPI_LONG), 16, 16, 8); /* a long has 4 bytes in external32 */
    shape(pair(MPI_LONG_DOUBLE, MPI_OFFSET), (int)sizeof(long double) + 8,
          2 * sizeof(long double), 24);
}

static void contents(void)
{
    MPI_Datatype type = pair(MPI_DOUBLE, MPI_COUNT), parts[2];
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    CHECK(combiner == MPI_COMBINER_VALUE_INDEX);
    CHECK(integers == 0 && addresses == 0 && types == 2);
    MPI_Type_get_contents(type, 0, 0, 2, NULL, NULL, parts);
    CHECK(parts[0] == MPI_DOUBLE && parts[1] == MPI_COUNT);
    CHECK(pair(MPI_DOUBLE, MPI_OFFSET) != type);
    MPI_Datatype gone = type;
    CHECK_ERROR(MPI_Type_free(&gone), MPI_ERR_TYPE);
}

/* The largest value is everybody's, so the lowest index counts; all are beyond 32 bits. */
static void reductions(void)
{
    int64_t base = (int64_t)5 << 32;
    int n = world_size(), rank = world_rank();
    struct far mine = { -1.0, base + rank }, best;
    MPI_Allreduce(&mine, &best, 1, pair(MPI_DOUBLE, MPI_INT64_T), MPI_MAXLOC, MPI_COMM_WORLD);
    CHECK(best.value == -1.0 && best.index == base);
    struct small all[2] = { { (float)rank, base - rank }, { (float)-rank, base } }, least[2];
    MPI_Allreduce(all, least, 2, pair(MPI_FLOAT, MPI_INT64_T), MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(least[0].value == 0 && least[0].index == base);
    CHECK(least[1].value == (float)(1 - n) && least[1].index == base);
    int64_t whole[2] = { rank % 2, base + n - rank }, top[2];
    MPI_Allreduce(whole, top, 1, pair(MPI_INT64_T, MPI_INT64_T), MPI_MAXLOC, MPI_COMM_WORLD);
    int last_odd = n % 2 ? n - 2 : n - 1;
    CHECK(n == 1 ? top[1] == base + 1 : top[0] == 1 && top[1] == base + n - last_odd);
    CHECK_ERROR(
        MPI_Allreduce(whole, top, 1, pair(MPI_INT64_T, MPI_INT64_T), MPI_SUM, MPI_COMM_WORLD),
        MPI_ERR_OP);
}

static void messages(void)
{
    struct small out[3] = { { 1, 2 }, { 3, 4 }, { 5, 6 } }, in[3];
    MPI_Status status;
    int elements;
    MPI_Datatype type = pair(MPI_FLOAT, MPI_INT64_T);
    memset(in, 0, sizeof in);
    MPI_Sendrecv(out, 3, type, 0, 0, in, 3, type, 0, 0, MPI_COMM_SELF, &status);
    for (int i = 0; i < 3; i++)
        CHECK(in[i].value == out[i].value && in[i].index == out[i].index);
    MPI_Get_elements(&status, type, &elements);
    CHECK(elements == 6);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    names();
    shapes();
    contents();
    reductions();
    messages();
    return check_done();
}
