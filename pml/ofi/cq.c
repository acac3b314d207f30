/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive buffers and completions.  A few large buffers take many packets each; when a buffer
 * has no room for the longest packet any more, the provider gives it back (a flag on its last
 * packet, or an entry of its own) and it is posted again.  By then every packet in it has been
 * handed on, since completions are taken in order and a packet is copied out at once.
 *
 * "net", and "tcp" before libfabric 1.20, give a buffer back with its last packet although earlier
 * ones, of other peers, are still on their way into it; and they do not read from a connection any more
 * when a message finds no buffer, until one is posted, which wakes one connection only.  So there a
 * buffer takes one packet: it is free or over, and each one posted serves a connection that sleeps.
 * A peer that computes may leave half a packet in one, so there is one more for each peer.
 *
 * An idle poll costs what fi_cq_read costs: 0.16 us with "net".
 */
#include "pml/ofi/trunk.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGE = 4,
    LARGE_BYTES = 128 << 10,
    SINGLE = 64, /* fewer put connections to sleep more often, more leave the cache */
    SINGLE_BYTES = sizeof(struct head) + FRAME_PAYLOAD,
    ENTRIES = 16,
    ALIGN = 64
};

struct receive {
    struct op op;
    char *memory;
    struct fid_mr *mr;
    struct receive *next_unposted, *next;
};
static struct receive *receives, *unposted;
static bool single; /* a buffer takes one packet */

static size_t receive_bytes(void)
{
    return single ? SINGLE_BYTES : LARGE_BYTES;
}

static bool gives_back_early(const struct nic *nic)
{
    const char *provider = nic->info->fabric_attr->prov_name;
    return strcmp(provider, "net") == 0 ||
           (strcmp(provider, "tcp") == 0 && fabric.version() < FI_VERSION(1, 20));
}

static bool receive_post(struct receive *receive)
{
    struct iovec iov = { receive->memory, receive_bytes() };
    void *descriptor = receive->mr ? fi_mr_desc(receive->mr) : NULL;
    struct fi_msg message = { .msg_iov = &iov,
                              .desc = &descriptor,
                              .iov_count = 1,
                              .addr = FI_ADDR_UNSPEC,
                              .context = &receive->op };
    return fi_recvmsg(nics[0].ep, &message, single ? 0 : FI_MULTI_RECV) == 0;
}

static void receive_over(struct receive *receive)
{
    receive->next_unposted = unposted;
    unposted = receive;
}

static int receive_new(void)
{
    size_t bytes = (receive_bytes() + ALIGN - 1) / ALIGN * ALIGN;
    struct receive *receive = calloc(1, sizeof *receive);
    char *memory = receive ? aligned_alloc(ALIGN, bytes) : NULL;
    int error = memory ? nic_register(&nics[0], memory, bytes, FI_RECV, HERE, &receive->mr)
                       : fail(MPI_ERR_NO_MEM, "no memory for receive buffers of the network");
    if (error) {
        free(memory);
        free(receive);
        return error;
    }
    receive->op.kind = OP_RECEIVE;
    receive->memory = memory;
    receive->next = receives;
    receives = receive;
    receive_over(receive);
    return 0;
}

/* In the next poll, so that a message that was awaited is answered first. */
static void receives_post(void)
{
    while (unposted) {
        struct receive *receive = unposted;
        unposted = receive->next_unposted;
        if (!receive_post(receive)) {
            receive_over(receive);
            return;
        }
    }
}

int receives_open(void)
{
    single = gives_back_early(&nics[0]);
    int error = 0;
    for (int i = 0; i < (single ? SINGLE : LARGE) && !error; i++)
        error = receive_new();
    if (error)
        receives_close();
    else
        receives_post();
    return error;
}

int receives_meet(void)
{
    return single ? receive_new() : 0;
}

void receives_close(void)
{
    while (receives) {
        struct receive *gone = receives;
        receives = gone->next;
        if (gone->mr)
            fi_close(&gone->mr->fid);
        free(gone->memory);
        free(gone);
    }
    unposted = NULL;
}

/* ---- completions ---- */

static bool receive_ended(struct receive *receive, const struct fi_cq_data_entry *entry)
{
    bool matters = false;
    void *packet = single ? receive->memory : entry->buf; /* FI_MULTI_RECV only */
    if (entry->flags & FI_RECV && entry->len)
        matters = trunk_arrived(packet, entry->len);
    if (single || entry->flags & FI_MULTI_RECV)
        receive_over(receive);
    return matters;
}

/* Half a packet of a connection that broke is dropped; its sender keeps it. */
static void receive_failed(struct receive *receive, const struct fi_cq_err_entry *entry)
{
    if (single || entry->flags & FI_MULTI_RECV)
        receive_over(receive);
}

/* Is it something to stay awake for?  Acks are not. */
static bool op_ended(struct op *op, const struct fi_cq_data_entry *entry)
{
    switch (op->kind) {
    case OP_SEND:
        trunk_send_ended((struct frame *)op, 0);
        return false;
    case OP_RECEIVE:
        return receive_ended((struct receive *)op, entry);
    default:
        fetch_read_ended(op, 0);
        return true;
    }
}

static void error_read(struct nic *nic)
{
    struct fi_cq_err_entry entry = { 0 };
    if (fi_cq_readerr(nic->cq, &entry, 0) != 1)
        return;
    struct op *op = entry.op_context;
    int error = entry.err ? entry.err : FI_EOTHER;
    if (!op) {
        log_line("network: %s: %s", nic->name, fabric.strerror(error));
        return;
    }
    switch (op->kind) {
    case OP_SEND:
        trunk_send_ended((struct frame *)op, error);
        break;
    case OP_RECEIVE:
        receive_failed((struct receive *)op, &entry);
        break;
    case OP_READ:
        fetch_read_ended(op, error);
    }
}

static int nic_poll(struct nic *nic)
{
    struct fi_cq_data_entry entries[ENTRIES];
    ssize_t n = fi_cq_read(nic->cq, entries, ENTRIES);
    if (__builtin_expect(n == -FI_EAGAIN, 1))
        return 0;
    if (n == -FI_EAVAIL) {
        error_read(nic);
        return 1;
    }
    if (n < 0) {
        char text[200];
        snprintf(text, sizeof text, "network interface %s: fi_cq_read: %s", nic->name,
                 fabric.strerror((int)-n));
        boot_abort(MPI_ERR_OTHER, text);
    }
    int events = 0;
    for (ssize_t i = 0; i < n; i++)
        events += op_ended(entries[i].op_context, &entries[i]);
    return events;
}

int nics_poll(void)
{
    int events = 0;
    if (unposted)
        receives_post();
    for (int i = 0; i < nnics; i++)
        events += nic_poll(&nics[i]);
    return events;
}
