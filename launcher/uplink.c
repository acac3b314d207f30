/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See uplink.h.  We hear which hosts to start, start them (remote_start.c), and hear of the job: with
 * the words of xmpirun's command line, its environment and its directory, so everything but "which
 * ranks" is decided here as it was there.  Output goes up in whole lines, at most UPLINK_WINDOW bytes
 * ahead of what has been passed on there.
 *
 * When the connection breaks, or our stdin ends (the agent has gone), all ranks are stopped.  An
 * xmpirun that the user has started here (gather.c) has no agent, and keeps to its own words.
 */
#include "config.h"

#include "launcher/uplink.h"

#include "launcher/dial.h"
#include "launcher/frames.h"
#include "launcher/out.h"
#include "launcher/proc.h"
#include "launcher/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

struct uplink up = { .wire.watch.fd = -1 };

static struct watch agent; /* our stdin: its end is the agent's */
static struct pack hosts;  /* as it came; the launch and our name point into it */

/* ---- output ---- */

/* Without a connection the launcher's own words go to the agent. */
static bool relay(struct out *out, const void *by, const char *text, size_t bytes)
{
    struct pack pack = { 0 };
    int which = out == &out_stdout ? 1 : 2;
    if (by && up.ahead[which] >= UPLINK_WINDOW)
        return false;
    if (by) {
        pack_number(&pack, which);
        up.ahead[which] += bytes;
    } else if (up.wire.watch.fd < 0) {
        return write(STDERR_FILENO, text, bytes) >= 0;
    }
    pack_bytes(&pack, text, bytes);
    wire_send(&up.wire, by ? FRAME_OUTPUT : FRAME_TEXT, &pack);
    pack_free(&pack);
    return true;
}

/* ---- what comes from below ---- */

/* Until the job runs, hellos, shapes and complaints are all, and for xmpirun. */
static void said_below(struct remote *remote, int kind, struct unpack *payload)
{
    struct pack copy = { 0 };
    (void)remote;
    if (kind != FRAME_HELLO && kind != FRAME_SHAPE && kind != FRAME_TEXT &&
        kind != FRAME_FAILED) {
        payload->bad = true;
        return;
    }
    pack_rest(&copy, payload);
    wire_send(&up.wire, kind, &copy);
    pack_free(&copy);
}

static void lost_below(struct remote *remote, const char *why)
{
    remote_fail_start("host %s: %s%s", remote->name, why, remote_agent_says(remote));
    uplink_failed(1, false);
}

/* ---- what comes from above ---- */

static void say_shape(void)
{
    struct pack pack = { 0 };
    pack_number(&pack, up.wire.number);
    shape_pack_here(&pack, up.own);
    wire_send(&up.wire, FRAME_SHAPE, &pack);
    pack_free(&pack);
}

static void got_hosts(const struct unpack *payload)
{
    pack_rest(&hosts, payload);
    struct unpack from = { hosts.bytes, hosts.bytes + hosts.n, false };
    up.launch.pulse_ms = unpack_int(&from, 0, INT_MAX);
    up.launch.seconds = unpack_int(&from, 1, 1 << 20);
    up.launch.fanout = unpack_int(&from, 1, FANOUT_MOST);
    up.launch.shapes = unpack_int(&from, 0, 1);
    up.launch.template = unpack_text(&from);
    launcher_name = up.name = unpack_text(&from);
    up.launch.names = (const char *const *)unpack_texts(&from, &up.launch.n);
    remotes.said = said_below;
    remotes.lost = lost_below;
    if (from.bad)
        remote_fail_start("the hosts that it is to start are not to be understood");
    if (from.bad || remote_start(&up.launch) != 0)
        uplink_failed(1, false);
    else if (up.launch.shapes)
        say_shape();
}

