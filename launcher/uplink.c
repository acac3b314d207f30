/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See uplink.h.  The share of a job comes with the words of xmpirun's command line, its environment
 * and its directory, so everything but "which ranks" is decided here as it was there.  Output
 * goes up in whole lines, at most WINDOW bytes ahead of what xmpirun has written.
 *
 * When the connection breaks, or our stdin ends (the agent has gone), all ranks are stopped.
 */
#include "config.h"

#define _GNU_SOURCE 1 /* pipe2 */
#include "launcher/uplink.h"

#include "launcher/cards.h"
#include "launcher/dial.h"
#include "launcher/frames.h"
#include "launcher/job.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/share.h"
#include "launcher/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 1 << 20 };

static struct {
    struct wire wire;
    struct watch agent; /* our stdin: its end is the agent's */
    struct watch input; /* the pipe to the rank that reads stdin */
    struct pack piece;  /* of input, not yet taken */
    size_t piece_done;
    size_t ahead[3];   /* bytes of output not acknowledged, by stream */
    int code;          /* of ours, when there is no job */
    bool over;         /* xmpirun has said goodbye */
    bool noted;        /* it knows our exit code */
    bool told;         /* that we stop, or by it that we shall */
    struct pack share; /* as it came; options and plan point into it */
    struct job *job;
} up = { .wire.watch.fd = -1, .input.fd = -1 };

/* ---- output ---- */

static bool relay(struct out *out, const void *by, const char *text, size_t bytes)
{
    struct pack pack = { 0 };
    int which = out == &out_stdout ? 1 : 2;
    if (by && up.ahead[which] >= WINDOW)
        return false;
    if (by) {
        pack_number(&pack, which);
        up.ahead[which] += bytes;
    }
    pack_bytes(&pack, text, bytes);
    wire_send(&up.wire, by ? FRAME_OUTPUT : FRAME_TEXT, &pack);
    pack_free(&pack);
    return true;
}

static void got_ack(struct unpack *payload)
{
    int which = unpack_int(payload, 1, 2);
    size_t bytes = (size_t)unpack_int(payload, 0, 1 << 30);
    up.ahead[which] -= bytes < up.ahead[which] ? bytes : up.ahead[which];
    out_resume(which == 1 ? &out_stdout : &out_stderr);
}

/* ---- input ---- */

static void input_end(void)
{
    if (up.input.fd < 0)
        return;
    loop_drop(&up.input);
    close(up.input.fd);
    up.input.fd = -1;
}

static void input_push(struct watch *watch, uint32_t events)
{
    (void)events;
    while (up.piece_done < up.piece.n && watch->fd >= 0) {
        ssize_t n =
            write(watch->fd, up.piece.bytes + up.piece_done, up.piece.n - up.piece_done);
        if (n < 0 && errno == EAGAIN) {
            if (!watch->added)
                loop_add(watch, EPOLLOUT);
            return;
        }
        if (n < 0 && errno != EINTR)
            input_end(); /* nobody reads any more */
        else if (n > 0)
            up.piece_done += (size_t)n;
    }
    loop_drop(watch);
    up.piece.n = up.piece_done = 0;
    wire_send(&up.wire, FRAME_GOT, NULL);
}

static void got_input(struct unpack *payload)
{
    size_t bytes;
    const char *text = unpack_bytes(payload, &bytes);
    if (!bytes) {
        input_end();
        return;
    }
    pack_raw(&up.piece, text, bytes);
    input_push(&up.input, 0);
}

/* The rank that reads stdin inherits ours: from now on the end of a pipe. */
static int input_open(void)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || dup2(ends[0], STDIN_FILENO) < 0)
        return -1;
    close(ends[0]);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    up.input = (struct watch){ .fd = ends[1], .ready = input_push };
    return 0;
}

/* ---- what xmpirun says ---- */

static void got_signal(int signal)
{
    if (signal == SIGKILL) {
        up.job->stopping = up.job->killed = true;
        up.told = true;
    } else if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT) {
        up.job->interrupted = signal;
    }
    job_signal(up.job, signal);
}

static void got_stop(int grace_ms)
{
    up.told = true;
    job_stop(up.job, grace_ms);
}

static void got_ended(struct unpack *payload)
{
    int world = unpack_int(payload, 0, up.job->plan->world - 1);
    unpack_number(payload); /* its wait status: of no interest here */
    uint32_t word = (uint32_t)unpack_number(payload);
    if (!payload->bad)
        job_other_ended(up.job, world, word);
}

static void got_running(int kind, struct unpack *payload)
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
    case FRAME_ENDED:
        got_ended(payload);
        break;
    case FRAME_CARDS:
        payload->bad = !cards_hand_out(up.job, payload);
        break;
    default:
        payload->bad = true;
    }
}

/* Nobody is there who wants to know how this ends. */
static void abandon(void)
{
    up.over = true;
    up.told = true;
    if (!up.job)
        return;
    out_stdout.broken = out_stderr.broken = true;
    if (!up.job->exit_code)
        up.job->exit_code = 1;
    up.job->failed = true;
    up.job->interrupted = SIGTERM; /* do not wait for readers of output */
    job_stop(up.job, GRACE_MS);
}

