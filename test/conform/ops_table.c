/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The whole table of MPI 5.0, 6.9.2 and 6.9.4: every named datatype with every predefined
 * operation.  What the standard defines has the value of a fold written here, in the widest type
 * of C; what it does not is MPI_ERR_OP.  The standard is silent about logical operations on
 * Fortran's and the multi-language integers: either answer will do, if the value is right.
 * Types of Fortran by size that the library does not have say so by their size.  REAL*16 is IEEE
 * binary128, and the numbers here are exact in what C calls long double, too.
 */
#include "check.h"

#include <complex.h>
#include <float.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum family { C_INTEGER, F_INTEGER, ADDRESS, REAL, COMPLEX, LOGICAL, BYTE, PAIR, OTHER };

struct row {
    MPI_Datatype type;
    const char *name;
    enum family family;
    size_t bytes;   /* of an item; of a pair: its value */
    bool is_signed; /* integers */
    size_t stride;  /* between items */
    size_t index_at, index_bytes;
    bool is_float; /* values of pairs; real and complex numbers: made of float128 */
};

#define INTEGER(family, mpi, type)                                                             \
    {                                                                                          \
        mpi, #mpi, family, sizeof(type), (type)-1 < (type)1, sizeof(type), 0, 0, false         \
    }
#define ITEM(family, mpi, type)                                                                \
    {                                                                                          \
        mpi, #mpi, family, sizeof(type), false, sizeof(type), 0, 0, false                      \
    }
#define PAIRS(mpi, pair, is_float)                                                             \
    {                                                                                          \
        mpi, #mpi, PAIR, sizeof(((struct pair *)0)->value), true, sizeof(struct pair),         \
            offsetof(struct pair, index), sizeof(((struct pair *)0)->index), is_float          \
    }
#define PAIR_OF(name, value_type, index_type)                                                  \
    struct name {                                                                              \
        value_type value;                                                                      \
        index_type index;                                                                      \
    }

/* Fortran's REAL*16 */
#if LDBL_MANT_DIG == 113
typedef long double float128;
#else
typedef __float128 float128;
#endif
#define WIDE_ITEM(family, mpi, type)                                                           \
    {                                                                                          \
        mpi, #mpi, family, sizeof(type), false, sizeof(type), 0, 0, true                       \
    }

PAIR_OF(float_int, float, int);
PAIR_OF(double_int, double, int);
PAIR_OF(long_int, long, int);
PAIR_OF(two_int, int, int);
PAIR_OF(short_int, short, int);
PAIR_OF(long_double_int, long double, int);
PAIR_OF(two_float, float, float);
PAIR_OF(two_double, double, double);

