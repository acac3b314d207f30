/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a collective says about itself.  Recording one costs what recording a message costs; the
 * texts are made only for those who wait long, and for errors.
 */
#include "coll/tell.h"

#include "coll/rules.h"
#include "runtime/fail.h"
#include "runtime/record.h"
#include "mpi.h"

#include <ctype.h>
#include <stdio.h>

/* A rank of the root's own group on an intercommunicator knows the root only as "not me, one
 * of us"; its plan is empty whatever it takes for the root. */
int root_of(const struct team *team, const struct call *call)
{
    int me = team->channel.rank;
    bool first = me < team->split;
    if (team->split == 0)
        return call->root;
    if (call->root == MPI_ROOT)
        return me;
    if (call->root == MPI_PROC_NULL) {
        int base = first ? 0 : team->split;
        return me == base ? base + 1 : base;
    }
    return (first ? team->split : 0) + call->root;
}

/* ---- bytes ---- */

/* Of a collective whose ranks may give different amounts, or whose groups may: 0. */
static uint64_t bytes_of(const struct team *team, const struct call *call)
{
    bool root = team->channel.rank == call->root, one = team->split == 0;
    switch (call->what) {
    case COLL_BCAST:
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
        return unit_bytes(&call->recv);
    case COLL_ALLGATHER:
    case COLL_ALLTOALL:
    case COLL_REDUCE_SCATTER_BLOCK:
        return one ? unit_bytes(&call->recv) : 0;
    case COLL_GATHER:
        return one ? unit_bytes(root ? &call->recv : &call->send) : 0;
    case COLL_SCATTER:
        return one ? unit_bytes(root ? &call->send : &call->recv) : 0;
    default:
        return 0;
    }
}

/* ---- for the flight recorder ---- */

static void function_name(enum collective what, char *text, size_t room)
{
    snprintf(text, room, "MPI_%s", collective_name(what));
    text[4] = (char)toupper((unsigned char)text[4]);
}

void telling_tell(const struct telling *telling, struct record_wait *wait)
{
    struct record_collective *told = &wait->collective;
    function_name(telling->call->what, told->name, sizeof told->name);
    told->context = telling->team->channel.context;
    record_name_comm(told->context, told->comm);
    told->number = telling->number;
    told->root = telling->root;
    told->size = telling->team->channel.size;
    told->bytes = telling->bytes;
}

static void scope_tell(const void *scope, struct record_wait *wait)
{
    telling_tell(scope, wait);
}

void part_tell(struct record_wait *wait, int peer, int world)
{
    struct record_item *item = record_item_new(wait);
    if (!item)
        return;
    item->kind = RECORD_PART;
    item->peer = peer;
    item->world = world;
}

static bool is_told(const struct record_wait *wait, uint64_t context, int peer, int kind)
{
    for (int i = 0; i < wait->nitems && i < RECORD_ITEMS; i++) {
        const struct record_item *item = &wait->items[i];
        if (item->context == context && item->peer == peer && item->kind == kind)
            return true;
    }
    return false;
}

void message_tell(struct record_wait *wait, const struct channel *channel, int peer, bool to)
{
    int kind = to ? RECORD_SEND : RECORD_RECV;
    if (is_told(wait, channel->context, peer, kind))
        return;
    struct record_item *item = record_item_new(wait);
    if (!item)
        return;
    item->kind = kind;
    item->context = channel->context;
    item->peer = peer;
    item->world = ranks_world(channel->peers, peer);
}

/* ---- signatures ---- */

enum {
    WHAT_SHIFT = 27,
    OP_SHIFT = 23,
    BYTES_SHIFT = 12,
    BYTES_PLAIN = 1 << 10, /* fewer are told as they are */
    ROOTS = 1 << BYTES_SHIFT,
};
_Static_assert(COLL_KINDS < 1 << (32 - WHAT_SHIFT) && OP_SHIFT + REDUCE_NAME_BITS == WHAT_SHIFT,
               "a signature has 32 bits");

/* The bits for bytes, and those for the root; without a root (-1) both are one hash. */
static inline uint32_t bytes_and_root(uint64_t bytes, int root)
{
    uint32_t last = root < 0 ? 0 : (uint32_t)root % ROOTS;
    if (bytes < BYTES_PLAIN)
        return (uint32_t)bytes << BYTES_SHIFT | last;
    uint64_t hash = bytes * 0x9e3779b97f4a7c15u;
    if (root < 0)
        last = (uint32_t)(hash >> 32) % ROOTS;
    return (BYTES_PLAIN | (uint32_t)(hash >> 54)) << BYTES_SHIFT | last;
}

static inline uint32_t signature_of(const struct call *call, uint64_t bytes, int root)
{
    return (uint32_t)(call->what + 1) << WHAT_SHIFT |
           (uint32_t)call->reduction.name << OP_SHIFT | bytes_and_root(bytes, root);
}

