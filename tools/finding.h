/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What xmpi doctor finds: a list of findings, each with what to do about it.  They are written for
 * people, as JSON, or as lines that the doctor of another host reads again:
 *
 *     finding<TAB>note<TAB>clock<TAB>a reading takes 900 ns<TAB>boot with clocksource=tsc
 */
#ifndef XMPI_FINDING_H
#define XMPI_FINDING_H

#include <stdbool.h>
#include <stdio.h>

enum finding_level {
    FINDING_GOOD,
    FINDING_NOTE, /* works, but slower than it could, or not for everybody */
    FINDING_BAD   /* what was asked about does not work */
};

enum { FINDING_WHAT = 32, FINDING_TEXT = 1000, FINDING_REMEDY = 300 };

struct finding {
    enum finding_level level;
    char what[FINDING_WHAT], text[FINDING_TEXT], remedy[FINDING_REMEDY];
    char *hosts; /* "a, b": where; NULL: here */
    int nhosts;
};

struct findings {
    struct finding *list;
    int n;
};

/* Add one; `remedy` is "" where nothing needs to be done. */
void finding_add(struct findings *all, enum finding_level level, const char *what,
                 const char *remedy, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

void findings_free(struct findings *all);

/* How many have this level? */
int findings_count(const struct findings *all, enum finding_level level);

/* The findings of a host, out of lines that its doctor wrote; the same finding of several hosts is
 * one.  False: the text is no such line. */
bool finding_read(struct findings *all, const char *line, const char *host);
void findings_write_lines(const struct findings *all, FILE *to);

void findings_write(const struct findings *all, FILE *to, bool json);

#endif
