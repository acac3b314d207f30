/* SPDX-License-Identifier: BSD-3-Clause
 *
 * "external32": the sizes of the standard's table, the bytes of values known beforehand, there
 * and back again for derived datatypes with and without gaps, and what does not fit.
 */
#include "check.h"

#include <complex.h>
#include <stddef.h>
#include <wchar.h>

static void sizes(void)
{
    static const struct {
        MPI_Datatype type;
        int bytes;
    } rows[] = {
        { MPI_PACKED, 1 },
        { MPI_BYTE, 1 },
        { MPI_CHAR, 1 },
        { MPI_UNSIGNED_CHAR, 1 },
        { MPI_SIGNED_CHAR, 1 },
        { MPI_WCHAR, 2 },
        { MPI_SHORT, 2 },
        { MPI_UNSIGNED_SHORT, 2 },
        { MPI_INT, 4 },
        { MPI_UNSIGNED, 4 },
        { MPI_LONG, 4 },
        { MPI_UNSIGNED_LONG, 4 },
        { MPI_LONG_LONG_INT, 8 },
        { MPI_UNSIGNED_LONG_LONG, 8 },
        { MPI_FLOAT, 4 },
        { MPI_DOUBLE, 8 },
        { MPI_LONG_DOUBLE, 16 },
        { MPI_C_BOOL, 1 },
        { MPI_INT8_T, 1 },
        { MPI_INT16_T, 2 },
        { MPI_INT32_T, 4 },
        { MPI_INT64_T, 8 },
        { MPI_UINT8_T, 1 },
        { MPI_UINT16_T, 2 },
        { MPI_UINT32_T, 4 },
        { MPI_UINT64_T, 8 },
        { MPI_AINT, 8 },
        { MPI_COUNT, 8 },
        { MPI_OFFSET, 8 },
        { MPI_C_COMPLEX, 8 },
        { MPI_C_DOUBLE_COMPLEX, 16 },
        { MPI_C_LONG_DOUBLE_COMPLEX, 32 },
        { MPI_CHARACTER, 1 },
        { MPI_LOGICAL, 4 },
        { MPI_INTEGER, 4 },
        { MPI_REAL, 4 },
        { MPI_DOUBLE_PRECISION, 8 },
        { MPI_COMPLEX, 8 },
        { MPI_DOUBLE_COMPLEX, 16 },
        { MPI_INTEGER16, 16 },
        { MPI_REAL2, 2 },
        { MPI_REAL16, 16 },
        { MPI_COMPLEX32, 32 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        MPI_Aint one, many;
        MPI_Pack_external_size("external32", 1, rows[i].type, &one);
        MPI_Pack_external_size("external32", 1000, rows[i].type, &many);
        CHECK(one == rows[i].bytes && many == 1000 * rows[i].bytes);
    }
}

/* One value to known bytes and back. */
static void value_is(MPI_Datatype type, const void *value, size_t size, const char *bytes,
                     int n)
{
    char external[64], native[64];
    MPI_Aint position = 0;
    memset(external, 'x', sizeof external);
    MPI_Pack_external("external32", value, 1, type, external, sizeof external, &position);
    CHECK(position == n && memcmp(external, bytes, (size_t)n) == 0 && external[n] == 'x');
    memset(native, 0, sizeof native);
    position = 0;
    MPI_Unpack_external("external32", external, n, &position, native, 1, type);
    CHECK(position == n && memcmp(native, value, size) == 0);
}

static void values(void)
{
    value_is(MPI_SHORT, &(short){ -2 }, 2, "\xff\xfe", 2);
    value_is(MPI_INT, &(int){ 0x01020304 }, 4, "\1\2\3\4", 4);
    value_is(MPI_LONG, &(long){ -2 }, 8, "\xff\xff\xff\xfe", 4);
    value_is(MPI_LONG, &(long){ 0x7fffffff }, 8, "\x7f\xff\xff\xff", 4);
    value_is(MPI_UNSIGNED_LONG, &(unsigned long){ 0xfffffffe }, 8, "\xff\xff\xff\xfe", 4);
    value_is(MPI_LONG_LONG, &(long long){ -2 }, 8, "\xff\xff\xff\xff\xff\xff\xff\xfe", 8);
    value_is(MPI_WCHAR, &(wchar_t){ 0x20ac }, sizeof(wchar_t), "\x20\xac", 2);
    value_is(MPI_C_BOOL, &(_Bool){ 1 }, 1, "\1", 1);
    value_is(MPI_FLOAT, &(float){ 1.0f }, 4, "\x3f\x80\0\0", 4);
    value_is(MPI_DOUBLE, &(double){ -2.0 }, 8, "\xc0\0\0\0\0\0\0\0", 8);
    value_is(MPI_C_DOUBLE_COMPLEX, &(double complex){ 1.0 + 2.0 * I }, 16,
             "\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0", 16);
    value_is(MPI_INTEGER16, &(__int128){ -2 }, 16,
             "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 16);
    unsigned char one[16] = { [14] = 0xff, [15] = 0x3f }; /* binary128, little end first */
    value_is(MPI_REAL16, one, 16, "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    long double value = -1.5L; /* 80 bits of value, the rest is padding */
    value_is(MPI_LONG_DOUBLE, &value, 10, "\xbf\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    struct {
        double value;
        int index;
    } pair = { 1.0, 3 };
    value_is(MPI_DOUBLE_INT, &pair, 12, "\x3f\xf0\0\0\0\0\0\0\0\0\0\3", 12);
}

struct mixed {
    char letter;
    long number;
    int gap;
    double reals[2];
};

static MPI_Datatype mixed_type(void)
{
    MPI_Datatype type, whole;
    MPI_Aint offsets[] = { offsetof(struct mixed, letter), offsetof(struct mixed, number),
                           offsetof(struct mixed, reals) };
    MPI_Datatype types[] = { MPI_CHAR, MPI_LONG, MPI_DOUBLE };
    MPI_Type_create_struct(3, (int[]){ 1, 1, 2 }, offsets, types, &type);
    MPI_Type_create_resized(type, 0, sizeof(struct mixed), &whole);
    MPI_Type_commit(&whole);
    MPI_Type_free(&type);
    return whole;
}

/* More than one chunk of everything. */
static void structs(void)
{
    enum { N = 3000, EACH = 1 + 4 + 16 };
    static struct mixed out[N], in[N];
    static char external[N * EACH];
    MPI_Datatype type = mixed_type();
    for (int i = 0; i < N; i++)
        out[i] = (struct mixed){ (char)i, -i, 7, { i / 3.0, -i } };
    MPI_Aint bytes, position = 0;
    MPI_Pack_external_size("external32", N, type, &bytes);
    CHECK(bytes == N * EACH);
    MPI_Pack_external("external32", out, N, type, external, bytes, &position);
    CHECK(position == bytes && external[EACH] == 1 && external[2 * EACH + 4] == -2);
    position = 0;
    MPI_Unpack_external("external32", external, bytes, &position, in, N / 2, type);
    CHECK(position == bytes / 2);
    MPI_Unpack_external("external32", external, bytes, &position, in + N / 2, N / 2, type);
    for (int i = 0; i < N; i++)
        CHECK(in[i].letter == out[i].letter && in[i].number == out[i].number &&
              in[i].gap == 0 && memcmp(in[i].reals, out[i].reals, 16) == 0);
    MPI_Type_free(&type);
}

/* Through boxes, shares of arrays and vectors of structs the items keep their order. */
static void nested(MPI_Datatype type, MPI_Aint items)
{
    enum { INTS = 4096 };
    static int out[INTS], in[INTS];
    static char external[INTS * 4];
    MPI_Aint bytes, position = 0, again = 0, place = 0;
    int packed_bytes = 0;
    static int packed[INTS], native[INTS];
    for (int i = 0; i < INTS; i++) {
        out[i] = i + 1;
        in[i] = 0;
    }
    MPI_Type_commit(&type);
    MPI_Pack_external_size("external32", 2, type, &bytes);
    CHECK(bytes == 2 * 4 * items);
    MPI_Pack_external("external32", out, 2, type, external, bytes, &position);
    MPI_Pack(out, 2, type, packed, sizeof packed, &packed_bytes, MPI_COMM_WORLD);
    MPI_Unpack_external("external32", external, bytes, &place, native, (int)(2 * items),
                        MPI_INT);
    CHECK(packed_bytes == bytes && memcmp(packed, native, (size_t)bytes) == 0);
    MPI_Unpack_external("external32", external, bytes, &again, in, 2, type);
    MPI_Aint total = 0;
    for (int i = 0; i < INTS; i++) {
        CHECK(in[i] == 0 || in[i] == out[i]);
        total += in[i] != 0;
    }
    CHECK(total == 2 * items);
    MPI_Type_free(&type);
}

static void derived(void)
{
    MPI_Datatype type, inner;
    MPI_Type_vector(3, 2, 5, MPI_INT, &type);
    nested(type, 6);
    MPI_Type_create_subarray(2, (int[]){ 6, 7 }, (int[]){ 2, 3 }, (int[]){ 1, 4 }, MPI_ORDER_C,
                             MPI_INT, &type);
    nested(type, 6);
    int cyclic = MPI_DISTRIBUTE_CYCLIC, two = 2;
    MPI_Type_create_darray(2, 1, 1, (int[]){ 11 }, &cyclic, &two, &two, MPI_ORDER_C, MPI_INT,
                           &type);
    nested(type, 5);
    MPI_Type_indexed(3, (int[]){ 2, 0, 3 }, (int[]){ 7, 1, 0 }, MPI_INT, &inner);
    MPI_Type_contiguous(4, inner, &type);
    nested(type, 20);
    MPI_Type_free(&inner);
}

static void mistakes(void)
{
    char external[64];
    long huge = 1L << 40, minus = -3000000000L;
    wchar_t far = 0x1f600;
    MPI_Aint position = 0, size;
    int value = 0;
    CHECK_ERROR(MPI_Pack_external("native", &value, 1, MPI_INT, external, 64, &position),
                MPI_ERR_ARG);
    CHECK_ERROR(MPI_Pack_external_size("internal", 1, MPI_INT, &size), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Pack_external("external32", &value, 1, MPI_INT, external, 3, &position),
                MPI_ERR_TRUNCATE);
    CHECK_ERROR(MPI_Pack_external("external32", &huge, 1, MPI_LONG, external, 64, &position),
                MPI_ERR_CONVERSION);
    CHECK_ERROR(MPI_Pack_external("external32", &minus, 1, MPI_LONG, external, 64, &position),
                MPI_ERR_CONVERSION);
    CHECK_ERROR(MPI_Pack_external("external32", &far, 1, MPI_WCHAR, external, 64, &position),
                MPI_ERR_CONVERSION);
    CHECK(position == 0);
    position = 60;
    CHECK_ERROR(MPI_Unpack_external("external32", external, 62, &position, &value, 1, MPI_INT),
                MPI_ERR_TRUNCATE);
    position = -1;
    CHECK_ERROR(MPI_Unpack_external("external32", external, 62, &position, &value, 1, MPI_INT),
                MPI_ERR_ARG);
    CHECK_ERROR(MPI_Unpack_external("external32", external, -1, &position, &value, 1, MPI_INT),
                MPI_ERR_ARG);
}

static void wide_forms(void)
{
    char external[8];
    int value = 5, back = 0;
    MPI_Count size, position = 0;
    MPI_Pack_external_size_c("external32", (MPI_Count)1 << 40, MPI_INT, &size);
    CHECK(size == (MPI_Count)1 << 42);
    MPI_Pack_external_c("external32", &value, 1, MPI_INT, external, 8, &position);
    CHECK(position == 4);
    position = 0;
    MPI_Unpack_external_c("external32", external, 8, &position, &back, 1, MPI_INT);
    CHECK(back == 5);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    sizes();
    values();
    structs();
    derived();
    mistakes();
    wide_forms();
    return check_done();
}
