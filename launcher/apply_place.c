/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What options of placement mean: the fields of struct map_options that they set.
 */
#include "launcher/apply.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A number from 1 to most with nothing behind it but a character of `ends` or the end of the text;
 * NULL: it is none. */
static const char *read_count(const char *text, long most, const char *ends, int *to)
{
    char *end;
    long value = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
    if (value < 1 || value > most || (*end && !strchr(ends, *end)))
        return NULL;
    *to = (int)value;
    return end;
}

static int bad_count(const struct option_use *p, const char *what, long most, const char *why)
{
    char expected[120];
    snprintf(expected, sizeof expected, "%s with a number N from 1 to %ld, %s", what, most,
             why);
    return option_bad_value(p, expected);
}

/* "pe=4" and the like after the first colon of --map-by; unknown words are errors. */
static int map_modifiers(const struct option_use *p, const char *words)
{
    while (words && *words) {
        size_t bytes = strcspn(words, ",:");
        if (strncasecmp(words, "pe=", 3) == 0) {
            if (!read_count(words + 3, CPUS_MAX, ",:", &p->options->map.pe))
                return bad_count(p, "pe=N", CPUS_MAX, "the most CPUs of a host");
        } else if (bytes == 15 && strncasecmp(words, "nooversubscribe", bytes) == 0)
            p->options->strict = true;
        else if (bytes == 7 && strncasecmp(words, "hwtcpus", bytes) == 0)
            p->options->hwthreads = true;
        else if (!(bytes == 13 && strncasecmp(words, "oversubscribe", bytes) == 0) &&
                 !(bytes == 4 && strncasecmp(words, "span", bytes) == 0))
            return option_bad_value(p,
                                    "after the colon pe=N, oversubscribe or nooversubscribe");
        words += bytes + (words[bytes] != 0);
    }
    return 0;
}

/* The last one counts, but for what it leaves unsaid (":pe=2"). */
static int map_by(const struct option_use *p)
{
    struct map_options *map = &p->options->map;
    const char *value = p->values.text[0];
    int per = 0;
    if (strncasecmp(value, "ppr:", 4) == 0) {
        value = read_count(value + 4, RANKS_MOST, ":", &per);
        if (!value || !*value || !strcspn(value + 1, ":"))
            return bad_count(p, "ppr:N:WHAT", RANKS_MOST, "the most ranks of a job");
        value++;
    }
    size_t bytes = strcspn(value, ":");
    if (bytes) {
        map->by = level_parse(value, bytes);
        if (map->by <= (per ? LEVEL_SLOT : LEVEL_NONE))
            return option_bad_value(
                p, "slot, hwthread, core, l3cache, numa, package, gpu, node or ppr:N:.. of one "
                   "of these but slot");
        map->per = map->by == LEVEL_NODE ? 0 : per;
    }
    if (map->by == LEVEL_NODE && per)
        map->per_host = per;
    if (!*value)
        return option_bad_value(p, "a word that says where ranks go, such as core");
    return map_modifiers(p, value[bytes] ? value + bytes + 1 : NULL);
}

/* What may follow after a colon; all but no-overload is so anyway.  False: something else. */
static bool bind_modifiers(const char *words, bool *no_overload)
{
    static const char *known[] = { "no-overload", "overload-allowed", "if-supported" };
    for (size_t n; *words; words += n + (words[n] == ':' || words[n] == ',')) {
        size_t i = 0;
        n = strcspn(words, ":,");
        while (i < 3 && (n != strlen(known[i]) || strncmp(words, known[i], n) != 0))
            i++;
        if (i == 3)
            return false;
        if (i < 2)
            *no_overload = i == 0;
    }
    return true;
}

static int bind_to(const struct option_use *p)
{
    const char *value = p->values.text[0];
    size_t bytes = strcspn(value, ":");
    enum level level = level_parse(value, bytes);
    if (level == LEVEL_UNSET || level == LEVEL_SLOT)
        return option_bad_value(p, "none, hwthread, core, l3cache, numa, package or gpu");
    bool no_overload = false;
    if (value[bytes] && !bind_modifiers(value + bytes + 1, &no_overload))
        return option_bad_value(
            p, "overload-allowed, no-overload or if-supported after the colon");
    p->options->map.to = level == LEVEL_NODE ? LEVEL_NONE : level;
    p->options->no_overload = no_overload;
    return 0;
}

int option_per_host(const struct option_use *p)
{
    const char *value = p->values.text[0];
    if (strcmp(value, "auto") == 0 || strcmp(value, "cpu") == 0) {
        p->options->map.per_host = PER_HOST_SLOTS;
        return 0;
    }
    return option_number(p, 1, RANKS_MOST, &p->options->map.per_host);
}

int option_placement(const struct option_use *p, int id)
{
    struct options *options = p->options;
    switch (id) {
    case OPTION_MAP_BY:
        return map_by(p);
    case OPTION_BIND_TO:
        return bind_to(p);
    case OPTION_BIND_CORE:
        options->map.to = LEVEL_CORE;
        return 0;
    case OPTION_BIND_NONE:
        options->map.to = LEVEL_NONE;
        return 0;
    case OPTION_BY_SLOT:
        options->map.by = LEVEL_SLOT;
        options->map.per = 0;
        return 0;
    case OPTION_BY_NODE:
        options->map.by = LEVEL_NODE;
        options->map.per = 0;
        return 0;
    case OPTION_CPUS_PER_RANK:
        return option_number(p, 1, CPUS_MAX, &options->map.pe);
    case OPTION_STRICT:
        options->strict = true;
        return 0;
    default:
        options->hwthreads = true;
        return 0;
    }
}
