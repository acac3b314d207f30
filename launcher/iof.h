/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The standard streams of the ranks.
 *
 *     rank's stdout, stderr -> pipe (or pty) -> lines -> tag -> our stdout, stderr, files
 *     our stdin -> rank 0; the others read /dev/null
 */
#ifndef XMPI_LAUNCHER_IOF_H
#define XMPI_LAUNCHER_IOF_H

#include <stdbool.h>
#include <stdint.h>

enum { STDIN_ALL = -1, STDIN_NONE = -2 };
enum iof_tag { TAG_NONE, TAG_RANK /* "[3] " */, TAG_JOB /* "[1,3]<stdout>:" */, TAG_PATTERN };

struct iof_options {
    enum iof_tag tag;
    const char *pattern; /* TAG_PATTERN: %r rank, %h host, %s stdout or stderr, %p pid */
    bool timestamp;
    int stdin_rank;                /* or STDIN_ALL, STDIN_NONE */
    int pty;                       /* 1 yes, 0 no, -1: when our stdout is a terminal */
    const char *directory;         /* --output-filename: DIR/1/rank.N/stdout, and still shown */
    bool files_only;               /* not shown */
    const char *outfile, *errfile; /* patterns with %r, %h; instead of being shown */
};

struct plan;

/* Ranks are counted on this host everywhere here; what is shown are their numbers in the job.
 * 0, or an exit status after a complaint. */
int iof_open(const struct iof_options *options, const struct plan *plan);

/* Open what a rank will use as descriptors 0, 1, 2; valid until iof_started. */
int iof_prepare(int rank, int fds[3]);

/* The rank runs (or could not be started: pid 0): forget its ends of the pipes. */
void iof_started(int rank, int pid);

/* The rank has ended; what it wrote may still be in the pipes. */
void iof_ended(int rank, bool killed);

/* Every stream has ended. */
bool iof_is_done(void);

/* Take what lies in the pipes now, without waiting for more. */
void iof_drain(void);

/* Pass on lines that are not complete, and stop reading. */
void iof_close(void);

/* Milliseconds until iof_tick must be called; -1: never. */
int iof_timeout(uint64_t now);
void iof_tick(uint64_t now);

/* The launcher was continued: it may be in the foreground again. */
void iof_continued(void);

/* From now on others write as well: every line is written whole. */
void iof_share(void);

#endif
