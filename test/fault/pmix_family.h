/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the plain PMIx clients of spawn.sh share: a process that was spawned sees it in PMIX_PARENT_ID.
 */
#ifndef XMPI_TEST_FAULT_PMIX_FAMILY_H
#define XMPI_TEST_FAULT_PMIX_FAMILY_H

#include <errno.h>
#include <pmix.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me, parent;
static bool is_spawned;
static unsigned size;
static char *program;

#define CHECK(condition)                                                                       \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            printf("%s rank %u: %s:%d: not true: %s\n", is_spawned ? "spawned" : "first",      \
                   me.rank, __FILE__, __LINE__, #condition);                                   \
            exit(99);                                                                          \
        }                                                                                      \
    } while (0)

static pmix_proc_t process(const char *nspace, pmix_rank_t rank)
{
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, nspace, rank);
    return proc;
}

static pmix_value_t *get(const char *nspace, pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = process(nspace, rank);
    pmix_value_t *value = NULL;
    pmix_status_t status = PMIx_Get(&proc, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS) {
        printf("%s rank %u: %s of %s.%u: %s\n", is_spawned ? "spawned" : "first", me.rank, key,
               nspace, rank, PMIx_Error_string(status));
        exit(98);
    }
    return value;
}

static unsigned number(const char *nspace, pmix_rank_t rank, const char *key)
{
    pmix_value_t *value = get(nspace, rank, key);
    unsigned n = value->type == PMIX_UINT16 ? value->data.uint16 : value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    return n;
}

static void put(const char *key, const char *text)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)text };
    CHECK(PMIx_Put(PMIX_GLOBAL, key, &value) == PMIX_SUCCESS);
    CHECK(PMIx_Commit() == PMIX_SUCCESS);
}

static void fence(bool collect)
{
    pmix_proc_t everybody = process(me.nspace, PMIX_RANK_WILDCARD);
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    CHECK(PMIx_Fence(&everybody, 1, &info, 1) == PMIX_SUCCESS);
}

static void find_parent(void)
{
    pmix_proc_t all = process(me.nspace, PMIX_RANK_WILDCARD);
    pmix_value_t *value = NULL;
    is_spawned = PMIx_Get(&all, PMIX_PARENT_ID, NULL, 0, &value) == PMIX_SUCCESS;
    if (!is_spawned)
        return;
    CHECK(value->type == PMIX_PROC);
    parent = *value->data.proc;
    PMIX_VALUE_RELEASE(value);
}

static void begin(char **argv)
{
    program = argv[0];
    pmix_status_t status = PMIx_Init(&me, NULL, 0);
    if (status != PMIX_SUCCESS) {
        printf("PMIx_Init: %s\n", PMIx_Error_string(status));
        exit(97);
    }
    size = number(me.nspace, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    find_parent();
}

/* Of this program, with our own arguments; `np` of them. */
static pmix_app_t myself(int np, char **arguments)
{
    pmix_app_t app = { .cmd = program, .argv = arguments, .maxprocs = np };
    return app;
}

/* Rank 0 spawns, and the others of its job learn its name. */
static void spawn(const pmix_app_t *apps, size_t napps, char *nspace)
{
    if (me.rank == 0) {
        CHECK(PMIx_Spawn(NULL, 0, apps, napps, nspace) == PMIX_SUCCESS);
        put("test.spawned", nspace);
    }
    fence(true);
    pmix_value_t *value = get(me.nspace, 0, "test.spawned");
    strcpy(nspace, value->data.string);
    PMIX_VALUE_RELEASE(value);
    CHECK(strcmp(nspace, me.nspace) != 0);
}

#endif
