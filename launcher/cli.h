/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line: what the user wants, as data.
 */
#ifndef XMPI_LAUNCHER_CLI_H
#define XMPI_LAUNCHER_CLI_H

#include "launcher/iof.h"
#include "launcher/map.h"

#include <stdbool.h>
#include <stdio.h>

enum { EXIT_USAGE = 2, EXIT_TIMED_OUT = 124 };

struct strings { /* a growing list; text[n] is NULL */
    char **text;
    int n;
};

struct environment_changes {
    bool none;           /* start from nothing */
    struct strings only; /* if any: start from these */
    struct strings set;  /* "NAME=VALUE" */
    struct strings unset;
};

struct app {          /* one program of an MPMD job */
    char **argv;      /* NULL: none was named, */
    bool before_file; /* but a file of programs */
    int np;           /* -1: not said */
    const char *wdir, *path;
    int umask; /* -1: ours */
    struct strings psets;
    struct environment_changes env;
};

enum pmix_wish { PMIX_AUTO, PMIX_ALWAYS, PMIX_NEVER };

struct options {
    struct app *apps;
    int napps;
    struct environment_changes env; /* for all apps */
    const char *master_addr, *master_port;
    struct strings hosts, hostfiles; /* as written */
    int hosts_section;               /* that names hosts, from 1; -1: several do */
    int nnodes, node_rank;           /* node_rank -1: not said */
    const char *job_name;            /* --rdzv-id */
    int fanout;                      /* 0: not said */
    struct map_options map;
    bool strict, hwthreads;
    bool no_overload; /* bind no more ranks than there are cores for */
    struct iof_options iof;
    double timeout; /* seconds; 0: none */
    enum pmix_wish pmix;
    int universe;               /* 0: not said */
    const struct wish *spawned; /* what made it, when it is a spawned job; NULL: it is not */
    bool tools;                 /* ... may connect */
    bool verbose, quiet, exit_codes, keep_going;
    bool status; /* look into a job; the first word says which */
    bool dry_run, display_map, bindings;
    const char *machine; /* --machine; NULL: the real ones */
    const char *agent;   /* --launch-agent; NULL: not said */
    char **words;        /* the command line itself, for other hosts; ends with NULL */
    bool done;           /* --help, --version: printed already, nothing to run */
};

/* Read a command line (argv[0] is skipped).  0, or EXIT_USAGE after a complaint.  The options
 * point into argv and into memory that is never freed: the launcher needs them to its end. */
int cli_parse(int argc, char **argv, struct options *options);

/* Read more options of the whole job (no programs).  Likewise. */
int cli_add(struct options *options, struct strings *words);

/* ---- the table, for help and tests ---- */

enum option_section {
    SECTION_PROCESSES,
    SECTION_ENVIRONMENT,
    SECTION_HOSTS,
    SECTION_PLACEMENT,
    SECTION_STREAMS,
    SECTION_RUNNING,
    SECTION_SHOWING,
    SECTION_IGNORED,
    SECTION_COUNT
};

struct option_row {
    int id;
    const char *spelling;
    int values;
    const char *metavar;
    enum option_section section;
    const char *text; /* NULL: an alias of the row with the same id that has a text */
};
extern const struct option_row option_rows[];
extern const int noption_rows;

/* The spelling nearest to a mistyped one; NULL when none is near. */
const char *option_nearest(const char *typed);

void help_print(FILE *to);
void help_manual(FILE *to); /* xmpirun(1), roff */
void help_version(FILE *to);

void strings_add(struct strings *list, char *text);

/* Split the lines of a -configfile into words; each line becomes one section of `words`,
 * sections are separated by ":".  0, or EXIT_USAGE after a complaint. */
int appfile_read(const char *path, struct strings *words);

#endif
