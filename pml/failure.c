/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is lost, and how we learn of it.
 *
 *     deaths (runtime/death.h)   the epoch has changed: look at the records of this node, and take
 *                                the strangers we were told of
 *     links                      peer_lost: put on a list, since links must not be called back
 *
 * A dead process may have sent something that is still in its ring: news wait until the link has
 * handed over everything (link->drained).  Then the process is lost: its peer gets a link that
 * takes nothing, so that sending costs no test; and all that depends on it ends (doom.c).
 *
 * Once somebody is lost, those who leave MPI are lost as well, when they leave.  Survivors of an
 * error give up at different places and so wait for each other; each one that leaves frees those
 * who wait for it.  In a job without losses nobody is told: to leave early is no failure.
 *
 * But whoever leaves has done its part of all collectives that it has begun, so those are not ended: the others may
 * still be in them.  How many these are it writes down before it leaves (coll/last.c).  Its part of a collective
 * may also have failed, since somebody had left before who had not begun it; that one ends it for all.
 */
#include "pml/failure.h"

#include "mpix.h"
#include "pml/match.h"
#include "pml/proto.h"
#include "runtime/clock.h"
#include "runtime/death.h"
#include "runtime/fail.h"
#include "runtime/system_text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CAUSE_CHARS = 360 };

struct loss {
    int world;
    bool has_left;           /* MPI, and lives or has ended well */
    char cause[CAUSE_CHARS]; /* "was killed by ..." */
};

int failures, troubles;
uint32_t failures_epoch, failures_naps;
const _Atomic uint32_t *failures_news;
bool failures_wanted;

static struct loss *losses;
static unsigned char *lost; /* bit per world rank; NULL: none */
static struct report {      /* what links say */
    struct report *next;
    struct loss loss;
} * reports;

void failures_open(void)
{
    failures = troubles = 0;
    failures_news = &boot.segment->dead_epoch;
    failures_epoch = 0; /* some may have died before we came */
    failures_wanted = false;
    failures_naps = progress_naps;
}

void failures_close(void)
{
    while (reports) {
        struct report *gone = reports;
        reports = gone->next;
        free(gone);
    }
    free(losses);
    free(lost);
    losses = NULL; /* their number stays, for who closes last */
    lost = NULL;
    death_close();
}

/* ---- asking ---- */

bool failure_is(int world)
{
    return lost && lost[world / 8] >> world % 8 & 1;
}

int failure_among(const struct ranks *ranks)
{
    for (int i = 0; i < failures; i++)
        if (ranks_find(ranks, losses[i].world) >= 0)
            return losses[i].world;
    return -1;
}

static bool is_missed(const struct loss *loss, const struct channel *channel, int number)
{
    return !loss->has_left || !pml_judge || !channel_is_collective(channel) ||
           pml_judge->misses(channel, loss->world, number);
}

static bool ends(const struct loss *loss, const struct ranks *group,
                 const struct channel *channel, const struct match_key *key)
{
    bool is_numbered = channel && group == channel->peers && key->step < PML_APART;
    return group && ranks_find(group, loss->world) >= 0 &&
           (!is_numbered || is_missed(loss, channel, key->tag));
}

int failure_of_group(const struct ranks *group, const struct channel *channel,
                     const struct match_key *key)
{
    for (int i = 0; i < failures; i++)
        if (ends(&losses[i], group, channel, key))
            return losses[i].world;
    return -1;
}

int failure_of(const struct channel *channel, int number)
{
    return failure_of_group(channel->peers, channel, &(struct match_key){ .tag = number });
}

bool failure_ends(int world, const struct ranks *group, const struct channel *channel,
                  const struct match_key *key)
{
    for (int i = 0; i < failures; i++)
        if (losses[i].world == world)
            return ends(&losses[i], group, channel, key);
    return false;
}

int failure_fail(int world)
{
    for (int i = 0; i < failures; i++)
        if (losses[i].world == world)
            return fail(MPIX_ERR_PROC_FAILED, "rank %d of the job %s", world, losses[i].cause);
    return fail(MPIX_ERR_PROC_FAILED, "a process that is needed for this has failed");
}

