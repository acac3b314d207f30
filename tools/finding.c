/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See finding.h.  Findings keep the order in which they were made; those of many hosts are few
 * different ones, so looking for an equal one in a list is good enough.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "tools/finding.h"

#include "tools/report.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = { "good", "note", "bad" };
enum { LEVELS = 3 };
static const char mark[] = "finding\t";

/* ---- the list ---- */

static struct finding *append(struct findings *all)
{
    struct finding *list = realloc(all->list, (size_t)(all->n + 1) * sizeof *list);
    if (!list)
        abort();
    all->list = list;
    list[all->n] = (struct finding){ 0 };
    return &list[all->n++];
}

/* One line, without the separator of lines that doctors exchange. */
static void straighten(char *text)
{
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = ' ';
}

void finding_add(struct findings *all, enum finding_level level, const char *what,
                 const char *remedy, const char *format, ...)
{
    struct finding *f = append(all);
    va_list list;
    f->level = level;
    snprintf(f->what, sizeof f->what, "%s", what);
    snprintf(f->remedy, sizeof f->remedy, "%s", remedy);
    va_start(list, format);
    vsnprintf(f->text, sizeof f->text, format, list);
    va_end(list);
    straighten(f->text);
    straighten(f->remedy);
}

void findings_free(struct findings *all)
{
    for (int i = 0; i < all->n; i++)
        free(all->list[i].hosts);
    free(all->list);
    *all = (struct findings){ 0 };
}

int findings_count(const struct findings *all, enum finding_level level)
{
    int n = 0;
    for (int i = 0; i < all->n; i++)
        n += all->list[i].level == level;
    return n;
}

/* ---- between doctors ---- */

void findings_write_lines(const struct findings *all, FILE *to)
{
    for (int i = 0; i < all->n; i++) {
        const struct finding *f = &all->list[i];
        fprintf(to, "%s%s\t%s\t%s\t%s\n", mark, level_names[f->level], f->what, f->text,
                f->remedy);
    }
}

static bool level_read(const char *name, enum finding_level *level)
{
    for (int i = 0; i < LEVELS; i++)
        if (strcmp(level_names[i], name) == 0) {
            *level = (enum finding_level)i;
            return true;
        }
    return false;
}

static bool are_equal(const struct finding *a, const struct finding *b)
{
    return a->level == b->level && strcmp(a->what, b->what) == 0 &&
           strcmp(a->text, b->text) == 0 && strcmp(a->remedy, b->remedy) == 0;
}

static void add_host(struct finding *f, const char *host)
{
    char *hosts;
    if (asprintf(&hosts, "%s%s%s", f->hosts ? f->hosts : "", f->hosts ? ", " : "", host) < 0)
        abort();
    free(f->hosts);
    f->hosts = hosts;
    f->nhosts++;
}

/* Add it, or its host to one that says the same. */
static void merge(struct findings *all, const struct finding *one, const char *host)
{
    int i = 0;
    while (i < all->n && !(all->list[i].hosts && are_equal(&all->list[i], one)))
        i++;
    if (i == all->n)
        *append(all) = *one;
    if (host)
        add_host(&all->list[i], host);
}

bool finding_read(struct findings *all, const char *line, const char *host)
{
    if (strncmp(line, mark, strlen(mark)) != 0)
        return false;
    char copy[sizeof(struct finding)], *rest = copy;
    snprintf(copy, sizeof copy, "%s", line + strlen(mark));
    copy[strcspn(copy, "\n")] = '\0';
    const char *level = strsep(&rest, "\t"), *what = strsep(&rest, "\t");
    const char *text = strsep(&rest, "\t"), *remedy = strsep(&rest, "\t");
    struct finding one = { 0 };
    if (!remedy || rest || !level_read(level, &one.level))
        return false;
    snprintf(one.what, sizeof one.what, "%s", what);
    snprintf(one.text, sizeof one.text, "%s", text);
    snprintf(one.remedy, sizeof one.remedy, "%s", remedy);
    merge(all, &one, host);
    return true;
}

/* ---- for people and programs ---- */

/* "on a, b"; of many hosts the first ones. */
static void where(const struct finding *f, char *text, size_t room)
{
    enum { SHOWN = 60 };
    if (!f->hosts)
        *text = '\0';
    else if (strlen(f->hosts) <= SHOWN)
        snprintf(text, room, "on %s", f->hosts);
    else
        snprintf(text, room, "on %d hosts: %.*s ...", f->nhosts, SHOWN, f->hosts);
}

static void write_text(const struct finding *f, FILE *to)
{
    char on[120];
    where(f, on, sizeof on);
    fprintf(to, "%-5s %-20s %s%s%s\n", level_names[f->level], f->what, on, *on ? ": " : "",
            f->text);
    if (*f->remedy)
        fprintf(to, "%26s -> %s\n", "", f->remedy);
}

static void write_json(const struct finding *f, struct report *r, int number)
{
    char name[16];
    snprintf(name, sizeof name, "%d", number);
    report_group(r, name);
    report_text(r, "level", "%s", level_names[f->level]);
    report_text(r, "what", "%s", f->what);
    report_text(r, "text", "%s", f->text);
    report_text(r, "remedy", "%s", f->remedy);
    report_text(r, "hosts", "%s", f->hosts ? f->hosts : "");
    report_end(r);
}

void findings_write(const struct findings *all, FILE *to, bool json)
{
    struct report r = report_open(to, json);
    for (int i = 0; i < all->n; i++) {
        if (json)
            write_json(&all->list[i], &r, i + 1);
        else
            write_text(&all->list[i], to);
    }
    report_close(&r);
    if (!json)
        fprintf(to, "\n%d good, %d to note, %d bad\n", findings_count(all, FINDING_GOOD),
                findings_count(all, FINDING_NOTE), findings_count(all, FINDING_BAD));
}
