/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long messages whose bytes the receiver reads from the sender's memory.
 *
 *     sender                            receiver
 *     RTS + address         -------->   matched, now or later
 *       (may compute)                   reads a piece per round of progress
 *                           <--------   CTS: I want nothing more: the send is complete
 *
 * or, when both have a processor, from both ends:
 *
 *     RTS + address         -------->   matched
 *                           <--------   CTS + grant: my memory, and a word to share the work by
 *     writes from the back              reads from the front
 *     WROTE                 -------->   until all is there (claim.h)
 *                           <--------   CTS: I want nothing more
 *
 * It needs plain memory (one piece) at the sender, and a link that can read.  What cannot be read
 * after all, for whatever reason, is asked for: a CTS like any other, and the sender copies.
 *
 * Which messages go this way is decided in trip.c.
 */
#include "pml/pull.h"

#include "pml/device.h"
#include "pml/failure.h"
#include "pml/proto.h"
#include "pml/stage.h"

#include <string.h>

enum { PIECE_BYTES = 512 << 10, BOUNCE_BYTES = 32 << 10 };

static struct {
    struct recv *first, *last;
} pulls;

void pulls_open(void)
{
    pulls.first = NULL;
}

void pulls_close(void)
{
    device_close();
    stages_close();
}

/* The sender must copy after all, from the beginning. */
static void pull_ask(struct recv *recv)
{
    if (recv->peer->lost) {
        recv_doom(recv, recv->peer->world);
        failure_complete(&recv->request);
        return;
    }
    recv->received = 0;
    recv_clear_to_send(recv, recv->peer, recv->sender);
    if (recv->received == recv->expected)
        recv_done(recv);
}

/* ---- links that take their time ---- */

static void pull_fetched(void *owner, bool good)
{
    struct recv *recv = owner;
    if (!good) {
        pull_ask(recv);
        return;
    }
    struct wire answer = { .kind = WIRE_CTS, .request = recv->sender };
    recv->received = recv->expected;
    control_send(recv->peer, &answer, NULL);
    recv_done(recv);
}

static void pull_fetch(struct recv *recv, const char *payload)
{
    struct link_fetch fetch = { .to = buffer_solid(&recv->data),
                                .where = recv->data.where,
                                .card = payload,
                                .bytes = recv->expected,
                                .done = pull_fetched,
                                .owner = recv };
    recv->shared = false;
    if (!recv->peer->link->fetch(recv->peer, &fetch))
        pull_ask(recv);
}

/* ---- one after another ---- */

void pull_begin(struct recv *recv, struct peer *peer, uint32_t sender, const char *payload)
{
    recv->peer = peer;
    recv->sender = sender;
    if (peer->link->fetch) {
        pull_fetch(recv, payload);
        return;
    }
    memcpy(&recv->address, payload, sizeof recv->address);
    recv->next = NULL;
    recv->queued = true;
    recv->shared = recv->broken = false;
    if (pulls.first)
        pulls.last->next = recv;
    else
        pulls.first = recv;
    pulls.last = recv;
    progress_nudge();
}

/* ---- from both ends ---- */

/* Let the sender write as well, if a word is free. */
static void pull_share(struct recv *recv)
{
    struct peer *peer = recv->peer;
    if (recv->trip.way != WAY_BOTH || recv->shared)
        return;
    uint32_t word = 0;
    while (word < CLAIM_WORDS && peer->words_used >> word & 1)
        word++;
    recv->name = word < CLAIM_WORDS ? request_name(recv) : 0;
    if (recv->name == 0) {
        recv->trip.way = WAY_READ;
        return;
    }
    peer->words_used |= 1u << word;
    recv->word = word;
    recv->generation = ++peer->generation;
    recv->shared = true;
    claim_begin(&peer->link->words(peer, true)[word], recv->generation);
    if (peer->link->share)
        peer->link->share(buffer_flat(&recv->data), recv->expected);
    struct wire_grant grant = { (uintptr_t)buffer_flat(&recv->data), recv->generation, word };
    struct wire answer = { .kind = WIRE_CTS,
                           .flags = WIRE_ADDRESS,
                           .request = recv->sender,
                           .peer_request = recv->name,
                           .total = recv->expected };
    control_send(peer, &answer, &grant);
}

