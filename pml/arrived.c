/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for unexpected messages.  The link's memory is never kept: bytes are copied out at
 * once, so one slow receive cannot stop other messages between the same processes.  Records are
 * reused, last in first out; up to 96 bytes lie in the record itself, longer ones in malloc'd
 * memory.  There is no limit but memory: a sender that runs away is stopped by nobody yet.
 */
#include "pml/arrived.h"

#include "mpi.h"
#include "runtime/boot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arrived *unused;

static void memory_out(const struct wire *header, size_t bytes)
{
    char text[160];
    snprintf(text, sizeof text,
             "no memory for %zu bytes of a message from rank %u with tag %d that no receive "
             "waits for; post receives earlier or send less ahead",
             bytes, header->source, header->tag);
    boot_abort(MPI_ERR_NO_MEM, text);
}

struct arrived *arrived_new(struct peer *peer, const struct wire *header, const char *payload)
{
    struct arrived *arrived = unused;
    if (arrived)
        unused = arrived->next;
    else
        arrived = malloc(sizeof *arrived);
    size_t room = header->kind == WIRE_RTS ? header->bytes : header->total;
    if (arrived)
        arrived->data = room <= sizeof arrived->small ? arrived->small : malloc(room);
    if (!arrived || !arrived->data)
        memory_out(header, room);
    arrived->peer = peer;
    arrived->header = *header;
    arrived->have = header->bytes;
    arrived->next = NULL;
    memcpy(arrived->data, payload, header->bytes);
    pml_counters.unexpected++;
    pml_counters.unexpected_bytes += header->bytes;
    return arrived;
}

void arrived_free(struct arrived *arrived)
{
    if (arrived->peer->in.arrived == arrived)
        arrived->peer->in.arrived = NULL;
    if (arrived->data != arrived->small)
        free(arrived->data);
    arrived->next = unused;
    unused = arrived;
}

void arrived_result(const struct arrived *arrived, struct result *result)
{
    *result = (struct result){ .source = (int)arrived->header.source,
                               .tag = arrived->header.tag,
                               .bytes = arrived->header.total };
}

void arrived_close(void)
{
    while (unused) {
        struct arrived *gone = unused;
        unused = gone->next;
        free(gone);
    }
}
