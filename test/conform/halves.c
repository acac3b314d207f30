/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The extensions of mpix.h for learning: 16-bit floating point (also Fortran's) in messages, derived types,
 * packing and reductions, checked against sums in double; MPIX_AVG in every reduction.  Needs a
 * library with these extensions.
 */
#include "check.h"

#include <mpix.h>

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { N = 1000 };

static int rank, size;

/* By their definition: sign, exponent, fraction. */
static double half_value(uint16_t bits, int digits, int bias)
{
    int exponent = (bits & 0x7fff) >> digits, fraction = bits & ((1 << digits) - 1);
    fraction += exponent ? 1 << digits : 0;
    double magnitude = ldexp(fraction, (exponent ? exponent : 1) - bias - digits);
    return bits & 0x8000 ? -magnitude : magnitude;
}

struct format {
    MPI_Datatype type;
    const char *name;
    int digits, bias;
};
static const struct format formats[] = { { MPIX_C_FLOAT16, "MPIX_C_FLOAT16", 10, 15 },
                                         { MPIX_BFLOAT16, "MPIX_BFLOAT16", 7, 127 },
                                         { MPI_REAL2, "MPI_REAL2", 10, 15 } };

static double value(const struct format *f, uint16_t bits)
{
    return half_value(bits, f->digits, f->bias);
}

/* Between a quarter and four in magnitude. */
static uint16_t number(const struct format *f, int r, int i)
{
    unsigned mixed = (unsigned)(r * 2654435 + i * 40503 + 77) * 2654435761u >> 8;
    unsigned exponent = (unsigned)f->bias - 2 + mixed % 4;
    unsigned fraction = mixed >> 4 & ((1u << f->digits) - 1);
    return (uint16_t)(exponent << f->digits | fraction | (mixed >> 20 & 1) << 15);
}

static void fill(const struct format *f, uint16_t *at)
{
    for (int i = 0; i < N; i++)
        at[i] = number(f, rank, i);
}

/* Each of size - 1 foldings rounds once at most, by half a unit of the last digit at most. */
static void expect(const struct format *f, MPI_Op op, const uint16_t *got, int from, int to)
{
    for (int i = 0; i < N; i++) {
        double all = value(f, number(f, from, i)), largest = fabs(all);
        for (int r = from + 1; r <= to; r++) {
            double x = value(f, number(f, r, i));
            all = op == MPI_PROD  ? all * x
                  : op == MPI_MIN ? fmin(all, x)
                  : op == MPI_MAX ? fmax(all, x)
                                  : all + x;
            largest = op == MPI_PROD ? fabs(all) : largest + fabs(x);
        }
        if (op == MPIX_AVG)
            all /= to - from + 1, largest /= to - from + 1;
        double allowed = (to - from + (op == MPIX_AVG)) * ldexp(largest, -f->digits - 1) * 1.01;
        if (op == MPI_MIN || op == MPI_MAX)
            allowed = 0;
        CHECK(fabs(value(f, got[i]) - all) <= allowed);
    }
}

/* ---- as datatypes ---- */

static void test_messages(const struct format *f)
{
    uint16_t out[N], in[N];
    int bytes, length, elements, position = 0;
    MPI_Aint lb, extent, place = 0;
    char name[MPI_MAX_OBJECT_NAME], packed[2 * N];
    MPI_Status status;
    MPI_Datatype column;
    fill(f, out);
    CHECK_OK(MPI_Type_size(f->type, &bytes));
    CHECK_OK(MPI_Type_get_extent(f->type, &lb, &extent));
    CHECK(bytes == 2 && lb == 0 && extent == 2);
    CHECK_OK(MPI_Type_get_name(f->type, name, &length));
    CHECK(strcmp(name, f->name) == 0);
    CHECK(MPI_Type_fromint(MPI_Type_toint(f->type)) == f->type);
    CHECK_OK(MPI_Type_vector(N / 4, 1, 4, f->type, &column));
    CHECK_OK(MPI_Type_commit(&column));
    memset(in, 0, sizeof in);
    CHECK_OK(MPI_Sendrecv(out, 1, column, (rank + 1) % size, 5, in, N, f->type,
                          (rank + size - 1) % size, 5, MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, f->type, &elements));
    CHECK(elements == N / 4);
    for (int i = 0; i < N / 4; i++)
        CHECK(in[i] == number(f, (rank + size - 1) % size, 4 * i));
    CHECK_OK(MPI_Type_free(&column));
    CHECK_OK(MPI_Pack(out, N, f->type, packed, sizeof packed, &position, MPI_COMM_WORLD));
    CHECK(position == 2 * N);
    CHECK_OK(MPI_Pack_external("external32", out, N, f->type, packed, sizeof packed, &place));
    CHECK(place == 2 * N && (unsigned char)packed[0] == out[0] >> 8);
    CHECK_OK(MPI_Bcast(out, N, f->type, 0, MPI_COMM_WORLD));
    CHECK(out[N - 1] == number(f, 0, N - 1));
}

static void same_everywhere(const uint16_t *got)
{
    uint16_t first[N];
    memcpy(first, got, sizeof first);
    CHECK_OK(MPI_Bcast(first, N, MPI_UINT16_T, 0, MPI_COMM_WORLD));
    CHECK(memcmp(first, got, sizeof first) == 0);
}

static void test_folds(const struct format *f)
{
    static const MPI_Op defined[] = { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPIX_AVG };
    static const MPI_Op others[] = { MPI_BAND, MPI_BOR,    MPI_BXOR,   MPI_LAND,    MPI_LOR,
                                     MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP };
    uint16_t out[N], in[N];
    fill(f, out);
    for (size_t i = 0; i < sizeof defined / sizeof *defined; i++) {
        for (int n = 1; n <= N; n = n < 20 ? 20 : n + N - 20) {
            fill(f, in);
            CHECK_OK(MPI_Allreduce(out, in, n, f->type, defined[i], MPI_COMM_WORLD));
            for (int k = n; k < N; k++)
                CHECK(in[k] == out[k]);
        }
        expect(f, defined[i], in, 0, size - 1);
        same_everywhere(in);
        CHECK_OK(MPI_Scan(out, in, N, f->type, defined[i], MPI_COMM_WORLD));
        expect(f, defined[i], in, 0, rank);
    }
    errors_return();
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK_ERROR(MPI_Allreduce(out, in, N, f->type, others[i], MPI_COMM_WORLD), MPI_ERR_OP);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* ---- means ---- */

enum { BLOCK = 3 };

/* Rank r contributes r + i: the mean of ranks `from` to `to` at place i. */
static double mean(int from, int to, int i)
{
    return (from + to) / 2.0 + i;
}

static void test_rooted(void)
{
    double out[BLOCK], in[BLOCK] = { -1, -1, -1 };
    for (int i = 0; i < BLOCK; i++)
        out[i] = rank + i;
    CHECK_OK(MPI_Reduce(out, in, BLOCK, MPI_DOUBLE, MPIX_AVG, size - 1, MPI_COMM_WORLD));
    for (int i = 0; i < BLOCK; i++)
        CHECK(in[i] == (rank == size - 1 ? mean(0, size - 1, i) : -1));
    CHECK_OK(MPI_Reduce(rank ? out : MPI_IN_PLACE, out, BLOCK, MPI_DOUBLE, MPIX_AVG, 0,
                        MPI_COMM_WORLD));
    for (int i = 0; i < BLOCK; i++)
        CHECK(out[i] == (rank ? rank + i : mean(0, size - 1, i)));
}

/* Means and sums of the same counts in turn, each often enough to be known when it comes again. */
static void test_again(void)
{
    double out[BLOCK], in[BLOCK], total = size * (size - 1) / 2.0;
    for (int n = 0; n < 24; n++) {
        int root = n / 8 % size;
        bool is_mean = n % 2, in_place = n % 6 > 3;
        MPI_Op op = is_mean ? MPIX_AVG : MPI_SUM;
        for (int i = 0; i < BLOCK; i++)
            in[i] = out[i] = rank + i + n;
        CHECK_OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : out, in, BLOCK, MPI_DOUBLE, op,
                               MPI_COMM_WORLD));
        for (int i = 0; i < BLOCK; i++)
            CHECK(in[i] == (is_mean ? mean(0, size - 1, i + n) : total + size * (i + n)));
        in[0] = out[0];
        CHECK_OK(MPI_Reduce(in_place && rank == root ? MPI_IN_PLACE : out, in, 1, MPI_DOUBLE,
                            op, root, MPI_COMM_WORLD));
        if (rank == root)
            CHECK(in[0] == (is_mean ? mean(0, size - 1, n) : total + size * n));
        CHECK_OK(MPI_Scan(out, in, BLOCK, MPI_DOUBLE, op, MPI_COMM_WORLD));
        CHECK(in[0] == (is_mean ? mean(0, rank, n) : (rank + 1) * (rank / 2.0 + n)));
    }
}

