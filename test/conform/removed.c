/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names that MPI 3.0 removed, through mpi_removed.h: addresses, error handlers, bounds,
 * constructors, and the markers of lower and upper bounds in structs.
 */
#include "check.h"

#include <mpi_removed.h>

static int handled;

static void count_errors(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    handled++;
}

static void error_handlers(void)
{
    MPI_Handler_function *function = count_errors;
    MPI_Errhandler mine, before, now;
    MPI_Errhandler_get(MPI_COMM_WORLD, &before);
    MPI_Errhandler_create(function, &mine);
    MPI_Errhandler_set(MPI_COMM_WORLD, mine);
    MPI_Errhandler_get(MPI_COMM_WORLD, &now);
    CHECK(now == mine);
    MPI_Send(NULL, 0, MPI_INT, world_size(), 0, MPI_COMM_WORLD);
    CHECK(handled == 1);
    MPI_Errhandler_set(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&now);
    MPI_Errhandler_free(&mine);
    MPI_Errhandler_free(&before);
}

static void bounds_are(MPI_Datatype type, MPI_Aint lb, MPI_Aint ub)
{
    MPI_Aint found_lb, found_ub, extent;
    MPI_Type_lb(type, &found_lb);
    MPI_Type_ub(type, &found_ub);
    MPI_Type_extent(type, &extent);
    CHECK(found_lb == lb && found_ub == ub && extent == ub - lb);
}

static void constructors(void)
{
    MPI_Datatype type;
    int lengths[] = { 1, 2 };
    MPI_Aint places[] = { 4, 16 };
    MPI_Type_hvector(3, 1, 10, MPI_INT, &type);
    bounds_are(type, 0, 24);
    MPI_Type_free(&type);
    MPI_Type_hindexed(2, lengths, places, MPI_INT, &type);
    bounds_are(type, 4, 24);
    MPI_Type_free(&type);
    MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE };
    MPI_Type_struct(2, lengths, places, types, &type);
    bounds_are(type, 4, 36);
    MPI_Type_free(&type);
    MPI_Type_create_struct(2, lengths, places, types, &type);
    bounds_are(type, 4, 36);
    MPI_Type_free(&type);
}

static void markers(void)
{
    MPI_Datatype type, other;
    int lengths[] = { 1, 1, 1 };
    MPI_Aint places[] = { -3, 0, 40 };
    MPI_Datatype both[] = { MPI_LB, MPI_INT, MPI_UB }, upper[] = { MPI_INT, MPI_UB };
    MPI_Type_struct(3, lengths, places, both, &type);
    bounds_are(type, -3, 40);
    MPI_Type_contiguous(2, type, &other);
    bounds_are(other, -3, 83);
    MPI_Type_free(&type);
    MPI_Type_free(&other);
    MPI_Type_create_struct(2, lengths, places + 1, upper, &type);
    bounds_are(type, 0, 40);
    MPI_Type_commit(&type);
    int out[20] = { [0] = 1, [10] = 2 }, in[20] = { 0 };
    MPI_Sendrecv(out, 2, type, 0, 0, in, 2, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(in[0] == 1 && in[10] == 2);
    MPI_Type_free(&type);
    MPI_Datatype alone = MPI_LB;
    MPI_Aint ten = 10;
    int size;
    MPI_Type_struct(1, lengths, &ten, &alone, &type);
    MPI_Type_size(type, &size);
    CHECK(size == 0);
    bounds_are(type, 10, 0);
    MPI_Type_free(&type);
    errors_return();
    CHECK_ERROR(MPI_Type_contiguous(2, MPI_UB, &type), MPI_ERR_TYPE);
    CHECK_ERROR(MPI_Type_struct(2, NULL, places, both, &type), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int place;
    MPI_Aint old, new;
    MPI_Address(&place, &old);
    MPI_Get_address(&place, &new);
    CHECK(old == new);
    error_handlers();
    constructors();
    markers();
    return check_done();
}
