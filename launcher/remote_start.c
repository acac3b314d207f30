/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Getting xmpids on other hosts; those we start ourselves start the rest:
 *
 *     an agent each, all at once -> xmpid dials -> proves that it knows the secret -> says what the
 *     host has -> gets the names of the hosts it is to start
 *
 * The secret travels on the agent's stdin.  The socket listens while hosts are expected and no
 * longer.  A host whose agent ends too early, or that is silent for too long, is an error.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launcher/agent.h"
#include "launcher/doorstep.h"
#include "launcher/frames.h"
#include "launcher/out.h"
#include "launcher/remote.h"
#include "launcher/tree.h"
#include "runtime/clock.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MOST_SECONDS = 1000000, /* of patience */
    STAY_SECONDS = 5,       /* of node 0, to tell others that nothing will be run */
    LEAD_SECONDS = 3,       /* who is nearer to a silent host shall be the one to name it */
    BACKGROUND_SECONDS = 10 /* from a good end of an agent to the call of its xmpid */
};

struct remotes remotes;

static struct {
    const struct launch *wish;
    uint64_t end; /* clock_ns */
    bool listens;
    bool failed; /* and complained about */
} start;

const char *remote_agent_says(struct remote *remote)
{
    static char text[800];
    const char *words = agent_words(remote->agent);
    snprintf(text, sizeof text, "%s%s", *words ? "; its launch agent says: " : "", words);
    return text;
}

void remote_fail_start(const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!start.failed)
        complain("%s", text);
    start.failed = true;
}

const char *remote_template(const struct options *options)
{
    return options->agent ? options->agent : agent_usual();
}

/* ---- hello ---- */

static const char *const *names_of(const struct remote *remote)
{
    return start.wish->names + (remote->number - start.wish->first);
}

/* What it is to start. */
static void send_hosts(struct remote *remote)
{
    struct pack pack = { 0 };
    const char *const *names = names_of(remote);
    uint64_t now = clock_ns();
    int seconds = now < start.end ? (int)((start.end - now) / 1000000000u) : 0;
    pack_number(&pack, start.wish->pulse_ms);
    pack_number(&pack, seconds > LEAD_SECONDS ? seconds - LEAD_SECONDS : 1);
    pack_number(&pack, start.wish->fanout);
    pack_number(&pack, start.wish->shapes);
    pack_text(&pack, start.wish->template);
    pack_text(&pack, names[0]);
    pack_number(&pack, remote->n - 1);
    for (int i = 1; i < remote->n; i++)
        pack_text(&pack, names[i]);
    wire_send(remote->wire, FRAME_HOSTS, &pack);
    pack_free(&pack);
}

/* Of its own, or of a host below it. */
static void heard_hello(struct remote *remote, struct unpack payload)
{
    int number = unpack_int(&payload, remote->number, remote->number + remote->n - 1);
    if (payload.bad || number != remote->number || remote->here)
        return;
    remote->here = true;
    send_hosts(remote);
}

static void wire_lost(struct wire *wire, const char *why)
{
    struct remote *remote = wire->owner;
    bool expected = remote->done;
    remote->done = true;
    remote->wire = NULL;
    if (!expected)
        remotes.lost(remote, why);
}

static void got_frame(struct wire *wire, int kind, struct unpack *payload)
{
    char why[80];
    struct remote *remote = wire->owner;
    if (kind == FRAME_HELLO)
        heard_hello(remote, *payload);
    if (remote->here)
        remotes.said(remote, kind, payload);
    else
        payload->bad = true;
    if (!payload->bad)
        return;
    wire_close(wire);
    snprintf(why, sizeof why, "it has sent a frame %d that makes no sense", kind);
    wire_lost(wire, why);
}

static const struct wire_user user = { .frame = got_frame, .lost = wire_lost };

/* ---- starting ---- */

/* A caller has proven itself: the wire of host `number` is his. */
static bool adopt(struct wire *wire, int number)
{
    for (int i = 0; i < remotes.n; i++) {
        struct remote *remote = &remotes.list[i];
        if (remote->number != number || remote->wire || remote->done)
            continue;
        remote->wire = wire;
        wire->user = &user;
        wire->owner = remote;
        return true;
    }
    return false;
}

