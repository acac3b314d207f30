/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attributes cached on communicators, datatypes and windows, with their callbacks.
 */
#ifndef XMPI_ATTR_H
#define XMPI_ATTR_H

#include "mpi.h"
#include <stdbool.h>

struct attributes;
enum attr_owner { ATTR_COMM, ATTR_TYPE, ATTR_WIN };

/* Copy all attributes that want it to a new object (MPI_Comm_dup, MPI_Type_dup): calls the copy
 * callbacks in order of creation.  On failure nothing is left behind in *to. */
int attributes_copy(enum attr_owner owner, void *old_handle, struct attributes *from,
                    struct attributes **to);

/* Call the delete callbacks (last set first) and free.  A callback's error keeps what is left. */
int attributes_delete(enum attr_owner owner, void *handle, struct attributes **attributes);

/* A predefined attribute (MPI 5.0, 9.1.2): *flag is 0 where its value is not known, and
 * MPI_ERR_KEYVAL comes back when there is no such key.  In src/environment.c. */
int attribute_predefined(int keyval, void **value, int *flag);

#endif
