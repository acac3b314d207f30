/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registration data.  Everything about the job goes into one array of keys and values, with an
 * array inside it for each program and each rank:
 *
 *     size, universe, host, directory, .. , {program 0: size, first rank}, ..
 *                                           {rank 0: program, place, CPUs, ..}, ..
 *
 * The library copies it to every client that joins, so ranks are described as briefly as they
 * can be: host names, for example, it works out from the lists of hosts and ranks.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launcher/pmix_job.h"

#include "launcher/pmix_lib.h"
#include "launcher/pmix_question.h"
#include "launcher/pmix_sets.h"
#include "launcher/pmix_spawn.h"
#include "launcher/wish.h"

#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- lists of keys and values ---- */

struct list {
    pmix_info_t *items;
    size_t n, room;
};

static pmix_value_t *put(struct list *list, const char *key, pmix_data_type_t type)
{
    if (list->n == list->room) {
        list->room = list->room ? 2 * list->room : 8;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        if (!list->items)
            abort();
    }
    pmix_info_t *item = &list->items[list->n++];
    memset(item, 0, sizeof *item);
    strncpy(item->key, key, sizeof item->key - 1);
    item->value.type = type;
    return &item->value;
}

static void put_u32(struct list *list, const char *key, int value)
{
    put(list, key, PMIX_UINT32)->data.uint32 = (uint32_t)value;
}

static void put_u16(struct list *list, const char *key, int value)
{
    put(list, key, PMIX_UINT16)->data.uint16 = (uint16_t)value;
}

static void put_rank(struct list *list, const char *key, int rank)
{
    put(list, key, PMIX_PROC_RANK)->data.rank = (pmix_rank_t)rank;
}

static void put_process_name(struct list *list, const char *key, const pmix_proc_t *proc)
{
    pmix_proc_t *copy = malloc(sizeof *copy);
    if (!copy)
        abort();
    *copy = *proc;
    put(list, key, PMIX_PROC)->data.proc = copy;
}

static void put_string(struct list *list, const char *key, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    put(list, key, PMIX_STRING)->data.string = copy;
}

/* `inner` becomes a part of `list`. */
static void put_list(struct list *list, const char *key, const struct list *inner)
{
    pmix_data_array_t *array = malloc(sizeof *array);
    if (!array)
        abort();
    *array = (pmix_data_array_t){ .type = PMIX_INFO, .size = inner->n, .array = inner->items };
    put(list, key, PMIX_DATA_ARRAY)->data.darray = array;
}

static void list_free(struct list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        pmix_value_t *value = &list->items[i].value;
        if (value->type == PMIX_DATA_ARRAY) {
            struct list inner = { .items = value->data.darray->array,
                                  .n = value->data.darray->size };
            list_free(&inner);
            free(value->data.darray);
        } else if (value->type == PMIX_STRING) {
            free(value->data.string);
        } else if (value->type == PMIX_PROC) {
            free(value->data.proc);
        } else if (value->type == PMIX_REGEX) {
            pmix_lib.Value_destruct(value);
        }
    }
    free(list->items);
}

/* ---- hosts and ranks ---- */

static int node_of(const struct plan *plan, int world)
{
    return plan->node_of ? plan->node_of[world] : 0;
}

static int app_of(const struct plan *plan, int world)
{
    return plan->app_of ? plan->app_of[world] : plan->ranks[world].app;
}

/* Ranks of each node, "0,1,2;3,4", of only one of them "3,4"; to be freed. */
static char *ranks_of(const struct plan *plan, int only)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    int32_t *next = malloc(((size_t)plan->world + 1) * sizeof *next),
            *first = malloc(2 * ((size_t)plan->nnodes + 1) * sizeof *first);
    if (!to || !next || !first)
        abort();
    int32_t *last = first + plan->nnodes;
    memset(first, -1, 2 * (size_t)plan->nnodes * sizeof *first);
    for (int rank = 0; rank < plan->world; rank++) {
        int node = node_of(plan, rank);
        *(first[node] < 0 ? &first[node] : &next[last[node]]) = rank;
        next[rank] = -1;
        last[node] = rank;
    }
    for (int node = 0; node < plan->nnodes; node++)
        for (int rank = only < 0 || only == node ? first[node] : -1; rank >= 0;
             rank = next[rank])
            fprintf(to, "%s%d", rank != first[node] ? "," : only < 0 && node ? ";" : "", rank);
    free(next);
    free(first);
    if (fclose(to) != 0)
        abort();
    return text;
}