void telling_begin(struct telling *telling, struct team *team, const struct call *call)
{
    bool rooted = is_rooted(call->what);
    uint64_t bytes = bytes_of(team, call);
    *telling = (struct telling){ .scope = { scope_tell },
                                 .team = team,
                                 .call = call,
                                 .number = ++team->calls,
                                 .bytes = bytes,
                                 .signature = signature_of(call, bytes + call->shape,
                                                           rooted ? root_of(team, call) : -1),
                                 .root = rooted ? call->root : -1 };
    team->before = team->last;
    team->last = telling->signature;
    record_event(team->channel.context, telling->root, (int)telling->number, bytes);
}

/* ---- a mismatch ---- */

static const char *const op_names[1 << REDUCE_NAME_BITS] = {
    [REDUCE_SUM + 1] = "MPI_SUM",       [REDUCE_MIN + 1] = "MPI_MIN",
    [REDUCE_MAX + 1] = "MPI_MAX",       [REDUCE_PROD + 1] = "MPI_PROD",
    [REDUCE_BAND + 1] = "MPI_BAND",     [REDUCE_BOR + 1] = "MPI_BOR",
    [REDUCE_BXOR + 1] = "MPI_BXOR",     [REDUCE_LAND + 1] = "MPI_LAND",
    [REDUCE_LOR + 1] = "MPI_LOR",       [REDUCE_LXOR + 1] = "MPI_LXOR",
    [REDUCE_MINLOC + 1] = "MPI_MINLOC", [REDUCE_MAXLOC + 1] = "MPI_MAXLOC",
    [REDUCE_NAME_MEAN] = "MPIX_AVG",    [REDUCE_NAME_USER] = "a function of the program",
};

/* "MPI_Bcast with root 2, 80 bytes"; of a long one's bytes only a hash is known. */
static void signature_tell(FILE *to, uint32_t signature, bool persistent)
{
    uint32_t what = (signature >> WHAT_SHIFT) - 1, root = signature % ROOTS;
    uint32_t bytes = signature >> BYTES_SHIFT & (2 * BYTES_PLAIN - 1);
    const char *op = op_names[signature >> OP_SHIFT & ((1 << REDUCE_NAME_BITS) - 1)];
    char name[RECORD_NAME_CHARS];
    if (what >= COLL_KINDS) {
        fputs("something unknown", to);
        return;
    }
    function_name((enum collective)what, name, sizeof name);
    fprintf(to, "%s%s", name, persistent ? "_init" : "");
    if (is_rooted((enum collective)what))
        fprintf(to, " with root %u", root);
    if (op)
        fprintf(to, " with %s", op);
    if (bytes && bytes < BYTES_PLAIN)
        fprintf(to, ", %u bytes", bytes);
}

static const char *ordinal(uint32_t n)
{
    static const char *const ends[] = { "th", "st", "nd", "rd" };
    return n % 10 > 3 || n % 100 / 10 == 1 ? ends[0] : ends[n % 10];
}

/* 0: another one, nobody remembers which. */
static void side_tell(FILE *to, int rank, uint32_t signature, uint32_t number)
{
    fprintf(to, "rank %d called ", rank);
    if (signature)
        signature_tell(to, signature, number & COLL_PERSISTENT);
    else
        fputs("something else", to);
}

/* "17th collective of dp", or two numbers when they differ. */
static void place_tell(FILE *to, const struct mismatch *m)
{
    char comm[RECORD_COMM_CHARS];
    uint32_t mine = m->my_number & COLL_NUMBERS, theirs = m->their_number & COLL_NUMBERS;
    record_name_comm(m->context, comm);
    if (mine != theirs)
        fprintf(to, ", %u%s and ", theirs, ordinal(theirs));
    else
        fputs(", ", to);
    fprintf(to, "%u%s collective of %s", mine, ordinal(mine), *comm ? comm : "a communicator");
}

static bool bytes_alone_differ(const struct mismatch *m)
{
    uint32_t differs = m->my_signature ^ m->their_signature;
    uint32_t what = (m->my_signature >> WHAT_SHIFT) - 1;
    uint32_t bytes = (2 * BYTES_PLAIN - 1) << BYTES_SHIFT;
    if (!is_rooted((enum collective)what))
        bytes |= ROOTS - 1;
    return m->my_number == m->their_number && !(differs & ~bytes);
}

int mismatch_fail(const struct mismatch *m)
{
    char text[400] = "";
    FILE *to = fmemopen(text, sizeof text - 1, "w");
    if (!to)
        return fail(MPI_ERR_OTHER, "rank %d called another collective", m->peer);
    side_tell(to, m->peer, m->their_signature, m->their_number);
    fputs(" while ", to);
    side_tell(to, m->me, m->my_signature, m->my_number);
    place_tell(to, m);
    fclose(to);
    return fail(
        MPI_ERR_OTHER, "%s: %s", text,
        bytes_alone_differ(m)
            ? "their counts and datatypes must make the same number of bytes, in groups one by "
              "one"
            : "all ranks must call the same collectives in the same order, with the same "
              "root and operation");
}
