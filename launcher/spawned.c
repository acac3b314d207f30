/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See spawned.h.  The job has the options of xmpirun's command line that concern how jobs run and what
 * is shown of them; what it runs, and where, is the wish.
 */
#include "launcher/spawned.h"

#include "launcher/job.h"
#include "launcher/master.h"
#include "launcher/out.h"
#include "launcher/pack.h"
#include "launcher/remote.h"
#include "launcher/wish.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the wish ---- */

/* And the words of xmpirun's command line. */
static bool read_wish(int fd, struct wish *wish, struct strings *words)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !status.st_size)
        return false;
    void *bytes =
        mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return false;
    struct unpack from = { bytes, (const char *)bytes + status.st_size, false };
    close(fd);
    bool good = wish_take(&from, wish);
    words->text = unpack_texts(&from, &words->n);
    return good && !from.bad && words->n;
}

/* The first job's own: what it runs, where, for how long, who may look. */
static void forget_first_job(struct options *options, const struct wish *wish)
{
    options->apps = NULL;
    options->napps = 0;
    options->map = (struct map_options){ 0 };
    options->no_overload = false;
    if (options->node_rank >= 0) /* where the other nodes are only their users know */
        options->nnodes = 0;
    options->node_rank = -1;
    options->timeout = 0;
    options->tools = false;
    options->iof.stdin_rank = STDIN_NONE;
    if (options->iof.pty < 0)
        options->iof.pty = wish->pty;
    options->master_addr = options->master_port = NULL;
    if (wish->own_hosts) {
        options->hosts = options->hostfiles = (struct strings){ 0 };
        options->nnodes = 0;
    }
}

/* Each job has a time line of its own. */
static void name_trace(int job)
{
    const char *first = getenv("XMPI_TRACE");
    char name[4096];
    if (first && *first && snprintf(name, sizeof name, "%s.%d", first, job) < (int)sizeof name)
        setenv("XMPI_TRACE", name, 1);
}

int spawned_apply(struct options *options, struct wish *wish)
{
    forget_first_job(options, wish);
    int status = cli_add(options, &wish->options);
    options->apps = wish->apps;
    options->napps = wish->napps;
    options->spawned = wish;
    launcher_job = wish->number;
    return status;
}

int spawned_main(const char *where)
{
    struct options options;
    struct wish wish;
    struct strings words;
    int wish_fd, socket, letters;
    prctl(PR_SET_NAME, "xmpirun");
    if (sscanf(where, "%d,%d,%d", &socket, &wish_fd, &letters) != 3 ||
        !read_wish(wish_fd, &wish, &words)) {
        complain("--spawned is for xmpirun itself");
        return EXIT_USAGE;
    }
    spawned_link(socket, letters);
    launcher_job = wish.number;
    name_trace(wish.number);
    unsetenv(
        "MASTER_ADDR"); /* where rank 0 of the first job may be found; other hosts get ours */
    unsetenv("MASTER_PORT");
    int status = cli_parse(words.n, words.text, &options);
    if (!status)
        status = spawned_apply(&options, &wish);
    struct plan plan;
    if (!status)
        status = plan_make(&options, &plan);
    if (status) {
        remote_dismiss(status);
        return status;
    }
    wish.serves |= plan_is_spread(&plan);
    if (!wish.serves)
        options.pmix = PMIX_NEVER; /* xmpirun's server is theirs */
    master_decide(&options, &plan);
    struct job job = { .options = &options, .plan = &plan };
    status = plan_is_spread(&plan) ? remote_run(&options, &plan) : job_run(&job);
    spawned_flush();
    return status;
}
