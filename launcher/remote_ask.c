/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpirun gets hold of its hosts: the first ones are started here (remote_start.c), the others by
 * those, and what each says of itself comes up to us.
 */
#define _GNU_SOURCE 1 /* getrandom */
#include "launcher/frames.h"
#include "launcher/gather.h"
#include "launcher/out.h"
#include "launcher/proc.h"
#include "launcher/remote.h"
#include "launcher/tree.h"
#include "runtime/clock.h"

#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { START_SECONDS = 60 };

static struct {
    uint8_t secret[KEY_BYTES];
    struct launch launch;
    struct host **hosts; /* by number */
    bool *here;          /* has said hello */
    bool *shaped;        /* .. and what its CPUs share, where that is wanted */
    int missing;         /* hosts that have not said all */
    int ranks;           /* --node-rank: what -np says here; 0: nothing */
    bool failed;         /* somebody below has complained */
    bool hurried;        /* the user's time limit is shorter than our patience */
} ask;

/* What the user of a node has said there. */
static void got_wish(struct host *host, struct unpack *payload)
{
    int nnodes = unpack_int(payload, 0, INT_MAX);
    int ranks = unpack_int(payload, 0, GATHER_MOST_RANKS);
    host->own_ranks = unpack_int(payload, 0, GATHER_MOST_RANKS);
    if (payload->bad || ask.launch.template)
        return;
    if (nnodes != ask.launch.n + 1)
        remote_fail_start("%s was started with --nnodes %d, node 0 with --nnodes %d: all nodes "
                          "need the same",
                          host->name, nnodes, ask.launch.n + 1);
    if (ranks != ask.ranks)
        remote_fail_start("%s was started with -np %d, node 0 with -np %d (0: without): all "
                          "nodes need the same; --nproc-per-node may differ",
                          host->name, ranks, ask.ranks);
}

static void got_hello(struct unpack *payload)
{
    int number = unpack_int(payload, 0, ask.launch.n - 1);
    const char *version = unpack_text(payload);
    if (payload->bad || ask.here[number])
        return;
    if (strcmp(version, PACKAGE_VERSION) != 0) {
        remote_fail_start("host %s has xmpi %s, this one %s: all hosts need the same",
                          ask.hosts[number]->name, version, PACKAGE_VERSION);
        return; /* what follows may be something else there */
    }
    const char *name = unpack_text(payload);
    struct budget *budget = &ask.hosts[number]->budget;
    budget->cores = unpack_int(payload, 1, 1 << 20);
    budget->pus = unpack_int(payload, 1, 1 << 20);
    budget->slots = unpack_int(payload, 1, 1 << 20);
    budget->quota = (double)unpack_int(payload, 0, INT_MAX) / 1000;
    budget->cpus = (uint64_t)unpack_number(payload);
    int pid = unpack_int(payload, 1, INT_MAX);
    got_wish(ask.hosts[number], payload);
    if (payload->bad)
        return;
    ask.here[number] = true;
    ask.missing -= !ask.launch.shapes;
    notice("host %s (%s): xmpid %d, %d cores", ask.hosts[number]->name, name, pid,
           budget->cores);
}

static void got_shape(struct unpack *payload)
{
    int number = unpack_int(payload, 0, ask.launch.n - 1);
    if (payload->bad || !ask.here[number] || ask.shaped[number]) {
        payload->bad = true;
        return;
    }
    shape_unpack(payload, &ask.hosts[number]->shape);
    if (payload->bad)
        return;
    ask.shaped[number] = true;
    ask.missing--;
}

/* Before the job only hellos and shapes come, and complaints about hosts below. */
static void said(struct remote *remote, int kind, struct unpack *payload)
{
    size_t bytes;
    (void)remote;
    if (kind == FRAME_HELLO) {
        got_hello(payload);
    } else if (kind == FRAME_SHAPE) {
        got_shape(payload);
    } else if (kind == FRAME_TEXT) {
        const char *text = unpack_bytes(payload, &bytes);
        if (!ask.failed)
            out_write(&out_stderr, NULL, text, bytes);
    } else if (kind == FRAME_FAILED) {
        ask.failed = true;
    } else {
        payload->bad = true;
    }
}

static void lost(struct remote *remote, const char *why)
{
    if (!ask.failed)
        remote_fail_start("host %s: %s%s", remote->name, why, remote_agent_says(remote));
}

