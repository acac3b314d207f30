/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Peers that say nothing.  A provider for TCP tells little: sends to a process that is dead, or
 * behind a cable that was pulled, are put off or taken, without an error, for many minutes.  And
 * a process that computes and does not call MPI is silent as well, for hours perhaps, and is
 * perfectly well.  So silence is looked into:
 *
 *     0.1 s, 0.2 s,     a PING: on a broken connection it fails, and all is sent again; its
 *     0.4 s, ...        answer says what is missing.  It may be lost as well, hence another one
 *     quarter of the    a probe: a plain TCP connection to the peer's address, which its kernel
 *     time-out          accepts whether or not the process is listening to us.
 *                       accepted    alive, and the connection is kept to ask again over it
 *                       refused     nobody has that address any more: it has left, or is lost, if the
 *                                   provider uses TCP; where a launcher tells of deaths it may
 *                                   be a firewall, so it is asked for another quarter
 *                       no answer   for a quarter of it, and all is silent for three: lost
 *
 * so a peer that cannot be reached is reported within XMPI_OFI_TIMEOUT, and one that computes
 * never.  Providers without Internet addresses have no probe; there a peer is lost when the
 * provider has refused packets to it for the whole time.
 *
 * Pieces of long messages also come over further nics.  A path of these that brings nothing for a quarter of
 * the time-out is probed in the same way: what is read over it could come back at any time into memory that
 * is not ours any more, so it cannot be asked for otherwise, and a peer that does not answer there is lost.
 *
 * What a provider fails to do it may not tell either: where the memory that is read has a hole, that of the sender
 * writes a line into its log at best.  So a path over which nothing comes for the whole time-out, though its peer
 * answers pings all the time and so lets its provider answer reads, loses the peer as well.
 *
 * Only peers from whom something is awaited are watched closely, others are pinged now and then.
 */
#include "pml/ofi/select.h"
#include "pml/ofi/trunk.h"

#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/param.h"
#include "runtime/record.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t SECOND = 1000000000, LOOK_NS = 50000000, FIRST_PING_NS = 100000000,
                      STANDS_NS = 500000000;
enum { MOST_REFUSED = 3, LEAST_HELD_S = 4, LEAST_ANSWERS = 16 };

uint64_t trunk_timeout_ns(void)
{
    return (uint64_t)param_number(OFI_TIMEOUT) * SECOND;
}

/* ---- probes ---- */

/* Between two questions over a connection that is kept. */
static uint64_t probe_interval_s(void)
{
    uint64_t seconds = (uint64_t)param_number(OFI_TIMEOUT) / 8;
    return seconds > 0 ? seconds : 1;
}

static void probe_end(struct path_probe *probe)
{
    if (probe->socket >= 0)
        close(probe->socket);
    probe->socket = -1;
    probe->held = false;
}

/* All is well, or nothing is asked any more. */
static void probe_forget(struct path_probe *probe)
{
    probe_end(probe);
    probe->gap = probe->asked_since = 0;
    probe->refused = 0;
}

void trunk_watch_end(struct trunk *trunk)
{
    for (int i = 0; i < NIC_MOST; i++)
        probe_end(&trunk->path[i].probe);
}

static int their_nic(const struct trunk *trunk, int nic)
{
    return nic % trunk->card.nnics;
}

/* Length of the Internet address that a nic of ours talks to, 0: it has another. */
static socklen_t address_length(const struct trunk *trunk, int nic)
{
    sa_family_t family;
    memcpy(&family, trunk->card.address[their_nic(trunk, nic)], sizeof family);
    if (family == AF_INET && trunk->card.address_bytes == sizeof(struct sockaddr_in))
        return sizeof(struct sockaddr_in);
    if (family == AF_INET6 && trunk->card.address_bytes == sizeof(struct sockaddr_in6))
        return sizeof(struct sockaddr_in6);
    return 0;
}

/* Is the port in an address one of TCP, so that nobody is there who refuses?  Others have them, too: of
 * verbs it is one of RDMA's, of udp one of UDP. */
static bool port_is_of_tcp(void)
{
    return provider_is_of_tcp(nics[0].info->fabric_attr->prov_name);
}

/* Who computes accepts nothing, so each connection would take a place in the queue of its listening socket until
 * that is full, and then its kernel answers nobody.  So one is kept, over which our kernel asks (keepalive).
 * False: times in whole seconds are too coarse. */
static bool probe_hold(struct path_probe *probe)
{
    if (param_number(OFI_TIMEOUT) < LEAST_HELD_S || probe->socket < 0)
        return false;
    probe->held = alive_ask(probe->socket, (int)probe_interval_s());
    return probe->held;
}

