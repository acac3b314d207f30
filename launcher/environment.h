/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The environment of ranks.  Built once per program; per rank only a tail is written anew.
 */
#ifndef XMPI_LAUNCHER_ENVIRONMENT_H
#define XMPI_LAUNCHER_ENVIRONMENT_H

#include "launcher/cli.h"

enum { ENVIRONMENT_TAIL = 64 }; /* variables of one rank */

struct environment {
    char **list; /* for execve; ends with NULL */
    int common;  /* variables that all ranks of the program share */
    int used;
};

/* `common`: variables of the job, NAME=VALUE, that win over everything the user set. */
void environment_build(struct environment *env, const struct options *options,
                       const struct app *app, const struct strings *common);

/* Forget the tail of the previous rank. */
void environment_reset(struct environment *env);

/* NAME=VALUE in memory of its own. */
char *environment_text(const char *name, const char *value);

/* Append NAME=VALUE for this rank; the text must live until the rank was started.  Names that
 * start with RANK=, LOCAL_RANK=, XMPI_BOOT=, PMIX_ (but PMIX_MCA_) or PMI_ never occur in the
 * common part. */
void environment_add(struct environment *env, char *text);

/* A variable by which a launcher speaks to its ranks, NAME=VALUE? */
bool environment_is_launchers(const char *item);

/* A variable that the ranks will see, NULL when they will not. */
const char *environment_get(const struct environment *env, const char *name);

#endif
