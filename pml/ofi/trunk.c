/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trunks: finding a peer's address when it is first needed, numbering, acks, sending again.
 *
 * A trunk is made when its peer is first sent to or heard of.  The peer's card may not be there
 * yet: it computes, and has not heard that it was asked for one, or has not called MPI_Init.  Until
 * it is, frames are kept, so that a short message can be sent to a process that does not answer.  The
 * address goes into libfabric's table then and not before, so a process pays for the peers it talks
 * to.
 *
 * The provider may refuse a frame (no connection yet, queue full): it stays unsent, and every
 * poll tries again.  When the provider reports that a frame was not delivered, the connection is
 * lost and with it, perhaps, what was reported as sent: as soon as the provider has nothing any
 * more, all that is not acked is sent again, which makes a new connection.  Losses nobody
 * reports come to light by a ping: the answer says how far the peer has come (watch.c).
 */
#include "pml/ofi/trunk.h"

#include "mpi.h"
#include "runtime/assist.h"
#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/fail.h"
#include "runtime/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWED_BYTES = 256 << 10, FRAME_COSTS = 2048 /* an ACK for 128 short ones */ };
static const uint64_t OWED_NS = 200000;

struct trunk *trunks;
bool trunks_leaving;
struct card trunk_my_card;
uint16_t trunk_job;
struct ofi_counters ofi_counters;
static struct trunk *attended;

void trunk_attend(struct trunk *trunk)
{
    if (trunk->attended)
        return;
    trunk->attended = true;
    trunk->next_attended = attended;
    attended = trunk;
}

int trunk_new(struct peer *peer)
{
    int error = receives_meet();
    if (error)
        return error;
    struct trunk *trunk = calloc(1, sizeof *trunk);
    if (!trunk)
        return fail(MPI_ERR_NO_MEM, "no memory to reach rank %d over the network", peer->world);
    trunk->peer = peer;
    for (int i = 0; i < NIC_MOST; i++)
        trunk->path[i].probe.socket = -1;
    trunk->next = trunks;
    trunks = trunk;
    peer->lane = trunk;
    trunk_attend(trunk);
    return 0;
}

/* ---- the end ---- */

/* Who left before the use of MPI that we are in may be back for what we send, with his next session. */
bool trunk_left(const struct trunk *trunk)
{
    return trunk->left && silence_covers(trunk->silence, boot_use());
}

bool trunk_gone(const struct trunk *trunk)
{
    if (trunk->state == TRUNK_LOST)
        return true;
    if (boot_left(trunk->peer->world))
        return true;
    struct boot_rank *record = boot_neighbour(trunk->peer->world);
    return record &&
           (atomic_load(&record->dead) || atomic_load(&record->state) == BOOT_FINALIZED);
}

/* The first frame is not kept any more. */
static void frame_leaves(struct trunk *trunk)
{
    struct frame *frame = trunk->first;
    trunk->first = frame->next;
    trunk->nunacked--;
    trunk->bytes -= frame->bytes;
    if (trunk->unsent == frame)
        trunk->unsent = frame->next;
    if (frame->posted)
        frame->finished = true;
    else
        frame_free(frame);
}

void trunk_lost(struct trunk *trunk, const char *why)
{
    if (trunk->state == TRUNK_LOST)
        return;
    trunk->state = TRUNK_LOST;
    while (trunk->first) /* nobody will ack them */
        frame_leaves(trunk);
    trunk_watch_end(trunk);
    bool needed = !trunk->asks || fetches_from(trunk) || peer_feeds(trunk->peer);
    if (!trunks_leaving && needed) /* else we leave, and want nothing but its silence */
        peer_lost(trunk->peer, why);
}

/* Who was never heard has nothing of it, and lives where it cannot be reached: it would wait for ever. */
void trunk_undelivered(const struct trunk *trunk, const char *why)
{
    char text[400];
    if (!trunks_leaving || !trunk->first)
        return;
    snprintf(text, sizeof text,
             "MPI_Finalize: rank %d of the job has not acknowledged the last %u packets: %s",
             trunk->peer->world, trunk->nunacked, why);
    if (trunk->heard_at == 0 && trunk->path[0].probe.refused == 0)
        boot_abort(MPI_ERR_OTHER, text);
    say("%s", text);
}

void trunk_ask(struct trunk *trunk)
{
    if (trunk->asks)
        return;
    trunk->asks = true;
    trunk_tell(trunk, HEAD_PING, false, trunk->sequence);
}

/* ---- the address ---- */

static int trunk_insert(struct trunk *trunk)
{
    for (int i = 0; i < nnics; i++) {
        int theirs = i % trunk->card.nnics;
        if (fi_av_insert(nics[i].av, trunk->card.address[theirs], 1, &trunk->to[i], 0, NULL) !=
            1)
            return fail(MPI_ERR_OTHER, "provider %s does not take the address of rank %d (%s)",
                        trunk->card.provider, trunk->peer->world, card_place(&trunk->card, 0));
    }
    return 0;
}

