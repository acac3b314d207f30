/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Language bindings: datatypes by size and precision (MPI 5.0, chapter 19).
 */
#ifndef XMPI_API_LANGUAGE_H
#define XMPI_API_LANGUAGE_H

#include "src/api/kinds.h"

/* The predefined datatype of a class (MPI_TYPECLASS_*) and size. */
int xmpi_type_match_size(int typeclass, int size, type_out_t *datatype);

/* The Fortran real type with p decimal digits and exponent range r. */
int xmpi_type_create_f90_real(int p, int r, type_out_t *newtype);

/* The Fortran complex type with p decimal digits and exponent range r. */
int xmpi_type_create_f90_complex(int p, int r, type_out_t *newtype);

/* The Fortran integer type with r decimal digits. */
int xmpi_type_create_f90_integer(int r, type_out_t *newtype);

#endif
