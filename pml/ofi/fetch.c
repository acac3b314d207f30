/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long messages without a copy in between: the sender registers its data with every nic and says
 * where they lie, the receiver reads them, in pieces, over all nics at once:
 *
 *     offer (in the RTS):  address, and a key per nic
 *     fetch:   piece 0 -> nic 0     piece 1 -> nic 1     piece 2 -> nic 0 ...
 *
 * Data on a device are the same to a provider that reaches devices (hmem.c): between two of them no
 * byte passes through memory of the host.
 *
 * A few pieces per nic are under way from a peer at a time, of the oldest message first.  Some providers
 * serve reads only while their process polls, and nothing tells that process that it is being read from;
 * so who reads says it now and then, and a sender that waits does not go to sleep over it.
 *
 * When a piece fails, the rest is let come in and the caller hears that the fetch failed; it asks for the
 * bytes as packets then.  So it does when the provider takes no read for a quarter of the time-out from a
 * peer that answers: packets reach it, reads do not, as when it cannot be connected to any more.
 */
#include "pml/ofi/trunk.h"

#include "runtime/clock.h"
#include "runtime/fail.h"
#include "runtime/log.h"

#include <stdlib.h>
#include <string.h>

enum {
    SEGMENT_BYTES = 65483, /* of TCP over loopback */
    HEAD_BYTES = 24,       /* room for the provider's */
    PIECE_BYTES = 8 * SEGMENT_BYTES - HEAD_BYTES,
    STREAM_PIECE = 1 << 20,
    LEAST_PIECE = 64 << 10,
    PIECES_PER_NIC = 8,  /* under way from a peer */
    TELLING_NS = 600000, /* that we read: before a wait goes to sleep, see policy.c */
};

/* What travels in an RTS. */
struct places {
    uint64_t address[NIC_MOST], key[NIC_MOST];
};
_Static_assert(sizeof(struct places) <= LINK_CARD_BYTES, "the places fit an RTS");

struct offer {
    struct link_offer link; /* first */
    struct fid_mr *mr[NIC_MOST];
    struct offer *next; /* unused */
};

/* Used again: a persistent operation that is started once more allocates nothing. */
static struct offer *unused_offers;

static struct offer *offer_new(void)
{
    struct offer *offer = unused_offers;
    if (!offer)
        return calloc(1, sizeof *offer);
    unused_offers = offer->next;
    memset(offer, 0, sizeof *offer);
    return offer;
}

void fetch_retract(struct link_offer *link)
{
    struct offer *offer = (struct offer *)link;
    for (int i = 0; i < nnics; i++)
        if (offer->mr[i])
            fi_close(&offer->mr[i]->fid);
    offer->next = unused_offers;
    unused_offers = offer;
}

/* What is not the program's faults here, in the call that sends it, as in messages that are copied; providers that
 * fail to read it say nothing. */
static void data_touch(const volatile char *data, size_t bytes)
{
    (void)data[0];
    (void)data[bytes - 1];
}

struct link_offer *fetch_offer(struct peer *peer, const void *data, size_t bytes,
                               enum where where)
{
    (void)peer;
    struct places places = { 0 };
    struct offer *offer = offer_new();
    if (!offer)
        return NULL;
    if (where == HERE && bytes > 0)
        data_touch(data, bytes);
    for (int i = 0; i < nnics; i++) {
        if (nic_register(&nics[i], data, bytes, FI_REMOTE_READ, where, &offer->mr[i])) {
            log_line("%s; sent as packets", fail_text());
            fetch_retract(&offer->link);
            return NULL;
        }
        bool absolute = nics[i].info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
        places.address[i] = absolute ? (uintptr_t)data : 0;
        places.key[i] = fi_mr_key(offer->mr[i]);
    }
    offer->link.bytes = sizeof places;
    memcpy(offer->link.card, &places, sizeof places);
    return &offer->link;
}

/* ---- the receiver ---- */

struct fetch;
struct read { /* one piece */
    struct op op;
    struct fetch *fetch;
    int nic;
    size_t bytes;
    struct read *next;
};

struct fetch {
    struct link_fetch what;
    struct trunk *trunk;
    struct places places;
    size_t offset;       /* of the next piece */
    int under_way, nic;  /* pieces; the next one's */
    bool failed, told;   /* the caller knows how it ended */
    uint64_t refused_at; /* since when the provider takes nothing of it, ns; 0: it does */
    struct fid_mr *mr[NIC_MOST];
    struct fetch *next;
};

