/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMIx clients ask for process sets by PMIx_Query_info:
 *
 *     PMIX_QUERY_NUM_PSETS           how many
 *     PMIX_QUERY_PSET_NAMES          "ocean,xmpi://app/0"
 *     PMIX_QUERY_PSET_MEMBERSHIP     with the qualifier PMIX_PSET_NAME: its members
 *
 * They are the sets in the text of the boot segment (launcher/psets.c).  Questions about processes
 * are for pmix_tools.c.  Whoever asks for something else beside them gets a part of the answers; else
 * PMIX_ERR_NOT_FOUND.
 */
#include "launcher/pmix_sets.h"

#include "launcher/pmix_lib.h"
#include "launcher/pmix_tools.h"
#include "runtime/psets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The members of a set, malloced; *n is how many. */
static pmix_proc_t *members_of(struct pset set, int nranks, const char *nspace, size_t *n)
{
    struct pset_range range;
    pmix_proc_t *members = calloc((size_t)nranks, sizeof *members);
    if (!members)
        abort();
    *n = 0;
    while (pset_next_range(&set, &range))
        for (int i = 0; i < range.n; i++)
            members[(*n)++] = proc_named(nspace, range.first + i * range.stride);
    return members;
}

/* What the library returns is no use: version 4.2 returns whatever lay on its stack. */
void sets_define(const struct job *job, const char *nspace)
{
    const char *at = job->psets;
    struct pset set;
    while (psets_next(&at, &set)) {
        size_t n;
        pmix_proc_t *members = members_of(set, job->plan->world, nspace, &n);
        char *name = strndup(set.name, (size_t)set.name_chars);
        if (!name)
            abort();
        pmix_lib.server_define_process_set(members, n, name);
        free(name);
        free(members);
    }
}

/* ---- answers ---- */

static bool answer_count(const struct job *job, pmix_value_t *value)
{
    const char *at = job->psets;
    struct pset set;
    value->type = PMIX_SIZE;
    while (psets_next(&at, &set))
        value->data.size++;
    return true;
}

static bool answer_names(const struct job *job, pmix_value_t *value)
{
    const char *at = job->psets;
    char *names = malloc(strlen(job->psets) + 1), *end = names;
    struct pset set;
    if (!names)
        abort();
    for (*end = '\0'; psets_next(&at, &set);)
        end += sprintf(end, "%s%.*s", end > names ? "," : "", set.name_chars, set.name);
    value->type = PMIX_STRING;
    value->data.string = names;
    return true;
}

static const char *set_wanted(const pmix_query_t *query)
{
    for (size_t i = 0; i < query->nqual; i++)
        if (info_is(&query->qualifiers[i], PMIX_PSET_NAME) &&
            query->qualifiers[i].value.type == PMIX_STRING)
            return query->qualifiers[i].value.data.string;
    return NULL;
}

static bool answer_members(const struct job *job, const pmix_query_t *query, const char *nspace,
                           pmix_value_t *value)
{
    const char *at = job->psets, *wanted = set_wanted(query);
    struct pset set;
    while (psets_next(&at, &set)) {
        if (!wanted || !pset_is_called(&set, wanted))
            continue;
        pmix_data_array_t *members = calloc(1, sizeof *members);
        if (!members)
            abort();
        members->type = PMIX_PROC;
        members->array = members_of(set, job->plan->world, nspace, &members->size);
        value->type = PMIX_DATA_ARRAY;
        value->data.darray = members;
        return true;
    }
    return false;
}

static bool answer(const struct job *job, const pmix_query_t *query, const char *key,
                   const char *nspace, pmix_value_t *value)
{
    if (strcmp(key, PMIX_QUERY_NUM_PSETS) == 0)
        return answer_count(job, value);
    if (strcmp(key, PMIX_QUERY_PSET_NAMES) == 0)
        return answer_names(job, value);
    if (strcmp(key, PMIX_QUERY_PSET_MEMBERSHIP) == 0)
        return answer_members(job, query, nspace, value);
    return tools_answer(job, query, key, nspace, value);
}

void sets_query(const struct job *job, const char *nspace, struct upcall *u)
{
    size_t asked = 0;
    for (size_t i = 0; i < u->nqueries; i++)
        for (char **key = u->queries[i].keys; key && *key; key++)
            asked++;
    u->given = calloc(asked + 1, sizeof *u->given);
    if (!u->given)
        abort();
    for (size_t i = 0; i < u->nqueries; i++)
        for (char **key = u->queries[i].keys; key && *key; key++) {
            pmix_info_t *given = &u->given[u->ngiven];
            if (!answer(job, &u->queries[i], *key, nspace, &given->value))
                continue;
            strncpy(given->key, *key, sizeof given->key - 1);
            u->ngiven++;
        }
    upcall_answer(u, u->ngiven == asked ? PMIX_SUCCESS
                     : u->ngiven        ? PMIX_QUERY_PARTIAL_SUCCESS
                                        : PMIX_ERR_NOT_FOUND);
}
