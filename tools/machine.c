/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters of a machine, as a file.  A line is a level and what is known of it; # starts a
 * comment, what is not written keeps its value:
 *
 *     cache   latency=0.1us overhead=0.03us gap=0.01us byte=0.05ns eager=128k
 *     node    latency=0.3us byte=0.1ns
 *     net     latency=1.5us overhead=0.2us gap=0.05us byte=0.08ns eager=16k
 *     fabric  hop=0.1us byte=0.08ns
 *     rank    fold=0.05ns copy=0.05ns
 *
 * Times are per message (latency, overhead, gap), per link (hop) or per byte (byte, fold, copy).
 */
#include "tools/plan.h"

#include "runtime/amount.h"
#include "runtime/printable.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 1000 };

static const char *const levels[] = {
    [DISTANCE_CACHE] = "cache", [DISTANCE_NODE] = "node", [DISTANCE_NET] = "net"
};

static bool time_read(const char *text, double *seconds)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { "ns", 1e-9 }, { "ps", 1e-12 } };
    char *end;
    *seconds = strtod(text, &end);
    if (end == text || !(*seconds >= 0 && isfinite(*seconds)))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(end, units[i].name)) {
            *seconds *= units[i].seconds;
            return true;
        }
    return false;
}

/* Where a parameter is kept; NULL: there is none of that name. */
static double *time_of(struct plan_args *args, const char *level, const char *name)
{
    struct price_model *m = &args->model;
    for (int d = 0; d < DISTANCES; d++) {
        if (strcmp(level, levels[d]) != 0)
            continue;
        struct link_price *link = &m->link[d];
        return !strcmp(name, "latency")    ? &link->latency
               : !strcmp(name, "overhead") ? &link->overhead
               : !strcmp(name, "gap")      ? &link->gap
               : !strcmp(name, "byte")     ? &link->byte
                                           : NULL;
    }
    if (!strcmp(level, "fabric"))
        return !strcmp(name, "hop") ? &args->hop : !strcmp(name, "byte") ? &args->wire : NULL;
    if (!strcmp(level, "rank"))
        return !strcmp(name, "fold") ? &m->fold : !strcmp(name, "copy") ? &m->copy : NULL;
    return NULL;
}

static size_t *size_of(struct plan_args *args, const char *level, const char *name)
{
    for (int d = 0; d < DISTANCES; d++)
        if (!strcmp(level, levels[d]) && !strcmp(name, "eager"))
            return &args->model.link[d].eager;
    return NULL;
}

static bool set(struct plan_args *args, const char *level, char *word)
{
    char *value = strchr(word, '=');
    if (!value) {
        plan_wrong("\"%s\" of a machine is not NAME=VALUE", word);
        return false;
    }
    *value++ = '\0';
    double *time = time_of(args, level, word);
    size_t *size = size_of(args, level, word);
    if (!time && !size) {
        plan_wrong("a machine has no \"%s %s\"; there are cache, node, net with latency, "
                   "overhead, gap, byte, eager; fabric with hop, byte; rank with fold, copy",
                   level, word);
        return false;
    }
    if (time ? time_read(value, time) : amount_read(value, size))
        return true;
    plan_wrong("%s %s=%s is no %s", level, word, value,
               time ? "time; as in 1.5us or 0.08ns" : "amount; as in 16k");
    return false;
}

/* A level alone, or a value without one, would say nothing. */
static bool line_set(struct plan_args *args, char *line)
{
    char *rest = line;
    line[strcspn(line, "#\r\n")] = '\0';
    const char *level = strtok_r(rest, " \t", &rest);
    char *word = level ? strtok_r(rest, " \t", &rest) : NULL;
    if (level && !word) {
        plan_wrong("\"%s\" of a machine is not LEVEL NAME=VALUE; as in net latency=2us", level);
        return false;
    }
    for (; word; word = strtok_r(rest, " \t", &rest))
        if (!set(args, level, word))
            return false;
    return true;
}

bool machine_set(struct plan_args *args, const char *line)
{
    char *copy = strdup(line);
    bool empty = line[strspn(line, " \t")] == '\0';
    if (!copy || empty)
        plan_wrong("--set \"%s\": %s", line,
                   copy ? "nothing is set; as in --set 'net latency=2us'" : "no memory");
    bool good = copy && !empty && line_set(args, copy);
    free(copy);
    return good;
}

bool machine_read(struct plan_args *args, const char *file)
{
    FILE *f = fopen(file, "re");
    if (!f) {
        plan_wrong("--machine %s: %m", file);
        return false;
    }
    char line[MOST_LINE];
    int number = 0;
    bool good = true;
    while (good && fgets(line, sizeof line, f)) {
        number++;
        bool whole = strchr(line, '\n') || feof(f);
        if (!whole)
            plan_wrong("a line of a machine has %d characters at most", MOST_LINE - 2);
        good = whole && line_set(args, line + (number == 1 ? text_mark(line) : 0));
    }
    int unread = ferror(f) ? errno : 0;
    fclose(f);
    if (unread)
        plan_wrong("--machine %s: %s", file, strerror(unread));
    else if (!good)
        plan_wrong("--machine %s: line %d is wrong", file, number);
    return good && !unread;
}
