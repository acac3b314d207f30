/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What MPI 3.0 removed from MPI-1 (MPI 5.0, 16.1), for programs that cannot be changed: include
 * this header behind mpi.h, or compile with `xmpicc -include mpi_removed.h`.  Every function is
 * inline over the one that took its place, so a profiling library sees the new name.
 *
 * The markers MPI_LB and MPI_UB are no datatypes here.  They are understood in the arrays of
 * MPI_Type_struct and MPI_Type_create_struct, where they become a MPI_Type_create_resized around
 * the other members, and nowhere else: other constructors return MPI_ERR_TYPE.  A marker counts
 * more than bounds that members have from markers of their own (MPI-1 took the outermost), and
 * MPI_Type_get_envelope shows MPI_COMBINER_RESIZED.
 */
#ifndef MPI_REMOVED_H_XMPI
#define MPI_REMOVED_H_XMPI

#include "mpi.h"

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_LB ((MPI_Datatype)1)
#define MPI_UB ((MPI_Datatype)2)

/* Never returned by MPI_Type_get_envelope. */
#define MPI_COMBINER_HINDEXED_INTEGER (-101)
#define MPI_COMBINER_HVECTOR_INTEGER  (-102)
#define MPI_COMBINER_STRUCT_INTEGER   (-103)

typedef MPI_Comm_errhandler_function MPI_Handler_function;

static __inline__ int MPI_Address(void *location, MPI_Aint *address)
{
    return MPI_Get_address(location, address);
}

/* ---- error handlers ---- */

static __inline__ int MPI_Errhandler_create(MPI_Handler_function *handler_fn,
                                            MPI_Errhandler *errhandler)
{
    return MPI_Comm_create_errhandler(handler_fn, errhandler);
}

static __inline__ int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return MPI_Comm_get_errhandler(comm, errhandler);
}

static __inline__ int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return MPI_Comm_set_errhandler(comm, errhandler);
}

/* ---- bounds of datatypes ---- */

static __inline__ int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return MPI_Type_get_extent(datatype, &lb, extent);
}

static __inline__ int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(datatype, displacement, &extent);
}

static __inline__ int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    int rc = MPI_Type_get_extent(datatype, displacement, &extent); /* NULL is an error there */
    if (rc == MPI_SUCCESS)
        *displacement += extent;
    return rc;
}

/* ---- constructors ---- */

static __inline__ int MPI_Type_hindexed(int count, int array_of_blocklengths[],
                                        MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                        MPI_Datatype *newtype)
{
    return MPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements,
                                    oldtype, newtype);
}

static __inline__ int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride,
                                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

/* What the markers of a struct say. */
struct mpi_removed_bounds {
    int has_lb, has_ub;
    MPI_Aint lb, ub; /* the outermost of each */
};

/* Move the members that are no markers to the front; how many they are. */
static __inline__ int mpi_removed_sift(int count, int *lengths, MPI_Aint *places,
                                       MPI_Datatype *types, struct mpi_removed_bounds *bounds)
{
    int kept = 0, i;
    for (i = 0; i < count; i++) {
        if (types[i] == MPI_LB) {
            if (!bounds->has_lb || places[i] < bounds->lb)
                bounds->lb = places[i];
            bounds->has_lb = 1;
        } else if (types[i] == MPI_UB) {
            if (!bounds->has_ub || places[i] > bounds->ub)
                bounds->ub = places[i];
            bounds->has_ub = 1;
        } else {
            lengths[kept] = lengths[i];
            places[kept] = places[i];
            types[kept++] = types[i];
        }
    }
    return kept;
}

/* Put the bounds around the struct, which is used up. */
static __inline__ int mpi_removed_resize(MPI_Datatype plain,
                                         const struct mpi_removed_bounds *bounds,
                                         MPI_Datatype *newtype)
{
    MPI_Aint lb, extent, ub;
    int rc = MPI_Type_get_extent(plain, &lb, &extent);
    if (rc == MPI_SUCCESS) {
        ub = bounds->has_ub ? bounds->ub : lb + extent;
        lb = bounds->has_lb ? bounds->lb : lb;
        rc = MPI_Type_create_resized(plain, lb, ub - lb, newtype);
    }
    MPI_Type_free(&plain);
    return rc;
}

static __inline__ int mpi_removed_struct(int count, const int *lengths, const MPI_Aint *places,
                                         const MPI_Datatype *types, MPI_Datatype *newtype)
{
    struct mpi_removed_bounds bounds = { 0, 0, 0, 0 };
    int i, rc, marked = 0;
    for (i = 0; types && lengths && places && i < count; i++)
        marked |= types[i] == MPI_LB || types[i] == MPI_UB;
    if (!marked)
        return (MPI_Type_create_struct)(count, lengths, places, types, newtype);
    size_t n = (size_t)count;
    MPI_Aint *my_places =
        (MPI_Aint *)malloc(n * (sizeof *my_places + sizeof(MPI_Datatype) + sizeof(int)));
    if (!my_places)
        return MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM), MPI_ERR_NO_MEM;
    MPI_Datatype *my_types = (MPI_Datatype *)(my_places + n);
    int *my_lengths = (int *)(my_types + n);
    for (i = 0; i < count; i++) {
        my_places[i] = places[i];
        my_types[i] = types[i];
        my_lengths[i] = lengths[i];
    }
    MPI_Datatype plain;
    int kept = mpi_removed_sift(count, my_lengths, my_places, my_types, &bounds);
    rc = (MPI_Type_create_struct)(kept, my_lengths, my_places, my_types, &plain);
    free(my_places);
    return rc == MPI_SUCCESS ? mpi_removed_resize(plain, &bounds, newtype) : rc;
}

static __inline__ int MPI_Type_struct(int count, int array_of_blocklengths[],
                                      MPI_Aint array_of_displacements[],
                                      MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    return mpi_removed_struct(count, array_of_blocklengths, array_of_displacements,
                              array_of_types, newtype);
}

/* A macro with arguments, so that the name alone is still the function. */
#define MPI_Type_create_struct(count, lengths, places, types, newtype)                         \
    mpi_removed_struct(count, lengths, places, types, newtype)

#ifdef __cplusplus
}
#endif
#endif
