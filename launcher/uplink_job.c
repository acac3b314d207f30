/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See uplink.h: the share of this host, while it runs.  What comes from above is for the ranks here
 * and for the launchers below (remote.c); what happens here and there goes up.
 */
#include "launcher/frames.h"
#include "launcher/input.h"
#include "launcher/job.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/remote.h"
#include "launcher/share.h"
#include "launcher/uplink.h"

#include <signal.h>

static void tell(int kind, const struct pack *payload)
{
    wire_send(&up.wire, kind, payload);
}

void uplink_failed(int code, bool stops)
{
    struct pack pack = { 0 };
    pack_number(&pack, code);
    pack_number(&pack, stops);
    tell(FRAME_FAILED, &pack);
    pack_free(&pack);
    up.noted = true;
}

/* ---- what comes from above ---- */

static void got_ack(struct unpack *payload)
{
    int which = unpack_int(payload, 1, 2);
    size_t bytes = (size_t)unpack_int(payload, 0, 1 << 30);
    up.ahead[which] -= bytes < up.ahead[which] ? bytes : up.ahead[which];
    out_resume(which == 1 ? &out_stdout : &out_stderr);
}

static void input_is_taken(void)
{
    tell(FRAME_GOT, NULL);
}

static void got_input(struct unpack *payload)
{
    size_t bytes;
    const char *text = unpack_bytes(payload, &bytes);
    if (!payload->bad)
        input_give(text, bytes, input_is_taken);
}

static void got_signal(int signal)
{
    if (signal == SIGKILL) {
        up.job->stopping = up.job->killed = true;
        up.told = true;
    } else if (signals_ask_to_end(signal)) {
        up.job->interrupted = signal;
    }
    job_signal(up.job, signal);
    remote_signalled(up.job, signal);
}

static void got_stop(int grace_ms)
{
    up.told = true;
    job_stop(up.job, grace_ms);
}

void uplink_said(int kind, struct unpack *payload)
{
    switch (kind) {
    case FRAME_SIGNAL:
        got_signal(unpack_int(payload, 1, NSIG - 1));
        break;
    case FRAME_STOP:
        got_stop(unpack_int(payload, 0, 1 << 20));
        break;
    case FRAME_ACK:
        got_ack(payload);
        break;
    case FRAME_INPUT:
        got_input(payload);
        break;
    case FRAME_POST:
        remote_post(payload);
        break;
    case FRAME_ENDED:
    case FRAME_CARDS:
        remote_heard(kind, payload);
        break;
    default:
        payload->bad = true;
    }
}

/* Nobody is there who wants to know how this ends. */
void uplink_abandon(void)
{
    up.over = true;
    up.told = true;
    if (!up.job)
        return;
    up.job->alone = true;
    remote_abandon();
    out_stdout.broken = out_stderr.broken = true;
    if (!up.job->exit_code)
        up.job->exit_code = 1;
    up.job->failed = true;
    up.job->interrupted = SIGTERM; /* do not wait for readers of output */
    job_stop(up.job, GRACE_MS);
}

/* ---- the job, as job.c sees it ---- */

static void started(struct job *job)
{
    wire_release(&up.wire);
    remote_started(job);
    if (job->failed)
        job_stop(job, 0);
}

static void stopping(struct job *job, int grace_ms)
{
    if (!up.told)
        uplink_failed(job->exit_code, true);
    up.told = true;
    remote_stopping(job, grace_ms);
}

/* A bad end that stops nobody (--keep-going, a program that is not of MPI) still counts for the exit
 * code. */
static void note_failure(const struct job *job)
{
    if (job->failed && !up.told && !up.noted)
        uplink_failed(job->exit_code, false);
}

static void signalled(struct job *job, int signal)
{
    (void)job, (void)signal; /* a signal to xmpid concerns this host */
}

static void one_turn(struct job *job)
{
    note_failure(job);
    remote_turn(job);
}

static void finish(struct job *job)
{
    note_failure(job);
    wire_send_number(&up.wire, FRAME_DONE, job->exit_code ? job->exit_code : output_lost);
    wire_release(&up.wire);
    while (!up.over)
        loop_turn(-1);
    remote_finish(job);
}

static const struct others neighbours = { .started = started,
                                          .stopping = stopping,
                                          .signalled = signalled,
                                          .ended = remote_ended,
                                          .turn = one_turn,
                                          .running = remote_running,
                                          .late = remote_late,
                                          .finish = finish,
                                          .send = remote_send,
                                          .host_of = remote_host_of,
                                          .child_died = remote_child_died };

/* ---- the share ---- */

static int prepare(struct job *job, struct plan *plan, struct options *options)
{
    const int32_t *node_of_other = NULL;
    struct unpack from = { up.share.bytes, up.share.bytes + up.share.n, false };
    struct share_wish wish = { up.name, up.launch.first - 1, &node_of_other, up.own };
    int status = share_take(&from, &wish, job, plan, options);
    job->options = options;
    job->plan = plan;
    options->timeout = 0; /* xmpirun looks at the clock */
    job->others = &neighbours;
    job->host = up.launch.first - 1;
    remote_begin(job, node_of_other, tell);
    if (status)
        return status;
    budget_read(&plan->hosts[0].budget, options->hwthreads);
    status = plan->nranks ? plan_cpus(options, plan) : 0;
    return status ? status : input_open(job);
}

int uplink_job(void)
{
    static struct job job;
    static struct plan plan;
    static struct options options;
    int status = prepare(&job, &plan, &options);
    if (!status && up.noted) /* a host below was lost while xmpirun made the job */
        status = 1;
    if (status) { /* nobody runs here; those below hear of it as soon as the job begins */
        plan.nranks = 0;
        job.failed = true;
        job.exit_code = status;
    }
    up.job = &job;
    status = job_run(&job);
    return up.own && !status && up.told ? 1 : status; /* the user looks at our exit code, too */
}