/* Look for the peer's card. */
static void trunk_resolve(struct trunk *trunk)
{
    char bytes_of_card[BOOT_CONTACT_BYTES];
    size_t bytes = 0;
    int error = boot_contact(trunk->peer->world, bytes_of_card, &bytes);
    if (!error && bytes == 0)
        return;
    const char *why = error ? fail_text() : NULL;
    if (!why && bytes != sizeof trunk->card)
        why = "its card has another form: it was built with another version of xmpi";
    if (!why) {
        memcpy(&trunk->card, bytes_of_card, sizeof trunk->card);
        why = card_differs(&trunk_my_card, &trunk->card, trunk->peer->world);
    }
    if (!why && trunk_insert(trunk))
        why = fail_text();
    if (why)
        trunk_lost(trunk, why);
    else
        trunk->state = TRUNK_OPEN;
}

/* ---- posting ---- */

static void head_fill(struct trunk *trunk, struct head *head)
{
    head->ack = trunk->expected;
    head->freed = trunk->peer->freed;
}

/* What a frame has told need not be told again. */
static void trunk_told(struct trunk *trunk)
{
    trunk->owes = trunk->owes_now = false;
    trunk->owed = 0;
    trunk->peer->told = trunk->peer->freed;
}

/* An error may pass, too: of open files, or of a link that is down. */
static void trunk_refused(struct trunk *trunk, int error)
{
    uint64_t now = error && error != FI_EAGAIN ? clock_ns() : 0;
    if (now - trunk->refused_at > REFUSED_NS)
        trunk->refused_since = now;
    trunk->refused_at = now;
    trunk->refusal = error;
}

static bool frame_post(struct trunk *trunk, struct frame *frame)
{
    struct nic *nic = &nics[0];
    head_fill(trunk, &frame->head);
    ssize_t refused = -FI_EAGAIN;
    if (frame->bytes <= nic->inject) {
        refused = fi_inject(nic->ep, &frame->head, frame->bytes, trunk->to[0]);
    } else if (nic->posted < nic->most_posted) {
        refused = fi_send(nic->ep, &frame->head, frame->bytes, frame_descriptor(frame),
                          trunk->to[0], &frame->op);
        frame->posted = refused == 0;
        nic->posted += frame->posted;
        trunk->posted += frame->posted;
    }
    trunk_refused(trunk, (int)-refused);
    if (refused)
        return false;
    nic->bytes_sent += frame->bytes;
    ofi_counters.frames++;
    trunk_told(trunk);
    return true;
}

/* Send what is unsent, as far as it goes. */
static void trunk_push(struct trunk *trunk)
{
    if (trunk->state != TRUNK_OPEN)
        return;
    if (trunk->rewinding) {
        if (trunk->posted)
            return;
        trunk->rewinding = false;
        trunk->unsent = trunk->first;
        ofi_counters.resent += trunk->nunacked;
    }
    while (trunk->unsent && frame_post(trunk, trunk->unsent))
        trunk->unsent = trunk->unsent->next;
    trunk->met |= trunk->first && !trunk->unsent && !trunk->posted;
}

/* Are there frames from before there was a connection? */
static bool trunk_meets(const struct trunk *trunk)
{
    return !trunk->met && trunk->first && trunk->state != TRUNK_LOST && !trunk_left(trunk);
}

static bool trunks_meet(void)
{
    for (const struct trunk *trunk = trunks; trunk; trunk = trunk->next)
        if (trunk_meets(trunk))
            return true;
    return false;
}

void trunk_append(struct trunk *trunk, struct frame *frame)
{
    frame->trunk = trunk;
    frame->next = NULL;
    frame->head.wire.sequence = trunk->sequence++;
    if (trunk->first)
        trunk->last->next = frame;
    else
        trunk->first = frame;
    trunk->last = frame;
    trunk->nunacked++;
    trunk->bytes += frame->bytes;
    if (!trunk->unsent)
        trunk->unsent = frame;
    trunk_push(trunk);
    if (!trunk->unsent)
        return;
    trunk_attend(trunk);
    if (!trunk->met)
        assist_while(trunks_meet);
}

bool trunk_tell(struct trunk *trunk, enum head_kind kind, bool echoes, uint32_t echo)
{
    if (trunk->state != TRUNK_OPEN)
        return false;
    struct frame *frame = frame_word();
    if (!frame)
        return false;
    frame->trunk = trunk;
    frame->finished = true;
    frame->head = (struct head){ .job = trunk_job,
                                 .kind = (uint8_t)kind,
                                 .echoes = echoes,
                                 .from = (uint32_t)boot.rank,
                                 .wire.tag = (int32_t)boot_silence(),
                                 .wire.sequence = echo };
    bool sent = frame_post(trunk, frame);
    if (!frame->posted)
        frame_free(frame);
    ofi_counters.acks += sent;
    return sent;
}

