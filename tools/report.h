/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Facts for people and for programs: groups of named values, as aligned text or as one JSON
 * object.
 *
 *     report_group(r, "limits");            limits
 *     report_number(r, "tag", 7);             tag        7
 *     report_end(r);                        or   "limits": { "tag": 7 }
 *
 * Values are UTF-8.
 */
#ifndef XMPI_REPORT_H
#define XMPI_REPORT_H

#include <stdbool.h>
#include <stdio.h>

enum { REPORT_DEEP = 8 };

struct report {
    FILE *to;
    bool json;
    int depth;               /* open groups */
    bool begun[REPORT_DEEP]; /* something was written at this depth */
};

struct report report_open(FILE *to, bool json);
void report_close(struct report *r);

void report_group(struct report *r, const char *name);
void report_end(struct report *r);

void report_text(struct report *r, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_number(struct report *r, const char *name, long long number);
void report_truth(struct report *r, const char *name, bool truth);

#endif
