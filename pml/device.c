/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages that lie on a device, read from there by a receiver of the same node.
 *
 *     sender                            receiver
 *     RTS + struct gpu_share  ------>   matched, now or later: the memory is mapped
 *       (may compute)                   copies of the driver, two pieces in flight
 *                             <------   CTS: I want nothing more: the send is complete
 *
 * The receiver's buffer may lie on the same device, on another one or in memory of the host, and have
 * any layout; the sender's is one piece.  What cannot be mapped, or not be copied, is asked for: a CTS
 * like any other, and the sender brings it to the host in pieces (stage.c).
 *
 * Why messages are not read is told at XMPI_LOG=1, again when the reason changes; how many bytes were read is
 * counted (xmpi_bytes_read_device).
 */
#include "pml/device.h"

#include "pml/proto.h"
#include "pml/recv.h"
#include "runtime/gpu.h"
#include "runtime/gpu_share.h"
#include "runtime/log.h"

#include <string.h>

enum { PIECE_BYTES = 4 << 20 };

struct recv
    *device_reads; /* one after another; all of their pieces lie in the first one's device */
static struct recv *last;

/* Of the first receive. */
static struct {
    struct gpu_mark mark[2];
    size_t bytes[2]; /* of the copy behind the mark */
    unsigned turn;   /* the older one */
    size_t begun;
} now;

/* ---- why not ---- */

static void why_tell(const char *why)
{
    static char told[160];
    if (strncmp(told, why, sizeof told - 1) == 0)
        return;
    strncpy(told, why, sizeof told - 1);
    log_line("messages of a device are copied by way of the host: %s", why);
}

bool device_offers(const char *at, size_t bytes)
{
    const char *why =
        at ? gpu_share_objection(at, bytes) : "they have gaps where they are sent";
    if (why)
        why_tell(why);
    return !why;
}

void *device_name(const char *at, size_t bytes, size_t *length)
{
    static struct gpu_share
        share; /* of nothing, if the memory has gone: then the receiver asks */
    gpu_share(at, bytes, &share);
    *length = sizeof share;
    return &share;
}

/* ---- beginning ---- */

bool device_begin(struct recv *recv, struct peer *peer, uint32_t sender, const char *payload)
{
    struct gpu_share share;
    const char *why;
    char *near = NULL;
    memcpy(&share, payload, sizeof share);
    if (recv->data.where == AWAY)
        near = buffer_at(recv->data.base, recv->data.layout->true_lb);
    recv->mapping = gpu_map(peer->world, &share, near, &why);
    if (!recv->mapping) {
        why_tell(why);
        return false;
    }
    recv->address = (uintptr_t)gpu_mapping_at(recv->mapping, &share);
    recv->peer = peer;
    recv->sender = sender;
    recv->next = NULL;
    if (device_reads)
        last->next = recv;
    else
        device_reads = recv;
    last = recv;
    progress_nudge();
    return true;
}

/* ---- ending ---- */

/* Out of the list, with all copies over. */
static void read_leave(struct recv *recv, bool good)
{
    struct recv *before = NULL;
    for (struct recv *at = device_reads; at != recv; at = at->next)
        before = at;
    if (!before) {
        gpu_mark_await(&now.mark[0]);
        gpu_mark_await(&now.mark[1]);
        now.begun = now.bytes[0] = now.bytes[1] = 0;
    }
    *(before ? &before->next : &device_reads) = recv->next;
    if (last == recv)
        last = before;
    gpu_unmap(recv->mapping, good);
    recv->mapping = NULL;
}

struct recv *device_read_of(const struct peer *peer)
{
    struct recv *recv = device_reads;
    while (recv && recv->peer != peer)
        recv = recv->next;
    return recv;
}

struct recv *device_take(const struct peer *peer)
{
    struct recv *recv = device_read_of(peer);
    if (recv)
        read_leave(recv, false);
    return recv;
}

void device_forget(const struct peer *peer)
{
    gpu_unmap_all(peer->world);
}

void device_close(void)
{
    gpu_unmap_all(-1);
}

static void read_end(struct recv *recv)
{
    struct wire answer = { .kind = WIRE_CTS, .request = recv->sender };
    read_leave(recv, true);
    control_send(recv->peer, &answer, NULL);
    recv_done(recv);
}

/* Something could not be copied: the sender shall, from the beginning. */
static void read_fall_back(struct recv *recv, const char *why)
{
    why_tell(why);
    read_leave(recv, false);
    recv->received = 0;
    recv_clear_to_send(recv, recv->peer, recv->sender);
    if (recv->received == recv->expected)
        recv_done(recv);
}

/* ---- reading ---- */

static void piece_begin(struct recv *recv, unsigned turn)
{
    size_t left = recv->expected - now.begun, n = left < PIECE_BYTES ? left : PIECE_BYTES;
    now.bytes[turn] = n;
    if (n == 0)
        return;
    gpu_move_start(&recv->data, now.begun, (char *)(uintptr_t)recv->address + now.begun, n,
                   false);
    gpu_mark_set(&now.mark[turn]);
    now.begun += n;
}

int device_read_some(void)
{
    struct recv *recv = device_reads;
    gpu_try();
    if (now.begun == 0)
        piece_begin(recv, now.turn);
    piece_begin(recv, now.turn ^ 1);
    gpu_mark_await(&now.mark[now.turn]);
    recv->received += now.bytes[now.turn];
    pml_counters.bytes_read_device += now.bytes[now.turn];
    now.turn ^= 1;
    const char *failed = gpu_tried();
    if (failed)
        read_fall_back(recv, failed);
    else if (recv->received == recv->expected)
        read_end(recv);
    return 1;
}