void trunk_send_ended(struct frame *frame, int error)
{
    struct trunk *trunk = frame->trunk;
    frame->posted = false;
    nics[0].posted--;
    trunk->posted--;
    if (error && !trunk->rewinding && trunk->state == TRUNK_OPEN) {
        log_line("network: a packet to rank %d at %s was not delivered (%s); sending again",
                 trunk->peer->world, card_place(&trunk->card, 0), fabric.strerror(error));
        ofi_counters.lost_connections++;
        trunk->rewinding = true;
    }
    if (trunk->rewinding)
        trunk_attend(trunk);
    if (frame->finished)
        frame_free(frame);
}

/* ---- arriving ---- */

/* The peer has all frames before this number. */
static void trunk_acked(struct trunk *trunk, uint32_t ack)
{
    while (trunk->first && (int32_t)(ack - trunk->first->head.wire.sequence) > 0)
        frame_leaves(trunk);
}

static void trunk_owe(struct trunk *trunk, size_t bytes)
{
    if (!trunk->owes)
        trunk->owed_since = 0;
    trunk->owes = true;
    trunk->owed += (uint32_t)bytes + FRAME_COSTS;
    trunk->owes_now |= trunk->owed >= OWED_BYTES;
    trunk_attend(trunk);
}

/* A numbered frame. */
static void packet_arrived(struct trunk *trunk, const struct head *head, const char *payload)
{
    int32_t ahead = (int32_t)(head->wire.sequence - trunk->expected);
    trunk->left = false;
    if (ahead == 0) {
        trunk->expected++;
        trunk->gap_told = false;
        trunk_owe(trunk, head->wire.bytes);
        pml_arrived(trunk->peer, &head->wire, payload);
        return;
    }
    ofi_counters.doubled += ahead < 0;
    trunk_attend(trunk);
    if (ahead < 0)
        trunk->owes = trunk->owes_now = true;
    else if (!trunk->gap_told)
        trunk->gap_told = trunk_tell(trunk, HEAD_ACK, true, head->wire.sequence);
}

static void ack_arrived(struct trunk *trunk, const struct head *head)
{
    bool lacks = head->echoes && (int32_t)(head->wire.sequence - head->ack) > 0;
    if (!lacks || trunk->rewinding || !trunk->first)
        return;
    trunk->rewinding = true;
    trunk_attend(trunk);
}

bool trunk_arrived(const char *bytes, size_t n)
{
    struct head head;
    struct peer *peer;
    memcpy(&head, bytes, sizeof head);
    if (n < sizeof head || head.job != trunk_job || head.from >= (uint32_t)boot.size ||
        n != sizeof head + head.wire.bytes)
        return false; /* a stranger's */
    if (peer_of((int)head.from, &peer) != 0)
        boot_abort(MPI_ERR_NO_MEM, fail_text());
    if (peer->link != &link_ofi)
        return false;
    struct trunk *trunk = peer->lane;
    trunk->heard = true;
    trunk_acked(trunk, head.ack);
    if ((int32_t)(head.freed - peer->returned) > 0)
        peer->returned = head.freed;
    if (head.kind != HEAD_PACKET)
        trunk->silence = (uint32_t)head.wire.tag;
    switch (head.kind) {
    case HEAD_PACKET:
        packet_arrived(trunk, &head, bytes + sizeof head);
        break;
    case HEAD_ACK:
        trunk->answers |= head.echoes;
        ack_arrived(trunk, &head);
        break;
    case HEAD_PING:
        if (!trunk_tell(trunk, HEAD_ACK, true, head.wire.sequence))
            trunk->owes = trunk->owes_now = true;
        trunk_attend(trunk);
        break;
    case HEAD_LEFT:
        trunk->left = true;
        break;
    case HEAD_READS:
        break;
    }
    return head.kind == HEAD_PACKET || head.kind == HEAD_READS;
}

/* ---- looking after ---- */

static bool trunk_owes_long(struct trunk *trunk, bool idle)
{
    if (trunk->owes_now || !idle)
        return trunk->owes_now;
    uint64_t now = clock_ns();
    if (!trunk->owed_since)
        trunk->owed_since = now;
    return now - trunk->owed_since > OWED_NS;
}

static bool trunk_needs_attention(const struct trunk *trunk)
{
    if (trunk->state == TRUNK_LOST)
        return false;
    return trunk->state == TRUNK_UNKNOWN || trunk->unsent || trunk->rewinding || trunk->owes ||
           trunk_meets(trunk);
}

int trunks_attend(bool idle)
{
    struct trunk *trunk = attended;
    int nmet = 0;
    attended = NULL;
    if (__builtin_expect(assist_has_ended, 0))
        assist_reap();
    while (trunk) {
        struct trunk *next = trunk->next_attended;
        trunk->attended = false;
        if (trunk->state == TRUNK_UNKNOWN)
            trunk_resolve(trunk);
        bool met = trunk->met;
        trunk_push(trunk);
        nmet += !met && trunk->met;
        if (trunk->owes && trunk_owes_long(trunk, idle))
            trunk_tell(trunk, HEAD_ACK, false, 0);
        if (trunk_needs_attention(trunk))
            trunk_attend(trunk);
        trunk = next;
    }
    return nmet;
}
