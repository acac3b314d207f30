/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every predefined operation with every kind of type that the standard allows for it, against
 * folds written in C; pairs of the LOC operations; what is not defined is refused; Reduce_local
 * and user operations.
 */
#include "check.h"

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

static int rank, size;

enum { N = 37 };

#define FOLD_ARITHMETIC(type, mpi_type)                                                        \
    do {                                                                                       \
        type out[N], in[N];                                                                    \
        for (int op = 0; op < 4; op++) {                                                       \
            for (int i = 0; i < N; i++)                                                        \
                out[i] = (type)(1 + (rank + i) % 3);                                           \
            MPI_Op ops[] = { MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN };                            \
            MPI_Allreduce(out, in, N, mpi_type, ops[op], MPI_COMM_WORLD);                      \
            for (int i = 0; i < N; i++) {                                                      \
                type all = (type)(1 + i % 3);                                                  \
                for (int r = 1; r < size; r++) {                                               \
                    type x = (type)(1 + (r + i) % 3);                                          \
                    all = (type)(op == 0   ? all + x                                           \
                                 : op == 1 ? all * x                                           \
                                 : op == 2 ? (all > x ? all : x)                               \
                                           : (all < x ? all : x));                             \
                }                                                                              \
                CHECK(in[i] == all);                                                           \
            }                                                                                  \
        }                                                                                      \
    } while (0)

#define FOLD_BITS(type, mpi_type)                                                              \
    do {                                                                                       \
        type out[N], in[N];                                                                    \
        for (int op = 0; op < 6; op++) {                                                       \
            for (int i = 0; i < N; i++)                                                        \
                out[i] = (type)(op < 3 ? (rank + 3) * (i + 7) * 31 : (rank + i) % 3);          \
            MPI_Op ops[] = { MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR };       \
            MPI_Allreduce(out, in, N, mpi_type, ops[op], MPI_COMM_WORLD);                      \
            for (int i = 0; i < N; i++) {                                                      \
                type all = (type)(op < 3 ? 3 * (i + 7) * 31 : i % 3);                          \
                for (int r = 1; r < size; r++) {                                               \
                    type x = (type)(op < 3 ? (r + 3) * (i + 7) * 31 : (r + i) % 3);            \
                    all = (type)(op == 0   ? all & x                                           \
                                 : op == 1 ? all | x                                           \
                                 : op == 2 ? all ^ x                                           \
                                 : op == 3 ? all && x                                          \
                                 : op == 4 ? all || x                                          \
                                           : !all != !x);                                      \
                }                                                                              \
                CHECK(op < 3 || size == 1 ? in[i] == all || (op >= 3 && !in[i] == !all)        \
                                          : !in[i] == !all);                                   \
            }                                                                                  \
        }                                                                                      \
    } while (0)

#define FOLD_COMPLEX(type, mpi_type)                                                           \
    do {                                                                                       \
        type out[N], in[N];                                                                    \
        for (int op = 0; op < 2; op++) {                                                       \
            for (int i = 0; i < N; i++)                                                        \
                out[i] = (rank + i) % 2 ? 1 : I;                                               \
            MPI_Allreduce(out, in, N, mpi_type, op ? MPI_PROD : MPI_SUM, MPI_COMM_WORLD);      \
            for (int i = 0; i < N; i++) {                                                      \
                type all = i % 2 ? 1 : I;                                                      \
                for (int r = 1; r < size; r++)                                                 \
                    all = op ? all * ((r + i) % 2 ? 1 : I) : all + ((r + i) % 2 ? 1 : I);      \
                CHECK(in[i] == all);                                                           \
            }                                                                                  \
        }                                                                                      \
    } while (0)

/* The value's extreme and, among equals, the lowest index. */
#define FOLD_LOC(value_type, mpi_type)                                                         \
    do {                                                                                       \
        struct {                                                                               \
            value_type value;                                                                  \
            int index;                                                                         \
        } out[N], in[N];                                                                       \
        for (int largest = 0; largest < 2; largest++) {                                        \
            for (int i = 0; i < N; i++) {                                                      \
                out[i].value = (value_type)((rank * 5 + i) % 3);                               \
                out[i].index = 100 - rank;                                                     \
            }                                                                                  \
            MPI_Allreduce(out, in, N, mpi_type, largest ? MPI_MAXLOC : MPI_MINLOC,             \
                          MPI_COMM_WORLD);                                                     \
            for (int i = 0; i < N; i++) {                                                      \
                int best = 0;                                                                  \
                for (int r = 1; r < size; r++) {                                               \
                    int x = (r * 5 + i) % 3, b = (best * 5 + i) % 3;                           \
                    if (x == b || (largest ? x > b : x < b))                                   \
                        best = r; /* later ranks have lower indices */                         \
                }                                                                              \
                CHECK(in[i].value == (value_type)((best * 5 + i) % 3));                        \
                CHECK(in[i].index == 100 - best);                                              \
            }                                                                                  \
        }                                                                                      \
    } while (0)

