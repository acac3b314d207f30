/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_tools.h.  A tool is a PMIx process of nobody's job: it asks for a name and gets one.
 *
 *     PMIX_QUERY_NAMESPACES          the job: there is one
 *     PMIX_QUERY_PROC_TABLE          all ranks, with host, program, process id and state
 *     PMIX_QUERY_LOCAL_PROC_TABLE    those of this host, or of that in the qualifier PMIX_HOSTNAME
 *
 * Where tools are served the other hosts tell xmpirun which processes they have started, and again
 * each one that has ended: one message per host, one per rank.  Other hosts know their own ranks
 * only, and say so to who asks for all.  The process is the one that was started: of a rank below
 * a wrapper, the wrapper.
 *
 * Version 4.2 of the library drops the exit codes on their way; states arrive.
 *
 * A tool that may not connect cannot be told so: version 4.2 of the library does not survive a
 * host that says no.  It waits in vain.
 */
#include "launcher/pmix_tools.h"

#include "launcher/cli.h"
#include "launcher/out.h"
#include "launcher/pmix_upcall.h"
#include "launcher/post.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct process {
    int pid; /* 0: not known */
    pmix_proc_state_t state;
    int code; /* once it has ended */
};

static struct process *processes; /* by rank of the job */

bool tools_are_served(const struct job *job)
{
    return job->options->tools && (!job->others || job->host == POST_ROOT);
}

/* ---- tools come ---- */

void tools_connected(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t done,
                     void *data)
{
    static int named;
    pmix_proc_t tool = { .rank = 0 };
    bool is_named = false, is_ours = true; /* by every id that is there */
    snprintf(tool.nspace, sizeof tool.nspace, "xmpi-tool-%d-%d", (int)getpid(), ++named);
    for (size_t i = 0; i < ninfo; i++)
        if (info_is(&info[i], PMIX_USERID)) {
            is_named = true;
            is_ours &= info[i].value.data.uint32 == 0 || info[i].value.data.uint32 == geteuid();
        } else if (info_is(&info[i], PMIX_NSPACE))
            snprintf(tool.nspace, sizeof tool.nspace, "%s", info[i].value.data.string);
        else if (info_is(&info[i], PMIX_RANK))
            tool.rank = info[i].value.data.rank;
    if (is_named && is_ours)
        done(PMIX_SUCCESS, &tool, data);
}

/* ---- what runs ---- */

static struct process *process_of(const struct job *job, int world)
{
    if (!processes)
        processes = calloc((size_t)job->plan->world + 1, sizeof *processes);
    if (!processes)
        abort();
    return &processes[world];
}

static struct process ended(int pid, int wait_status)
{
    if (WIFSIGNALED(wait_status))
        return (struct process){ pid, PMIX_PROC_STATE_ABORTED_BY_SIG,
                                 128 + WTERMSIG(wait_status) };
    int code = WEXITSTATUS(wait_status);
    return (struct process){ pid,
                             code ? PMIX_PROC_STATE_TERM_NON_ZERO : PMIX_PROC_STATE_TERMINATED,
                             code };
}

/* Tell xmpirun about n ranks from here on, where it serves tools. */
static void tell_processes(struct job *job, int first, int n)
{
    struct pack text = { 0 };
    if (!n || !job->options->tools || !job->others || job->host == POST_ROOT)
        return;
    for (int i = first; i < first + n; i++) {
        int world = job_world(job, i);
        const struct process *process = process_of(job, world);
        pack_number(&text, world);
        pack_number(&text, process->pid);
        pack_number(&text, process->state);
        pack_number(&text, process->code);
    }
    post_send(job, POST_ROOT, POST_PMIX_PROCESSES, &text);
    pack_free(&text);
}

/* At xmpirun: processes of another host. */
static void got_processes(struct job *job, int from, struct unpack *text)
{
    (void)from;
    while (text->at < text->end && !text->bad) {
        int world = unpack_int(text, 0, job->plan->world - 1);
        struct process process = { .pid = unpack_int(text, 0, INT32_MAX),
                                   .state = (pmix_proc_state_t)unpack_int(text, 0, UINT8_MAX),
                                   .code = unpack_int(text, 0, 255) };
        if (!text->bad)
            *process_of(job, world) = process;
    }
}

void tools_open(void)
{
    post_handle(POST_PMIX_PROCESSES, got_processes);
}

/* Tools look for a file with the name of this machine, the library writes one with that of the host as
 * the user calls it. */
