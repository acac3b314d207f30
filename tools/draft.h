/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A script that the tool wrote (coll/script.h), before it is anywhere: a file is left only of what a
 * program would take.
 */
#ifndef XMPI_TOOLS_DRAFT_H
#define XMPI_TOOLS_DRAFT_H

#include "coll/call.h"

#include <stddef.h>

struct draft {
    const char *text; /* of one algorithm */
    size_t bytes;
    enum collective what;
    const char *name;
    int ranks;
};

enum { DRAFT_WHY = 500 };

/* The comment, with a number after it, in which a line of the text says where it comes from. */
extern const char draft_origin[];

/* Read and verified as a program would.  False: `why`, and the origin of the line that is at fault,
 * 0: it says none. */
bool draft_verify(const struct draft *draft, char why[DRAFT_WHY], int *origin);

/* 0, or an errno; what could not be written in whole is taken away again. */
int draft_write(const struct draft *draft, const char *path);

#endif