static void probe_answered(struct path_probe *probe, int error, uint64_t now)
{
    if (error || !probe_hold(probe))
        probe_end(probe);
    if (error == ECONNREFUSED && !port_is_of_tcp())
        error = 0; /* a kernel that is well */
    if (error == 0 || error == ECONNREFUSED)
        probe->asked_since = 0;
    if (error == 0) {
        probe->answered = now;
        probe->refused = 0;
        uint64_t most = trunk_timeout_ns() / 2;
        probe->gap = 2 * probe->gap > most ? most : 2 * probe->gap;
    } else if (error == ECONNREFUSED) {
        if (probe->refused++ == 0)
            probe->refused_since = now;
        probe->gap = probe->refused < MOST_REFUSED ? LOOK_NS : trunk_timeout_ns() / 32;
    } /* else unreachable: as good as no answer */
}

/* By the way that packets go, from the address of our nic: another one may reach the peer where this does not. */
static void probe_leave_by(int s, int nic, socklen_t length)
{
    struct sockaddr_storage own = { 0 };
    memcpy(&own, nics[nic].address, length);
    if (own.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&own)->sin6_port = 0;
    else
        ((struct sockaddr_in *)&own)->sin_port = 0;
    if (bind(s, (struct sockaddr *)&own, length) != 0)
        errno = 0; /* by any way then */
}

static void probe_begin(struct trunk *trunk, int nic, uint64_t now)
{
    struct path_probe *probe = &trunk->path[nic].probe;
    struct sockaddr_storage address;
    socklen_t length = address_length(trunk, nic);
    memcpy(&address, trunk->card.address[their_nic(trunk, nic)], length);
    int s = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0)
        return;
    probe_leave_by(s, nic, length);
    probe->socket = s;
    probe->began = now;
    if (!probe->asked_since)
        probe->asked_since = now;
    if (connect(s, (struct sockaddr *)&address, length) == 0)
        probe_answered(probe, 0, now);
    else if (errno != EINPROGRESS)
        probe_answered(probe, errno, now);
}