static const struct row rows[] = {
    INTEGER(C_INTEGER, MPI_SHORT, short),
    INTEGER(C_INTEGER, MPI_INT, int),
    INTEGER(C_INTEGER, MPI_LONG, long),
    INTEGER(C_INTEGER, MPI_LONG_LONG, long long),
    INTEGER(C_INTEGER, MPI_LONG_LONG_INT, long long),
    INTEGER(C_INTEGER, MPI_UNSIGNED_SHORT, unsigned short),
    INTEGER(C_INTEGER, MPI_UNSIGNED, unsigned),
    INTEGER(C_INTEGER, MPI_UNSIGNED_LONG, unsigned long),
    INTEGER(C_INTEGER, MPI_UNSIGNED_LONG_LONG, unsigned long long),
    INTEGER(C_INTEGER, MPI_CHAR, char), /* not in 6.9.2, but programs do it */
    INTEGER(C_INTEGER, MPI_SIGNED_CHAR, signed char),
    INTEGER(C_INTEGER, MPI_UNSIGNED_CHAR, unsigned char),
    INTEGER(C_INTEGER, MPI_INT8_T, int8_t),
    INTEGER(C_INTEGER, MPI_INT16_T, int16_t),
    INTEGER(C_INTEGER, MPI_INT32_T, int32_t),
    INTEGER(C_INTEGER, MPI_INT64_T, int64_t),
    INTEGER(C_INTEGER, MPI_UINT8_T, uint8_t),
    INTEGER(C_INTEGER, MPI_UINT16_T, uint16_t),
    INTEGER(C_INTEGER, MPI_UINT32_T, uint32_t),
    INTEGER(C_INTEGER, MPI_UINT64_T, uint64_t),
    INTEGER(F_INTEGER, MPI_INTEGER, int32_t),
    INTEGER(F_INTEGER, MPI_INTEGER1, int8_t),
    INTEGER(F_INTEGER, MPI_INTEGER2, int16_t),
    INTEGER(F_INTEGER, MPI_INTEGER4, int32_t),
    INTEGER(F_INTEGER, MPI_INTEGER8, int64_t),
    INTEGER(ADDRESS, MPI_AINT, MPI_Aint),
    INTEGER(ADDRESS, MPI_OFFSET, MPI_Offset),
    INTEGER(ADDRESS, MPI_COUNT, MPI_Count),
    ITEM(REAL, MPI_FLOAT, float),
    ITEM(REAL, MPI_DOUBLE, double),
    ITEM(REAL, MPI_LONG_DOUBLE, long double),
    ITEM(REAL, MPI_REAL, float),
    ITEM(REAL, MPI_DOUBLE_PRECISION, double),
    ITEM(REAL, MPI_REAL4, float),
    ITEM(REAL, MPI_REAL8, double),
    WIDE_ITEM(REAL, MPI_REAL16, float128),
    ITEM(COMPLEX, MPI_C_COMPLEX, float complex),
    ITEM(COMPLEX, MPI_C_FLOAT_COMPLEX, float complex),
    ITEM(COMPLEX, MPI_C_DOUBLE_COMPLEX, double complex),
    ITEM(COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, long double complex),
    ITEM(COMPLEX, MPI_CXX_FLOAT_COMPLEX, float complex),
    ITEM(COMPLEX, MPI_CXX_DOUBLE_COMPLEX, double complex),
    ITEM(COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, long double complex),
    ITEM(COMPLEX, MPI_COMPLEX, float complex),
    ITEM(COMPLEX, MPI_DOUBLE_COMPLEX, double complex),
    ITEM(COMPLEX, MPI_COMPLEX8, float complex),
    ITEM(COMPLEX, MPI_COMPLEX16, double complex),
    WIDE_ITEM(COMPLEX, MPI_COMPLEX32, float128[2]),
    ITEM(LOGICAL, MPI_C_BOOL, bool),
    ITEM(LOGICAL, MPI_CXX_BOOL, bool),
    ITEM(LOGICAL, MPI_LOGICAL, int32_t),
#if MPI_VERSION >= 5
    INTEGER(F_INTEGER, MPI_INTEGER16, __int128),
    ITEM(LOGICAL, MPI_LOGICAL1, int8_t),
    ITEM(LOGICAL, MPI_LOGICAL2, int16_t),
    ITEM(LOGICAL, MPI_LOGICAL4, int32_t),
    ITEM(LOGICAL, MPI_LOGICAL8, int64_t),
    ITEM(LOGICAL, MPI_LOGICAL16, __int128),
#endif
    ITEM(BYTE, MPI_BYTE, char),
    PAIRS(MPI_FLOAT_INT, float_int, true),
    PAIRS(MPI_DOUBLE_INT, double_int, true),
    PAIRS(MPI_LONG_INT, long_int, false),
    PAIRS(MPI_2INT, two_int, false),
    PAIRS(MPI_SHORT_INT, short_int, false),
    PAIRS(MPI_LONG_DOUBLE_INT, long_double_int, true),
    PAIRS(MPI_2REAL, two_float, true),
    PAIRS(MPI_2DOUBLE_PRECISION, two_double, true),
    PAIRS(MPI_2INTEGER, two_int, false),
    ITEM(OTHER, MPI_WCHAR, wchar_t),
    ITEM(OTHER, MPI_CHARACTER, char),
    ITEM(OTHER, MPI_PACKED, char),
};
enum { ROWS = sizeof rows / sizeof rows[0], N = 13, ROOM = N * sizeof(long double complex) };

