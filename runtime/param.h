/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every knob of the library in one table (params.def): name, type, default, one sentence.
 * Read from the environment (XMPI_NAME) once; `xmpi info` and MPI_T list the same table.
 * A value that cannot be read as its type is reported with the knob's name and the default used.
 */
#ifndef XMPI_PARAM_H
#define XMPI_PARAM_H

#include <stdbool.h>
#include <stddef.h>

enum param_type { PARAM_INT, PARAM_SIZE, PARAM_BOOL, PARAM_STRING };

struct param {
    const char *name; /* "SPIN"; the environment variable is XMPI_SPIN */
    enum param_type type;
    const char *standard; /* default, as text */
    const char *help;
    long long number;   /* value of INT, SIZE (bytes; 64k, 1M understood), BOOL */
    const char *string; /* value of STRING, NULL when empty */
    bool is_set;        /* the value came from the environment */
    const char *from;   /* who else gave it (param_advise, Valgrind), or NULL */
};

enum param_id {
#define PARAM(id, type, standard, help) PARAM_ID_##id,
#include "runtime/params.def"
#undef PARAM
    PARAM_COUNT
};

extern struct param params[PARAM_COUNT] __attribute__((visibility("hidden")));

/* Read the environment.  Idempotent. */
void params_read(void);

/* One process of each node, which says what is wrong there: a library that is not, say. */
bool param_tells_here(void);

/* What was found good for this machine; the environment has the last word.  `from` says where it was found,
 * and stays; NULL: only look whether it could be.  False: there is no such knob with a number, or it is none. */
bool param_advise(const char *name, const char *value, const char *from);

/* Does this process run under Valgrind?  It knows of no memory that another process has written, and of few
 * new system calls. */
bool param_under_valgrind(void);

#define param_number(id)   (params[PARAM_ID_##id].number)
#define param_is_given(id) (params[PARAM_ID_##id].is_set || params[PARAM_ID_##id].from)
#define param_string(id)   (params[PARAM_ID_##id].string)

#endif