int failure_recall(const struct request *request)
{
    if (request->result.lost)
        return failure_fail((int)request->result.lost - 1);
    fail_recall(request);
    return request->result.error;
}

struct result failure_result(int world)
{
    return (struct result){ .source = PML_ANY_SOURCE,
                            .tag = PML_ANY_TAG,
                            .error = MPIX_ERR_PROC_FAILED,
                            .lost = (unsigned)(world + 1) };
}

void failure_complete(struct request *request)
{
    fail_keep(request, request_failure(request));
    request_complete(request);
}

/* ---- a loss ---- */

static void no_memory(void)
{
    boot_abort(MPI_ERR_NO_MEM, "no memory to remember that a process has died");
}

static void loss_remember(const struct loss *loss)
{
    struct loss *more = realloc(losses, (size_t)(failures + 1) * sizeof *more);
    if (!lost)
        lost = calloc(1, (size_t)boot.size / 8 + 1);
    if (!more || !lost)
        no_memory();
    losses = more;
    losses[failures++] = *loss;
    troubles++;
    lost[loss->world / 8] |= (unsigned char)(1 << loss->world % 8);
}

/* Another engine's, if it has one of its own. */
static struct peer *peer_beside(int engine, int world)
{
    struct peer *peer = peer_known(engine, world);
    return peer && peer->engine == engine ? peer : NULL;
}

static void process_lose(const struct loss *loss)
{
    struct peer *peers[ENGINES];
    loss_remember(loss);
    for (int engine = 0; engine < ENGINES; engine++) {
        peers[engine] = peer_beside(engine, loss->world);
        if (peers[engine])
            peers[engine]->lost = true;
    }
    for (int engine = 0; engine < ENGINES; engine++)
        if (engine == 0 || peers[engine])
            doom_process(loss->world, peers[engine]);
    for (int engine = 0; engine < ENGINES; engine++) {
        if (!peers[engine])
            continue;
        if (peers[engine]->link->lose)
            peers[engine]->link->lose(peers[engine]);
        peers[engine]->link = &link_lost;
    }
}

static bool is_drained(int world)
{
    for (int engine = 0; engine < ENGINES; engine++) {
        const struct peer *peer = peer_known(engine, world);
        if (peer && peer->link->drained && !peer->link->drained(peer))
            return false;
    }
    return true;
}

/* ---- news ---- */

enum fate { THERE, DIED, HAS_LEFT };

/* Who rests may come back, unless it has ended. */
static enum fate fate_of(uint32_t dead, uint32_t state)
{
    if (dead & BOOT_DEAD_OUTSIDE)
        return THERE;
    if (state == BOOT_FINALIZED || (dead && state == BOOT_RESTING))
        return HAS_LEFT;
    return dead ? DIED : THERE;
}

/* Is this rank of our segment lost, and why?  Who has left MPI is not, as it has done its part; unless somebody is
 * lost, as then it may have left because of that, and its part may not be done. */
static bool record_is_lost(const struct boot_rank *record, struct loss *loss)
{
    uint32_t dead = atomic_load(&record->dead);
    enum fate fate = fate_of(dead, atomic_load(&record->state));
    if (fate == THERE || (fate == HAS_LEFT && failures == 0))
        return false;
    char how[120], host[HOST_NAME_MAX + 1];
    death_text(fate == DIED ? dead : 0, how, sizeof how);
    system_host(host, sizeof host);
    loss->world = record->world_rank;
    loss->has_left = fate == HAS_LEFT;
    snprintf(loss->cause, sizeof loss->cause, "(host %s, pid %d) %s", host,
             (int)atomic_load(&record->pid), how);
    return true;
}

static int lose(const struct loss *loss)
{
    if (failure_is(loss->world) || loss->world == boot.rank)
        return 0;
    process_lose(loss);
    return 1;
}

static int look_at_node(void)
{
    int news = 0;
    struct loss loss;
    for (int i = 0; i < boot.segment->nlocal; i++) {
        if (!record_is_lost(bootseg_rank(boot.segment, i), &loss))
            continue;
        if (is_drained(loss.world))
            news += lose(&loss);
        else
            failures_wanted = true;
    }
    return news;
}

