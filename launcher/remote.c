/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job on several hosts, as every launcher with others below it sees it: each host gets the job
 * and runs its share (job.c); news of deaths, network addresses and failures goes to everybody:
 *
 *                up                 what comes from one neighbour is passed on to all others;
 *                 |                 the neighbours make a tree, so it comes once to each
 *      here -- launcher -- below
 *                 |                 output goes up, input, signals and orders go down
 *               below
 *
 * A host that is lost takes those below it along.
 */
#define _GNU_SOURCE 1
#include "launcher/remote.h"

#include "launcher/cards.h"
#include "launcher/frames.h"
#include "launcher/input.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/post.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 5000 };

static struct {
    struct job *job; /* NULL: it has not begun */
    const int32_t *node_of;
    void (*up)(int kind, const struct pack *payload);
} all;

/* ---- to everybody else ---- */

void remote_tell(const struct remote *but, int kind, const struct pack *payload)
{
    for (int i = 0; i < remotes.n; i++)
        if (&remotes.list[i] != but && !remotes.list[i].done)
            wire_send(remotes.list[i].wire, kind, payload);
}

static void tell_number(int kind, int64_t number)
{
    struct pack pack = { 0 };
    pack_number(&pack, number);
    remote_tell(NULL, kind, &pack);
    pack_free(&pack);
}

/* Up, too. */
static void spread(const struct remote *from, int kind, const struct pack *payload)
{
    remote_tell(from, kind, payload);
    if (all.up)
        all.up(kind, payload);
}

static void spread_dead(const struct remote *from, int world, uint32_t word)
{
    struct pack pack = { 0 };
    pack_number(&pack, world);
    pack_number(&pack, word);
    spread(from, FRAME_ENDED, &pack);
    pack_free(&pack);
}

/* Take what concerns everybody; `payload` is bad when it makes no sense. */
static void take_news(int kind, struct unpack *payload)
{
    if (kind == FRAME_CARDS) {
        payload->bad |= !cards_hand_out(all.job, payload);
        return;
    }
    int world = unpack_int(payload, 0, all.job->plan->world - 1);
    uint32_t word = (uint32_t)unpack_number(payload);
    if (!payload->bad)
        job_other_ended(all.job, world, word);
}

/* From a neighbour (NULL: above) to all others. */
static void pass_on(const struct remote *from, int kind, const struct pack *payload)
{
    if (from)
        spread(from, kind, payload);
    else
        remote_tell(NULL, kind, payload);
}

static void got_news(const struct remote *from, int kind, struct unpack *payload)
{
    struct pack copy = { 0 };
    pack_rest(&copy, payload);
    take_news(kind, payload);
    if (!payload->bad)
        pass_on(from, kind, &copy);
    pack_free(&copy);
}

void remote_heard(int kind, struct unpack *payload)
{
    got_news(NULL, kind, payload);
}

/* ---- post (post.h) ---- */

static bool is_below(const struct remote *remote, int host)
{
    return host >= remote->number && host < remote->number + remote->n;
}

/* Nobody sends to himself, or hears what he has said. */
void remote_send(int to, int kind, const struct pack *frame)
{
    if (to == POST_ALL) {
        spread(NULL, kind, frame);
        return;
    }
    for (int i = 0; i < remotes.n; i++)
        if (is_below(&remotes.list[i], to)) {
            if (!remotes.list[i].done)
                wire_send(remotes.list[i].wire, kind, frame);
            else if (kind == FRAME_POST)
                post_late(all.job, frame);
            return;
        }
    if (all.up)
        all.up(kind, frame);
}

int remote_host_of(int node)
{
    int host = 0;
    while (all.node_of[host] != node && all.node_of[host] != NODES_END)
        host++;
    return all.node_of[host] == node ? host : POST_ROOT;
}

/* From a neighbour, NULL: above. */
static void got_post(const struct remote *neighbour, struct unpack *frame)
{
    struct pack copy = { 0 };
    pack_rest(&copy, frame);
    int to = unpack_int(frame, POST_ALL, POST_MOST);
    if (to == POST_ALL) {
        pass_on(neighbour, FRAME_POST, &copy);
    } else if (to != all.job->host && !frame->bad) {
        remote_send(to, FRAME_POST, &copy);
    }
    if (to == POST_ALL || to == all.job->host)
        post_take(all.job, frame);
    pack_free(&copy);
}

void remote_abandon(void)
{
    struct pack nothing = { 0 };
    post_send(all.job, POST_ALL, POST_ALONE, &nothing);
}

void remote_post(struct unpack *frame)
{
    got_post(NULL, frame);
}

/* ---- what those below say ---- */

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
    size_t bytes;
    const char *text = unpack_bytes(payload, &bytes);
    if (!all.job->failed || all.job->options->keep_going || all.job->options->verbose)
        out_write(&out_stderr, NULL, text, bytes);
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

/* Of what has failed there we have heard before; what is left is output that nobody could write. */
static void got_done(struct remote *remote, struct unpack *payload)
{
    if (unpack_int(payload, 0, 255) && !all.job->failed)
        output_lost = true;
    remote->done = true;
    wire_send(remote->wire, FRAME_BYE, NULL);
    input_taken(remote);
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
    case FRAME_CARDS:
        got_news(remote, kind, payload);
        break;
    case FRAME_POST:
        got_post(remote, payload);
        break;
    case FRAME_DONE:
        got_done(remote, payload);
        break;
    case FRAME_GOT:
        input_taken(remote);
        break;
    default:
        payload->bad = true;
    }
}

