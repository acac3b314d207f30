/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The PMIx server of a job.
 *
 *     start       before the ranks: their environment says where the server is
 *     started     tools may know where it is, too
 *     rank_env    what the library wants a rank's environment to hold
 *     (running)   upcalls and time, in pmix_clients.c
 *     rank_gone   the other clients are told
 *
 * Cost: 2 ms of CPU time for the server, 0.1 ms more per rank, and 3 ms for each client, most of
 * it in its own PMIx_Init.
 */
#include "launcher/pmixsrv.h"

#include "launcher/elf.h"
#include "launcher/environment.h"
#include "launcher/out.h"
#include "launcher/pmix_clients.h"
#include "launcher/pmix_far.h"
#include "launcher/pmix_job.h"
#include "launcher/pmix_lib.h"
#include "launcher/pmix_start.h"
#include "launcher/scratch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct {
    bool runs;
    pmix_nspace_t nspace;
    char folder[PATH_MAX]; /* the server's own */
    char **env;            /* of the rank being started */
} server;

static bool is_wanted(const struct job *job)
{
    if (job->options->tools)
        return true;
    if (job->options->pmix != PMIX_AUTO)
        return job->options->pmix == PMIX_ALWAYS;
    for (int i = 0; i < job->options->napps; i++)
        if (elf_may_use_pmix(job->programs[i]))
            return true;
    return false;
}

/* The library opens the directory to everybody when there are tools, so it gets one inside ours. */
static const char *make_folder(struct job *job, bool tools)
{
    char unique[BOOT_JOB_CHARS + 16]; /* several hosts may be one machine */
    snprintf(unique, sizeof unique, job->others ? "%s.%d" : "%s", job->id, job->host);
    const char *scratch = scratch_make(unique, tools);
    if (!scratch)
        return "no place for a directory: XDG_RUNTIME_DIR, /dev/shm, TMPDIR or /tmp";
    int n = snprintf(server.folder, sizeof server.folder, tools ? "%s/pmix" : "%s", scratch);
    if (n >= (int)sizeof server.folder)
        return strerror(ENAMETOOLONG);
    return tools && mkdir(server.folder, 0700) != 0 ? strerror(errno) : NULL;
}

static const char *start(struct job *job)
{
    pmix_server_module_t module;
    pmix_job_name(job, server.nspace);
    if (clients_open(job, server.nspace, &module) != 0)
        return strerror(errno);
    const char *why = make_folder(job, module.tool_connected);
    if (!why)
        why =
            pmix_server_start(server.nspace, job->plan->hosts[0].name, server.folder, &module);
    if (why)
        return why;
    server.runs = true;
    pmix_status_t status = clients_watch();
    if (status >= 0 && job->nranks)
        status = pmix_job_register(job, server.nspace, server.folder, NULL);
    return status >= 0 ? NULL : pmix_lib.Error_string(status);
}

int pmixsrv_start(struct job *job)
{
    far_open(false, server.nspace, server.nspace);
    if (!is_wanted(job))
        return 0;
    const char *why = start(job);
    if (!why) {
        far_open(true, server.nspace, pmix_job_family(job, server.nspace));
        notice("PMIx server for job %s", server.nspace);
        return 0;
    }
    pmixsrv_stop(job);
    scratch_remove();
    if (job->options->pmix == PMIX_ALWAYS || job->options->tools) {
        complain("cannot start a PMIx server: %s (--pmix=never does without)", why);
        return 1;
    }
    notice("no PMIx server: %s", why);
    return 0;
}

static void forget_env(void)
{
    for (char **item = server.env; item && *item; item++)
        free(*item);
    free(server.env);
    server.env = NULL;
}

int pmixsrv_rank_env(struct job *job, int rank, struct environment *env)
{
    (void)job;
    if (!server.runs)
        return 0;
    forget_env();
    pmix_proc_t proc = clients_proc(rank);
    pmix_status_t status = pmix_lib.server_setup_fork(&proc, &server.env);
    if (status != PMIX_SUCCESS) {
        complain("cannot prepare rank %d for PMIx: %s", rank, pmix_lib.Error_string(status));
        return 1;
    }
    for (char **item = server.env; item && *item; item++)
        environment_add(env, *item);
    return 0;
}

void pmixsrv_started(struct job *job)
{
    (void)job;
    if (server.runs)
        clients_started(server.folder);
}

void pmixsrv_rank_gone(struct job *job, int rank, int wait_status)
{
    (void)job;
    if (server.runs)
        clients_gone(rank, wait_status);
}

void pmixsrv_other_gone(struct job *job, int world)
{
    (void)job;
    if (server.runs)
        clients_other_gone(world);
}

void pmixsrv_stop(struct job *job)
{
    (void)job;
    if (!server.runs)
        return;
    far_open(false, server.nspace, server.nspace);
    clients_close();
    forget_env();
    scratch_remove();
    server.runs = false;
}
