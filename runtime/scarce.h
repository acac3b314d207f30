/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who waits to be let in goes on waiting: a listener that has no file for him is told of him again at once,
 * and would be busy with that alone.  It rests for a while.
 */
#ifndef XMPI_SCARCE_H
#define XMPI_SCARCE_H

#include <errno.h>
#include <stdbool.h>

enum { SCARCE_REST_MS = 100 };

/* Did accept fail for want of files or memory, as `error` (errno) says? */
static inline bool is_scarce(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

#endif
