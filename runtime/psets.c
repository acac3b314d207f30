/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of process sets, written range by range and read again.  Sets are few and asked for
 * rarely, so nothing is kept but the text; a set of any regular shape takes one range.
 */
#include "runtime/psets.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_CHARS = 1023 }; /* MPI_MAX_PSET_NAME_LEN, with the terminating NUL */

/* ---- writing ---- */

static void range_write(struct pset_writer *w)
{
    if (w->n == 0)
        return;
    fprintf(w->to, "%s%d:%d:%d", w->any ? "," : "", w->first, w->n, w->stride);
    w->any = true;
    w->n = 0;
}

void pset_begin(struct pset_writer *writer, FILE *to, const char *name)
{
    *writer = (struct pset_writer){ .to = to };
    fprintf(to, "%s\t", name);
}

void pset_add(struct pset_writer *w, int rank)
{
    if (w->n == 1)
        w->stride = rank - w->first;
    if (w->n > 0 && rank == w->first + w->n * w->stride) {
        w->n++;
        return;
    }
    range_write(w);
    *w = (struct pset_writer){ w->to, w->any, rank, 1, 1 };
}

void pset_end(struct pset_writer *writer)
{
    range_write(writer);
    fputc('\n', writer->to);
}

bool pset_may_be_called(const char *name)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == ',')
            return false;
    return *name && strlen(name) <= MOST_CHARS && strncasecmp(name, "mpi://", 6) != 0;
}

/* ---- reading ---- */

bool psets_next(const char **at, struct pset *set)
{
    const char *tab = *at ? strchr(*at, '\t') : NULL, *end = tab ? strchr(tab, '\n') : NULL;
    if (!end)
        return false;
    *set = (struct pset){ *at, (int)(tab - *at), tab + 1 };
    *at = end + 1;
    return true;
}

bool pset_next_range(struct pset *set, struct pset_range *range)
{
    int chars = 0;
    if (sscanf(set->ranges, "%d:%d:%d%n", &range->first, &range->n, &range->stride, &chars) !=
        3)
        return false;
    set->ranges += chars;
    set->ranges += *set->ranges == ',';
    return true;
}

bool pset_is_called(const struct pset *set, const char *name)
{
    return strlen(name) == (size_t)set->name_chars &&
           memcmp(set->name, name, (size_t)set->name_chars) == 0;
}