static void test_arithmetic(void)
{
    FOLD_ARITHMETIC(short, MPI_SHORT);
    FOLD_ARITHMETIC(int, MPI_INT);
    FOLD_ARITHMETIC(long, MPI_LONG);
    FOLD_ARITHMETIC(long long, MPI_LONG_LONG);
    FOLD_ARITHMETIC(unsigned short, MPI_UNSIGNED_SHORT);
    FOLD_ARITHMETIC(unsigned, MPI_UNSIGNED);
    FOLD_ARITHMETIC(unsigned long, MPI_UNSIGNED_LONG);
    FOLD_ARITHMETIC(unsigned long long, MPI_UNSIGNED_LONG_LONG);
    FOLD_ARITHMETIC(signed char, MPI_SIGNED_CHAR);
    FOLD_ARITHMETIC(unsigned char, MPI_UNSIGNED_CHAR);
    FOLD_ARITHMETIC(int8_t, MPI_INT8_T);
    FOLD_ARITHMETIC(int16_t, MPI_INT16_T);
    FOLD_ARITHMETIC(int32_t, MPI_INT32_T);
    FOLD_ARITHMETIC(int64_t, MPI_INT64_T);
    FOLD_ARITHMETIC(uint8_t, MPI_UINT8_T);
    FOLD_ARITHMETIC(uint16_t, MPI_UINT16_T);
    FOLD_ARITHMETIC(uint32_t, MPI_UINT32_T);
    FOLD_ARITHMETIC(uint64_t, MPI_UINT64_T);
    FOLD_ARITHMETIC(MPI_Aint, MPI_AINT);
    FOLD_ARITHMETIC(MPI_Count, MPI_COUNT);
    FOLD_ARITHMETIC(MPI_Offset, MPI_OFFSET);
    FOLD_ARITHMETIC(float, MPI_FLOAT);
    FOLD_ARITHMETIC(double, MPI_DOUBLE);
    FOLD_ARITHMETIC(long double, MPI_LONG_DOUBLE);
}

static void test_bits(void)
{
    FOLD_BITS(short, MPI_SHORT);
    FOLD_BITS(int, MPI_INT);
    FOLD_BITS(long, MPI_LONG);
    FOLD_BITS(unsigned char, MPI_UNSIGNED_CHAR);
    FOLD_BITS(uint64_t, MPI_UINT64_T);
    FOLD_BITS(int8_t, MPI_INT8_T);
    unsigned char out = (unsigned char)(0x80 >> rank % 8 | 1), in, all = 0x81;
    MPI_Allreduce(&out, &in, 1, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    for (int r = 1; r < size; r++)
        all |= (unsigned char)(0x80 >> r % 8);
    CHECK(in == all);
    bool truth = rank == 0, any, both;
    MPI_Allreduce(&truth, &any, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
    MPI_Allreduce(&truth, &both, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
    CHECK(any && both == (size == 1));
}

static void test_pairs(void)
{
    FOLD_COMPLEX(float complex, MPI_C_FLOAT_COMPLEX);
    FOLD_COMPLEX(double complex, MPI_C_DOUBLE_COMPLEX);
    FOLD_COMPLEX(long double complex, MPI_C_LONG_DOUBLE_COMPLEX);
    FOLD_LOC(float, MPI_FLOAT_INT);
    FOLD_LOC(double, MPI_DOUBLE_INT);
    FOLD_LOC(long, MPI_LONG_INT);
    FOLD_LOC(int, MPI_2INT);
    FOLD_LOC(short, MPI_SHORT_INT);
    FOLD_LOC(long double, MPI_LONG_DOUBLE_INT);
}

static void maximum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    CHECK(*type == MPI_DOUBLE);
    for (int i = 0; i < *n; i++)
        if (((double *)in)[i] > ((double *)inout)[i])
            ((double *)inout)[i] = ((double *)in)[i];
}

static void test_user(void)
{
    MPI_Op op;
    int commutes = 0;
    double out[N], in[N];
    for (int i = 0; i < N; i++)
        out[i] = (rank * 7 + i) % 11;
    MPI_Op_create(maximum, 1, &op);
    MPI_Op_commutative(op, &commutes);
    CHECK(commutes);
    MPI_Op_commutative(MPI_SUM, &commutes);
    CHECK(commutes);
    MPI_Op_commutative(MPI_REPLACE, &commutes); /* takes the second */
    CHECK(!commutes);
    MPI_Op_commutative(MPI_NO_OP, &commutes); /* the first */
    CHECK(!commutes);
    MPI_Allreduce(out, in, N, MPI_DOUBLE, op, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) {
        double all = i % 11;
        for (int r = 1; r < size; r++)
            all = (r * 7 + i) % 11 > all ? (r * 7 + i) % 11 : all;
        CHECK(in[i] == all);
    }
    MPI_Reduce_local(out, in, N, MPI_DOUBLE, op);
    MPI_Op_free(&op);
    int a[2] = { 1, 5 }, b[2] = { 10, 20 };
    MPI_Reduce_local(a, b, 2, MPI_INT, MPI_SUM);
    CHECK(b[0] == 11 && b[1] == 25 && a[0] == 1);
}

static void test_errors(void)
{
    double d = 0, e = 0;
    int i = 0, k = 0;
    MPI_Op sum = MPI_SUM, none = MPI_OP_NULL;
    MPI_Datatype pair;
    errors_return();
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    CHECK_ERROR(MPI_Allreduce(&d, &e, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_ERROR(MPI_Allreduce(&i, &k, 1, MPI_INT, MPI_MINLOC, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_ERROR(MPI_Allreduce(&i, &k, 1, MPI_WCHAR, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_ERROR(MPI_Allreduce(&i, &k, 1, MPI_INT, none, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_ERROR(MPI_Allreduce(&i, &k, 0, pair, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP);
    CHECK_ERROR(MPI_Op_free(&sum), MPI_ERR_OP);
    MPI_Type_free(&pair);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    test_arithmetic();
    test_bits();
    test_pairs();
    test_user();
    test_errors();
    return check_done();
}