/* "a,b,c", to be freed. */
static char *names_of(const struct plan *plan)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        abort();
    if (!plan->node_names)
        fputs(plan->hosts[0].name, to);
    for (int node = 0; plan->node_names && node < plan->nnodes; node++)
        fprintf(to, "%s%s", node ? "," : "", plan->node_names[node]);
    if (fclose(to) != 0)
        abort();
    return text;
}

/* libpmix 4.2 writes what comes before the first digit of a name into 50 bytes, however long it is. */
static bool are_short(const char *names)
{
    enum { MOST = 48 };
    for (size_t n; *names; names += n + (names[n] == ',')) {
        n = strcspn(names, ",");
        if (strcspn(names, "0123456789,") > MOST)
            return false;
    }
    return true;
}

/* Names that it would not survive go as they are. */
static pmix_status_t names_as_regex(const char *names, char **regex)
{
    if (are_short(names))
        return pmix_lib.generate_regex(names, regex);
    return asprintf(regex, "raw:%s", names) < 0 ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
}

static pmix_status_t put_regex(struct list *list, const char *key, const char *input,
                               pmix_status_t (*generate)(const char *input, char **regex))
{
    char *regex = NULL;
    pmix_status_t status = generate(input, &regex);
    if (status != PMIX_SUCCESS)
        return status;
    put(list, key, PMIX_UNDEF);
    status = pmix_lib.Info_load(&list->items[list->n - 1], key, regex, PMIX_REGEX);
    free(regex);
    return status;
}

static pmix_status_t put_maps(struct list *list, const struct plan *plan)
{
    char *ranks = ranks_of(plan, -1), *names = names_of(plan);
    pmix_status_t status = put_regex(list, PMIX_NODE_MAP, names, names_as_regex);
    if (status == PMIX_SUCCESS)
        status = put_regex(list, PMIX_PROC_MAP, ranks, pmix_lib.generate_ppn);
    free(ranks);
    free(names);
    return status;
}

/* ---- one rank ---- */

struct words {
    char text[96];
    int used;
};

static void add(struct words *words, const char *name, int number)
{
    if (number >= 0)
        words->used +=
            snprintf(words->text + words->used, sizeof words->text - (size_t)words->used,
                     ":%s%d", name, number);
}

/* Where a bound rank runs, in the form that clients compare: "hwloc:SK0:NM0:L30:CR2".  What is
 * unknown, or spans several, is left out. */
static void put_locality(struct list *list, const struct placement *placement)
{
    struct words words = { .text = "hwloc", .used = 5 };
    add(&words, "SK", placement->place.package);
    add(&words, "L3", placement->place.l3);
    add(&words, "CR", placement->place.core);
    add(&words, "NM", placement->place.numa);
    if (words.used > 5)
        put_string(list, PMIX_LOCALITY_STRING, words.text);
}

static void put_cpus(struct list *list, const struct placement *placement)
{
    char text[6 + CPUS_CHARS] = "hwloc:";
    cpuset_format(&placement->cpus, text + 6, sizeof text - 6);
    put_string(list, PMIX_CPUSET, text);
}

struct app_ranks {
    int first, n;
};

/* Of each program, to be freed. */
static struct app_ranks *ranks_of_apps(const struct plan *plan, int napps)
{
    struct app_ranks *apps = calloc((size_t)napps + 1, sizeof *apps);
    if (!apps)
        abort();
    for (int rank = 0; rank < plan->world; rank++) {
        struct app_ranks *app = &apps[app_of(plan, rank)];
        if (!app->n++)
            app->first = rank;
    }
    return apps;
}

