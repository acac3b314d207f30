/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the library is: versions, sizes of the binary interface, and what a Fortran layer told
 * about its compiler (MPI 5.0, 9.1.1 and 20.2).  The predefined Fortran datatypes have the sizes
 * of a compiler without options; a layer that registers others is refused, in words.
 */
#include "config.h"
#include "runtime/fail.h"
#include "src/api/abi.h"
#include "src/api/environment.h"
#include "src/info.h"
#include "src/type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int xmpi_get_version(int_out_t *version, int_out_t *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int xmpi_get_library_version(text_out_t version, int_out_t *resultlen)
{
    *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                          "xmpi %s, MPI %d.%d, standard ABI %d.%d", PACKAGE_VERSION,
                          MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    return MPI_SUCCESS;
}

int xmpi_abi_get_version(int_out_t *abi_major, int_out_t *abi_minor)
{
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

static int info_set_size(struct info *info, const char *key, size_t size)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", size);
    return info_set(info, key, text);
}

int xmpi_abi_get_info(info_out_t *info)
{
    struct info *made = info_new();
    if (!made)
        return fail(MPI_ERR_NO_MEM, "no memory for an info object");
    int rc = info_set_size(made, "mpi_aint_size", sizeof(MPI_Aint));
    if (!rc)
        rc = info_set_size(made, "mpi_count_size", sizeof(MPI_Count));
    if (!rc)
        rc = info_set_size(made, "mpi_offset_size", sizeof(MPI_Offset));
    if (rc)
        info_delete(made);
    else
        *info = made;
    return rc;
}

/* ---- Fortran ---- */

static struct info *fortran_info; /* NULL: nothing is known */

static const struct {
    const char *key;
    MPI_Datatype datatype;
} fortran_sizes[] = {
    { "mpi_logical_size", MPI_LOGICAL },
    { "mpi_integer_size", MPI_INTEGER },
    { "mpi_real_size", MPI_REAL },
    { "mpi_double_precision_size", MPI_DOUBLE_PRECISION },
};

/* The sizes that are told must be those of our datatypes. */
static int check_sizes(const struct info *info)
{
    for (size_t i = 0; i < sizeof fortran_sizes / sizeof *fortran_sizes; i++) {
        const char *told = info_get(info, fortran_sizes[i].key);
        size_t size = type_of(fortran_sizes[i].datatype)->layout->size;
        if (told && strtoul(told, NULL, 10) != size)
            return fail(MPI_ERR_ABI,
                        "%s is %s, but this library has %zu bytes; compile the "
                        "Fortran program without options that change default kinds",
                        fortran_sizes[i].key, told, size);
    }
    return MPI_SUCCESS;
}

int xmpi_abi_get_fortran_info(info_out_t *info)
{
    *info = NULL;
    if (!fortran_info)
        return MPI_SUCCESS;
    *info = info_copy(fortran_info);
    return *info ? MPI_SUCCESS : fail(MPI_ERR_NO_MEM, "no memory for an info object");
}

int xmpi_abi_set_fortran_info(info_live_t info)
{
    if (fortran_info)
        return fail(MPI_ERR_ABI, "Fortran's properties were set before");
    int rc = check_sizes(info);
    if (rc)
        return rc;
    fortran_info = info_copy(info);
    if (!fortran_info)
        return fail(MPI_ERR_NO_MEM, "no memory for an info object");
    fortran_info->ours = true;
    return MPI_SUCCESS;
}

enum { LOGICAL_SIZES = 5 }; /* 1, 2, 4, 8, 16 bytes */
static struct {
    bool is_set;
    char yes[16], no[16];
} booleans[LOGICAL_SIZES];

static int boolean_row(int logical_size, int *row)
{
    for (*row = 0; *row < LOGICAL_SIZES; ++*row)
        if (logical_size == 1 << *row)
            return MPI_SUCCESS;
    return fail(MPI_ERR_ARG,
                "argument logical_size is %d; a LOGICAL has 1, 2, 4, 8 or 16 bytes",
                logical_size);
}

int xmpi_abi_get_fortran_booleans(int logical_size, pointer_out_t logical_true,
                                  pointer_out_t logical_false, flag_t *is_set)
{
    int row, rc = boolean_row(logical_size, &row);
    if (rc)
        return rc;
    *is_set = booleans[row].is_set;
    if (*is_set) {
        memcpy(logical_true, booleans[row].yes, (size_t)logical_size);
        memcpy(logical_false, booleans[row].no, (size_t)logical_size);
    }
    return MPI_SUCCESS;
}

int xmpi_abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    int row, rc = boolean_row(logical_size, &row);
    if (rc)
        return rc;
    if (booleans[row].is_set)
        return fail(MPI_ERR_ABI, "the values of a LOGICAL of %d bytes were set before",
                    logical_size);
    if (!logical_true || !logical_false)
        return fail_null(MPI_ERR_ARG, logical_true ? "logical_false" : "logical_true");
    memcpy(booleans[row].yes, logical_true, (size_t)logical_size);
    memcpy(booleans[row].no, logical_false, (size_t)logical_size);
    booleans[row].is_set = true;
    return MPI_SUCCESS;
}