/* Where users have started us our stderr is theirs: it is told here, not up there. */
static void got_bye(struct wire *wire, struct unpack *payload)
{
    char why[1024];
    up.over = true;
    if (payload->at == payload->end)
        return;
    up.code = unpack_int(payload, 1, 255);
    snprintf(why, sizeof why, "%s", unpack_text(payload));
    if (payload->bad || !up.own)
        return;
    wire_close(wire);
    complain("node 0 runs nothing: %s", why);
}

static void got_frame(struct wire *wire, int kind, struct unpack *payload)
{
    if (kind == FRAME_BYE) {
        got_bye(wire, payload);
    } else if (!up.name && kind == FRAME_HOSTS) {
        got_hosts(payload);
    } else if (!up.job && up.name && kind == FRAME_JOB) {
        pack_rest(&up.share, payload);
        remote_tell(NULL, FRAME_JOB, &up.share);
        wire_hold(wire); /* what follows is for the job */
        remote_hold();
    } else if (up.job) {
        uplink_said(kind, payload);
    } else {
        payload->bad = true;
    }
    if (!payload->bad)
        return;
    complain("xmpirun has sent a frame %d that makes no sense", kind);
    wire_close(wire);
    uplink_abandon();
}

static void lost(struct wire *wire, const char *why)
{
    (void)wire;
    if (!up.over) {
        if (!up.own) /* on the agent's stderr */
            complain("xmpid has lost xmpirun: %s", why);
        else if (up.job)
            complain("node 0 is lost: %s", why);
        else
            complain(
                "node 0 has gone, or does not know us: %s; XMPI_SECRET, --rdzv-id and --nnodes "
                "must be the same on all nodes",
                why);
        up.code = 1;
    }
    uplink_abandon();
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
    uplink_abandon();
}

/* ---- hello ---- */

static void say_hello(const struct call *call)
{
    struct pack pack = { 0 };
    struct budget budget;
    char name[256] = "?";
    gethostname(name, sizeof name - 1);
    budget_read(&budget, false);
    pack_number(&pack, up.wire.number);
    pack_text(&pack, PACKAGE_VERSION);
    pack_text(&pack, name);
    pack_number(&pack, budget.cores);
    pack_number(&pack, budget.pus);
    pack_number(&pack, budget.slots);
    pack_number(&pack, (int64_t)(budget.quota > 0 ? budget.quota * 1000 : 0));
    pack_number(&pack, (int64_t)budget.cpus);
    pack_number(&pack, getpid());
    pack_number(&pack, up.own ? up.own->nnodes : 0);
    pack_number(&pack, call->ranks);
    pack_number(&pack, call->ranks_here);
    wire_send(&up.wire, FRAME_HELLO, &pack);
    pack_free(&pack);
}

/* Until the job comes, or nothing shall be run. */
static void await_job(void)
{
    while (!up.over && !up.share.n) {
        if (!up.name || remote_are_here())
            loop_turn(-1);
        else if (!remote_await() && !up.noted)
            uplink_failed(1, false);
    }
    if (up.over)
        remote_dismiss(up.code);
}

static void watch_agent(void)
{
    agent =
        (struct watch){ .fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), .ready = agent_spoke };
    if (agent.fd >= 0)
        loop_add(&agent, EPOLLIN); /* a file is no agent's */
}

static int call_up(const struct call *call)
{
    if (call->own)
        return dial_patiently(&up.wire, &user, call->addresses, call->number, call->secret,
                              call->seconds);
    return dial(&up.wire, &user, call->addresses, call->number, call->secret);
}

int uplink_run(const struct call *call)
{
    if (loop_open() != 0 || call_up(call) != 0)
        return 1;
    if (!call->own)
        watch_agent();
    up.own = call->own;
    up.launch.secret = call->secret;
    up.launch.first = call->number + 1;
    out_stdout.kind = out_stderr.kind = OUT_RELAYED;
    out_stdout.relay = out_stderr.relay = relay;
    proc_remember();
    say_hello(call);
    await_job();
    return up.share.n && !up.over ? uplink_job() : up.code;
}