static void add_name(const char *file, const char *where)
{
    char machine[HOST_NAME_MAX + 1], name[PATH_MAX];
    if (gethostname(machine, sizeof machine) == 0 &&
        snprintf(name, sizeof name, "%s/pmix.%s.tool.%d", where, machine, (int)getpid()) <
            (int)sizeof name &&
        strcmp(name, file) != 0 && link(file, name) != 0)
        notice("tools will not find us by process id: %s: %s", name, strerror(errno));
}

static void say_where(const struct job *job, const char *where)
{
    char file[PATH_MAX];
    int pid = (int)getpid();
    snprintf(file, sizeof file, "%s/pmix.%s.tool.%d", where, job->plan->hosts[0].name, pid);
    add_name(file, where);
    complain("PMIx tools find job %s by process id %d, or by the file %s", job->id, pid, file);
}

void tools_started(struct job *job, const char *where)
{
    for (int i = 0; i < job->nranks; i++)
        if (!job->ranks[i].ended)
            *process_of(job, job_world(job, i)) =
                (struct process){ (int)job->ranks[i].pid, PMIX_PROC_STATE_RUNNING, 0 };
    tell_processes(job, 0, job->nranks);
    if (tools_are_served(job))
        say_where(job, where);
}

void tools_rank_gone(struct job *job, int number, int wait_status)
{
    *process_of(job, job_world(job, number)) = ended((int)job->ranks[number].pid, wait_status);
    tell_processes(job, number, 1);
}

void tools_other_gone(struct job *job, int world)
{
    struct process *process = process_of(job, world);
    if (process->state == PMIX_PROC_STATE_RUNNING)
        process->state = PMIX_PROC_STATE_ABORTED;
}

/* ---- answers ---- */

static const char *qualifier(const pmix_query_t *query, const char *key)
{
    for (size_t i = 0; i < query->nqual; i++)
        if (info_is(&query->qualifiers[i], key) &&
            query->qualifiers[i].value.type == PMIX_STRING)
            return query->qualifiers[i].value.data.string;
    return NULL;
}

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    return copy;
}

static const char *host_of(const struct plan *plan, int world)
{
    return plan->node_names ? plan->node_names[plan->node_of[world]] : plan->hosts[0].name;
}

static int app_of(const struct plan *plan, int world)
{
    return plan->app_of ? plan->app_of[world] : plan->ranks[world].app;
}

/* Of all ranks, or those of one host. */
static bool answer_table(const struct job *job, const char *nspace, const char *host,
                         pmix_value_t *value)
{
    const struct plan *plan = job->plan;
    pmix_data_array_t *table = calloc(1, sizeof *table);
    pmix_proc_info_t *rows = calloc((size_t)plan->world + 1, sizeof *rows);
    if (!table || !rows)
        abort();
    table->type = PMIX_PROC_INFO;
    table->array = rows;
    for (int world = 0; world < plan->world; world++) {
        const char *name = host_of(plan, world);
        const struct process *process = process_of(job, world);
        if (host && strcmp(name, host) != 0)
            continue;
        rows[table->size++] =
            (pmix_proc_info_t){ .proc = proc_named(nspace, world),
                                .hostname = copy_of(name),
                                .executable_name =
                                    copy_of(job->options->apps[app_of(plan, world)].argv[0]),
                                .pid = process->pid,
                                .exit_code = process->code,
                                .state = process->state };
    }
    value->type = PMIX_DATA_ARRAY;
    value->data.darray = table;
    return true;
}

bool tools_answer(const struct job *job, const pmix_query_t *query, const char *key,
                  const char *nspace, pmix_value_t *value)
{
    const char *asked = qualifier(query, PMIX_NSPACE), *host = qualifier(query, PMIX_HOSTNAME);
    bool knows_all = !job->others || tools_are_served(job);
    if (strcmp(key, PMIX_QUERY_NAMESPACES) == 0) {
        value->type = PMIX_STRING;
        value->data.string = copy_of(nspace);
        return true;
    }
    if (asked && strcmp(asked, nspace) != 0)
        return false;
    const char *here = job->plan->hosts[0].name;
    if (strcmp(key, PMIX_QUERY_LOCAL_PROC_TABLE) == 0 &&
        (knows_all || !host || strcmp(host, here) == 0))
        return answer_table(job, nspace, host ? host : here, value);
    return strcmp(key, PMIX_QUERY_PROC_TABLE) == 0 && knows_all &&
           answer_table(job, nspace, NULL, value);
}
