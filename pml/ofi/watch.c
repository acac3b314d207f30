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
 *                       accepted    alive, and ask again later, at longer and longer intervals
 *                       refused     nobody has that address any more: lost
 *                       no answer   for a quarter of it, and all is silent for three: lost
 *
 * so a peer that cannot be reached is reported within XMPI_OFI_TIMEOUT, and one that computes
 * never.  Providers without Internet addresses have no probe; there a peer is lost when the
 * provider has refused packets to it for the whole time.
 *
 * Only peers from whom something is awaited are watched closely, others are pinged now and then.
 */
#include "pml/ofi/trunk.h"

#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/param.h"
#include "runtime/record.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t SECOND = 1000000000, LOOK_NS = 50000000, FIRST_PING_NS = 100000000;
enum { MOST_REFUSED = 3 };

uint64_t trunk_timeout_ns(void)
{
    return (uint64_t)param_number(OFI_TIMEOUT) * SECOND;
}

/* ---- probes ---- */

void trunk_watch_end(struct trunk *trunk)
{
    if (trunk->probe >= 0)
        close(trunk->probe);
    trunk->probe = -1;
}

/* Length of the peer's Internet address, 0: it has another. */
static socklen_t address_length(const struct trunk *trunk)
{
    sa_family_t family;
    memcpy(&family, trunk->card.address[0], sizeof family);
    if (family == AF_INET && trunk->card.address_bytes == sizeof(struct sockaddr_in))
        return sizeof(struct sockaddr_in);
    if (family == AF_INET6 && trunk->card.address_bytes == sizeof(struct sockaddr_in6))
        return sizeof(struct sockaddr_in6);
    return 0;
}

static void probe_answered(struct trunk *trunk, int error, uint64_t now)
{
    trunk_watch_end(trunk);
    if (error == 0 || error == ECONNREFUSED)
        trunk->asked_since = 0;
    if (error == 0) {
        trunk->alive_at = now;
        trunk->refused = 0;
        uint64_t most = trunk_timeout_ns() / 2;
        trunk->probe_gap = 2 * trunk->probe_gap > most ? most : 2 * trunk->probe_gap;
    } else if (error == ECONNREFUSED) {
        trunk->refused++;
        trunk->probe_gap = LOOK_NS;
    } /* else unreachable: as good as no answer */
}

static void probe_begin(struct trunk *trunk, uint64_t now)
{
    struct sockaddr_storage address;
    socklen_t length = address_length(trunk);
    memcpy(&address, trunk->card.address[0], length);
    int s = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0)
        return;
    trunk->probe = s;
    trunk->probed_at = now;
    if (!trunk->asked_since)
        trunk->asked_since = now;
    if (connect(s, (struct sockaddr *)&address, length) == 0)
        probe_answered(trunk, 0, now);
    else if (errno != EINPROGRESS)
        probe_answered(trunk, errno, now);
}

static void probe_look(struct trunk *trunk, uint64_t now)
{
    struct pollfd p = { .fd = trunk->probe, .events = POLLOUT };
    if (poll(&p, 1, 0) != 1)
        return;
    int error = 0;
    socklen_t length = sizeof error;
    getsockopt(trunk->probe, SOL_SOCKET, SO_ERROR, &error, &length);
    probe_answered(trunk, error, now);
}

/* ---- one peer ---- */

static void trunk_report(struct trunk *trunk, const char *what)
{
    char why[320];
    snprintf(why, sizeof why, "%s, at %s on %s (provider %s, interface %s of rank %d on %s)",
             what, card_place(&trunk->card), trunk->card.host, trunk->card.provider,
             nics[0].name, boot.rank, trunk_my_card.host);
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

static void trunk_probe(struct trunk *trunk, uint64_t now)
{
    if (trunk->probe >= 0)
        probe_look(trunk, now);
    else if (trunk->probe_gap == 0 || now - trunk->probed_at >= trunk->probe_gap) {
        if (trunk->probe_gap == 0)
            trunk->probe_gap = trunk_timeout_ns() / 8;
        probe_begin(trunk, now);
    }
}

static uint64_t latest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Has it had its time to answer?  Without probes it has when we could send nothing.  What counts is
 * since when it was asked, not since when it is silent: we may not have run for as long. */
static bool trunk_had_time(const struct trunk *trunk, uint64_t now)
{
    if (address_length(trunk) == 0)
        return trunk->unsent != NULL;
    return trunk->asked_since && now - trunk->asked_since >= trunk_timeout_ns() / 4;
}

/* Nothing was heard for a quarter of the time-out from a peer that owes an answer. */
static void trunk_doubt(struct trunk *trunk, uint64_t now)
{
    char text[80];
    uint64_t silent = now - latest(trunk->heard_at, trunk->waits_since);
    uint64_t sure = now - latest(latest(trunk->heard_at, trunk->alive_at), trunk->waits_since);
    if (address_length(trunk) > 0)
        trunk_probe(trunk, now);
    if (trunk->refused >= MOST_REFUSED) {
        trunk_report(trunk, "nobody accepts connections");
    } else if (sure >= trunk_timeout_ns() / 4 * 3 && trunk_had_time(trunk, now)) {
        snprintf(text, sizeof text, "no answer for %u s", (unsigned)(silent / SECOND));
        trunk_report(trunk, text);
    }
}

static void trunk_watch(struct trunk *trunk, uint64_t now)
{
    if (trunk->heard) {
        trunk->heard = false;
        trunk->heard_at = now;
        trunk->pinged_at = trunk->waits_since = trunk->probe_gap = trunk->asked_since = 0;
        trunk->refused = 0;
        trunk_watch_end(trunk);
    }
    bool awaits = trunk_awaits(trunk) || trunk->pinged_at;
    if (!awaits)
        trunk->waits_since = 0;
    else if (trunk->waits_since == 0)
        trunk->waits_since = now;
    uint64_t silent =
        now - (awaits ? latest(trunk->heard_at, trunk->waits_since) : trunk->heard_at);
    trunk_ping(trunk, silent, awaits, now);
    if (awaits && silent >= trunk_timeout_ns() / 4)
        trunk_doubt(trunk, now);
}

void trunks_watch(void)
{
    static uint64_t looked;
    uint64_t now = clock_ns();
    if (now - looked < LOOK_NS)
        return;
    looked = now;
    int undelivered = 0;
    for (struct trunk *trunk = trunks; trunk; trunk = trunk->next) {
        if (trunk->state == TRUNK_OPEN && !trunk->left)
            trunk_watch(trunk, now);
        bool moves = (trunk->first && !trunk->left) || fetches_from(trunk);
        undelivered += moves && trunk->state != TRUNK_LOST;
    }
    record_area->undelivered = undelivered;
}
