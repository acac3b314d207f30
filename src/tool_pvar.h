/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of performance variables: tool_pvar_table.c makes it, tool_pvar.c reads it.
 */
#ifndef XMPI_TOOL_PVAR_H
#define XMPI_TOOL_PVAR_H

#include "coll/call.h"
#include "pml/pml.h"
#include "src/tool.h"

struct pvar {
    const char *name, *description;
    int class;
    enum tool_category category;
    const uint64_t *counter;                         /* NULL: */
    size_t (*length)(const struct channel *channel); /* of a queue of a communicator; NULL: */
    const struct tool_enum *plans; /* which algorithm performed the last collective `what` */
    enum collective what;          /* of a communicator */
};

/* The state of a variable with plans: an item of pvar->plans, 0 = none yet. */
struct team;
int tool_plan_state(const struct pvar *pvar, const struct team *team);

/* 0 <= index < tool_pvars() */
const struct pvar *tool_pvar(int index);

#endif