static const struct operation {
    MPI_Op op;
    enum { SUM, PROD, MIN, MAX, BAND, BOR, BXOR, LAND, LOR, LXOR, MINLOC, MAXLOC, MOVE } what;
} operations[] = {
    { MPI_SUM, SUM },      { MPI_PROD, PROD },  { MPI_MIN, MIN },       { MPI_MAX, MAX },
    { MPI_BAND, BAND },    { MPI_BOR, BOR },    { MPI_BXOR, BXOR },     { MPI_LAND, LAND },
    { MPI_LOR, LOR },      { MPI_LXOR, LXOR },  { MPI_MINLOC, MINLOC }, { MPI_MAXLOC, MAXLOC },
    { MPI_REPLACE, MOVE }, { MPI_NO_OP, MOVE },
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

enum verdict { REFUSED, DEFINED, EITHER };

static bool is_integer(enum family f)
{
    return f == C_INTEGER || f == F_INTEGER || f == ADDRESS;
}

static enum verdict verdict(int what, enum family f)
{
    if (what <= PROD)
        return is_integer(f) || f == REAL || f == COMPLEX ? DEFINED : REFUSED;
    if (what <= MAX)
        return is_integer(f) || f == REAL ? DEFINED : REFUSED;
    if (what <= BXOR)
        return is_integer(f) || f == BYTE ? DEFINED : REFUSED;
    if (what <= LXOR)
        return f == C_INTEGER || f == LOGICAL ? DEFINED : is_integer(f) ? EITHER : REFUSED;
    return what <= MAXLOC && f == PAIR ? DEFINED : REFUSED;
}

/* ---- numbers in memory ---- */

static __int128 integer_at(const void *p, size_t bytes, bool is_signed)
{
    unsigned __int128 v = 0;
    memcpy(&v, p, bytes);
    int shift = 128 - 8 * (int)bytes;
    return is_signed ? (__int128)(v << shift) >> shift : (__int128)v;
}

static void integer_put(void *p, size_t bytes, __int128 v)
{
    memcpy(p, &v, bytes);
}

/* Of a real number of 16 bytes the size does not say which one it is. */
static bool are_wide;

static long double real_at(const void *p, size_t bytes)
{
    float f;
    double d;
    long double l;
    float128 w;
    if (bytes == sizeof f)
        return memcpy(&f, p, sizeof f), f;
    if (bytes == sizeof d)
        return memcpy(&d, p, sizeof d), d;
    if (are_wide)
        return memcpy(&w, p, sizeof w), (long double)w;
    return memcpy(&l, p, sizeof l), l;
}

static void real_put(void *p, size_t bytes, long double v)
{
    float f = (float)v;
    double d = (double)v;
    float128 w = v;
    memcpy(p,
           bytes == sizeof f   ? (void *)&f
           : bytes == sizeof d ? (void *)&d
           : are_wide          ? (void *)&w
                               : (void *)&v,
           bytes);
}

static long double complex complex_at(const char *p, size_t bytes)
{
    return real_at(p, bytes / 2) + real_at(p + bytes / 2, bytes / 2) * I;
}

static void complex_put(char *p, size_t bytes, long double complex v)
{
    real_put(p, bytes / 2, creall(v));
    real_put(p + bytes / 2, bytes / 2, cimagl(v));
}

/* Fortran has pairs of two real numbers. */
static bool index_is_real(const struct row *row)
{
    return row->type == MPI_2REAL || row->type == MPI_2DOUBLE_PRECISION;
}

static long double index_at(const struct row *row, const char *p)
{
    p += row->index_at;
    return index_is_real(row) ? real_at(p, row->index_bytes)
                              : (long double)integer_at(p, row->index_bytes, true);
}

static void index_put(const struct row *row, char *p, int v)
{
    p += row->index_at;
    if (index_is_real(row))
        real_put(p, row->index_bytes, v);
    else
        integer_put(p, row->index_bytes, v);
}

static long double value_at(const struct row *row, const char *p)
{
    return row->is_float ? real_at(p, row->bytes)
                         : (long double)integer_at(p, row->bytes, true);
}

/* What rank r contributes at place i: numbers that stay exact, with ties and both truths. */
static void item_put(const struct row *row, int r, int i, char *p)
{
    int seed = (r * 7 + i * 5 + r * i) % 11;
    if (row->family == REAL)
        real_put(p, row->bytes, (seed - 5) / 4.0L);
    else if (row->family == COMPLEX)
        complex_put(p, row->bytes, seed % 3 - 1 + (seed % 5 - 2) * I);
    else if (row->family == LOGICAL)
        integer_put(p, row->bytes, seed % 3 == 0);
    else if (row->family == PAIR && row->is_float)
        real_put(p, row->bytes, seed % 4 - 2);
    else if (row->family == PAIR)
        integer_put(p, row->bytes, seed % 4 - 2);
    else if (is_integer(row->family) || row->family == BYTE)
        integer_put(p, row->bytes,
                    seed % 4 == 3 ? 0 : (__int128)(seed - 4) * 0x1234567 * (i + 1));
    else
        memset(p, 'a' + seed, row->bytes);
    if (row->family == PAIR)
        index_put(row, p, (r * 3 + i) % 5);
}

/* ---- folds, one item: to = to op p ---- */

static __int128 integer_fold(int what, __int128 a, __int128 b)
{
    unsigned __int128 x = (unsigned __int128)a, y = (unsigned __int128)b;
    __int128 results[] = { [SUM] = (__int128)(x + y),
                           [PROD] = (__int128)(x * y),
                           [MIN] = a < b ? a : b,
                           [MAX] = a > b ? a : b,
                           [BAND] = a & b,
                           [BOR] = a | b,
                           [BXOR] = a ^ b,
                           [LAND] = a && b,
                           [LOR] = a || b,
                           [LXOR] = !a != !b };
    return results[what];
}

static long double real_fold(int what, long double a, long double b)
{
    return what == SUM    ? a + b
           : what == PROD ? a * b
           : what == MIN  ? (a < b ? a : b)
                          : (a > b ? a : b);
}

static void pair_fold(const struct row *row, int what, char *to, const char *p)
{
    long double a = value_at(row, to), b = value_at(row, p);
    bool better = what == MINLOC ? b < a : b > a;
    if (better || (a == b && index_at(row, p) < index_at(row, to)))
        memcpy(to, p, row->stride);
}

static void item_fold(const struct row *row, int what, char *to, const char *p)
{
    size_t n = row->bytes;
    if (row->family == REAL)
        real_put(to, n, real_fold(what, real_at(to, n), real_at(p, n)));
    else if (row->family == COMPLEX)
        complex_put(to, n,
                    what == SUM ? complex_at(to, n) + complex_at(p, n)
                                : complex_at(to, n) * complex_at(p, n));
    else if (row->family == PAIR)
        pair_fold(row, what, to, p);
    else
        integer_put(to, n,
                    integer_fold(what, integer_at(to, n, row->is_signed),
                                 integer_at(p, n, row->is_signed)));
}

static bool items_agree(const struct row *row, int what, const char *a, const char *b)
{
    size_t n = row->bytes;
    if (row->family == REAL)
        return real_at(a, n) == real_at(b, n);
    if (row->family == COMPLEX)
        return complex_at(a, n) == complex_at(b, n);
    if (row->family == PAIR)
        return value_at(row, a) == value_at(row, b) && index_at(row, a) == index_at(row, b);
    bool truth = what >= LAND && what <= LXOR;
    return truth ? !integer_at(a, n, false) == !integer_at(b, n, false) : memcmp(a, b, n) == 0;
}

/* ---- the table ---- */

static int rank, size;

static void expect(const struct row *row, int what, const char *got, int from, int to)
{
    for (int i = 0; i < N; i++) {
        char all[sizeof(long double complex)] = { 0 }, next[sizeof all] = { 0 };
        item_put(row, from, i, all);
        for (int r = from + 1; r <= to; r++) {
            item_put(row, r, i, next);
            item_fold(row, what, all, next);
        }
        if (!items_agree(row, what, all, got + (size_t)i * row->stride))
            fprintf(stderr, "%s, operation %d, item %d\n", row->name, what, i);
        CHECK(items_agree(row, what, all, got + (size_t)i * row->stride));
    }
}

static void operands(const struct row *row, int r, char *memory)
{
    memset(memory, 0, ROOM);
    for (int i = 0; i < N; i++)
        item_put(row, r, i, memory + (size_t)i * row->stride);
}

static void cell(const struct row *row, const struct operation *o)
{
    _Alignas(16) char mine[ROOM], got[ROOM];
    enum verdict v = verdict(o->what, row->family);
    are_wide = row->is_float && row->family != PAIR;
    operands(row, rank, mine);
    memset(got, 0, sizeof got);
    int class = MPI_SUCCESS;
    int rc = MPI_Allreduce(mine, got, N, row->type, o->op, MPI_COMM_WORLD);
    MPI_Error_class(rc, &class);
    if (v == REFUSED || (v == EITHER && rc)) {
        if (class != MPI_ERR_OP)
            fprintf(stderr, "%s with operation %d\n", row->name, o->what);
        CHECK_ERROR(rc, MPI_ERR_OP);
        return;
    }
    if (rc)
        fprintf(stderr, "%s with operation %d\n", row->name, o->what);
    CHECK(rc == MPI_SUCCESS);
    expect(row, o->what, got, 0, size - 1);
    CHECK_OK(MPI_Scan(mine, got, N, row->type, o->op, MPI_COMM_WORLD));
    expect(row, o->what, got, 0, rank);
    operands(row, rank + 1, got);
    CHECK_OK(MPI_Reduce_local(mine, got, N, row->type, o->op));
    expect(row, o->what, got, rank, rank + 1);
}

static void test_table(void)
{
    for (int i = 0; i < ROWS; i++) {
        int bytes;
        CHECK_OK(MPI_Type_size(rows[i].type, &bytes));
        if (bytes == MPI_UNDEFINED)
            continue;
        for (int j = 0; j < OPERATIONS; j++)
            cell(&rows[i], &operations[j]);
    }
}

/* Types that few platforms have: their size, or that there is none. */
static void test_rare(void)
{
#if MPI_VERSION >= 5
    static const struct {
        MPI_Datatype type;
        int size;
    } rare[] = { { MPI_REAL2, 2 }, { MPI_COMPLEX4, 4 } };
    for (size_t i = 0; i < sizeof rare / sizeof rare[0]; i++) {
        int bytes;
        CHECK_OK(MPI_Type_size(rare[i].type, &bytes));
        CHECK(bytes == rare[i].size || bytes == MPI_UNDEFINED);
    }
#endif
}

/* Types that a program asks for by precision, size or parts are as good as the named ones. */
static void test_asked_for(void)
{
    struct row real = { MPI_DATATYPE_NULL, "f90 real", REAL, 8, false, 8, 0, 0, false };
    struct row integer = {
        MPI_DATATYPE_NULL, "f90 integer", F_INTEGER, 4, true, 4, 0, 0, false
    };
    struct row matched = {
        MPI_DATATYPE_NULL, "complex by size", COMPLEX, 16, false, 16, 0, 0, false
    };
    struct row complex_ = {
        MPI_DATATYPE_NULL, "f90 complex", COMPLEX, 8, false, 8, 0, 0, false
    };
    CHECK_OK(MPI_Type_create_f90_real(15, 300, &real.type));
    CHECK_OK(MPI_Type_create_f90_integer(9, &integer.type));
    CHECK_OK(MPI_Type_create_f90_complex(6, 30, &complex_.type));
    CHECK_OK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &matched.type));
    for (int j = 0; j < OPERATIONS; j++) {
        cell(&real, &operations[j]);
        cell(&integer, &operations[j]);
        cell(&matched, &operations[j]);
        cell(&complex_, &operations[j]);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    errors_return();
    test_table();
    test_rare();
    test_asked_for();
    return check_done();
}