/* When was the last answer over a connection that is kept?  When it has ended the next one is made. */
static void probe_look_held(struct path_probe *probe, uint64_t now)
{
    struct pollfd p = { .fd = probe->socket, .events = POLLIN };
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (poll(&p, 1, 0) != 0 ||
        getsockopt(probe->socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        probe_end(probe);
        probe->began = now;
        return;
    }
    uint64_t answered = now - info.tcpi_last_ack_recv * (SECOND / 1000);
    if (answered > probe->answered)
        probe->answered = answered;
    if (now - probe->answered <= 2 * probe_interval_s() * SECOND)
        probe->asked_since = 0;
    else if (!probe->asked_since)
        probe->asked_since = now;
}

static void probe_look(struct path_probe *probe, uint64_t now)
{
    struct pollfd p = { .fd = probe->socket, .events = POLLOUT };
    if (poll(&p, 1, 0) != 1)
        return;
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(probe->socket, SOL_SOCKET, SO_ERROR, &error, &length);
    probe_answered(probe, error, now);
}

static void path_ask(struct trunk *trunk, int nic, uint64_t now)
{
    struct path_probe *probe = &trunk->path[nic].probe;
    if (address_length(trunk, nic) == 0)
        return;
    if (probe->held)
        probe_look_held(probe, now);
    else if (probe->socket >= 0)
        probe_look(probe, now);
    else if (probe->gap == 0 || now - probe->began >= probe->gap) {
        if (probe->gap == 0)
            probe->gap = trunk_timeout_ns() / 8;
        probe_begin(trunk, nic, now);
    }
}

static bool probe_had_time(const struct path_probe *probe, uint64_t now)
{
    return probe->asked_since && now - probe->asked_since >= trunk_timeout_ns() / 4;
}

/* ---- one peer ---- */

static void trunk_report(struct trunk *trunk, int nic, const char *what)
{
    char why[320];
    snprintf(why, sizeof why, "%s, at %s on %s (provider %s, interface %s of rank %d on %s)",
             what, card_place(&trunk->card, their_nic(trunk, nic)), trunk->card.host,
             trunk->card.provider, nics[nic].name, boot.rank, trunk_my_card.host);
    trunk_undelivered(trunk, why);
    trunk_lost(trunk, why);
}

static bool trunk_awaits(const struct trunk *trunk)
{
    return trunk->first || trunk->asks || trunk->peer->unanswered > 0;
}

/* Nothing was heard for so long.  The gaps between pings grow up to a quarter of the time-out. */
static void trunk_ping(struct trunk *trunk, uint64_t silent, bool awaits, uint64_t now)
{
    uint64_t most = trunk_timeout_ns() / 4;
    uint64_t gap = trunk->pinged_at ? trunk->ping_gap : awaits ? FIRST_PING_NS : most;
    if (silent < gap || now - trunk->pinged_at < gap || trunk->unsent ||
        !trunk_tell(trunk, HEAD_PING, false, trunk->sequence))
        return;
    trunk->pinged_at = now;
    trunk->ping_gap = 2 * gap < most ? 2 * gap : most;
}

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Has it had its time to answer?  Without probes it has when we could send nothing.  What counts is
 * since when it was asked, not since when it is silent: we may not have run for as long. */
static bool trunk_had_time(const struct trunk *trunk, uint64_t now)
{
    if (address_length(trunk, 0) == 0)
        return trunk->unsent != NULL;
    return probe_had_time(&trunk->path[0].probe, now);
}

/* Who refuses has ended.  If it had died that would be told of by others; so it has left MPI, over a connection that
 * broke, and its last word is lost, perhaps with its last acks.  Only who waits for more of it loses it; and who has
 * never heard of it: that address is not the peer's, or not for us.  Of what is cancelled nobody waits for more than
 * that it has left. */
static void trunk_refuses(struct trunk *trunk)
{
    uint32_t unanswered = trunk->peer->unanswered, cancelled = sends_cancelled(trunk->peer);
    if ((trunk->heard_at == 0 && cancelled == 0) || trunk->asks || unanswered > cancelled ||
        fetches_from(trunk) || peer_feeds(trunk->peer) ||
        !boot_tells_death(trunk->peer->world)) {
        trunk_report(trunk, 0, "nobody accepts connections");
        return;
    }
    trunk->left = true;
    trunk->silence = UINT32_MAX; /* for good */
    probe_forget(&trunk->path[0].probe);
}

/* A firewall may refuse for a while as well, so who would have told of a death and does not is believed first. */
static bool refuses_for_good(const struct trunk *trunk, uint64_t now)
{
    const struct path_probe *probe = &trunk->path[0].probe;
    uint64_t patience = boot_tells_death(trunk->peer->world) ? trunk_timeout_ns() / 4 : 0;
    return probe->refused >= MOST_REFUSED && now - probe->refused_since >= patience;
}

/* The last refusal may be younger than `now`. */
static bool refused_for_long(const struct trunk *trunk, uint64_t now)
{
    int64_t last = (int64_t)(now - trunk->refused_at),
            first = (int64_t)(now - trunk->refused_since);
    return last < REFUSED_NS && first >= (int64_t)trunk_timeout_ns() / 4 * 3;
}

/* Our side does not get a packet off, whatever becomes of the peer. */
static void trunk_is_refused(struct trunk *trunk, uint64_t now)
{
    char text[120];
    snprintf(text, sizeof text, "no packets could be sent for %u s: %.80s",
             (unsigned)((now - trunk->refused_since) / SECOND),
             fabric.strerror(trunk->refusal));
    trunk_report(trunk, 0, text);
}

/* Nothing was heard for a quarter of the time-out from a peer that owes an answer. */
static void trunk_doubt(struct trunk *trunk, uint64_t now)
{
    char text[80];
    uint64_t silent = now - latest(trunk->heard_at, trunk->waits_since);
    const struct path_probe *probe = &trunk->path[0].probe;
    path_ask(trunk, 0, now);
    uint64_t sure = now - latest(latest(trunk->heard_at, probe->answered), trunk->waits_since);
    if (refuses_for_good(trunk, now)) {
        trunk_refuses(trunk);
    } else if (sure >= trunk_timeout_ns() / 4 * 3 && trunk_had_time(trunk, now)) {
        snprintf(text, sizeof text, "no answer for %u s", (unsigned)(silent / SECOND));
        trunk_report(trunk, 0, text);
    }
}

/* Long messages come over other paths than packets do, so the peer may be heard while one of these is cut.
 * Who refuses to be connected to can be reached. */
static void path_watch(struct trunk *trunk, int nic, uint64_t now)
{
    struct path *path = &trunk->path[nic];
    if (path->reads == 0 || now - path->moved_at < trunk_timeout_ns() / 4) {
        probe_forget(&path->probe);
        return;
    }
    path_ask(trunk, nic, now);
    uint64_t still = now - path->moved_at;
    uint64_t sure = now - latest(path->moved_at, path->probe.answered);
    if (sure < trunk_timeout_ns() / 4 * 3 || !probe_had_time(&path->probe, now))
        return;
    char text[80];
    snprintf(text, sizeof text, "nothing more of a long message for %u s",
             (unsigned)(still / SECOND));
    trunk_report(trunk, nic, text);
}

/* The peer is there and does not compute, and still nothing comes.  Who calls MPI now and then answers several pings
 * at once, and sends a part of a piece each time. */
static void path_stands(struct trunk *trunk, int nic, uint64_t now)
{
    struct path *path = &trunk->path[nic];
    uint64_t still = now - path->moved_at;
    if (path->reads == 0 || still < trunk_timeout_ns() / 4) {
        path->answers = 0;
        return;
    }
    path->answers += trunk->answers;
    if (now - path->asked_at >= trunk_timeout_ns() / 32 &&
        trunk_tell(trunk, HEAD_PING, false, trunk->sequence))
        path->asked_at = now;
    if (still < trunk_timeout_ns() || path->answers < LEAST_ANSWERS)
        return;
    char text[120];
    snprintf(text, sizeof text,
             "nothing of a long message has come for %u s, though it answers (can all of its "
             "buffer be read?)",
             (unsigned)(still / SECOND));
    trunk_report(trunk, nic, text);
}

static void trunk_watch(struct trunk *trunk, uint64_t now)
{
    if (trunk->heard) {
        trunk->heard = false;
        trunk->heard_at = now;
        trunk->pinged_at = trunk->waits_since = 0;
        probe_forget(&trunk->path[0].probe);
    }
    bool awaits = trunk_awaits(trunk) || trunk->pinged_at;
    if (!awaits)
        trunk->waits_since = 0;
    else if (trunk->waits_since == 0)
        trunk->waits_since = now;
    uint64_t silent =
        now - (awaits ? latest(trunk->heard_at, trunk->waits_since) : trunk->heard_at);
    trunk_ping(trunk, silent, awaits, now);
    if (refused_for_long(trunk, now))
        trunk_is_refused(trunk, now);
    else if (awaits && silent >= trunk_timeout_ns() / 4)
        trunk_doubt(trunk, now);
}

/* Does what should come from it not come? */
static bool trunk_stands(const struct trunk *trunk, uint64_t now)
{
    bool stands =
        trunk_awaits(trunk) && now - latest(trunk->heard_at, trunk->waits_since) > STANDS_NS;
    for (int i = 0; i < nnics; i++)
        stands |= trunk->path[i].reads > 0 && now - trunk->path[i].moved_at > STANDS_NS;
    return stands;
}

/* Are the connections still there? */
static void trunks_stand(uint64_t now)
{
    static uint64_t asked;
    if (now - asked < probe_interval_s() * SECOND)
        return;
    asked = now;
    connections_ask((int)probe_interval_s());
}

/* Who has gone takes nothing any more, also where its card never came. */
static bool trunk_moves(const struct trunk *trunk)
{
    bool goes = trunk->first && !trunk_left(trunk) && !trunk_gone(trunk);
    return trunk->state != TRUNK_LOST && (goes || fetches_from(trunk));
}

static void moves_tell(void)
{
    int undelivered = 0;
    for (const struct trunk *trunk = trunks; trunk; trunk = trunk->next) {
        if (!trunk_moves(trunk))
            continue;
        if (undelivered < RECORD_MOVES)
            record_area->moves_with[undelivered] = trunk->peer->world;
        undelivered++;
    }
    record_area->undelivered = undelivered;
}

void trunks_watch(void)
{
    static uint64_t looked;
    bool stands = false;
    uint64_t now = clock_ns();
    if (now - looked < LOOK_NS)
        return;
    looked = now;
    for (struct trunk *trunk = trunks; trunk; trunk = trunk->next) {
        if (trunk->state == TRUNK_OPEN && !trunk_left(trunk))
            trunk_watch(trunk, now);
        for (int i = 1; i < nnics && trunk->state == TRUNK_OPEN; i++)
            path_watch(trunk, i, now);
        for (int i = 0; i < nnics && trunk->state == TRUNK_OPEN; i++)
            path_stands(trunk, i, now);
        trunk->answers = false;
        stands |= trunk->state == TRUNK_OPEN && !trunk_left(trunk) && trunk_stands(trunk, now);
    }
    if (stands)
        trunks_stand(now);
    moves_tell();
}
