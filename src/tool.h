/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of the tools interface share (MPI 5.0, 15.3):
 *
 *     tool.c         starting and ending, enumerations, categories
 *     tool_cvar.c    control variables: the knobs of runtime/param, and one of communicators
 *     tool_pvar.c    performance variables: counters of pml, coll and runtime (tool_pvar_table.c)
 *     tool_event.c   events: the notices of runtime/notice.h
 */
#ifndef XMPI_TOOL_H
#define XMPI_TOOL_H

#include "mpi.h"

#include <stdbool.h>

extern int tool_users; /* calls of MPI_T_init_thread without MPI_T_finalize */

/* ---- results; nobody has to want them ---- */

/* Strings: *room says how much fits and becomes what is needed, the zero included. */
void tool_text(const char *text, char *to, int *room);
void tool_int(int *place, int value);

/* The only result of a call: NULL is MPI_T_ERR_INVALID. */
int tool_number(int *place, int n);

/* ---- complaints ---- */
int tool_fail_null(const char *argument);
int tool_fail_index(const char *argument, int index, int n, const char *things);
int tool_fail_name(const char *name, const char *thing);

/* ---- communicators that handles are bound to ---- */
struct comm;

/* The one at obj_handle, an MPI_Comm *; MPI_T_ERR_INVALID when there is none. */
int tool_bind_comm(const void *obj_handle, MPI_Comm *comm);

/* The one that a handle remembers; MPI_T_ERR_INVALID_HANDLE when it is gone. */
int tool_bound_comm(MPI_Comm handle, struct comm **comm);

/* ---- categories ---- */
enum tool_category {
    CATEGORY_ALL, /* holds the others, and nothing else */
    CATEGORY_OTHER,
    CATEGORY_MESSAGES,
    CATEGORY_WAITING,
    CATEGORY_COLL,
    CATEGORY_ALGORITHMS, /* within CATEGORY_COLL */
    TOOL_CATEGORIES
};

int tool_cvars(void); /* how many */
int tool_pvars(void);
int tool_events(void);
enum tool_category tool_cvar_category(int index);
enum tool_category tool_pvar_category(int index);
enum tool_category tool_event_category(int index);

/* ---- enumerations; an MPI_T_enum is the address of one ---- */
struct tool_enum {
    const char *name;
    int n;
    const char *const *items; /* their values are 0 .. n - 1 */
};
extern const struct tool_enum tool_enum_polite, tool_enum_copy; /* of control variables */

/* Is it one of a performance variable? */
bool tool_pvar_has_enum(const struct tool_enum *wanted);

/* The enumeration of an event: the names of its elements. */
const struct tool_enum *tool_event_elements(int index);

/* The performance variable that counts how often algorithm i of coll was chosen. */
int tool_pvar_of_algorithm(int i);

/* All handles of control variables go. */
void tool_cvars_close(void);

/* All sessions and handles of performance variables go. */
void tool_pvars_close(void);

/* Nobody is registered for events any more. */
void tool_events_close(void);

#endif
