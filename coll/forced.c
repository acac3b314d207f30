/* SPDX-License-Identifier: BSD-3-Clause
 *
 * XMPI_COLL: collective=algorithm[:pieces=n][:radix=k], separated by commas.  Read when the first
 * collective starts; what cannot be understood is an error of that call and of every later one,
 * never a silent default.
 */
#include "coll/forced.h"

#include "runtime/fail.h"
#include "runtime/param.h"
#include "mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FORCED_PIECES = 4096, MOST_FORCED_RADIX = 64 };

static struct forced table[COLL_KINDS];
static bool is_read;
static char complaint[400]; /* what is wrong with the text; "" = nothing */

const struct algorithm *algorithm_find(enum collective what, bool inter, const char *name)
{
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == what && a->inter == inter && strcmp(a->name, name) == 0)
            return a;
    return NULL;
}

bool list_has(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0'))
            return true;
    }
    return false;
}

static int collective_find(const char *name)
{
    for (int what = 0; what < COLL_KINDS; what++)
        if (strcmp(collective_name((enum collective)what), name) == 0)
            return what;
    return -1;
}

static void complain(const char *format, const char *word, const char *of)
{
    snprintf(complaint, sizeof(complaint), format, word, of);
}

static void append(const char *name)
{
    size_t used = strlen(complaint);
    snprintf(complaint + used, sizeof(complaint) - used, " %s", name);
}

static void complain_collective(const char *name)
{
    complain("XMPI_COLL: there is no collective \"%s\"%s; there are:", name, "");
    for (int what = 0; what < COLL_KINDS; what++)
        append(collective_name((enum collective)what));
}

static void complain_algorithm(enum collective what, const char *name)
{
    complain("XMPI_COLL: there is no algorithm \"%s\" for %s; there are:", name,
             collective_name(what));
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == what && !a->inter)
            append(a->name);
}

/* pieces=n or radix=k after the name of an algorithm.  False: neither. */
static bool read_option(const char *text, struct forced *forced)
{
    char rest;
    if (sscanf(text, "pieces=%d%c", &forced->pieces, &rest) == 1)
        return forced->pieces >= 1 && forced->pieces <= MOST_FORCED_PIECES;
    return forced->algorithm->radix && sscanf(text, "radix=%d%c", &forced->radix, &rest) == 1 &&
           forced->radix >= 2 && forced->radix <= MOST_FORCED_RADIX;
}

/* One item, which is cut up. */
static void read_item(char *item)
{
    char *name = strchr(item, '=');
    if (!name) {
        complain("XMPI_COLL: \"%s\" is not of the form collective=algorithm%s", item, "");
        return;
    }
    *name++ = '\0';
    char *options = strchr(name, ':');
    if (options)
        *options++ = '\0';
    int what = collective_find(item);
    if (what < 0) {
        complain_collective(item);
        return;
    }
    const struct algorithm *a = algorithm_find((enum collective)what, false, name);
    if (!a) {
        complain_algorithm((enum collective)what, name);
        return;
    }
    struct forced forced = { a, 1, a->radix };
    for (char *option; (option = strsep(&options, ":"));)
        if (!read_option(option, &forced)) {
            complain(a->radix
                         ? "XMPI_COLL: \"%s\" after %s is not pieces=n with n from 1 to "
                           "4096, nor radix=k with k from 2 to 64"
                         : "XMPI_COLL: \"%s\" after %s is not pieces=n with n from 1 to 4096",
                     option, name);
            return;
        }
    table[what] = forced;
}

int forced_read(const char *text)
{
    is_read = true;
    complaint[0] = '\0';
    memset(table, 0, sizeof(table));
    char *copy = strdup(text ? text : ""), *rest = copy;
    if (!copy)
        return fail(MPI_ERR_NO_MEM, "no memory to read XMPI_COLL");
    for (char *item; !complaint[0] && (item = strsep(&rest, ","));)
        if (*item)
            read_item(item);
    free(copy);
    return complaint[0] ? fail(MPI_ERR_OTHER, "%s", complaint) : 0;
}

int forced_get(enum collective what, const struct forced **forced)
{
    if (__builtin_expect(!is_read, 0))
        forced_read(param_string(COLL));
    if (__builtin_expect(complaint[0] != '\0', 0))
        return fail(MPI_ERR_OTHER, "%s", complaint);
    *forced = table[what].algorithm ? &table[what] : NULL;
    return 0;
}