/* `local`: its number on its node; `number`: among the ranks here, -1: it is elsewhere. */
static void put_process(struct list *job_list, const struct plan *plan, int rank, int local,
                        int number, const struct app_ranks *apps)
{
    int app = app_of(plan, rank);
    struct list list = { 0 };
    put_rank(&list, PMIX_RANK, rank); /* must be the first */
    put_u16(&list, PMIX_LOCAL_RANK, local);
    put_u16(&list, PMIX_NODE_RANK, local);
    put_u32(&list, PMIX_NODEID, node_of(plan, rank));
    put_u32(&list, PMIX_APPNUM, app);
    put_rank(&list, PMIX_GLOBAL_RANK, rank);
    put_rank(&list, PMIX_APP_RANK, rank - apps[app].first);
    if (number >= 0 && plan->placements && !cpuset_is_empty(&plan->placements[number].cpus)) {
        put_locality(&list, &plan->placements[number]);
        put_cpus(&list, &plan->placements[number]);
    }
    put_list(job_list, PMIX_PROC_DATA, &list);
}

/* `here`: with the CPUs of those on this host. */
static void put_processes(struct list *list, const struct plan *plan,
                          const struct app_ranks *apps, bool here)
{
    int *seen = calloc((size_t)plan->nnodes + 1, sizeof *seen);
    if (!seen)
        abort();
    for (int rank = 0; rank < plan->world; rank++) {
        int node = node_of(plan, rank), local = seen[node]++;
        put_process(list, plan, rank, local, here && node == plan->node ? local : -1, apps);
    }
    free(seen);
}

/* ---- the job ---- */

static void put_app(struct list *job_list, int app, struct app_ranks ranks)
{
    struct list list = { 0 };
    if (!ranks.n)
        return;
    put_u32(&list, PMIX_APPNUM, app); /* must be the first */
    put_u32(&list, PMIX_APP_SIZE, ranks.n);
    put_rank(&list, PMIX_APPLDR, ranks.first);
    put_list(job_list, PMIX_APP_INFO_ARRAY, &list);
}

/* Without these, clients know of other nodes only who is there. */
static void put_nodes(struct list *job_list, const struct plan *plan)
{
    int *sizes = calloc((size_t)plan->nnodes + 1, sizeof *sizes);
    if (!sizes)
        abort();
    for (int rank = 0; rank < plan->world; rank++)
        sizes[node_of(plan, rank)]++;
    for (int node = 0; plan->node_names && node < plan->nnodes; node++) {
        struct list list = { 0 };
        put_string(&list, PMIX_HOSTNAME, plan->node_names[node]); /* must be the first */
        put_u32(&list, PMIX_NODEID, node);
        put_u32(&list, PMIX_NODE_SIZE, sizes[node]);
        put_u32(&list, PMIX_LOCAL_SIZE, sizes[node]);
        put_list(job_list, PMIX_NODE_INFO_ARRAY, &list);
    }
    free(sizes);
}

/* What concerns the ranks of this host; `scratch`: a directory for them. */
static void put_here(struct list *list, const struct job *job, const char *scratch)
{
    char *here = ranks_of(job->plan, job->plan->node);
    put_u32(list, PMIX_LOCAL_SIZE, job->nranks);
    put_u32(list, PMIX_NODE_SIZE, job->nranks);
    put_rank(list, PMIX_LOCALLDR, job_world(job, 0));
    put_string(list, PMIX_LOCAL_PEERS, here);
    put_string(list, PMIX_TMPDIR, scratch);
    put_string(list, PMIX_NSDIR, scratch);
    free(here);
}

/* `scratch` NULL: for other jobs. */
static pmix_status_t describe(struct list *list, const struct job *job, const char *nspace,
                              const char *scratch)
{
    const struct plan *plan = job->plan;
    put_string(list, PMIX_JOBID, nspace);
    put_u32(list, PMIX_JOB_SIZE, plan->world);
    put_u32(list, PMIX_UNIV_SIZE, job->segment->universe);
    put_u32(list, PMIX_MAX_PROCS, job->segment->universe);
    put_u32(list, PMIX_NUM_NODES, plan->nnodes);
    put_u32(list, PMIX_JOB_NUM_APPS, job->options->napps);
    if (scratch)
        put_here(list, job, scratch);
    pmix_status_t status = put_maps(list, plan);
    struct app_ranks *apps = ranks_of_apps(plan, job->options->napps);
    for (int app = 0; app < job->options->napps; app++)
        put_app(list, app, apps[app]);
    put_nodes(list, plan);
    put_processes(list, plan, apps, scratch);
    free(apps);
    return status;
}

