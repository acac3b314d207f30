/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A session: one user's claim on the library, with an error handler and hints.
 */
#ifndef XMPI_SESSION_H
#define XMPI_SESSION_H

#include "runtime/object.h"

struct session {
    struct object object; /* OBJECT_SESSION */
    struct errhandler *errhandler;
    struct info *info; /* hints; NULL: none */
};

#endif
