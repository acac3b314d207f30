/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A session: one user's claim on the library, with an error handler and hints.
 */
#ifndef XMPI_SESSION_H
#define XMPI_SESSION_H

#include "runtime/object.h"

struct session {
    struct object object; /* OBJECT_SESSION */
    uint32_t number;      /* of its groups and communicators; never 0, never used again */
    struct errhandler *errhandler;
    struct info *info; /* hints */
    struct pool *pool; /* the buffer attached; NULL: none */
    struct session *next;
};

/* The session with this number, or NULL: it has ended. */
struct session *session_find(uint32_t number);

/* The hints of the session with this number, for what is made in it.  NULL: there is none. */
const struct info *session_info(uint32_t number);

/* An owner of an attached buffer ends: wait until it is empty and detach it (src/bsend.c).  *home is
 * NULL when there is none. */
void bsend_forget(struct pool **home);

#endif