/* Alone there is nothing to do, and nothing to divide. */
static void test_alone(void)
{
    double out[BLOCK] = { 3, 5, 7 }, in[BLOCK] = { 0 };
    for (int round = 0; round < 50; round++) {
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, out, BLOCK, MPI_DOUBLE, MPIX_AVG, MPI_COMM_SELF));
        CHECK_OK(MPI_Scan(MPI_IN_PLACE, out, BLOCK, MPI_DOUBLE, MPIX_AVG, MPI_COMM_SELF));
        CHECK_OK(MPI_Reduce(MPI_IN_PLACE, out, BLOCK, MPI_DOUBLE, MPIX_AVG, 0, MPI_COMM_SELF));
        CHECK_OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, out, BLOCK, MPI_DOUBLE, MPIX_AVG,
                                          MPI_COMM_SELF));
        CHECK_OK(MPI_Allreduce(out, in, BLOCK, MPI_DOUBLE, MPIX_AVG, MPI_COMM_SELF));
        CHECK(out[0] == 3 && out[1] == 5 && out[2] == 7 && memcmp(in, out, sizeof in) == 0);
    }
}

static void test_prefixes(void)
{
    double out[BLOCK], in[BLOCK] = { -1, -1, -1 };
    for (int i = 0; i < BLOCK; i++)
        out[i] = rank + i;
    CHECK_OK(MPI_Exscan(out, in, BLOCK, MPI_DOUBLE, MPIX_AVG, MPI_COMM_WORLD));
    for (int i = 0; i < BLOCK; i++)
        CHECK(in[i] == (rank ? mean(0, rank - 1, i) : -1));
    CHECK_OK(MPI_Scan(MPI_IN_PLACE, out, BLOCK, MPI_DOUBLE, MPIX_AVG, MPI_COMM_WORLD));
    for (int i = 0; i < BLOCK; i++)
        CHECK(out[i] == mean(0, rank, i));
}

