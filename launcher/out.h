/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the launcher writes: its stdout and stderr.  Nothing here blocks for long: when the
 * reader is slow the text waits in memory, and iof stops reading from the ranks, so that
 * signals, time limits and dying ranks are still attended to.
 */
#ifndef XMPI_LAUNCHER_OUT_H
#define XMPI_LAUNCHER_OUT_H

#include "launcher/loop.h"

#include <stdbool.h>
#include <stddef.h>

enum out_kind {
    OUT_PLAIN,  /* a file or an unusual device: write and wait */
    OUT_POLLED, /* our own non-blocking opening of the pipe or terminal */
    OUT_SOCKET,
    OUT_RELAYED, /* another launcher writes it for us */
};

struct out {
    struct watch watch;
    enum out_kind kind;
    bool is_tty;
    bool broken;   /* cannot be written to any more: everything is thrown away */
    char *pending; /* bytes [first, used) could not be written yet */
    size_t first, used, room;
    const void *open_by; /* who left the cursor in the middle of a line (terminals only) */
    void (*drained)(struct out *out); /* called when pending text has been written */
    /* OUT_RELAYED: takes all of the text and returns true, or nothing for now.  `by` NULL: the
     * launcher itself speaks. */
    bool (*relay)(struct out *out, const void *by, const char *text, size_t bytes);
};

extern struct out out_stdout, out_stderr;

/* Find out what stdout and stderr are, unless they are relayed.  After loop_open. */
void outs_open(void);

/* Relayed: it takes text again. */
void out_resume(struct out *out);

/* Write now, or keep and write later.  `by` names the author, for terminals. */
void out_write(struct out *out, const void *by, const char *text, size_t bytes);

/* So much is pending that its sources should stop. */
bool out_is_full(const struct out *out);

/* Nothing is pending. */
bool out_is_idle(const struct out *out);

/* "xmpirun: text" on stderr, one line, one write.  complain: the user must know.  notice: only
 * with -v. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern bool notices_wanted, complaints_wanted;

/* "; raise the limit .." where the user can do something about this error, else "". */
const char *files_remedy(int error);

/* What the user must know, as said last, wanted or not; "": nothing. */
extern char last_complaint[1024];

/* Something the ranks printed could not be written, although nobody had stopped reading: a full
 * disk.  The job's exit code is not 0 then. */
extern bool output_lost;

/* The host to name in front, NULL: none (xmpid). */
extern const char *launcher_name;

/* The job: 1, that of the command line, or a spawned one: 2, 3, .. */
extern int launcher_job;
/* "job 2: ", or "" for the first one. */
const char *launcher_job_name(void);

#endif
