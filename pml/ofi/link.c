/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The link to other nodes, over libfabric.  This file: opening, putting packets, polling.
 *
 * Opening libfabric costs 0.1 s, so it waits until it is needed, as a rule:
 *
 *     the first message to another node    asks that process for its card, then opens
 *     somebody asks for our card           the next poll opens, and publishes it
 *
 * and a process that talks to its own node alone never does.  Where processes cannot be asked for
 * cards (PMIx, torchrun) it is opened with the pml in jobs that have other nodes.
 *
 * Packets go over the first nic, in order; long messages are read from the sender's memory over all
 * of them (fetch.c).
 *
 * Sending copies the packet: once for messages up to 64 KiB, and the copy is what makes it
 * possible to send again.  How much may be on its way without an ack is bounded per peer; how
 * much may arrive without a receive is bounded by peer->window (pml/peer.h).
 */
#include "pml/ofi/trunk.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "runtime/param.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT_BYTES = 8 << 10,
    MOST_UNACKED = 128, /* frames */
    MOST_UNACKED_BYTES = 4 << 20,
    POLLS_PER_WATCH = 16,
    BUSY_POLLS = 7 /* of shared memory alone between two polls of an idle network */
};

static enum { CLOSED, READY, OPEN } state; /* READY: to be opened when it is needed */

/* ---- opening and closing ---- */

enum { LEAST_WINDOW = 4096 };

/* Where not even a short message fits nobody could send anything; what does not fit into 32 bits is as good
 * as no bound.  0: there is none. */
static uint32_t window_bytes(void)
{
    const long long most = INT32_MAX, bytes = param_number(OFI_WINDOW);
    if (bytes == 0)
        return 0;
    return (uint32_t)(bytes < LEAST_WINDOW ? LEAST_WINDOW : bytes > most ? most : bytes);
}

static void window_tell(void)
{
    long long asked = param_number(OFI_WINDOW);
    if (asked > 0 && asked < LEAST_WINDOW && boot.rank == 0)
        say("XMPI_OFI_WINDOW=%lld is too little for a short message; taking %d", asked,
            LEAST_WINDOW);
    if (asked == 0)
        log_line("network: any number of bytes from each peer may wait here unasked "
                 "(XMPI_OFI_WINDOW=0)");
    else
        log_line("network: at most %u KiB from each peer wait here unasked (XMPI_OFI_WINDOW)",
                 window_bytes() >> 10);
}

static int network_open(void)
{
    if (state == OPEN)
        return 0;
    int error = fabric_load();
    if (!error)
        error = nics_open(sizeof(struct head) + FRAME_PAYLOAD);
    if (error)
        return error;
    error = receives_open();
    if (error)
        goto close_nics;
    trunk_job = card_job(boot.segment->job);
    card_fill(&trunk_my_card);
    error = boot_publish(&trunk_my_card, sizeof trunk_my_card);
    if (error)
        goto close_receives;
    window_tell();
    progress_naps_short(true);
    state = OPEN;
    return 0;
close_receives:
    nics_stop();
    receives_close();
close_nics:
    nics_close();
    return error;
}

static int ofi_open(void)
{
    state = READY;
    int error = boot_can_ask() ? 0 : network_open();
    if (error)
        state = CLOSED;
    return error;
}

/* Somebody waits for our card, and there is no call that could return an error. */
static void open_for_others(void)
{
    if (network_open())
        boot_abort(MPI_ERR_OTHER, fail_text());
}

static void counters_log(void)
{
    nics_log();
    log_line("network: %llu packets, %llu of them acks; %llu resent, %llu came twice",
             (unsigned long long)ofi_counters.frames, (unsigned long long)ofi_counters.acks,
             (unsigned long long)ofi_counters.resent, (unsigned long long)ofi_counters.doubled);
}

/* The process ends, or opens again.  What others have sent and nobody read makes the kernel cut
 * connections, and cut off what they have not read either; but they have acked all of it. */
static void ofi_close(void)
{
    bool was_open = state == OPEN;
    state = CLOSED;
    if (!was_open)
        return;
    counters_log();
    while (trunks) {
        struct trunk *gone = trunks;
        trunks = gone->next;
        trunk_watch_end(gone);
        free(gone);
    }
    nics_stop();
    frames_close();
    receives_close();
    fetches_close();
    nics_close();
    progress_naps_short(false);
}

/* ---- peers ---- */

static bool ofi_reaches(int world)
{
    return state != CLOSED && boot_local(world) < 0;
}

static int ofi_connect(struct peer *peer)
{
    boot_ask(peer->world); /* it opens while we do */
    peer->window = window_bytes();
    int error = network_open();
    return error ? error : trunk_new(peer);
}

static bool ofi_gone(const struct peer *peer)
{
    return trunk_gone(peer->lane);
}

/* Who leaves in peace waits until all is acked that it sent. */
static bool ofi_left(const struct peer *peer, bool session)
{
    const struct trunk *trunk = peer->lane;
    const struct boot_rank *record = boot_neighbour(peer->world);
    if (trunk->state == TRUNK_LOST)
        return false;
    if (trunk->left && (session || trunk->silence & 1))
        return true;
    if (record)
        return record_says_left(record, session);
    return trunk->state == TRUNK_UNKNOWN && boot_left(peer->world);
}