static void pull_unshare(struct recv *recv)
{
    if (!recv->shared)
        return;
    /* Another generation: a late sender finds nothing to take. */
    claim_begin(&recv->peer->link->words(recv->peer, true)[recv->word],
                ++recv->peer->generation);
    recv->peer->words_used &= ~(1u << recv->word);
    request_unname(recv->name);
    recv->name = 0;
    recv->shared = false;
}

/* ---- reading ---- */

static bool pull_into(struct recv *recv, char *to, size_t offset, size_t bytes)
{
    uint64_t began = trip_now();
    size_t read = recv->peer->link->read(recv->peer, to, recv->address + offset, bytes);
    if (read == recv->expected)
        trip_read(read, began);
    pml_counters.bytes_read += read;
    return read == bytes;
}

/* Read a piece.  False: the sender's memory cannot be read. */
static bool pull_piece(struct recv *recv, const struct claimed *piece)
{
    static char bounce[BOUNCE_BYTES];
    char *flat = buffer_flat(&recv->data);
    bool good =
        pull_into(recv, flat ? flat + piece->offset : bounce, piece->offset, piece->bytes);
    if (good && flat)
        recv->received += piece->bytes;
    else if (good)
        recv_piece(recv, piece->offset, bounce, piece->bytes);
    return good;
}

/* The next piece for us; false: there is none left. */
static bool pull_next(const struct recv *recv, struct claimed *piece)
{
    if (recv->shared)
        return claim_take(&recv->peer->link->words(recv->peer, true)[recv->word],
                          recv->generation, recv->expected, false, piece);
    size_t most = buffer_flat(&recv->data) ? PIECE_BYTES : BOUNCE_BYTES;
    piece->offset = recv->received;
    piece->bytes = recv->expected - recv->received;
    if (piece->bytes > most)
        piece->bytes = most;
    return piece->bytes > 0;
}

static void pull_end(struct recv *recv)
{
    struct wire answer = { .kind = WIRE_CTS, .request = recv->sender };
    pull_unshare(recv);
    control_send(recv->peer, &answer, NULL);
    recv_done(recv);
}

static void pull_fall_back(struct recv *recv)
{
    if (!recv->peer->link->reads(recv->peer))
        trips_refuse();
    trip_forget(&recv->trip);
    pull_unshare(recv);
    pull_ask(recv);
}

/* The sender has written a piece, or says that it cannot. */
void recv_written(uint32_t name, size_t bytes)
{
    struct recv *recv = request_named(name);
    if (!recv) /* it was asked to copy instead meanwhile */
        return;
    recv->received += bytes;
    recv->broken |= bytes == 0;
    if (recv->queued)
        return;
    if (recv->broken)
        pull_fall_back(recv);
    else if (recv->received == recv->expected)
        pull_end(recv);
}

/* ---- giving up ---- */

void pull_leave(struct recv *recv)
{
    struct recv *before = NULL, *at = pulls.first;
    for (; at && at != recv; at = at->next)
        before = at;
    if (at) {
        *(before ? &before->next : &pulls.first) = recv->next;
        if (pulls.last == recv)
            pulls.last = before;
        recv->queued = false;
    }
    pull_unshare(recv);
}

struct recv *pull_of(const struct peer *peer)
{
    struct recv *recv = pulls.first;
    while (recv && recv->peer != peer)
        recv = recv->next;
    return recv;
}

struct recv *pull_take(const struct peer *peer)
{
    struct recv *recv = pull_of(peer);
    if (recv)
        pull_leave(recv);
    return recv;
}

/* ---- progress ---- */

bool pulls_have_work(void)
{
    return pulls.first || device_reads;
}

int pulls_flush(void)
{
    struct recv *recv = pulls.first;
    if (__builtin_expect(!recv, 1))
        return device_flush();
    struct claimed piece;
    pull_share(recv);
    if (recv->next) /* so that the sender has something to do while we finish this one */
        pull_share(recv->next);
    bool more = !recv->broken && pull_next(recv, &piece);
    if (more && !pull_piece(recv, &piece))
        recv->broken = true;
    if (!recv->broken && more && recv->received < recv->expected)
        return 1;
    pulls.first = recv->next;
    recv->queued = false;
    if (recv->broken)
        pull_fall_back(recv);
    else if (recv->received == recv->expected)
        pull_end(recv); /* else the sender is still writing */
    return 1;
}