static void put_parent(struct list *list, const struct wish *wish, const pmix_proc_t *parent)
{
    pmix_proc_t said;
    if (!parent && !wish)
        return;
    if (!parent)
        said = proc_named(wish->parent, wish->parent_rank);
    parent = parent ? parent : &said;
    put_process_name(list, PMIX_PARENT_ID, parent);
    put(list, PMIX_SPAWNED, PMIX_BOOL)->data.flag = true;
}

void pmix_job_name(const struct job *job, pmix_nspace_t nspace)
{
    if (job->options->spawned)
        wish_name(job->options->spawned, nspace, sizeof(pmix_nspace_t));
    else
        snprintf(nspace, sizeof(pmix_nspace_t), "xmpi-%s", job->id);
}

const char *pmix_job_family(const struct job *job, const char *nspace)
{
    return job->options->spawned ? job->options->spawned->family : nspace;
}

/* ---- registering ---- */

struct registered { /* counts answers from the library's thread */
    sem_t answers;
    pmix_status_t status; /* of the last one that failed */
};

static void on_answer(pmix_status_t status, void *data)
{
    struct registered *registered = data;
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        registered->status = status;
    sem_post(&registered->answers);
}

static pmix_status_t await(struct registered *registered, int answers)
{
    while (answers-- > 0)
        while (sem_wait(&registered->answers) != 0)
            ;
    return registered->status;
}

static pmix_status_t register_ranks(struct registered *registered, const struct job *job,
                                    const char *nspace)
{
    for (int i = 0; i < job->nranks; i++) {
        pmix_proc_t proc = proc_named(nspace, job_world(job, i));
        pmix_status_t status = pmix_lib.server_register_client(&proc, geteuid(), getegid(),
                                                               NULL, on_answer, registered);
        if (status != PMIX_SUCCESS)
            on_answer(status, registered);
    }
    return await(registered, job->nranks);
}

/* Process sets have no job in their names: where a server has several jobs, those of a spawned one would take
 * the place of the first one's. */
pmix_status_t pmix_job_register(const struct job *job, const char *nspace, const char *scratch,
                                const pmix_proc_t *parent)
{
    struct registered registered = { .status = PMIX_SUCCESS };
    struct list list = { 0 };
    sem_init(&registered.answers, 0, 0);
    pmix_status_t status = describe(&list, job, nspace, scratch);
    put_parent(&list, job->options->spawned, parent);
    if (status == PMIX_SUCCESS)
        status = pmix_lib.server_register_nspace(nspace, job->nranks, list.items, list.n,
                                                 on_answer, &registered);
    if (status == PMIX_SUCCESS)
        status = await(&registered, 1);
    if (status == PMIX_SUCCESS)
        status = register_ranks(&registered, job, nspace);
    if (status == PMIX_SUCCESS && !parent)
        sets_define(job, nspace);
    list_free(&list);
    sem_destroy(&registered.answers);
    return status;
}

/* ---- what other jobs know ---- */

void pmix_job_describe(const struct job *job, const char *nspace, struct pack *text)
{
    struct list list = { 0 };
    struct pack items = { 0 };
    if (describe(&list, job, nspace, NULL) == PMIX_SUCCESS &&
        items_pack(&items, list.items, list.n, PMIX_INFO)) {
        pack_text(text, nspace);
        pack_raw(text, items.bytes, items.n);
    }
    list_free(&list);
    pack_free(&items);
}

static bool is_learned(const char *nspace)
{
    static struct strings known;
    for (int i = 0; i < known.n; i++)
        if (strcmp(known.text[i], nspace) == 0)
            return true;
    strings_add(&known, strdup(nspace));
    return false;
}

void pmix_job_learn(struct unpack *text, const char *own)
{
    struct registered registered = { .status = PMIX_SUCCESS };
    size_t n;
    const char *nspace = unpack_text(text);
    pmix_info_t *items = items_unpack(text, &n, sizeof *items, PMIX_INFO);
    if (items && strcmp(nspace, own) != 0 && !spawn_knows(nspace) && !is_learned(nspace)) {
        sem_init(&registered.answers, 0, 0);
        if (pmix_lib.server_register_nspace(nspace, 0, items, n, on_answer, &registered) ==
            PMIX_SUCCESS)
            await(&registered, 1);
        sem_destroy(&registered.answers);
    }
    if (items)
        items_free(items, n);
}
