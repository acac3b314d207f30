/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpirun runs a job that has ranks on other hosts: they are told what it is, and its own share
 * runs as any job does.
 */
#include "launcher/frames.h"
#include "launcher/input.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/post.h"
#include "launcher/remote.h"
#include "launcher/share.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void started(struct job *job)
{
    remote_started(job);
    if (!job->failed) /* otherwise they have heard of it: job_stop */
        input_start();
}

static void signalled(struct job *job, int signal)
{
    remote_signalled(job, signal);
    if (signal == SIGCONT)
        input_continued();
}

static const struct others below = { .started = started,
                                     .stopping = remote_stopping,
                                     .signalled = signalled,
                                     .ended = remote_ended,
                                     .turn = remote_turn,
                                     .running = remote_running,
                                     .late = remote_late,
                                     .finish = remote_finish,
                                     .send = remote_send,
                                     .host_of = remote_host_of,
                                     .child_died = remote_child_died };

extern char **environ;

static int local_host(const struct plan *plan)
{
    int here = plan->nhosts - 1;
    while (here >= 0 && !plan->hosts[here].is_local)
        here--;
    return here;
}

static size_t length_of(char *const *texts)
{
    size_t bytes = 0;
    for (; texts && *texts; texts++)
        bytes += strlen(*texts) + 1;
    return bytes;
}

/* All of it travels in one frame. */
static int check_length(const struct options *options, const struct pack *pack)
{
    if (pack->n <= WIRE_LONGEST)
        return 0;
    size_t words = length_of(options->words), environment = length_of(environ);
    complain(
        "what other hosts are told of this job is %zu bytes, of which the command line is "
        "%zu, the environment %zu, and names of hosts the most of the rest; %d is the most: "
        "use shorter ones, or let programs read theirs from a file",
        pack->n, words, environment, WIRE_LONGEST);
    return EXIT_USAGE;
}

int remote_run(const struct options *options, const struct plan *plan)
{
    struct plan share;
    struct pack pack = { 0 };
    struct job job = {
        .options = options, .plan = &share, .others = &below, .host = POST_ROOT
    };
    int status = plan_share(options, plan, local_host(plan), &share);
    if (status) {
        remote_dismiss(status);
        return status;
    }
    int32_t *node_of = share_nodes(plan);
    share_begin(&job, plan);
    share_pack(&job, plan, node_of, &pack);
    remote_begin(&job, node_of, NULL);
    status = check_length(options, &pack);
    if (!status)
        status = input_prepare(&job, plan);
    if (!status) {
        remote_tell(NULL, FRAME_JOB, &pack);
        status = job_run(&job);
    } else {
        remote_dismiss(status);
    }
    pack_free(&pack);
    free(node_of);
    return status;
}