static void test_scattered(void)
{
    double out[64], in[BLOCK];
    int counts[64];
    CHECK(size <= 16);
    for (int i = 0; i < BLOCK * size; i++)
        out[i] = rank + i;
    CHECK_OK(MPI_Reduce_scatter_block(out, in, BLOCK, MPI_DOUBLE, MPIX_AVG, MPI_COMM_WORLD));
    for (int i = 0; i < BLOCK; i++)
        CHECK(in[i] == mean(0, size - 1, rank * BLOCK + i));
    for (int r = 0; r < size; r++)
        counts[r] = r % 3;
    CHECK_OK(
        MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_DOUBLE, MPIX_AVG, MPI_COMM_WORLD));
    int first = 0;
    for (int r = 0; r < rank; r++)
        first += counts[r];
    for (int i = 0; i < counts[rank]; i++)
        CHECK(out[i] == mean(0, size - 1, first + i));
}

static void test_requests(void)
{
    enum { MANY = 5000 };
    static double out[MANY], in[MANY];
    MPI_Request request;
    for (int i = 0; i < MANY; i++)
        out[i] = rank + i;
    CHECK_OK(MPI_Iallreduce(out, in, MANY, MPI_DOUBLE, MPIX_AVG, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < MANY; i++)
        CHECK(in[i] == mean(0, size - 1, i));
    CHECK_OK(MPI_Allreduce_init(out, in, MANY, MPI_DOUBLE, MPIX_AVG, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request));
    for (int round = 0; round < 3; round++) {
        memset(in, 0, sizeof in);
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < MANY; i++)
            CHECK(in[i] == mean(0, size - 1, i));
    }
    CHECK_OK(MPI_Request_free(&request));
}

/* The mean of the other group. */
static void test_groups(void)
{
    if (size < 2)
        return;
    MPI_Comm half, both;
    int first = (size + 1) / 2, low = rank < first;
    double out = rank, in = -1;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? first : 0, 3, &both));
    CHECK_OK(MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPIX_AVG, both));
    CHECK(in == (low ? mean(first, size - 1, 0) : mean(0, first - 1, 0)));
    int root = low ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    in = -1;
    CHECK_OK(MPI_Reduce(&out, &in, 1, MPI_DOUBLE, MPIX_AVG, root, both));
    CHECK(in == (rank == 0 ? mean(first, size - 1, 0) : -1));
    CHECK_OK(MPI_Comm_free(&both));
    CHECK_OK(MPI_Comm_free(&half));
}

static void test_kinds(void)
{
    float f = (float)rank;
    long double l = rank;
    float complex z = (float)rank - 2 * (float)rank * I;
    int i = rank, k = 0;
    MPI_Datatype pair;
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &f, 1, MPI_FLOAT, MPIX_AVG, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &l, 1, MPI_LONG_DOUBLE, MPIX_AVG, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &z, 1, MPI_C_FLOAT_COMPLEX, MPIX_AVG, MPI_COMM_WORLD));
    CHECK(f == (float)mean(0, size - 1, 0) && l == mean(0, size - 1, 0));
    CHECK(crealf(z) == f && cimagf(z) == -2 * f);
    CHECK_OK(MPI_Op_commutative(MPIX_AVG, &k));
    CHECK(k);
    errors_return();
    MPI_Op avg = MPIX_AVG;
    CHECK_ERROR(MPI_Op_free(&avg), MPI_ERR_OP);
    CHECK_ERROR(MPI_Allreduce(&i, &k, 1, MPI_INT, MPIX_AVG, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_ERROR(MPI_Allreduce(&i, &k, 1, MPI_BYTE, MPIX_AVG, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_ERROR(MPI_Reduce_local(&f, &f, 1, MPI_FLOAT, MPIX_AVG), MPI_ERR_OP);
    CHECK_OK(MPI_Type_contiguous(1, MPI_FLOAT, &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_ERROR(MPI_Allreduce(MPI_IN_PLACE, &f, 1, pair, MPIX_AVG, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_OK(MPI_Type_free(&pair));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        test_messages(&formats[i]);
        test_folds(&formats[i]);
    }
    test_rooted();
    test_again();
    test_alone();
    test_prefixes();
    test_scattered();
    test_requests();
    test_groups();
    test_kinds();
    return check_done();
}
