/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Memory for unexpected messages, copied out of their link: short ones at once; a long one of this node stays
 * there at first, and is copied only when it holds up all that is behind it (patience.c).  Else one receive that
 * is never posted would stop every later message of that sender.
 *
 * Records are reused, last in first out; up to 96 bytes lie in the record itself.  Longer ones get a block from a
 * shelf, one per power of two, of 4 MiB each (shelf.h), and beyond that from malloc.  There is no limit but memory on
 * one node; over a network peer->window is one.
 */
#include "pml/arrived.h"
#include "pml/proto.h"
#include "pml/shelf.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/notice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct arrived *unused;
size_t arrived_held;

/* ---- blocks of 2^8 .. 2^16 bytes ---- */

enum { SMALLEST = 8, LARGEST = 16, RECORDS = LARGEST - SMALLEST + 1 }; /* each its shelf */
_Static_assert((int)RECORDS < (int)SHELVES, "records have a shelf, too");

static int block_class(size_t bytes)
{
    return bytes <= 1 << SMALLEST ? 0 : 64 - __builtin_clzll(bytes - 1) - SMALLEST;
}

static void *block_new(size_t bytes)
{
    if (bytes > 1 << LARGEST)
        return malloc(bytes);
    int size_class = block_class(bytes);
    return shelf_take(size_class, (size_t)1 << (size_class + SMALLEST));
}

static void block_free(void *memory, size_t bytes)
{
    if (bytes > 1 << LARGEST)
        free(memory);
    else
        shelf_put(block_class(bytes), memory);
}

/* ---- messages ---- */

/* Room that a message needs while it waits. */
static size_t room_for(const struct wire *header)
{
    return header->kind == WIRE_RTS ? header->bytes : header->total;
}

/* What arrived_held counts of it: nothing of one that came to who had an engine alone, who may not count. */
static size_t held_by(const struct arrived *arrived)
{
    if (arrived->home != &unused)
        return 0;
    return sizeof *arrived + (arrived->data == arrived->small ? 0 : room_for(&arrived->header));
}

static void memory_out(const struct wire *header, size_t bytes)
{
    char text[160];
    snprintf(text, sizeof text,
             "no memory for %zu bytes of a message from rank %u with tag %d that no receive "
             "waits for; post receives earlier or send less ahead",
             bytes, header->source, header->tag);
    boot_abort(MPI_ERR_NO_MEM, text);
}

static inline struct arrived *record_take(struct arrived **list)
{
    struct arrived *arrived = *list;
    if (arrived)
        *list = arrived->next;
    else /* shelves belong to who has the engine of all */
        arrived =
            list == &unused ? shelf_take(RECORDS, sizeof *arrived) : malloc(sizeof *arrived);
    if (arrived)
        arrived->home = list;
    return arrived;
}

static inline void arrived_fill(struct arrived *arrived, struct peer *peer,
                                const struct wire *header, const char *payload)
{
    arrived->peer = peer;
    arrived->header = *header;
    arrived->have = header->bytes;
    arrived->next = NULL;
    if (header->bytes <= COPY_SHORT)
        copy_short(arrived->data, payload, header->bytes);
    else
        memcpy(arrived->data, payload, header->bytes);
}

struct arrived *arrived_new(struct peer *peer, const struct wire *header, const char *payload)
{
    struct arrived *arrived = record_take(&unused);
    size_t room = room_for(header);
    if (arrived)
        arrived->data = room <= sizeof arrived->small ? arrived->small : block_new(room);
    if (!arrived || !arrived->data)
        memory_out(header, room);
    arrived_fill(arrived, peer, header, payload);
    arrived_held += held_by(arrived);
    pml_counters.unexpected++;
    pml_counters.unexpected_bytes += header->bytes;
    return arrived;
}

void arrived_tell(const struct arrived *arrived)
{
    const struct wire *header = &arrived->header;
    if (notice_is_wanted(NOTICE_UNEXPECTED) && header->step == 0)
        notice_give(NOTICE_UNEXPECTED,
                    (int64_t[]){ header->source, header->tag, (int64_t)header->total });
}

bool arrived_is_told(void)
{
    return notice_is_wanted(NOTICE_UNEXPECTED);
}

void arrived_free(struct arrived *arrived)
{
    if (arrived->peer->in.arrived == arrived)
        arrived->peer->in.arrived = NULL;
    if (arrived->data != arrived->small)
        block_free(arrived->data, room_for(&arrived->header));
    arrived_held -= held_by(arrived);
    if (arrived->header.kind == WIRE_EAGER)
        peer_frees(arrived->peer, arrived->header.total);
    arrived->next = *arrived->home;
    *arrived->home = arrived;
}

/* Blocks as block_new makes them, for whoever frees them. */
struct arrived *arrived_new_solo(struct arrived **home, struct peer *peer,
                                 const struct wire *header, const char *payload)
{
    struct arrived *arrived = record_take(home);
    size_t room = header->total;
    if (arrived)
        arrived->data = room <= sizeof arrived->small
                            ? arrived->small
                            : malloc((size_t)1 << (block_class(room) + SMALLEST));
    if (!arrived || !arrived->data)
        memory_out(header, room);
    arrived_fill(arrived, peer, header, payload);
    return arrived;
}

void arrived_free_solo(struct arrived *arrived)
{
    if (arrived->data != arrived->small)
        free(arrived->data);
    arrived->next = *arrived->home;
    *arrived->home = arrived;
}

void arrived_result(const struct arrived *arrived, struct result *result)
{
    *result = (struct result){ .source = (int)arrived->header.source,
                               .tag = arrived->header.tag,
                               .bytes = arrived->header.total };
}

void arrived_free_list(struct arrived **list)
{
    while (*list) {
        struct arrived *gone = *list;
        *list = gone->next;
        if (shelf_is_foreign(gone))
            free(gone);
    }
}

void arrived_close(void)
{
    arrived_free_list(&unused);
    shelves_close();
}
