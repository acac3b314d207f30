/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A PMIx tool, for pmix.sh: asks a running xmpirun for its job and its processes.
 *
 *     pmix_tool pid PID            the xmpirun with this process id, as any tool finds it
 *     pmix_tool file PATH [HOST]   the xmpirun that wrote this file; processes of one host
 *
 *     namespace xmpi-..
 *     all rank 0 pid 123 of a.out on host runs
 *     here rank 1 pid 124 of a.out on host was killed
 */
#include <pmix_tool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *nspace;

static void fail(const char *what, pmix_status_t status)
{
    printf("%s: %s\n", what, PMIx_Error_string(status));
    exit(98);
}

/* The answer to one key; qualifiers: the job, and a host unless it is NULL. */
static pmix_value_t *ask(const char *key, const char *host)
{
    pmix_query_t query;
    pmix_info_t *answers = NULL;
    size_t n = 0;
    char *keys[] = { (char *)key, NULL };
    PMIX_QUERY_CONSTRUCT(&query);
    query.keys = keys;
    query.nqual = nspace ? host ? 2 : 1 : 0;
    if (query.nqual)
        PMIX_INFO_CREATE(query.qualifiers, query.nqual);
    if (nspace)
        PMIX_INFO_LOAD(&query.qualifiers[0], PMIX_NSPACE, nspace, PMIX_STRING);
    if (nspace && host)
        PMIX_INFO_LOAD(&query.qualifiers[1], PMIX_HOSTNAME, host, PMIX_STRING);
    pmix_status_t status = PMIx_Query_info(&query, 1, &answers, &n);
    if (status != PMIX_SUCCESS || n != 1)
        fail(key, status);
    return &answers[0].value;
}

static void show(const char *what, const pmix_value_t *value)
{
    if (value->type != PMIX_DATA_ARRAY || value->data.darray->type != PMIX_PROC_INFO)
        fail(what, PMIX_ERR_TYPE_MISMATCH);
    const pmix_proc_info_t *rows = value->data.darray->array;
    for (size_t i = 0; i < value->data.darray->size; i++) {
        printf("%s rank %u pid %d of %s on %s ", what, rows[i].proc.rank, (int)rows[i].pid,
               rows[i].executable_name, rows[i].hostname);
        printf("%s\n", rows[i].state == PMIX_PROC_STATE_RUNNING          ? "runs"
                       : rows[i].state == PMIX_PROC_STATE_ABORTED_BY_SIG ? "was killed"
                                                                         : "ended");
    }
}

int main(int argc, char **argv)
{
    pmix_proc_t me;
    pmix_info_t where;
    if (argc < 3)
        return 99;
    pid_t pid = atoi(argv[2]);
    if (strcmp(argv[1], "pid") == 0)
        PMIX_INFO_LOAD(&where, PMIX_SERVER_PIDINFO, &pid, PMIX_PID);
    else
        PMIX_INFO_LOAD(&where, PMIX_TOOL_ATTACHMENT_FILE, argv[2], PMIX_STRING);
    pmix_status_t status = PMIx_tool_init(&me, &where, 1);
    if (status != PMIX_SUCCESS) {
        printf("PMIx_tool_init: %s\n", PMIx_Error_string(status));
        return 97;
    }
    nspace = strdup(ask(PMIX_QUERY_NAMESPACES, NULL)->data.string);
    printf("namespace %s\n", nspace);
    show("all", ask(PMIX_QUERY_PROC_TABLE, NULL));
    show("here", ask(PMIX_QUERY_LOCAL_PROC_TABLE, argc > 3 ? argv[3] : NULL));
    status = PMIx_tool_finalize();
    if (status != PMIX_SUCCESS)
        fail("PMIx_tool_finalize", status);
    return 0;
}
