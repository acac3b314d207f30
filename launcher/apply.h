/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Between the two halves of the command line: cli.c finds options and their values, apply.c
 * knows what they mean.
 */
#ifndef XMPI_LAUNCHER_APPLY_H
#define XMPI_LAUNCHER_APPLY_H

#include "launcher/cli.h"

enum option_id {
#define OPTION(id, spelling, values, metavar, section, text) OPTION_##id,
#define ALIAS(id, spelling)
#define IGNORED(spelling, values, why)
#include "launcher/options.def"
#undef OPTION
#undef ALIAS
#undef IGNORED
    OPTION_IGNORED
};

struct option_use { /* one option as it was typed */
    struct options *options;
    struct app *app;      /* the section it stands in */
    const char *spelling; /* with its dashes */
    struct strings values;
};

/* A time limit in seconds; 0: so long that there is none.  False: it is no number, or not more than 0. */
bool limit_read(const char *text, double *seconds);

/* The first value as a number between least and most.  0, or EXIT_USAGE after a complaint. */
int option_number(const struct option_use *p, int least, int most, int *to);

/* EXIT_USAGE, after a complaint about the first value. */
int option_bad_value(const struct option_use *p, const char *expected);

/* Options of placement, and -ppn (apply_place.c). */
int option_placement(const struct option_use *p, int id);
int option_per_host(const struct option_use *p);

/* Do what the option says.  0, or EXIT_USAGE after a complaint. */
int option_apply(struct option_use *p, const struct option_row *row);

#endif