/* Users start the nodes themselves, perhaps not all of them, or with another port. */
static void say_missing(void)
{
    char names[100] = "";
    size_t used = 0;
    for (int i = 0; i < ask.launch.n && used < sizeof names; i++)
        if (!ask.here[i])
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     used ? ", " : "", ask.hosts[i]->name);
    complain("waiting for %s%s to call at port %d, for %d s at most", names,
             used < sizeof names ? "" : "...", ask.launch.port, ask.launch.seconds);
}

static int wait_for_all(void)
{
    uint64_t begin = clock_ns(), end = begin + (uint64_t)ask.launch.seconds * 1000000000u;
    bool said = ask.launch.template != NULL;
    while (ask.missing && !ask.failed && clock_ns() < end) {
        ask.failed |= !remote_await();
        if (!said && clock_ns() - begin > GATHER_HINT_SECONDS * 1000000000ull) {
            say_missing();
            said = true;
        }
    }
    for (int i = 0; i < ask.launch.n && !ask.failed; i++)
        if (!ask.here[i]) {
            remote_fail_late(ask.hosts[i]->name, "");
            ask.failed = true;
        }
    if (!ask.failed)
        return 0;
    return ask.hurried && clock_ns() + 1000000000u >= end ? EXIT_TIMED_OUT : 1;
}

static void list_hosts(struct host *hosts, int nhosts)
{
    const char **names = calloc((size_t)nhosts, sizeof *names);
    ask.hosts = calloc((size_t)nhosts, sizeof(struct host *));
    ask.here = calloc((size_t)nhosts, sizeof *ask.here);
    ask.shaped = calloc((size_t)nhosts, sizeof *ask.shaped);
    if (!names || !ask.hosts || !ask.here || !ask.shaped)
        abort();
    int n = 0;
    for (int i = 0; i < nhosts; i++)
        if (!hosts[i].is_local) {
            ask.hosts[n] = &hosts[i];
            names[n++] = hosts[i].name;
        }
    ask.launch.names = names;
    ask.launch.n = ask.missing = n;
}

/* 0, or an exit status after a complaint. */
static int allow(const struct options *options, int seconds)
{
    int patience = remote_patience(seconds);
    ask.launch.seconds = remote_seconds(options, patience);
    ask.hurried = ask.launch.seconds < patience;
    return patience < 0 ? EXIT_USAGE : 0;
}

/* --node-rank: users start the others, and all of these call us. */
static int wish_gathering(const struct options *options)
{
    gather_secret(options, ask.secret);
    ask.launch.port = gather_port(options);
    ask.ranks = gather_ranks(options);
    ask.launch.fanout = FANOUT_MOST;
    if (ask.launch.n <= FANOUT_MOST)
        return allow(options, GATHER_SECONDS);
    complain("--node-rank: at most %d nodes can gather", FANOUT_MOST + 1);
    return EXIT_USAGE;
}

static int wish_agents(const struct options *options)
{
    ask.launch.template = remote_template(options);
    ask.launch.fanout = options->fanout ? options->fanout : FANOUT;
    int status = allow(options, START_SECONDS);
    if (status)
        return status;
    if (getrandom(ask.secret, sizeof ask.secret, 0) == (ssize_t)sizeof ask.secret)
        return 0;
    complain("cannot make a secret for other hosts: %s", strerror(errno));
    return 1;
}

static bool wants_shapes(const struct options *options)
{
    const struct map_options *map = &options->map;
    return options->dry_run || options->display_map || (map->per > 0 && map->by != LEVEL_NODE);
}

int remote_ask(const struct options *options, struct host *hosts, int nhosts)
{
    list_hosts(hosts, nhosts);
    ask.launch.shapes = wants_shapes(options);
    ask.launch.pulse_ms = remote_silence();
    if (ask.launch.pulse_ms < 0)
        return EXIT_USAGE;
    proc_remember();
    int status = gather_is_wanted(options) ? wish_gathering(options) : wish_agents(options);
    if (!status && loop_open() != 0) {
        complain("cannot set up the launch of other hosts: %s%s", strerror(errno),
                 files_remedy(errno));
        status = 1;
    }
    if (status)
        return status;
    ask.launch.secret = ask.secret;
    remotes.said = said;
    remotes.lost = lost;
    status = remote_start(&ask.launch);
    if (!status)
        status = wait_for_all();
    return status;
}