static int look_at_strangers(void)
{
    int news = 0;
    struct loss loss = { .cause = "(on another node) has died" };
    while ((loss.world = death_of_stranger()) >= 0)
        news += lose(&loss);
    return news;
}

/* Those that the launchers of other nodes tell of. */
static int look_at_others(void)
{
    int news = 0;
    for (int world = 0; boot.size > boot.segment->nlocal && world < boot.size; world++) {
        uint32_t dead = boot_other_dead(world);
        if (!dead || dead & BOOT_DEAD_OUTSIDE)
            continue;
        struct loss loss = { .world = world };
        char how[120];
        death_text(dead, how, sizeof how);
        snprintf(loss.cause, sizeof loss.cause, "(on another node) %s", how);
        news += lose(&loss);
    }
    return news;
}

static int look_at_reports(void)
{
    int news = 0;
    while (reports) {
        struct report *report = reports;
        reports = report->next;
        news += lose(&report->loss);
        free(report);
    }
    return news;
}

int failures_look(void)
{
    if (progress_naps != failures_naps) {
        failures_naps = progress_naps;
        death_watch();
        if (pml_judge)
            pml_judge->naps();
    }
    uint32_t epoch = death_epoch();
    if (epoch == failures_epoch && !failures_wanted)
        return 0;
    int settled = pml_judge ? pml_judge->settle() : 0;
    /* What was sent before the death is in the rings now; they are polled before we are called. */
    bool fresh = epoch != failures_epoch;
    failures_epoch = epoch;
    failures_wanted = fresh;
    if (fresh)
        return 1 + settled;
    int before = failures,
        news = look_at_reports() + look_at_strangers() + look_at_others() + look_at_node();
    if (before == 0 && failures > 0)
        failures_wanted = true; /* who had left before is lost now */
    return news + settled;
}

bool failures_hurry(uint64_t *since)
{
    enum { PATIENCE_MS = 200 };
    if (failures == 0)
        return false;
    if (*since == 0)
        *since = clock_ns();
    return clock_ns() - *since > PATIENCE_MS * 1000000ull;
}

void peer_lost(struct peer *peer, const char *because)
{
    if (peer->lost)
        return;
    struct report *report = malloc(sizeof *report);
    if (!report)
        no_memory();
    *report = (struct report){ .next = reports, .loss.world = peer->world };
    snprintf(report->loss.cause, sizeof report->loss.cause, "is lost: %s", because);
    reports = report;
    failures_wanted = true;
}

/* ---- for collectives ---- */

/* One that we know of, or one that is dead though we have not acted on it. */
int channel_examine(const struct channel *channel, int number)
{
    if (failures == 0 && !failures_are_new())
        return channel->broken ? channel_fail(channel) : 0;
    int world = failure_of(channel, number);
    if (world >= 0)
        return failure_fail(world);
    struct loss loss;
    for (int i = 0; i < boot.segment->nlocal; i++)
        if (record_is_lost(bootseg_rank(boot.segment, i), &loss) && loss.world != boot.rank &&
            ranks_find(channel->peers, loss.world) >= 0 && is_missed(&loss, channel, number))
            return fail(MPIX_ERR_PROC_FAILED, "rank %d of the job %s", loss.world, loss.cause);
    return channel->broken ? channel_fail(channel) : 0;
}

/* ---- the link of the lost ---- */

static long lost_put(struct peer *peer, const struct wire *header, const struct buffer *data,
                     size_t skip, size_t bytes)
{
    (void)peer, (void)header, (void)data, (void)skip, (void)bytes;
    return -1;
}

static bool lost_reads(struct peer *peer)
{
    (void)peer;
    return false;
}

/* Its early messages leave our memory later than it has left the world. */
static void lost_tell(struct peer *peer)
{
    (void)peer;
}

static bool lost_is_gone(const struct peer *peer)
{
    (void)peer;
    return true;
}

const struct link link_lost = {
    .name = "lost",
    .put = lost_put,
    .reads = lost_reads,
    .tell = lost_tell,
    .gone = lost_is_gone,
};