static struct fetch *fetches, **fetches_end = &fetches, *unused_fetches;
static struct read *unused;

static struct fetch *fetch_new(void)
{
    struct fetch *fetch = unused_fetches;
    if (!fetch)
        return calloc(1, sizeof *fetch);
    unused_fetches = fetch->next;
    memset(fetch, 0, sizeof *fetch);
    return fetch;
}

static struct read *read_new(void)
{
    struct read *read = unused;
    if (read)
        unused = read->next;
    else
        read = malloc(sizeof *read);
    if (read)
        read->op.kind = OP_READ;
    return read;
}

static void read_free(struct read *read)
{
    read->next = unused;
    unused = read;
}

static void fetch_tell(struct fetch *fetch, bool good)
{
    if (!fetch->told)
        fetch->what.done(fetch->what.owner, good);
    fetch->told = true;
}

static void unregister(struct fetch *fetch)
{
    for (int i = 0; i < nnics; i++)
        if (fetch->mr[i])
            fi_close(&fetch->mr[i]->fid);
}

static void fetch_end(struct fetch *fetch)
{
    unregister(fetch);
    fetch_tell(fetch, !fetch->failed);
    fetch->next = unused_fetches;
    unused_fetches = fetch;
}

/* The next of a message.  In whole segments: where one leaves a few bytes for another segment, messages of
 * 1 MiB and more take twice as long over loopback.  Of several messages fewer and longer pieces count more. */
static size_t piece_next(size_t bytes, size_t left)
{
    bool many = fetches->next != NULL;
    size_t piece = (bytes + (size_t)nnics - 1) / (size_t)nnics,
           most = many ? STREAM_PIECE : PIECE_BYTES;
    piece = piece > most ? most : piece;
    piece = piece < LEAST_PIECE ? LEAST_PIECE : piece;
    piece = piece < left ? piece : left;
    size_t segments = (piece + HEAD_BYTES) / SEGMENT_BYTES;
    return many || segments < 2 ? piece : segments * SEGMENT_BYTES - HEAD_BYTES;
}

/* Have the next piece read.  False: the provider has no room now. */
static bool fetch_post(struct fetch *fetch)
{
    int i = fetch->nic, theirs = i % fetch->trunk->card.nnics;
    struct nic *nic = &nics[i];
    size_t bytes = piece_next(fetch->what.bytes, fetch->what.bytes - fetch->offset);
    struct read *read = nic->posted < nic->most_posted ? read_new() : NULL;
    if (!read)
        return false;
    read->fetch = fetch;
    read->nic = i;
    read->bytes = bytes;
    void *descriptor = fetch->mr[i] ? fi_mr_desc(fetch->mr[i]) : NULL;
    ssize_t refused = fi_read(
        nic->reader, fetch->what.to + fetch->offset, bytes, descriptor, fetch->trunk->to[i],
        fetch->places.address[theirs] + fetch->offset, fetch->places.key[theirs], &read->op);
    if (refused) {
        read_free(read);
        fetch->failed |= refused != -FI_EAGAIN;
        return false;
    }
    nic->posted++;
    fetch->under_way++;
    if (fetch->trunk->path[i].reads++ == 0)
        fetch->trunk->path[i].moved_at = clock_ns();
    fetch->offset += bytes;
    fetch->nic = (i + 1) % nnics;
    fetch->refused_at = 0;
    fetch->trunk->unreadable = false;
    return true;
}

/* Nothing of it is under way, and nothing more is taken.  One that was waited for in vain is not waited
 * for again: what comes next tries once. */
static void fetch_refused(struct fetch *fetch)
{
    struct trunk *trunk = fetch->trunk;
    uint64_t now = clock_ns(), patience = trunk->unreadable ? 0 : trunk_timeout_ns() / 4;
    if (fetch->refused_at == 0)
        fetch->refused_at = now;
    if (now - fetch->refused_at < patience ||
        (patience && trunk->heard_at < fetch->refused_at + patience / 2))
        return;
    if (!trunk->unreadable)
        log_line(
            "network: rank %d at %s answers, but provider %s takes no reads from it for %u s;"
            " asking for packets",
            trunk->peer->world, card_place(&trunk->card, 0), trunk->card.provider,
            (unsigned)(patience / 1000000000));
    trunk->unreadable = true;
    fetch->failed = true;
}

static int trunk_reads(const struct trunk *trunk)
{
    int reads = 0;
    for (int i = 0; i < nnics; i++)
        reads += trunk->path[i].reads;
    return reads;
}