static void ofi_lose(struct peer *peer)
{
    trunk_lost(peer->lane, "its process has died");
}

/* Everything was taken by those who are still there, and nobody waits for our acks.  Who has not
 * published a card yet is going to. */
static bool trunk_is_quiet(struct trunk *trunk)
{
    if (trunk_left(trunk) || trunk_gone(trunk))
        return true;
    trunk->owes_now |= trunk->owes;
    return !trunk->first && !trunk->owes;
}

static bool ofi_quiet(bool leaving)
{
    bool quiet = true;
    trunks_leaving = leaving;
    for (struct trunk *trunk = trunks; trunk; trunk = trunk->next)
        quiet &= trunk_is_quiet(trunk);
    return quiet;
}

static void ofi_leave(void)
{
    for (struct trunk *trunk = trunks; trunk; trunk = trunk->next)
        trunk_tell(trunk, HEAD_LEFT, false, 0);
}

static uint32_t ofi_silence(struct peer *peer)
{
    struct trunk *trunk = peer->lane;
    trunk_ask(trunk);
    return trunk_gone(trunk) ? UINT32_MAX : trunk->silence;
}

static void ofi_falls_silent(bool yes)
{
    for (struct trunk *trunk = trunks; trunk; trunk = trunk->next)
        if (yes)
            trunk_tell(trunk, HEAD_ACK, false, 0);
        else
            trunk->asks = false;
}

/* ---- packets ---- */

static void payload_copy(char *to, const struct buffer *data, size_t skip, size_t bytes)
{
    const char *flat = buffer_flat(data);
    if (flat)
        memcpy(to, flat + skip, bytes);
    else
        buffer_pack(data, skip, to, bytes);
}

/* Its data may come in any pieces. */
static bool is_in_pieces(const struct wire *header)
{
    return header->kind == WIRE_EAGER || header->kind == WIRE_MORE || header->kind == WIRE_DATA;
}

static long ofi_put(struct peer *peer, const struct wire *header, const struct buffer *data,
                    size_t skip, size_t bytes)
{
    struct trunk *trunk = peer->lane;
    if (trunk->state == TRUNK_LOST || (trunk->state == TRUNK_OPEN && trunk->unsent) ||
        trunk->rewinding || trunk->nunacked >= MOST_UNACKED ||
        trunk->bytes >= MOST_UNACKED_BYTES)
        return -1;
    /* The first piece of a long message would have to be kept where nobody waits for it. */
    if (header->kind == WIRE_RTS && !(header->flags & WIRE_ADDRESS))
        bytes = 0;
    size_t most = nics[0].most_packet - sizeof(struct head);
    if (header->bytes > most)
        return -1; /* a short message that goes whole or not at all */
    if (bytes > most)
        bytes = most;
    bool only = trunk->nunacked == 0;
    struct frame *frame = frame_new(bytes, only);
    if (!frame && header->bytes == 0 && is_in_pieces(header))
        frame = frame_shorter(&bytes, only);
    if (!frame)
        return -1;
    trunks_leaving = false;
    frame->head = (struct head){
        .job = trunk_job, .kind = HEAD_PACKET, .from = (uint32_t)boot.rank, .wire = *header
    };
    frame->head.wire.bytes = (uint32_t)bytes;
    if (bytes)
        payload_copy(frame_payload(frame), data, skip, bytes);
    trunk_append(trunk, frame);
    return (long)bytes;
}

/* The peer was not told yet how much of what it sent has left our memory. */
static void ofi_tell(struct peer *peer)
{
    struct trunk *trunk = peer->lane;
    trunk->owes = trunk->owes_now = true;
    trunk_attend(trunk);
}

static int ofi_poll(void)
{
    static unsigned skipped, polls;
    static uint32_t naps;
    if (state != OPEN) {
        if (boot_asked())
            open_for_others();
        return 0;
    }
    if (boot.nlocal > 1 && naps == progress_naps && skipped < BUSY_POLLS) {
        skipped++;
        return 0;
    }
    naps = progress_naps;
    int events = nics_poll();
    events += trunks_attend(events == 0);
    fetches_flush();
    skipped = events ? BUSY_POLLS : 0;
    if (++polls % POLLS_PER_WATCH == 0)
        trunks_watch();
    return events;
}

const struct link link_ofi = {
    .name = "ofi",
    .short_bytes = SHORT_BYTES,
    .open = ofi_open,
    .close = ofi_close,
    .reaches = ofi_reaches,
    .connect = ofi_connect,
    .put = ofi_put,
    .poll = ofi_poll,
    .offer = fetch_offer,
    .retract = fetch_retract,
    .fetch = fetch_begin,
    .reaches_devices = nics_reach_devices,
    .tell = ofi_tell,
    .quiet = ofi_quiet,
    .leave = ofi_leave,
    .silence = ofi_silence,
    .falls_silent = ofi_falls_silent,
    .lose = ofi_lose,
    .left = ofi_left,
    .gone = ofi_gone,
};
