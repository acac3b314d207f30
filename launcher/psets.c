/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which process sets a job has, beside those of the standard:
 *
 *     NAME                        ranks of the programs that were given --pset NAME
 *     xmpi://app/1                ranks of the second program, where there are several
 *     xmpi://host/H               ranks on host H
 *     xmpi://host/H/package/0     ranks bound to it, likewise numa/0; where ranks are bound
 *
 * Programs reach them by MPI_Session_get_nth_pset, PMIx clients by PMIX_QUERY_PSET_NAMES.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launcher/psets.h"

#include "runtime/psets.h"

#include <stdlib.h>
#include <string.h>

struct draft {
    const struct options *options;
    const struct plan *plan;
    FILE *to;
};

/* Does a rank belong to the set that is described by a number and, maybe, a name? */
typedef bool belongs(const struct draft *draft, int rank, int number, const char *name);

static void write_set(const struct draft *draft, const char *title, belongs *is_in, int number,
                      const char *name)
{
    struct pset_writer writer;
    pset_begin(&writer, draft->to, title);
    for (int rank = 0; rank < draft->plan->nranks; rank++)
        if (is_in(draft, rank, number, name))
            pset_add(&writer, rank);
    pset_end(&writer);
}

/* ---- sets of programs ---- */

static bool app_is(const struct draft *draft, int rank, int number, const char *name)
{
    (void)name;
    return draft->plan->ranks[rank].app == number;
}

static bool app_has(const struct app *app, const char *name)
{
    for (int i = 0; i < app->psets.n; i++)
        if (strcmp(app->psets.text[i], name) == 0)
            return true;
    return false;
}

static bool app_is_called(const struct draft *draft, int rank, int number, const char *name)
{
    (void)number;
    return app_has(&draft->options->apps[draft->plan->ranks[rank].app], name);
}

/* Each name once, where it comes first. */
static void write_named(const struct draft *draft)
{
    for (int i = 0; i < draft->options->napps; i++) {
        const struct strings *names = &draft->options->apps[i].psets;
        for (int j = 0; j < names->n; j++) {
            struct app before = { .psets = { names->text, j } };
            bool seen = app_has(&before, names->text[j]);
            for (int k = 0; k < i && !seen; k++)
                seen = app_has(&draft->options->apps[k], names->text[j]);
            if (!seen)
                write_set(draft, names->text[j], app_is_called, 0, names->text[j]);
        }
    }
}

static void write_apps(const struct draft *draft)
{
    char title[32];
    for (int app = 0; draft->options->napps > 1 && app < draft->options->napps; app++) {
        snprintf(title, sizeof title, "xmpi://app/%d", app);
        write_set(draft, title, app_is, app, NULL);
    }
}

/* ---- sets of places ---- */

static int place_number(const struct draft *draft, int rank, const char *kind)
{
    const struct boot_place *place = &draft->plan->placements[rank].place;
    return strcmp(kind, "package") == 0 ? place->package : place->numa;
}

static bool place_is(const struct draft *draft, int rank, int number, const char *kind)
{
    return place_number(draft, rank, kind) == number;
}

/* One set for each package (or NUMA node) of the only host that a rank is bound to. */
static void write_places(const struct draft *draft, const char *kind)
{
    int most = -1;
    for (int rank = 0; rank < draft->plan->nranks; rank++) {
        int number = place_number(draft, rank, kind);
        most = number > most ? number : most;
    }
    for (int number = 0; number <= most; number++) {
        char *title;
        int rank = 0;
        while (rank < draft->plan->nranks && place_number(draft, rank, kind) != number)
            rank++;
        if (rank == draft->plan->nranks)
            continue;
        if (asprintf(&title, "xmpi://host/%s/%s/%d", draft->plan->hosts[0].name, kind, number) <
            0)
            abort();
        write_set(draft, title, place_is, number, kind);
        free(title);
    }
}

/* The ranks in the order of their hosts; those of host h begin at first[h]. */
static int *sort_by_host(const struct plan *plan, int *first)
{
    int *order = calloc((size_t)plan->nranks + 1, sizeof *order);
    if (!order)
        abort();
    for (int rank = 0; rank < plan->nranks; rank++)
        first[plan->ranks[rank].host + 1]++;
    for (int host = 0; host < plan->nhosts; host++)
        first[host + 1] += first[host];
    for (int rank = 0; rank < plan->nranks; rank++)
        order[first[plan->ranks[rank].host]++] = rank;
    for (int host = plan->nhosts; host > 0; host--) /* they have moved on to the next one's */
        first[host] = first[host - 1];
    first[0] = 0;
    return order;
}

static void write_host(const struct draft *draft, int host, const int *ranks, int n)
{
    struct pset_writer writer;
    char *title;
    if (asprintf(&title, "xmpi://host/%s", draft->plan->hosts[host].name) < 0)
        abort();
    pset_begin(&writer, draft->to, title);
    for (int i = 0; i < n; i++)
        pset_add(&writer, ranks[i]);
    pset_end(&writer);
    free(title);
}

static void write_hosts(const struct draft *draft)
{
    const struct plan *plan = draft->plan;
    int *first = calloc((size_t)plan->nhosts + 1, sizeof *first);
    if (!first)
        abort();
    int *order = sort_by_host(plan, first);
    for (int host = 0; host < plan->nhosts; host++)
        write_host(draft, host, order + first[host], first[host + 1] - first[host]);
    free(order);
    free(first);
    if (plan->placements && plan->nhosts == 1) {
        write_places(draft, "package");
        write_places(draft, "numa");
    }
}

/* ---- all of them ---- */

char *psets_write(const struct options *options, const struct plan *plan)
{
    char *text = NULL;
    size_t bytes;
    struct draft draft = { options, plan, open_memstream(&text, &bytes) };
    if (!draft.to)
        abort();
    write_named(&draft);
    write_apps(&draft);
    write_hosts(&draft);
    if (fclose(draft.to) != 0)
        abort();
    return text;
}