static void got_frame(struct wire *wire, int kind, struct unpack *payload)
{
    if (kind == FRAME_BYE) {
        up.over = true;
    } else if (!up.job && kind == FRAME_JOB) {
        pack_raw(&up.share, payload->at, (size_t)(payload->end - payload->at));
        wire_hold(wire); /* what follows is for the job */
    } else if (up.job) {
        got_running(kind, payload);
    }
    if (!payload->bad)
        return;
    complain("xmpirun has sent a frame %d that makes no sense", kind);
    wire_close(wire);
    abandon();
}

static void lost(struct wire *wire, const char *why)
{
    (void)wire;
    if (!up.over && !up.job) {
        complain("xmpid has lost xmpirun: %s", why); /* on the agent's stderr */
        up.code = 1;
    }
    abandon();
}

static const struct wire_user user = { .frame = got_frame, .lost = lost };

static void agent_spoke(struct watch *watch, uint32_t events)
{
    (void)events;
    char piece[256];
    ssize_t n = read(watch->fd, piece, sizeof piece);
    if (n > 0 || (n < 0 && errno == EINTR))
        return;
    loop_drop(watch);
    close(watch->fd);
    watch->fd = -1;
    wire_close(&up.wire);
    up.code = 1;
    abandon();
}

/* ---- the job, as job.c sees it ---- */

static void started(struct job *job)
{
    (void)job;
    wire_release(&up.wire);
}

static void tell_failed(const struct job *job, bool stops)
{
    struct pack pack = { 0 };
    pack_number(&pack, job->exit_code);
    pack_number(&pack, stops);
    wire_send(&up.wire, FRAME_FAILED, &pack);
    pack_free(&pack);
    up.noted = true;
}

static void stopping(struct job *job, int grace_ms)
{
    (void)grace_ms;
    if (!up.told)
        tell_failed(job, true);
    up.told = true;
}

/* A bad end that stops nobody (--keep-going, a program that is not of MPI) still counts for the exit
 * code. */
static void note_failure(const struct job *job)
{
    if (job->failed && !up.told && !up.noted)
        tell_failed(job, false);
}

static void signalled(struct job *job, int signal)
{
    (void)job, (void)signal; /* a signal to xmpid concerns this host */
}

static void ended(struct job *job, int number, int wait_status, uint32_t word)
{
    struct pack pack = { 0 };
    pack_number(&pack, job_world(job, number));
    pack_number(&pack, wait_status);
    pack_number(&pack, word);
    wire_send(&up.wire, FRAME_ENDED, &pack);
    pack_free(&pack);
}

static void one_turn(struct job *job)
{
    struct pack cards = { 0 };
    note_failure(job);
    if (cards_collect(job, &cards))
        wire_send(&up.wire, FRAME_CARDS, &cards);
    pack_free(&cards);
}

static bool running(const struct job *job)
{
    (void)job;
    return false;
}

static void finish(struct job *job)
{
    note_failure(job);
    wire_send_number(&up.wire, FRAME_DONE, job->exit_code);
    wire_release(&up.wire);
    while (!up.over)
        loop_turn(-1);
}

static bool child_died(int pid, int wait_status)
{
    (void)pid, (void)wait_status;
    return false;
}

static const struct others uplink = { .started = started,
                                      .stopping = stopping,
                                      .signalled = signalled,
                                      .ended = ended,
                                      .turn = one_turn,
                                      .running = running,
                                      .finish = finish,
                                      .child_died = child_died };

/* ---- the share ---- */

static int run_share(void)
{
    static struct job job;
    static struct plan plan;
    static struct options options;
    struct unpack from = { up.share.bytes, up.share.bytes + up.share.n, false };
    out_stdout.kind = out_stderr.kind = OUT_RELAYED;
    out_stdout.relay = out_stderr.relay = relay;
    int status = share_take(&from, &job, &plan, &options);
    if (!status) {
        budget_read(&plan.hosts[0].budget, options.hwthreads);
        status = plan_cpus(&options, &plan);
    }
    if (!status && input_open() != 0)
        status = 1;
    job.options = &options;
    job.plan = &plan;
    job.others = &uplink;
    if (!status) {
        up.job = &job;
        return job_run(&job);
    }
    job.failed = true;
    job.exit_code = status;
    stopping(&job, 0);
    finish(&job);
    return status;
}

/* ---- hello ---- */

static void say_hello(void)
{
    struct pack pack = { 0 };
    struct budget budget;
    char name[256] = "?";
    gethostname(name, sizeof name - 1);
    budget_read(&budget, false);
    pack_text(&pack, PACKAGE_VERSION);
    pack_text(&pack, name);
    pack_number(&pack, budget.cores);
    pack_number(&pack, budget.pus);
    pack_number(&pack, budget.slots);
    pack_number(&pack, (int64_t)(budget.quota > 0 ? budget.quota * 1000 : 0));
    pack_number(&pack, getpid());
    wire_send(&up.wire, FRAME_HELLO, &pack);
    pack_free(&pack);
}

int uplink_run(const char *addresses, int number, const uint8_t *secret)
{
    if (loop_open() != 0 || dial(&up.wire, &user, addresses, number, secret) != 0)
        return 1;
    int agent = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    up.agent = (struct watch){ .fd = agent, .ready = agent_spoke };
    if (agent >= 0)
        loop_add(&up.agent, EPOLLIN); /* a file is no agent's */
    say_hello();
    while (!up.over && !up.share.n)
        loop_turn(-1);
    return up.share.n && !up.over ? run_share() : up.code;
}
