/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fortran types by precision and range: which machine type they are, that equal arguments give
 * equal handles, how they describe themselves, and that they cannot be freed.
 */
#include "check.h"

static void is_like(MPI_Datatype type, int bytes, int combiner, int p, int r)
{
    int size, integers, addresses, types, found;
    MPI_Type_size(type, &size);
    CHECK(size == bytes);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &found);
    CHECK(found == combiner && addresses == 0 && types == 0);
    int values[2] = { -1, -1 };
    MPI_Type_get_contents(type, integers, 0, 0, values, NULL, NULL);
    if (combiner == MPI_COMBINER_F90_INTEGER)
        CHECK(integers == 1 && values[0] == r);
    else
        CHECK(integers == 2 && values[0] == p && values[1] == r);
}

static void real_is(int p, int r, int bytes)
{
    MPI_Datatype real, complex, again;
    MPI_Type_create_f90_real(p, r, &real);
    MPI_Type_create_f90_complex(p, r, &complex);
    is_like(real, bytes, MPI_COMBINER_F90_REAL, p, r);
    is_like(complex, 2 * bytes, MPI_COMBINER_F90_COMPLEX, p, r);
    MPI_Type_create_f90_real(p, r, &again);
    CHECK(again == real);
    MPI_Type_create_f90_complex(p, r, &again);
    CHECK(again == complex && complex != real);
}

static void integer_is(int r, int bytes)
{
    MPI_Datatype type, again;
    MPI_Aint external;
    MPI_Type_create_f90_integer(r, &type);
    is_like(type, bytes, MPI_COMBINER_F90_INTEGER, 0, r);
    MPI_Type_create_f90_integer(r, &again);
    CHECK(again == type);
    MPI_Pack_external_size("external32", 1, type, &external);
    CHECK(external == bytes);
}

static void used(void)
{
    MPI_Datatype type, twin, inside[1];
    double one = 1.5, sum = 0;
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &type);
    MPI_Allreduce(&one, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 1.5 * world_size());
    MPI_Type_dup(type, &twin);
    MPI_Type_get_contents(twin, 0, 0, 1, NULL, NULL, inside);
    CHECK(inside[0] == type); /* predefined types are themselves */
    MPI_Type_free(&twin);
    MPI_Datatype gone = type;
    CHECK_ERROR(MPI_Type_free(&gone), MPI_ERR_TYPE);
    CHECK(gone == type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    errors_return();
    real_is(6, 37, 4);
    real_is(3, MPI_UNDEFINED, 4);
    real_is(MPI_UNDEFINED, 38, 8);
    real_is(7, 3, 8);
    real_is(15, 307, 8);
    real_is(16, MPI_UNDEFINED, (int)sizeof(long double));
    integer_is(1, 1);
    integer_is(2, 1);
    integer_is(4, 2);
    integer_is(9, 4);
    integer_is(18, 8);
    integer_is(19, 16);
    integer_is(38, 16);
    real_is(33, 4931, 16);
    used();
    MPI_Datatype type;
    CHECK_ERROR(MPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Type_create_f90_integer(-1, &type), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Type_create_f90_real(100, 10, &type), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type), MPI_ERR_ARG);
    CHECK_ERROR(MPI_Type_create_f90_complex(-3, 10, &type), MPI_ERR_ARG);
    return check_done();
}
