/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Getting an xmpid on every other host:
 *
 *     an agent per host, all at once -> xmpid dials -> proves that it knows the secret -> says what
 *     the host has
 *
 * The secret travels on the agent's stdin.  The socket listens while hosts are expected and no
 * longer.  A host whose agent ends too early, or that is silent for START_SECONDS, is an error.
 */
#define _GNU_SOURCE 1 /* asprintf, getrandom */
#include "launcher/agent.h"
#include "launcher/doorstep.h"
#include "launcher/frames.h"
#include "launcher/out.h"
#include "launcher/proc.h"
#include "launcher/remote.h"
#include "runtime/clock.h"

#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_SECONDS = 60 };

struct remotes remotes;

static struct {
    uint8_t secret[KEY_BYTES];
    bool failed; /* and complained about */
} launch;

const char *remote_agent_says(struct remote *remote)
{
    static char text[800];
    const char *words = agent_words(remote->agent);
    snprintf(text, sizeof text, "%s%s", *words ? "; its launch agent says: " : "", words);
    return text;
}

/* ---- hello ---- */

static void fail_start(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void fail_start(const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!launch.failed)
        complain("%s", text);
    launch.failed = true;
}

static void got_hello(struct remote *remote, struct unpack *payload)
{
    const char *version = unpack_text(payload);
    if (!payload->bad && strcmp(version, PACKAGE_VERSION) != 0) {
        fail_start("host %s has xmpi %s, this one %s: all hosts need the same",
                   remote->host->name, version, PACKAGE_VERSION);
        return; /* what follows may be something else there */
    }
    const char *name = unpack_text(payload);
    struct budget *budget = &remote->host->budget;
    budget->cores = unpack_int(payload, 1, 1 << 20);
    budget->pus = unpack_int(payload, 1, 1 << 20);
    budget->slots = unpack_int(payload, 1, 1 << 20);
    budget->quota = (double)unpack_int(payload, 0, INT_MAX) / 1000;
    int pid = unpack_int(payload, 1, INT_MAX);
    if (payload->bad)
        return;
    remote->here = true;
    notice("host %s (%s): xmpid %d, %d cores", remote->host->name, name, pid, budget->cores);
}

static void wire_lost(struct wire *wire, const char *why)
{
    struct remote *remote = wire->owner;
    bool expected = remote->done;
    remote->done = true;
    remote->wire = NULL;
    if (expected)
        return;
    if (remotes.lost)
        remotes.lost(remote, why);
    else
        fail_start("host %s: %s%s", remote->host->name, why, remote_agent_says(remote));
}

static void got_frame(struct wire *wire, int kind, struct unpack *payload)
{
    char why[80];
    struct remote *remote = wire->owner;
    if (kind == FRAME_HELLO && !remote->here)
        got_hello(remote, payload);
    else if (remotes.said && remote->here)
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
    if (number < 0 || number >= remotes.n || remotes.list[number].wire)
        return false;
    struct remote *remote = &remotes.list[number];
    remote->wire = wire;
    wire->user = &user;
    wire->owner = remote;
    return true;
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

static int start_agent(struct remote *remote, int number, const char *template)
{
    char line[2 * KEY_BYTES + 2], *cmd = daemon_command(doorstep_addresses(), number);
    char *command = cmd ? agent_command(template, remote->host->name, cmd) : NULL;
    for (int i = 0; i < KEY_BYTES; i++)
        snprintf(line + 2 * i, 3, "%02x", launch.secret[i]);
    line[2 * KEY_BYTES] = '\n';
    line[2 * KEY_BYTES + 1] = 0;
    int status = command ? agent_start(remote->agent, command, line) : EXIT_USAGE;
    if (!status)
        notice("host %s: %s", remote->host->name, command);
    free(cmd);
    free(command);
    return status;
}

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
            remotes.list[i].agent->pid = 0;
            remotes.list[i].agent->ended = true;
            remotes.list[i].agent->status = wait_status;
            return true;
        }
    return false;
}

/* Agents that have ended badly although nobody has called; one that ends well has put its daemon
 * into the background. */
static void look_at_agents(void)
{
    char how[80];
    int status;
    for (int i = 0; i < remotes.n; i++) {
        struct remote *remote = &remotes.list[i];
        if (remote->agent->pid > 0 && waitpid(remote->agent->pid, &status, WNOHANG) > 0)
            remote_child_died(remote->agent->pid, status);
        if (remote->wire || !remote_agent_failed(remote, how, sizeof how))
            continue;
        const char *words = agent_words(remote->agent);
        fail_start("host %s: the launch agent %s before xmpid came%s%s", remote->host->name,
                   how, *words ? ": " : "", words);
    }
}

static int wait_for_all(void)
{
    uint64_t end = clock_ns() + START_SECONDS * 1000000000ull;
    int missing = remotes.n;
    while (missing && !launch.failed && clock_ns() < end) {
        loop_turn(50);
        look_at_agents();
        missing = 0;
        for (int i = 0; i < remotes.n; i++)
            missing += !remotes.list[i].here;
    }
    for (int i = 0; i < remotes.n && !launch.failed; i++)
        if (!remotes.list[i].here)
            fail_start("host %s: no xmpid has called within %d s%s", remotes.list[i].host->name,
                       START_SECONDS, remote_agent_says(&remotes.list[i]));
    return launch.failed ? 1 : 0;
}

static void list_hosts(struct host *hosts, int nhosts)
{
    struct agent *agents = calloc((size_t)nhosts, sizeof *agents);
    remotes.list = calloc((size_t)nhosts, sizeof *remotes.list);
    if (!remotes.list || !agents)
        abort();
    for (int i = 0; i < nhosts; i++)
        if (!hosts[i].is_local)
            remotes.list[remotes.n++] =
                (struct remote){ .host = &hosts[i], .agent = &agents[i] };
}

int remote_ask(const struct options *options, struct host *hosts, int nhosts)
{
    const char *template = options->agent ? options->agent : agent_usual();
    if (options->iof.stdin_rank == STDIN_ALL) {
        complain(
            "--stdin all: ranks of several hosts cannot all read stdin yet; name one rank");
        return EXIT_USAGE;
    }
    list_hosts(hosts, nhosts);
    proc_remember();
    if (loop_open() != 0 ||
        getrandom(launch.secret, sizeof launch.secret, 0) != (ssize_t)sizeof launch.secret) {
        complain("cannot set up the launch of other hosts: %s", strerror(errno));
        return 1;
    }
    int status = doorstep_open(launch.secret, adopt);
    for (int i = 0; i < remotes.n && !status; i++)
        status = start_agent(&remotes.list[i], i, template);
    if (!status)
        status = wait_for_all();
    doorstep_shut();
    if (status)
        remote_dismiss();
    return status;
}

void remote_dismiss(void)
{
    for (int i = 0; i < remotes.n; i++) {
        wire_send(remotes.list[i].wire, FRAME_BYE, NULL);
        remotes.list[i].done = true;
        agent_close(remotes.list[i].agent);
    }
}
