/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Jobs on several hosts, in xmpirun: every host gets its share and runs it as xmpirun runs its own
 * (job.c); what one host says of deaths, network addresses and failures goes to all others.
 * remote_start.c has got the hosts.
 */
#define _GNU_SOURCE 1
#include "launcher/remote.h"

#include "launcher/cards.h"
#include "launcher/frames.h"
#include "launcher/input.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/share.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 5000 };

static struct {
    struct job *job;
    const struct plan *plan;
} all;

static void send_all(const struct remote *but, int kind, const struct pack *pack)
{
    for (int i = 0; i < remotes.n; i++)
        if (&remotes.list[i] != but && !remotes.list[i].done)
            wire_send(remotes.list[i].wire, kind, pack);
}

/* ---- what hosts say while the job runs ---- */

static void got_output(struct remote *remote, struct unpack *payload)
{
    size_t bytes;
    int which = unpack_int(payload, 1, 2);
    const char *text = unpack_bytes(payload, &bytes);
    if (payload->bad)
        return;
    out_write(which == 1 ? &out_stdout : &out_stderr, remote, text, bytes);
    remote->owed[which] += bytes;
}

/* Once something has failed, what others complain about is its consequence. */
static void got_text(struct unpack *payload)
{
    const char *text = unpack_text(payload);
    if (!all.job->failed || all.job->options->keep_going || all.job->options->verbose)
        out_write(&out_stderr, NULL, text, strlen(text));
}

static void got_failed(struct unpack *payload)
{
    int code = unpack_int(payload, 0, 255), stops = unpack_int(payload, 0, 1);
    if (payload->bad)
        return;
    if (!all.job->failed)
        all.job->exit_code = code;
    all.job->failed = true;
    if (stops)
        job_stop(all.job, GRACE_MS);
}

static void tell_dead(const struct remote *from, int world, int status, uint32_t word)
{
    struct pack pack = { 0 };
    pack_number(&pack, world);
    pack_number(&pack, status);
    pack_number(&pack, word);
    send_all(from, FRAME_ENDED, &pack);
    pack_free(&pack);
}

static void got_ended(struct remote *remote, struct unpack *payload)
{
    int world = unpack_int(payload, 0, all.plan->world - 1);
    int status = (int)unpack_number(payload);
    uint32_t word = (uint32_t)unpack_number(payload);
    if (payload->bad)
        return;
    job_other_ended(all.job, world, word);
    tell_dead(remote, world, status, word);
}

static void got_cards(struct remote *remote, struct unpack *payload)
{
    struct pack copy = { 0 };
    pack_raw(&copy, payload->at, (size_t)(payload->end - payload->at));
    if (cards_hand_out(all.job, payload))
        send_all(remote, FRAME_CARDS, &copy);
    else
        payload->bad = true;
    pack_free(&copy);
}

static void got_done(struct remote *remote)
{
    remote->done = true;
    wire_send(remote->wire, FRAME_BYE, NULL);
}

static void got_running(struct remote *remote, int kind, struct unpack *payload)
{
    switch (kind) {
    case FRAME_OUTPUT:
        got_output(remote, payload);
        break;
    case FRAME_TEXT:
        got_text(payload);
        break;
    case FRAME_FAILED:
        got_failed(payload);
        break;
    case FRAME_ENDED:
        got_ended(remote, payload);
        break;
    case FRAME_CARDS:
        got_cards(remote, payload);
        break;
    case FRAME_DONE:
        got_done(remote);
        break;
    case FRAME_GOT:
        input_go_on();
        break;
    default:
        payload->bad = true;
    }
}

/* ---- a host is lost ---- */

static void bury_ranks(const struct remote *remote)
{
    for (int i = 0; i < all.plan->nranks; i++) {
        const struct planned *rank = &all.plan->ranks[i];
        if (&all.plan->hosts[rank->host] != remote->host)
            continue;
        job_other_ended(all.job, rank->world, BOOT_DEAD);
        tell_dead(remote, rank->world, 0, BOOT_DEAD);
    }
}

static void lost(struct remote *remote, const char *why)
{
    bury_ranks(remote);
    job_fail(all.job, 1, "host %s is lost: %s%s", remote->host->name, why,
             remote_agent_says(remote));
}

/* ---- the job, as job.c sees it ---- */

static void share_send(struct remote *remote, const struct job *job)
{
    struct pack pack = { 0 };
    if (share_pack(job, all.plan, (int)(remote->host - all.plan->hosts), &pack))
        wire_send(remote->wire, FRAME_JOB, &pack);
    else
        got_done(remote); /* nothing to do there */
    pack_free(&pack);
}

