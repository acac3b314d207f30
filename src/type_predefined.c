/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The predefined datatypes of the ABI: one row each, found by the low eight bits of the handle.
 * A row says which machine type stands behind the name on this platform; Fortran's default kinds
 * are those of a compiler without options (INTEGER, LOGICAL, REAL: 4 bytes).  Of two names for
 * one type the row has the first in the standard's table.  The optional types are all there:
 * INTEGER*16, REAL*16 and COMPLEX*32 are those of gfortran, REAL*2 is IEEE binary16.
 * MPI_CHAR is a number, too, as with MPICH and Open MPI: 6.9.2 has no operation for it, but programs add it up,
 * OSU's benchmarks among them.
 * The last rows are the 16-bit floating-point types of mpix.h.
 */
#include "src/type.h"

#include "mpix.h"
#include "runtime/wide.h"

#include <complex.h>
#include <limits.h>
#include <string.h>
#include <wchar.h>

struct row {
    MPI_Datatype handle;
    const char *name;
    enum basic basic;
    size_t size, extent;
};

#define AS(handle, basic, type)                                                                \
    {                                                                                          \
        handle, #handle, basic, sizeof(type), sizeof(type)                                     \
    }
#define PAIR(handle, basic, first, second)                                                     \
    {                                                                                          \
        handle, #handle, basic, sizeof(first) + sizeof(second), sizeof(struct {                \
            first a;                                                                           \
            second b;                                                                          \
        })                                                                                     \
    }

