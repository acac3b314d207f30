/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Receive buffers and completions.  A few large buffers take many packets each; when a buffer
 * has no room for the longest packet any more, the provider gives it back (a flag on its last
 * packet, or an entry of its own) and it is posted again.  By then every packet in it has been
 * handed on, since completions are taken in order and a packet is copied out at once.
 *
 * An idle poll costs what fi_cq_read costs: 0.16 us with "net".
 *
 * "net" and the first "tcp" after it do not read from a connection any more when a message finds no
 * buffer, and every buffer that is posted then wakes one connection only.  With more of them waiting
 * than buffers, some would wait for ever.  So when all buffers came back without a pause, one more
 * receive is posted and cancelled in turn while nothing else comes: each time wakes another one.
 */
#include "pml/ofi/trunk.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS = 4, BUFFER_BYTES = 128 << 10, ENTRIES = 16, ALIGN = 4096, WAKE_AT_ONCE = 16 };

static struct receive {
    struct op op;
    char *memory;
    bool posted;
} receives[BUFFERS];
static char *memory;
static struct fid_mr *memory_mr;
static int unposted;

static struct {
    bool needed;          /* by this provider */
    struct receive extra; /* for one packet; posted when a connection was woken first */
    int given_back;       /* buffers, since there was nothing to read */
    int left;             /* connections that may have to be woken */
} wake;

static void receive_post(struct receive *receive)
{
    struct iovec iov = { receive->memory, BUFFER_BYTES };
    void *descriptor = memory_mr ? fi_mr_desc(memory_mr) : NULL;
    struct fi_msg message = { .msg_iov = &iov,
                              .desc = &descriptor,
                              .iov_count = 1,
                              .addr = FI_ADDR_UNSPEC,
                              .context = &receive->op };
    receive->posted = fi_recvmsg(nics[0].ep, &message, FI_MULTI_RECV) == 0;
    unposted += !receive->posted;
}

static void receives_retry(void)
{
    unposted = 0;
    for (int i = 0; i < BUFFERS; i++)
        if (!receives[i].posted)
            receive_post(&receives[i]);
}

static bool connections_sleep(void)
{
    const char *provider = nics[0].info->fabric_attr->prov_name;
    return strcmp(provider, "net") == 0 ||
           (strcmp(provider, "tcp") == 0 && fabric.version() < FI_VERSION(1, 19));
}

int receives_open(void)
{
    memset(&wake, 0, sizeof wake);
    wake.needed = connections_sleep();
    memory = aligned_alloc(ALIGN, (size_t)BUFFERS * BUFFER_BYTES);
    if (!memory)
        return fail(MPI_ERR_NO_MEM, "no memory for receive buffers of the network");
    int error =
        nic_register(&nics[0], memory, (size_t)BUFFERS * BUFFER_BYTES, FI_RECV, &memory_mr);
    if (error) {
        free(memory);
        return error;
    }
    for (int i = 0; i < BUFFERS; i++) {
        receives[i].op.kind = OP_RECEIVE;
        receives[i].memory = memory + (size_t)i * BUFFER_BYTES;
        receives[i].posted = false;
    }
    receives_retry();
    return 0;
}

void receives_close(void)
{
    if (memory_mr)
        fi_close(&memory_mr->fid);
    memory_mr = NULL;
    free(memory);
    memory = NULL;
    free(wake.extra.memory);
    wake.extra.memory = NULL;
}

/* ---- completions ---- */

static bool receive_ended(struct receive *receive, const struct fi_cq_data_entry *entry)
{
    bool is_packet = false;
    if (receive == &wake.extra) {
        receive->posted = false;
        return trunk_arrived(receive->memory, entry->len);
    }
    if (entry->flags & FI_RECV && entry->len)
        is_packet = trunk_arrived(entry->buf, entry->len);
    if (entry->flags & FI_MULTI_RECV) {
        receive_post(receive);
        if (++wake.given_back >= BUFFERS && wake.needed)
            wake.left = boot.size;
    }
    return is_packet;
}

static void receive_failed(struct receive *receive, const struct fi_cq_err_entry *entry)
{
    if (receive == &wake.extra)
        receive->posted = false;
    /* Half a packet of a connection that broke is dropped; its sender keeps it. */
    else if (entry->flags & FI_MULTI_RECV)
        receive_post(receive);
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

/* Was it something to stay awake for? */
static bool error_read(struct nic *nic)
{
    struct fi_cq_err_entry entry = { 0 };
    if (fi_cq_readerr(nic->cq, &entry, 0) != 1)
        return true;
    struct op *op = entry.op_context;
    int error = entry.err ? entry.err : FI_EOTHER;
    if (!op) {
        log_at(1, "network: %s: %s", nic->name, fabric.strerror(error));
        return true;
    }
    switch (op->kind) {
    case OP_SEND:
        trunk_send_ended((struct frame *)op, error);
        break;
    case OP_RECEIVE:
        receive_failed((struct receive *)op, &entry);
        return op != &wake.extra.op;
    case OP_READ:
        fetch_read_ended(op, error);
    }
    return true;
}

static int nic_poll(struct nic *nic)
{
    struct fi_cq_data_entry entries[ENTRIES];
    ssize_t n = fi_cq_read(nic->cq, entries, ENTRIES);
    if (__builtin_expect(n == -FI_EAGAIN, 1)) {
        if (nic == nics)
            wake.given_back = 0;
        return 0;
    }
    if (n == -FI_EAVAIL)
        return error_read(nic);
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

/* ---- connections that sleep ---- */

static void extra_post(void)
{
    struct receive *extra = &wake.extra;
    size_t bytes = sizeof(struct head) + FRAME_PAYLOAD;
    if (!extra->memory)
        extra->memory = malloc(bytes);
    extra->op.kind = OP_RECEIVE;
    extra->posted = extra->memory && fi_recv(nics[0].ep, extra->memory, bytes, NULL,
                                             FI_ADDR_UNSPEC, &extra->op) == 0;
}

/* Wake one after the other until something arrives.  No buffer may be cancelled for that, for a
 * packet may be on its way into a part of it; the extra one is either free or all taken. */
static int connections_wake(void)
{
    int events = 0;
    for (int i = 0; i < WAKE_AT_ONCE && wake.left > 0 && events == 0; i++) {
        if (wake.extra.posted) {
            fi_cancel(&nics[0].ep->fid, &wake.extra.op);
            events += nic_poll(&nics[0]);
        }
        if (wake.extra.posted) /* a packet is on its way into it */
            return events;
        wake.left--;
        extra_post();
        events += nic_poll(&nics[0]);
    }
    return events;
}

int nics_poll(void)
{
    int events = 0;
    for (int i = 0; i < nnics; i++)
        events += nic_poll(&nics[i]);
    if (unposted)
        receives_retry();
    if (__builtin_expect(wake.left > 0, 0) && events == 0)
        events = connections_wake();
    return events;
}
