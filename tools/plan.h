/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi plan: what its subcommands share.
 */
#ifndef XMPI_TOOLS_PLAN_H
#define XMPI_TOOLS_PLAN_H

#include "coll/price.h"

struct fabric;

enum { PLAN_DIMS = 8 };

/* The command line of xmpi plan, once it is understood. */
enum { PLAN_RANKS = 1 << 24 }; /* that xmpi plan and xmpi explain are asked of */

struct plan_args {
    const char *subcommand;
    const struct algorithm *algorithm;
    const char *input, *output, *topology, *machine;
    int from, to; /* ranks; equal unless a range was given */
    int rank, root, pieces, radix, nodes, split, throttle;
    int dims[PLAN_DIMS], ndims; /* of a torus; ndims 0: a ring of all */
    bool has_bytes, expand, in_place, graph, json;
    size_t bytes;
    struct price_model model;
    double hop, wire; /* of a fabric: seconds per link, and per byte on it */
};

int plan_main(int argc, char **argv);

/* Understand; 0, or an exit code when it was complained. */
int plan_args_read(struct plan_args *args, int argc, char **argv);
/* Why an algorithm cannot work on p ranks, in these places; NULL: it can. */
const char *plan_why_not(const struct algorithm *algorithm, int p, const struct places *places);

/* Can its algorithm work on so many ranks, in these places?  0, or an exit code and it was said why not, and
 * which would do: of a user's own 1, as its text may be changed. */
int plan_objection(const struct plan_args *args, const struct places *places);
struct price_query plan_query(const struct plan_args *args);

/* "latency=2us" and so on for a level of the model, or a file of such lines (machine.c).  False
 * when it was complained. */
bool machine_set(struct plan_args *args, const char *line);
bool machine_read(struct plan_args *args, const char *file);

/* A plain number of a text.  False: it is none. */
bool number_read(const char *text, long least, long most, long *number);

/* "1.5 us" */
struct seconds_text {
    char text[24];
};
struct seconds_text seconds_text(double seconds);

/* Subcommands.  Exit codes. */
int plan_list(const struct plan_args *args);
int plan_show(const struct plan_args *args);
int plan_check(const struct plan_args *args);
int plan_cost(const struct plan_args *args);
int plan_sim(const struct plan_args *args);
int plan_draw(const struct plan_args *args);
int plan_goal(const struct plan_args *args);
int plan_import(const struct plan_args *args);
int volume_main(int argc, char **argv);
int plan_manual(void);

/* Say what is wrong with the command line, on stderr, as "xmpi plan sim: ...".  Returns 2. */
int plan_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Likewise what cannot be done, although the command line is right.  Returns 1. */
int plan_cannot(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Unless the process has ended before, print the text on stderr, once, in two seconds (patience.c). */
void patience(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