static const struct row rows[] = {
    AS(MPI_AINT, BASIC_INT64, MPI_Aint),
    AS(MPI_COUNT, BASIC_INT64, MPI_Count),
    AS(MPI_OFFSET, BASIC_INT64, MPI_Offset),
    AS(MPI_PACKED, BASIC_PACKED, char),

    AS(MPI_SHORT, BASIC_INT16, short),
    AS(MPI_INT, BASIC_INT32, int),
    AS(MPI_LONG, BASIC_INT64, long),
    AS(MPI_LONG_LONG_INT, BASIC_INT64, long long),
    AS(MPI_UNSIGNED_SHORT, BASIC_UINT16, unsigned short),
    AS(MPI_UNSIGNED, BASIC_UINT32, unsigned),
    AS(MPI_UNSIGNED_LONG, BASIC_UINT64, unsigned long),
    AS(MPI_UNSIGNED_LONG_LONG, BASIC_UINT64, unsigned long long),

    AS(MPI_FLOAT, BASIC_FLOAT, float),
    AS(MPI_C_COMPLEX, BASIC_FLOAT_COMPLEX, float complex),
    AS(MPI_CXX_FLOAT_COMPLEX, BASIC_FLOAT_COMPLEX, float complex),
    AS(MPI_DOUBLE, BASIC_DOUBLE, double),
    AS(MPI_C_DOUBLE_COMPLEX, BASIC_DOUBLE_COMPLEX, double complex),
    AS(MPI_CXX_DOUBLE_COMPLEX, BASIC_DOUBLE_COMPLEX, double complex),
    AS(MPI_LONG_DOUBLE, BASIC_LONG_DOUBLE, long double),
    AS(MPI_C_LONG_DOUBLE_COMPLEX, BASIC_LONG_DOUBLE_COMPLEX, long double complex),
    AS(MPI_CXX_LONG_DOUBLE_COMPLEX, BASIC_LONG_DOUBLE_COMPLEX, long double complex),

    AS(MPI_LOGICAL, BASIC_LOGICAL32, int32_t),
    AS(MPI_INTEGER, BASIC_INT32, int32_t),
    AS(MPI_REAL, BASIC_FLOAT, float),
    AS(MPI_COMPLEX, BASIC_FLOAT_COMPLEX, float complex),
    AS(MPI_DOUBLE_PRECISION, BASIC_DOUBLE, double),
    AS(MPI_DOUBLE_COMPLEX, BASIC_DOUBLE_COMPLEX, double complex),
    AS(MPI_CHARACTER, BASIC_CHAR, char),

    PAIR(MPI_FLOAT_INT, BASIC_FLOAT_INT, float, int),
    PAIR(MPI_DOUBLE_INT, BASIC_DOUBLE_INT, double, int),
    PAIR(MPI_LONG_INT, BASIC_LONG_INT, long, int),
    PAIR(MPI_2INT, BASIC_2INT, int, int),
    PAIR(MPI_SHORT_INT, BASIC_SHORT_INT, short, int),
    PAIR(MPI_LONG_DOUBLE_INT, BASIC_LONG_DOUBLE_INT, long double, int),
    PAIR(MPI_2REAL, BASIC_2FLOAT, float, float),
    PAIR(MPI_2DOUBLE_PRECISION, BASIC_2DOUBLE, double, double),
    PAIR(MPI_2INTEGER, BASIC_2INT, int, int),

    AS(MPI_C_BOOL, BASIC_BOOL, _Bool),
    AS(MPI_CXX_BOOL, BASIC_BOOL, _Bool),
    AS(MPI_WCHAR, BASIC_WCHAR, wchar_t),

    AS(MPI_INT8_T, BASIC_INT8, int8_t),
    AS(MPI_UINT8_T, BASIC_UINT8, uint8_t),
    AS(MPI_CHAR, CHAR_MIN ? BASIC_INT8 : BASIC_UINT8, char),
    AS(MPI_SIGNED_CHAR, BASIC_INT8, signed char),
    AS(MPI_UNSIGNED_CHAR, BASIC_UINT8, unsigned char),
    AS(MPI_BYTE, BASIC_BYTE, char),
    AS(MPI_INT16_T, BASIC_INT16, int16_t),
    AS(MPI_UINT16_T, BASIC_UINT16, uint16_t),
    AS(MPI_INT32_T, BASIC_INT32, int32_t),
    AS(MPI_UINT32_T, BASIC_UINT32, uint32_t),
    AS(MPI_INT64_T, BASIC_INT64, int64_t),
    AS(MPI_UINT64_T, BASIC_UINT64, uint64_t),

    AS(MPI_LOGICAL1, BASIC_LOGICAL8, int8_t),
    AS(MPI_INTEGER1, BASIC_INT8, int8_t),
    AS(MPI_LOGICAL2, BASIC_LOGICAL16, int16_t),
    AS(MPI_INTEGER2, BASIC_INT16, int16_t),
    AS(MPI_REAL2, BASIC_FLOAT16, uint16_t),
    AS(MPI_LOGICAL4, BASIC_LOGICAL32, int32_t),
    AS(MPI_INTEGER4, BASIC_INT32, int32_t),
    AS(MPI_REAL4, BASIC_FLOAT, float),
    AS(MPI_COMPLEX4, BASIC_FLOAT16_COMPLEX, struct float16_complex),
    AS(MPI_LOGICAL8, BASIC_LOGICAL64, int64_t),
    AS(MPI_INTEGER8, BASIC_INT64, int64_t),
    AS(MPI_REAL8, BASIC_DOUBLE, double),
    AS(MPI_COMPLEX8, BASIC_FLOAT_COMPLEX, float complex),
    AS(MPI_LOGICAL16, BASIC_LOGICAL128, int128),
    AS(MPI_INTEGER16, BASIC_INT128, int128),
    AS(MPI_REAL16, BASIC_FLOAT128, float128),
    AS(MPI_COMPLEX16, BASIC_DOUBLE_COMPLEX, double complex),
    AS(MPI_COMPLEX32, BASIC_FLOAT128_COMPLEX, struct float128_complex),

    AS(MPIX_C_FLOAT16, BASIC_FLOAT16, uint16_t),
    AS(MPIX_BFLOAT16, BASIC_BFLOAT16, uint16_t),
};

struct type types_predefined[TYPE_TABLE];

/* Without memory it stays none of the datatypes; who asks for it again tries again. */
static void type_open(const struct row *row)
{
    struct type *type = &types_predefined[(uintptr_t)row->handle - TYPE_FIRST];
    type->layout = layout_basic(row->basic, row->size, row->extent);
    if (!type->layout)
        return;
    type->committed = true;
    strcpy(type->name, row->name);
    type->predefined = true;
    type->handle = row->handle;
    type->object.refs = 1;
    type->object.kind = OBJECT_TYPE;
}

void types_open(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!types_predefined[(uintptr_t)rows[i].handle - TYPE_FIRST].object.kind)
            type_open(&rows[i]);
}
