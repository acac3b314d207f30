/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing facts, see report.h.
 */
#define _GNU_SOURCE 1 /* vasprintf */
#include "tools/report.h"

#include "runtime/json.h"

#include <stdarg.h>
#include <stdlib.h>

struct report report_open(FILE *to, bool json)
{
    if (json)
        fputc('{', to);
    return (struct report){ .to = to, .json = json };
}

void report_close(struct report *r)
{
    if (r->json)
        fputs("\n}\n", r->to);
}

/* ---- text ---- */

enum { NAME_COLUMNS = 22 };

static void text_name(const struct report *r, const char *name)
{
    fprintf(r->to, "%*s%-*s ", 2 * r->depth, "", NAME_COLUMNS, name);
}

/* ---- JSON ---- */

static void json_string(FILE *to, const char *text)
{
    fputc('"', to);
    json_text(to, text);
    fputc('"', to);
}

static void json_name(struct report *r, const char *name)
{
    fprintf(r->to, "%s\n%*s", r->begun[r->depth] ? "," : "", 2 * r->depth + 2, "");
    json_string(r->to, name);
    fputs(": ", r->to);
}

/* ---- both ---- */

static void value_begin(struct report *r, const char *name)
{
    if (r->json)
        json_name(r, name);
    else
        text_name(r, name);
}

static void value_end(struct report *r)
{
    if (!r->json)
        fputc('\n', r->to);
    r->begun[r->depth] = true;
}

void report_group(struct report *r, const char *name)
{
    if (r->json) {
        json_name(r, name);
        fputc('{', r->to);
    } else {
        fprintf(r->to, "%s%*s%s\n", r->begun[r->depth] ? "\n" : "", 2 * r->depth, "", name);
    }
    r->begun[r->depth] = true;
    r->begun[++r->depth] = false;
}

void report_end(struct report *r)
{
    r->depth--;
    if (r->json)
        fprintf(r->to, "\n%*s}", 2 * r->depth + 2, "");
}

void report_text(struct report *r, const char *name, const char *format, ...)
{
    char *text;
    va_list list;
    va_start(list, format);
    int length = vasprintf(&text, format, list);
    va_end(list);
    if (length < 0)
        return;
    value_begin(r, name);
    if (r->json)
        json_string(r->to, text);
    else
        fputs(text, r->to);
    value_end(r);
    free(text);
}

void report_number(struct report *r, const char *name, long long number)
{
    value_begin(r, name);
    fprintf(r->to, "%lld", number);
    value_end(r);
}

void report_truth(struct report *r, const char *name, bool truth)
{
    value_begin(r, name);
    fputs(r->json ? (truth ? "true" : "false") : (truth ? "yes" : "no"), r->to);
    value_end(r);
}