/* ---- a host is lost ---- */

/* The nodes of a host and of those below it, as marks; to be freed. */
static bool *nodes_of(const struct remote *remote)
{
    bool *marks = calloc((size_t)all.job->plan->nnodes, sizeof *marks);
    if (!marks)
        abort();
    for (int i = remote->number; i < remote->number + remote->n; i++)
        if (all.node_of[i] >= 0)
            marks[all.node_of[i]] = true;
    return marks;
}

static void bury_ranks(const struct remote *remote)
{
    const struct plan *plan = all.job->plan;
    bool *gone = nodes_of(remote);
    for (int world = 0; world < plan->world; world++) {
        if (!gone[plan->node_of[world]])
            continue;
        job_other_ended(all.job, world, BOOT_DEAD);
        spread_dead(remote, world, BOOT_DEAD);
    }
    free(gone);
}

static void part_with(struct remote *remote)
{
    remote->done = true;
    wire_close(remote->wire);
    remote->wire = NULL;
    input_taken(remote);
}

/* With --keep-going the others go on without its ranks. */
static void tell_lost(struct remote *remote, const char *why)
{
    struct job *job = all.job;
    char below[60] = "";
    if (remote->n > 1)
        snprintf(below, sizeof below, "; %d hosts that it has started go with it",
                 remote->n - 1);
    if (!job->options->keep_going) {
        job_fail(job, 1, "host %s is lost: %s%s%s", remote->name, why,
                 remote_agent_says(remote), below);
        return;
    }
    complain("host %s is lost: %s%s%s; going on without its ranks", remote->name, why,
             remote_agent_says(remote), below);
    if (!job->failed)
        job->exit_code = 1;
    job->failed = true;
}

/* The cause goes ahead of its consequences: who hears of the dead may end at once. */
static void lost(struct remote *remote, const char *why)
{
    part_with(remote);
    tell_lost(remote, why);
    bury_ranks(remote);
}

/* An agent that ends well may have put its daemon into the background; one that does not takes the
 * host with it. */
static void look_for_lost_agents(void)
{
    char how[80], why[120];
    for (int i = 0; i < remotes.n; i++) {
        struct remote *remote = &remotes.list[i];
        if (remote->done || !remote_agent_failed(remote, how, sizeof how))
            continue;
        snprintf(why, sizeof why, "its launch agent %s", how);
        lost(remote, why);
    }
}

/* ---- the job, as job.c sees it ---- */

void remote_begin(struct job *job, const int32_t *node_of,
                  void (*up)(int kind, const struct pack *payload))
{
    all.job = job;
    all.node_of = node_of;
    all.up = up;
    remotes.said = got_running;
    remotes.lost = lost;
    ask_open(job);
}

void remote_hold(void)
{
    for (int i = 0; i < remotes.n; i++)
        if (remotes.list[i].wire)
            wire_hold(remotes.list[i].wire);
}

void remote_started(struct job *job)
{
    (void)job;
    for (int i = 0; i < remotes.n; i++)
        if (remotes.list[i].wire)
            wire_release(remotes.list[i].wire);
}

/* Those in the middle of the tree complain before we lose patience with them. */
void remote_stopping(struct job *job, int grace_ms)
{
    job_set_deadline(job, DEADLINE_OTHERS, grace_ms + PATIENCE_MS * remotes.height);
    tell_number(FRAME_STOP, grace_ms);
}

void remote_signalled(struct job *job, int signal)
{
    tell_number(FRAME_SIGNAL, signal);
    if (signal == SIGKILL)
        job_set_deadline(job, DEADLINE_OTHERS, PATIENCE_MS * remotes.height);
}

void remote_ended(struct job *job, int number, uint32_t word)
{
    if (word) /* good ends are no news, and there are many of them */
        spread_dead(NULL, job_world(job, number), word);
}

bool remote_reads(const struct remote *remote)
{
    const struct plan *plan = all.job->plan;
    int reader = all.job->options->iof.stdin_rank;
    if (remote->done || reader == STDIN_NONE || reader >= plan->world)
        return false;
    for (int i = remote->number; i < remote->number + remote->n; i++)
        if (all.node_of[i] >= 0 &&
            (reader == STDIN_ALL || all.node_of[i] == plan->node_of[reader]))
            return true;
    return false;
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

void remote_turn(struct job *job)
{
    struct pack cards = { 0 };
    ask_look(job);
    if (cards_collect(job, &cards))
        spread(NULL, FRAME_CARDS, &cards);
    pack_free(&cards);
    for (int i = 0; i < remotes.n; i++)
        acknowledge(&remotes.list[i]);
    look_for_lost_agents();
}

bool remote_running(const struct job *job)
{
    (void)job;
    for (int i = 0; i < remotes.n; i++)
        if (!remotes.list[i].done)
            return true;
    return false;
}

/* Hosts that were told to stop and do not answer. */
void remote_late(struct job *job)
{
    (void)job;
    for (int i = 0; i < remotes.n; i++) {
        if (remotes.list[i].done)
            continue;
        complain("host %s does not answer; its ranks end when its xmpid notices",
                 remotes.list[i].name);
        part_with(&remotes.list[i]);
    }
}

/* Daemons end by themselves after the last word; agents when their daemon has. */
void remote_finish(struct job *job)
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
    remote_dismiss(0);
}
