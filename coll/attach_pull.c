/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bcast and scatter where ranks exceed CPUs: the root says where its data are, and each rank reads
 * its part of them when it gets a CPU.  Nobody is handed on to, and nobody waits but for the root:
 *
 *     root                               others
 *     slot: my data are here     ->
 *     keeps its own part                 read theirs
 *     hears all                  <-      slot: I have them, or: I could not read them
 *     sends to those that could not      receive
 *
 * A root whose data were not read once says so in its next offer, and that one goes by messages, as do
 * all later calls on this team.
 *
 * A root that loses a process, or hears that others are in another collective, leaves at once, since the
 * others only read.  Who has read after that may have read anything, sees in the root's slot that it gave
 * up, and waits to hear why.
 */
#include "coll/attach.h"

#include "coll/scratch.h"
#include "coll/tell.h"
#include "pml/failure.h"
#include "runtime/fail.h"

#include <string.h>

/* What all others read, the blocks of a scatter one behind the other. */
static struct buffer given(const struct attached *a, const struct call *call)
{
    const struct part *part = call->what == COLL_BCAST ? &call->recv : &call->send;
    size_t blocks = call->what == COLL_BCAST ? 1 : (size_t)a->tiny->n;
    return (struct buffer){ part->base, blocks * part->count, part->layout, part->where };
}

static void keep_own(const struct attached *a, const struct call *call)
{
    if (call->what == COLL_BCAST || call->in_place)
        return;
    struct buffer to = part_block(&call->recv, 0), from = part_block(&call->send, a->tiny->me);
    buffer_copy(&to, &from);
}

/* ---- in messages, for those that could not read ---- */

static int send_unread(struct attached *a, const struct telling *telling, const char *data)
{
    int error = 0;
    for (int r = 0; r < a->tiny->n && !error; r++) {
        uint64_t has_read;
        memcpy(&has_read, slot_of(a->tiny, r, a->met.sequence)->payload, sizeof has_read);
        if (r == a->tiny->me || has_read)
            continue;
        size_t skip = telling->call->what == COLL_BCAST ? 0 : (size_t)r * a->bytes;
        struct buffer part = { (char *)data + skip, a->bytes, &layout_bytes, HERE };
        struct envelope to = telling_envelope(telling, r);
        a->tiny->unread = true;
        error = pml_send(a->channel, &part, &to, SEND_STANDARD);
    }
    return error;
}

/* ---- the root ---- */

static int hear_readers(struct attached *a)
{
    int lost = attach_hear_all(&a->met);
    if (lost) {
        atomic_store(&a->met.mine->gave_up, a->met.sequence);
        atomic_thread_fence(memory_order_seq_cst); /* before the program changes its data */
        return lost;
    }
    if (a->met.error)
        fail_recall(a->tiny);
    return a->met.error;
}

static int give(struct attached *a, const struct telling *telling, struct rest *rest)
{
    struct buffer all = given(a, telling->call);
    char *copy = NULL, *data = buffer_flat(&all);
    if (!data) {
        data = copy = scratch_take(buffer_bytes(&all));
        if (copy)
            buffer_pack(&all, 0, copy, buffer_bytes(&all));
    }
    bool is_open = data && !a->tiny->unread;
    struct offer offer = { .in = (uintptr_t)data, .openness = is_open ? OPEN : CLOSED };
    attach_share(data, buffer_bytes(&all));
    int error = attach_offer(a, &offer);
    if (!error) {
        if (is_open)
            keep_own(a, telling->call);
        error = hear_readers(a);
    }
    if (!error && is_open)
        error = send_unread(a, telling, data);
    scratch_give(copy);
    if (!error && !is_open)
        rest_whole(rest, telling->call, false);
    return error;
}

/* ---- the others ---- */

static bool read_part(const struct attached *a, const struct call *call)
{
    struct buffer place = part_block(&call->recv, 0);
    uint64_t from = attach_offered(a, call->root)->in;
    if (call->what == COLL_SCATTER)
        from += (uint64_t)a->tiny->me * a->bytes;
    char *flat = buffer_flat(&place), *landing = flat ? flat : scratch_take(a->bytes);
    bool good = landing && attach_read(a, call->root, landing, from, a->bytes);
    if (good && !flat)
        buffer_unpack(&place, 0, landing, a->bytes);
    if (!flat)
        scratch_give(landing);
    return good;
}

/* The root has lost somebody, or given the collective up; so will we. */
static int await_loss(const struct attached *a)
{
    struct wait w = WAIT_INIT;
    int lost;
    while (!(lost = channel_check(a->tiny->channel)))
        wait_idle(&w);
    wait_end(&w);
    return lost;
}

static int hear_root(struct attached *a, int root)
{
    const struct slot *slot;
    tiny_all(&a->met, a->tiny);
    a->met.first = a->met.last = a->met.readers = root;
    int lost = tiny_begin(&a->met, a->said, a->before);
    return lost ? lost : tiny_hear(&a->met, root, &slot);
}

static int take(struct attached *a, const struct telling *telling, struct rest *rest)
{
    const struct call *call = telling->call;
    int root = call->root, lost = hear_root(a, root);
    if (lost)
        return lost;
    bool is_open = !a->met.error && attach_offered(a, root)->openness == OPEN;
    uint64_t has_read = is_open && read_part(a, call);
    atomic_thread_fence(memory_order_seq_cst); /* what was read is older than the word */
    if (is_open &&
        atomic_load(&slot_of(a->tiny, root, a->met.sequence)->gave_up) == a->met.sequence)
        return await_loss(a);
    memcpy(a->met.mine->payload, &has_read, sizeof has_read);
    tiny_publish(&a->met);
    if (a->met.error) {
        fail_recall(a->tiny);
        return a->met.error;
    }
    if (!is_open)
        rest_whole(rest, call, false);
    if (!is_open || has_read)
        return 0;
    struct buffer place = part_block(&call->recv, 0);
    struct envelope from = telling_envelope(telling, root);
    return pml_recv(a->channel, &place, &from, NULL);
}

int attach_pull(struct attached *a, const struct telling *telling, struct rest *rest)
{
    bool is_root = telling->call->root == a->tiny->me;
    return is_root ? give(a, telling, rest) : take(a, telling, rest);
}
