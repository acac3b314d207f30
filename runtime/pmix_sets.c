/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Asking a PMIx server for process sets: one query for the names, one for the members of each.
 * Done by the first rank of a node when it makes the segment; sets that come into being later
 * are not seen.  A server without sets (Slurm's, for one) answers with an error, which is no
 * error for us.
 */
#include "runtime/pmix_sets.h"

#include "runtime/log.h"
#include "runtime/psets.h"

#include <dlfcn.h>
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

static struct {
    __typeof__(PMIx_Query_info) *query_info;
    __typeof__(PMIx_Value_destruct) *value_destruct;
} pmix;

static bool functions_find(void *library)
{
    void *query_info = dlsym(library, "PMIx_Query_info");
    void *value_destruct = dlsym(library, "PMIx_Value_destruct");
    memcpy(&pmix.query_info, &query_info, sizeof query_info);
    memcpy(&pmix.value_destruct, &value_destruct, sizeof value_destruct);
    return query_info && value_destruct;
}

/* ---- asking ---- */

struct answers {
    pmix_info_t *list;
    size_t n;
};

static bool ask(pmix_query_t *query, struct answers *answers)
{
    *answers = (struct answers){ 0 };
    return pmix.query_info(query, 1, &answers->list, &answers->n) == PMIX_SUCCESS;
}

static void answers_free(struct answers *answers)
{
    for (size_t i = 0; i < answers->n; i++)
        pmix.value_destruct(&answers->list[i].value);
    free(answers->list);
}

/* The value of a key and of this type; servers may put answers into arrays.  NULL: none. */
static const pmix_value_t *answer_find(const pmix_info_t *list, size_t n, const char *key,
                                       pmix_data_type_t type)
{
    const pmix_value_t *found = NULL;
    for (size_t i = 0; i < n && !found; i++) {
        const pmix_value_t *value = &list[i].value;
        const pmix_data_array_t *array =
            value->type == PMIX_DATA_ARRAY ? value->data.darray : NULL;
        if (value->type == type && strncmp(list[i].key, key, PMIX_MAX_KEYLEN) == 0)
            found = value;
        else if (array && array->type == PMIX_INFO)
            found = answer_find(array->array, array->size, key, type);
    }
    return found;
}

/* "a,b,c"; malloced, NULL without any. */
static char *names_ask(void)
{
    char *keys[] = { (char *)PMIX_QUERY_PSET_NAMES, NULL };
    pmix_query_t query = { .keys = keys };
    struct answers answers;
    if (!ask(&query, &answers))
        return NULL;
    const pmix_value_t *value =
        answer_find(answers.list, answers.n, PMIX_QUERY_PSET_NAMES, PMIX_STRING);
    char *names = value && value->data.string ? strdup(value->data.string) : NULL;
    answers_free(&answers);
    return names;
}

/* ---- members ---- */

static void members_write(FILE *to, const char *name, const pmix_data_array_t *members,
                          const char *nspace)
{
    struct pset_writer writer;
    const pmix_proc_t *procs = members->array;
    pset_begin(&writer, to, name);
    for (size_t i = 0; i < members->size; i++)
        if (strncmp(procs[i].nspace, nspace, PMIX_MAX_NSLEN) == 0)
            pset_add(&writer, (int)procs[i].rank);
    pset_end(&writer);
}

static void members_ask(FILE *to, char *name, const char *nspace)
{
    char *keys[] = { (char *)PMIX_QUERY_PSET_MEMBERSHIP, NULL };
    pmix_info_t which = { .key = PMIX_PSET_NAME };
    which.value.type = PMIX_STRING;
    which.value.data.string = name;
    pmix_query_t query = { .keys = keys, .qualifiers = &which, .nqual = 1 };
    struct answers answers;
    if (!pset_may_be_called(name)) {
        log_line("the PMIx server's process set \"%s\" is left out: MPI cannot call it so",
                 name);
        return;
    }
    if (!ask(&query, &answers))
        return;
    const pmix_value_t *value =
        answer_find(answers.list, answers.n, PMIX_QUERY_PSET_MEMBERSHIP, PMIX_DATA_ARRAY);
    if (value && value->data.darray && value->data.darray->type == PMIX_PROC)
        members_write(to, name, value->data.darray, nspace);
    answers_free(&answers);
}

/* ---- both ---- */

char *pmix_sets_ask(void *library, const char *nspace)
{
    char *names = functions_find(library) ? names_ask() : NULL, *text = NULL, *rest;
    size_t bytes;
    FILE *to = names ? open_memstream(&text, &bytes) : NULL;
    if (to) {
        for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
            members_ask(to, name, nspace);
        fclose(to);
    }
    free(names);
    return text;
}