/* As many pieces as may be. */
static void fetch_push(struct fetch *fetch)
{
    struct trunk *trunk = fetch->trunk;
    while (!fetch->failed && fetch->offset < fetch->what.bytes) {
        if (trunk_reads(trunk) >= PIECES_PER_NIC * nnics) {
            fetch->refused_at = 0; /* older messages are read from */
            return;
        }
        if (!fetch_post(fetch)) {
            if (fetch->under_way == 0 && !fetch->failed)
                fetch_refused(fetch);
            return;
        }
    }
}

/* Why, once for each side: the sender is asked for packets then. */
static void refusal_tell(enum where where)
{
    static bool told[2];
    if (!told[where == AWAY])
        log_line("network: memory %s cannot be registered to receive into: %s",
                 where == AWAY ? "of a device" : "of the host", fail_text());
    told[where == AWAY] = true;
    fail_clear();
}

bool fetch_begin(struct peer *peer, const struct link_fetch *what)
{
    struct trunk *trunk = peer->lane;
    struct fetch *fetch = trunk->state != TRUNK_LOST ? fetch_new() : NULL;
    if (!fetch)
        return false;
    fetch->what = *what;
    fetch->trunk = trunk;
    memcpy(&fetch->places, what->card, sizeof fetch->places);
    for (int i = 0; i < nnics && !fetch->failed; i++)
        if (nic_register(&nics[i], what->to, what->bytes, FI_READ, what->where,
                         &fetch->mr[i])) {
            refusal_tell(what->where);
            fetch->failed = true;
        }
    fetch->next = NULL;
    *fetches_end = fetch;
    fetches_end = &fetch->next;
    trunk->reads_told = clock_ns();
    if (trunk->state == TRUNK_OPEN)
        fetch_push(fetch);
    return true;
}

/* The peer is still being read from. */
static void trunk_reads_on(struct trunk *trunk, int nic)
{
    uint64_t now = trunk->path[nic].moved_at = clock_ns();
    if (now - trunk->reads_told > TELLING_NS && trunk_tell(trunk, HEAD_READS, false, 0))
        trunk->reads_told = now;
}

void fetch_read_ended(struct op *op, int error)
{
    struct read *read = (struct read *)op;
    struct fetch *fetch = read->fetch;
    struct nic *nic = &nics[read->nic];
    nic->posted--;
    fetch->under_way--;
    fetch->trunk->path[read->nic].reads--;
    trunk_reads_on(fetch->trunk, read->nic);
    if (error) {
        log_line("network: reading from rank %d failed (%s); asking for packets",
                 fetch->trunk->peer->world, fabric.strerror(error));
        fetch->failed = true;
    } else {
        nic->bytes_read += read->bytes;
        pml_counters.bytes_read += read->bytes;
    }
    read_free(read);
}

/* Is it over?  When the peer is lost, what is under way may come back some day, but nobody waits
 * for it. */
static bool fetch_goes_on(struct fetch *fetch)
{
    if (fetch->trunk->state == TRUNK_LOST) {
        fetch->failed = true;
        fetch_tell(fetch, false);
    }
    if (fetch->trunk->state == TRUNK_OPEN)
        fetch_push(fetch);
    return fetch->under_way > 0 || (!fetch->failed && fetch->offset < fetch->what.bytes);
}

bool fetches_from(const struct trunk *trunk)
{
    const struct fetch *fetch = fetches;
    while (fetch && fetch->trunk != trunk)
        fetch = fetch->next;
    return fetch != NULL;
}

/* Who is told may begin another one. */
void fetches_flush(void)
{
    struct fetch **at = &fetches, *fetch;
    while ((fetch = *at) != NULL) {
        if (fetch_goes_on(fetch)) {
            at = &fetch->next;
            continue;
        }
        *at = fetch->next;
        if (!*at)
            fetches_end = at;
        fetch_end(fetch);
    }
}

void fetches_close(void)
{
    for (struct fetch *gone; (gone = fetches) != NULL; free(gone)) {
        fetches = gone->next;
        unregister(gone);
    }
    fetches_end = &fetches;
    for (struct offer *gone; (gone = unused_offers) != NULL; free(gone))
        unused_offers = gone->next;
    for (struct fetch *gone; (gone = unused_fetches) != NULL; free(gone))
        unused_fetches = gone->next;
    for (struct read *gone; (gone = unused) != NULL; free(gone))
        unused = gone->next;
}