static char *daemon_command(const char *addresses, int number)
{
    char path[PATH_MAX] = "", *text;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash = n > 0 ? strrchr(path, '/') : NULL;
    if (slash)
        slash[1] = 0;
    if (strpbrk(path, " '\"\\$`;&|<>()*?")) {
        complain("xmpirun lies in \"%s\"; a path that a shell takes apart cannot be started on "
                 "other hosts",
                 path);
        return NULL;
    }
    if (asprintf(&text, "%sxmpid --root %s --host %d", path, addresses, number) < 0)
        abort();
    return text;
}

static int start_agent(struct remote *remote)
{
    char line[2 * KEY_BYTES + 2];
    char *cmd = daemon_command(doorstep_addresses(), remote->number);
    char *command = cmd ? agent_command(start.wish->template, remote->name, cmd) : NULL;
    for (int i = 0; i < KEY_BYTES; i++)
        snprintf(line + 2 * i, 3, "%02x", start.wish->secret[i]);
    line[2 * KEY_BYTES] = '\n';
    line[2 * KEY_BYTES + 1] = 0;
    int status = command ? agent_start(remote->agent, command, line) : EXIT_USAGE;
    if (!status)
        notice("host %s: %s", remote->name, command);
    free(cmd);
    free(command);
    return status;
}

static void list_remotes(const struct launch *launch)
{
    int n = tree_parts(launch->n, launch->fanout);
    struct agent *agents = calloc((size_t)n + 1, sizeof *agents);
    remotes.list = calloc((size_t)n + 1, sizeof *remotes.list);
    if (!remotes.list || !agents)
        abort();
    for (int i = 0; i < n; i++) {
        int from = tree_part(launch->n, launch->fanout, i),
            to = tree_part(launch->n, launch->fanout, i + 1);
        agents[i].output.fd = -1; /* --node-rank: there is none, and 0 is our own stdin */
        remotes.list[i] = (struct remote){ .number = launch->first + from,
                                           .n = to - from,
                                           .name = launch->names[from],
                                           .agent = &agents[i] };
    }
    remotes.n = n;
    remotes.height = tree_height(launch->n, launch->fanout);
}

int remote_start(const struct launch *launch)
{
    start.wish = launch;
    wire_set_silence(launch->pulse_ms);
    start.end = clock_ns() + (uint64_t)launch->seconds * 1000000000u;
    list_remotes(launch);
    if (!remotes.n)
        return 0;
    agents_need_files(remotes.n);
    int status = doorstep_open(launch->secret, launch->port, remotes.n, adopt);
    start.listens = !status;
    if (!status && launch->template)
        status = agents_end_with_us(remotes.list[0].agent, remotes.n);
    for (int i = 0; i < remotes.n && !status && launch->template; i++)
        status = start_agent(&remotes.list[i]);
    return status;
}

/* ---- waiting ---- */

bool remote_agent_failed(const struct remote *remote, char *how, size_t room)
{
    if (!remote->agent->ended || agent_ended_well(remote->agent))
        return false;
    agent_ending(remote->agent, how, room);
    return true;
}

bool remote_child_died(int pid, int wait_status)
{
    for (int i = 0; i < remotes.n; i++)
        if (remotes.list[i].agent->pid == pid) {
            agent_died(remotes.list[i].agent, wait_status);
            return true;
        }
    return false;
}

/* One that ends well has put its daemon into the background, or never started one. */
static void look_at_background(struct remote *remote)
{
    const struct agent *agent = remote->agent;
    if (!agent->ended || clock_ns() - agent->ended_ns < BACKGROUND_SECONDS * 1000000000ull)
        return;
    remote_fail_start("host %s: the launch agent exited with code 0 %d s ago, and no xmpid has "
                      "called%s",
                      remote->name, BACKGROUND_SECONDS, remote_agent_says(remote));
}