static void stopping(struct job *job, int grace_ms)
{
    job_set_deadline(job, DEADLINE_OTHERS, grace_ms + PATIENCE_MS);
    for (int i = 0; i < remotes.n; i++)
        wire_send_number(remotes.list[i].wire, FRAME_STOP, grace_ms);
}

static void signalled(struct job *job, int signal)
{
    for (int i = 0; i < remotes.n; i++)
        wire_send_number(remotes.list[i].wire, FRAME_SIGNAL, signal);
    if (signal == SIGKILL)
        job_set_deadline(job, DEADLINE_OTHERS, PATIENCE_MS);
    if (signal == SIGCONT)
        input_continued();
}

static void ended(struct job *job, int number, int wait_status, uint32_t word)
{
    tell_dead(NULL, job_world(job, number), wait_status, word);
}

static void send_input(int host, const char *text, size_t bytes)
{
    struct pack pack = { 0 };
    pack_bytes(&pack, text, bytes);
    for (int i = 0; i < remotes.n; i++)
        if (remotes.list[i].host == &all.plan->hosts[host])
            wire_send(remotes.list[i].wire, FRAME_INPUT, &pack);
    pack_free(&pack);
}

static void started(struct job *job)
{
    if (job->failed)
        return; /* they have heard of it: job_stop */
    input_start(job, all.plan, send_input);
}

static void acknowledge(struct remote *remote)
{
    for (int which = 1; which <= 2; which++) {
        struct pack pack = { 0 };
        if (!remote->owed[which] || out_is_full(which == 1 ? &out_stdout : &out_stderr))
            continue;
        pack_number(&pack, which);
        pack_number(&pack, (int64_t)remote->owed[which]);
        wire_send(remote->wire, FRAME_ACK, &pack);
        pack_free(&pack);
        remote->owed[which] = 0;
    }
}

static void part_with(struct remote *remote)
{
    remote->done = true;
    wire_close(remote->wire);
    remote->wire = NULL;
}

/* An agent that ends well may have put its daemon into the background; one that does not takes the
 * host with it. */
static void look_for_lost_agents(struct job *job)
{
    char how[80];
    for (int i = 0; i < remotes.n; i++) {
        struct remote *remote = &remotes.list[i];
        if (remote->done || !remote_agent_failed(remote, how, sizeof how))
            continue;
        part_with(remote);
        bury_ranks(remote);
        job_fail(job, 1, "host %s is lost: its launch agent %s%s", remote->host->name, how,
                 remote_agent_says(remote));
    }
}

/* Hosts that were told to stop and do not answer. */
static void leave_behind(struct job *job)
{
    (void)job;
    for (int i = 0; i < remotes.n; i++) {
        if (remotes.list[i].done)
            continue;
        complain("host %s does not answer; its ranks end when its xmpid notices",
                 remotes.list[i].host->name);
        part_with(&remotes.list[i]);
    }
}

static void one_turn(struct job *job)
{
    struct pack cards = { 0 };
    if (cards_collect(job, &cards))
        send_all(NULL, FRAME_CARDS, &cards);
    pack_free(&cards);
    for (int i = 0; i < remotes.n; i++)
        acknowledge(&remotes.list[i]);
    look_for_lost_agents(job);
}

static bool running(const struct job *job)
{
    (void)job;
    for (int i = 0; i < remotes.n; i++)
        if (!remotes.list[i].done)
            return true;
    return false;
}

/* Daemons end by themselves after the last word; agents when their daemon has. */
static void finish(struct job *job)
{
    (void)job;
    int left = remotes.n;
    for (int tries = 0; left && tries < 100; tries++) {
        left = 0;
        for (int i = 0; i < remotes.n; i++)
            left += remotes.list[i].wire != NULL;
        if (left)
            loop_turn(10);
    }
    remote_dismiss();
}

static const struct others others = { .started = started,
                                      .stopping = stopping,
                                      .signalled = signalled,
                                      .ended = ended,
                                      .turn = one_turn,
                                      .running = running,
                                      .late = leave_behind,
                                      .finish = finish,
                                      .child_died = remote_child_died };

int remote_run(const struct options *options, const struct plan *plan)
{
    struct plan share;
    struct job job = { .options = options, .plan = &share, .others = &others };
    int here = plan->nhosts - 1;
    while (here >= 0 && !plan->hosts[here].is_local)
        here--;
    int status = plan_share(options, plan, here, &share);
    if (status) {
        remote_dismiss();
        return status;
    }
    share_begin(&job, plan);
    all.plan = plan;
    all.job = &job;
    remotes.said = got_running;
    remotes.lost = lost;
    for (int i = 0; i < remotes.n; i++)
        share_send(&remotes.list[i], &job);
    return job_run(&job);
}