/* Agents that have ended although nobody has called. */
static void look_at_agents(void)
{
    char how[80];
    int status;
    for (int i = 0; i < remotes.n; i++) {
        struct remote *remote = &remotes.list[i];
        if (remote->agent->pid > 0 && waitpid(remote->agent->pid, &status, WNOHANG) > 0)
            remote_child_died(remote->agent->pid, status);
        if (remote->wire || remote->here)
            continue;
        if (!remote_agent_failed(remote, how, sizeof how)) {
            look_at_background(remote);
            continue;
        }
        const char *words = agent_words(remote->agent);
        remote_fail_start("host %s: the launch agent %s before xmpid came%s%s", remote->name,
                          how, *words ? ": " : "", words);
    }
}

void remote_fail_late(const char *name, const char *agent_says)
{
    remote_fail_start("host %s: no xmpi%s has called within %d s%s", name,
                      start.wish->template ? "d" : "run", start.wish->seconds, agent_says);
}

static void look_at_clock(void)
{
    if (clock_ns() < start.end)
        return;
    for (int i = 0; i < remotes.n; i++)
        if (!remotes.list[i].here)
            remote_fail_late(remotes.list[i].name, remote_agent_says(&remotes.list[i]));
}

static int upwards(double seconds)
{
    int whole = (int)seconds;
    return whole + (whole < seconds);
}

int remote_silence(void)
{
    int ms = wire_silence();
    if (ms < 0)
        complain("XMPI_HOST_TIMEOUT=%s: expected seconds, 0 to 1000000; 0: no limit",
                 getenv("XMPI_HOST_TIMEOUT"));
    return ms;
}

int remote_patience(int usual)
{
    const char *wish = getenv("XMPI_START_TIMEOUT");
    if (!wish || !*wish)
        return usual;
    char *end;
    double seconds = strtod(wish, &end);
    if (!*end && seconds > 0 && seconds <= MOST_SECONDS)
        return upwards(seconds);
    complain("XMPI_START_TIMEOUT=%s: expected seconds, more than 0 and up to %d", wish,
             MOST_SECONDS);
    return -1;
}

int remote_seconds(const struct options *options, int patience)
{
    double limit = options->timeout;
    return limit > 0 && limit < patience ? upwards(limit) : patience;
}

bool remote_are_here(void)
{
    for (int i = 0; i < remotes.n; i++)
        if (!remotes.list[i].here)
            return false;
    return true;
}

bool remote_await(void)
{
    loop_turn(50);
    doorstep_wake();
    look_at_agents();
    look_at_clock();
    bool stays = !start.wish->template; /* --node-rank: others may still call, see turn_away */
    if (start.listens && ((start.failed && !stays) || remote_are_here())) {
        doorstep_shut();
        start.listens = false;
    }
    return !start.failed;
}

/* --node-rank: who has not called yet does so soon, as a rule, and would wait for us in vain. */
static void turn_away(const struct pack *why)
{
    uint64_t end = clock_ns() + STAY_SECONDS * 1000000000ull;
    bool missing = true;
    while (missing && clock_ns() < end) {
        missing = false;
        for (int i = 0; i < remotes.n; i++) {
            struct remote *remote = &remotes.list[i];
            if (remote->here && !remote->done)
                wire_send(remote->wire, FRAME_BYE, why);
            remote->done |= remote->here;
            missing |= !remote->here;
        }
        if (missing)
            loop_turn(50);
        doorstep_wake();
    }
}

void remote_dismiss(int status)
{
    struct pack why = { 0 };
    if (status) {
        pack_number(&why, status);
        pack_text(&why, last_complaint);
    }
    if (status && start.listens && !start.wish->template && clock_ns() < start.end)
        turn_away(&why);
    if (start.listens)
        doorstep_shut();
    start.listens = false;
    for (int i = 0; i < remotes.n; i++) {
        if (!remotes.list[i].done)
            wire_send(remotes.list[i].wire, FRAME_BYE, status ? &why : NULL);
        remotes.list[i].done = true;
        agent_close(remotes.list[i].agent);
    }
    agents_over();
    pack_free(&why);
}
