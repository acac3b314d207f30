/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a collective says about itself.  Recording one costs what recording a message costs; the
 * texts are made only for those who wait long, and for errors.
 */
#include "coll/tell.h"

#include "coll/rules.h"
#include "runtime/record.h"
#include "mpi.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

/* The part that is as long on all ranks, and of the same items; NULL where ranks may give different
 * amounts, or groups may. */
static const struct part *part_of(const struct team *team, const struct call *call)
{
    bool root = team->channel.rank == call->root, one = team->split == 0;
    switch (call->what) {
    case COLL_BCAST:
    case COLL_REDUCE:
    case COLL_ALLREDUCE:
    case COLL_SCAN:
    case COLL_EXSCAN:
        return &call->recv;
    case COLL_ALLGATHER:
    case COLL_ALLTOALL:
    case COLL_REDUCE_SCATTER_BLOCK:
    case COLL_ALLGATHERV:
    case COLL_REDUCE_SCATTER:
        return one ? &call->recv : NULL;
    case COLL_GATHER:
        return !one ? NULL : root ? &call->recv : &call->send;
    case COLL_SCATTER:
        return !one ? NULL : root ? &call->send : &call->recv;
    default:
        return NULL;
    }
}

/* ---- signatures ---- */

enum {
    FORM_SHIFT = 23,
    ITEMS_SHIFT = 21,
    BYTES_SHIFT = 11,
    BYTES_PLAIN = 1 << 9, /* fewer are told as they are */
    ROOTS = 1 << BYTES_SHIFT,
};
enum { FORM_MASK = 3 };
enum items { ITEMS_ANY, ITEMS_INTEGERS, ITEMS_FLOATS, ITEMS_MASK = 3 };

/* What, and of a reduction the operation: from 1. */
enum { FIRST_FOLD = COLL_REDUCE + 1, OPS = 1 << REDUCE_NAME_BITS };
_Static_assert((int)REDUCE_NAME_USER < (int)OPS, "every operation has a name of its own");
_Static_assert((int)PERSISTENT <= (int)FORM_MASK, "and every mode");
_Static_assert(FIRST_FOLD + (COLL_KINDS - COLL_REDUCE) * OPS <= KIND_NO_MEMORY,
               "a kind of a collective is none of those that are not");

static inline uint32_t kind_of(const struct call *call)
{
    uint32_t what = (uint32_t)call->what;
    return is_reduction(call->what)
               ? FIRST_FOLD + (what - COLL_REDUCE) * OPS + (uint32_t)call->reduction.name
               : what + 1;
}

/* COLL_KINDS or more: nothing that is known. */
static uint32_t what_said(uint32_t signature)
{
    uint32_t kind = signature >> KIND_SHIFT;
    return kind < FIRST_FOLD ? kind - 1 : COLL_REDUCE + (kind - FIRST_FOLD) / OPS;
}

static enum mode form_said(uint32_t signature)
{
    return signature >> FORM_SHIFT & FORM_MASK;
}

int telling_number(const struct telling *telling)
{
    int persistent = form_said(telling->signature) == PERSISTENT ? COLL_PERSISTENT : 0;
    return telling_tag(telling) | persistent;
}

/* The name of a function that is no collective; NULL: it is one, or unknown. */
static const char *served_said(uint32_t signature)
{
    return signature >> KIND_SHIFT == KIND_SERVES ? served_name(signature % ROOTS) : NULL;
}

/* The bits for bytes, and those for the root; without a root (-1) those say how long an element is, or both are
 * one hash. */
static inline uint32_t bytes_and_root(uint64_t bytes, int root, size_t element)
{
    uint32_t last = (root < 0 ? (uint32_t)element : (uint32_t)root) % ROOTS;
    if (bytes < BYTES_PLAIN)
        return (uint32_t)bytes << BYTES_SHIFT | last;
    uint64_t hash = (bytes + ((uint64_t)element << 48)) * 0x9e3779b97f4a7c15u;
    if (root < 0)
        last = (uint32_t)(hash >> 32) % ROOTS;
    return (BYTES_PLAIN | (uint32_t)(hash >> 55)) << BYTES_SHIFT | last;
}

/* Of a reduction with an operation of MPI's all ranks have the same datatype: slices of its elements are folded
 * by several ranks.  0: nothing is said. */
static inline size_t element_of(const struct call *call, const struct layout *layout)
{
    return call->reduction.kernel && layout ? layout->size : 0;
}

/* What a vector, or every block, consists of.  Bytes and characters go for raw memory. */
static enum items items_of(const struct layout *layout)
{
    static const unsigned char of[BASIC_COUNT] = {
        [BASIC_INT16] = ITEMS_INTEGERS,
        [BASIC_INT32] = ITEMS_INTEGERS,
        [BASIC_INT64] = ITEMS_INTEGERS,
        [BASIC_UINT16] = ITEMS_INTEGERS,
        [BASIC_UINT32] = ITEMS_INTEGERS,
        [BASIC_UINT64] = ITEMS_INTEGERS,
        [BASIC_INT128] = ITEMS_INTEGERS,
        [BASIC_2INT] = ITEMS_INTEGERS,
        [BASIC_FLOAT] = ITEMS_FLOATS,
        [BASIC_DOUBLE] = ITEMS_FLOATS,
        [BASIC_LONG_DOUBLE] = ITEMS_FLOATS,
        [BASIC_FLOAT128] = ITEMS_FLOATS,
        [BASIC_FLOAT_COMPLEX] = ITEMS_FLOATS,
        [BASIC_DOUBLE_COMPLEX] = ITEMS_FLOATS,
        [BASIC_LONG_DOUBLE_COMPLEX] = ITEMS_FLOATS,
        [BASIC_FLOAT128_COMPLEX] = ITEMS_FLOATS,
        [BASIC_2FLOAT] = ITEMS_FLOATS,
        [BASIC_2DOUBLE] = ITEMS_FLOATS,
    };
    return layout ? of[layout->basic] : ITEMS_ANY;
}

static inline uint32_t signature_of(const struct call *call, const struct layout *layout,
                                    uint64_t bytes, int root)
{
    return kind_of(call) << KIND_SHIFT | items_of(layout) << ITEMS_SHIFT |
           bytes_and_root(bytes, root, element_of(call, layout));
}

static bool items_differ(uint32_t a, uint32_t b)
{
    enum items mine = a >> ITEMS_SHIFT & ITEMS_MASK, theirs = b >> ITEMS_SHIFT & ITEMS_MASK;
    return mine != theirs && mine != ITEMS_ANY && theirs != ITEMS_ANY;
}

bool signatures_differ(uint32_t a, uint32_t b)
{
    return (a ^ b) & ~(ITEMS_MASK << ITEMS_SHIFT) || items_differ(a, b);
}

/* ---- for the flight recorder ---- */

/* The function as it was called. */
static void form_name(uint32_t signature, char *text, size_t room)
{
    const char *served = served_said(signature), *name;
    enum mode form = form_said(signature);
    if (served) {
        snprintf(text, room, "%s", served);
        return;
    }
    name = collective_name((enum collective)what_said(signature));
    snprintf(text, room, "MPI_%s%s%s", form == NONBLOCKING ? "I" : "", name,
             form == PERSISTENT ? "_init" : "");
    text[4] = (char)toupper((unsigned char)text[4]);
}

/* What was chosen last for its kind is its own as long as no other has begun.  A persistent one was chosen long ago. */
static int way_of(const struct telling *telling)
{
    const struct team *team = telling->team;
    bool latest = telling->number == (team->calls & COLL_NUMBERS);
    bool says = latest && !telling->call->serves && form_said(telling->signature) != PERSISTENT;
    return says ? team->chosen[telling->call->what] : 0;
}

void telling_tell(const struct telling *telling, struct record_wait *wait)
{
    struct record_collective *told = &wait->collective;
    form_name(telling->signature, told->name, sizeof told->name);
    told->context = telling->team->channel.context;
    record_name_comm(told->context, told->comm);
    told->number = telling->number;
    told->size = telling->team->channel.size;
    told->root = telling->call->serves ? -1 : telling->root; /* the program has given neither */
    told->bytes = telling->call->serves ? 0 : telling->bytes;
    told->way = way_of(telling);
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
    item->context = wait->collective.context;
    item->number = wait->collective.number;
    item->peer = peer;
    item->world = world;
}

static bool is_told(const struct record_wait *wait, uint64_t context, int peer, int kind)
{
    uint32_t number = wait->collective.number;
    for (int i = 0; i < wait->nitems && i < RECORD_ITEMS; i++) {
        const struct record_item *item = &wait->items[i];
        if (item->context == context && item->peer == peer && item->kind == kind &&
            item->number == number)
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
    item->number = wait->collective.number;
    item->peer = peer;
    item->world = ranks_world(channel->peers, peer);
}

/* ---- a collective begins ---- */

/* The bytes of all blocks together.  In slots, and in the memory of others, each rank finds blocks where its own list
 * says that they are, so if they differ in length a number above 2^63 says how. */
static uint64_t listed_of(const struct team *team, const struct part *part)
{
    struct listed bytes = listed_bytes(part, team->channel.size);
    if (bytes.digest == 0)
        return bytes.all;
    return (bytes.all + bytes.digest * 0x9e3779b97f4a7c15u) | (uint64_t)1 << 63;
}

struct telling telling_of(const struct team *team, const struct call *call, enum mode mode)
{
    bool rooted = is_rooted(call->what);
    const struct part *part = part_of(team, call);
    bool listed = has_known_counts(call->what) && part;
    uint64_t bytes = part && !listed ? unit_bytes(part) : 0;
    uint64_t all = listed ? listed_of(team, part) : bytes;
    const struct layout *items = part && all ? part->layout : NULL;
    int root = rooted ? root_of(team, call) : -1;
    uint32_t signature = (uint32_t)mode << FORM_SHIFT;
    if (call->serves)
        signature = (uint32_t)KIND_SERVES << KIND_SHIFT | call->serves;
    else
        signature |= signature_of(call, items, all + call->shape, root);
    return (struct telling){ .scope = { scope_tell },
                             .team = team,
                             .call = call,
                             .signature = signature,
                             .root = rooted ? call->root : -1,
                             .bytes = bytes };
}

void telling_record(const struct telling *telling)
{
    record_event(telling->team->channel.context, telling->root, (int)telling->number,
                 telling->bytes);
}

void telling_begin(struct telling *telling, struct team *team, const struct call *call,
                   enum mode mode)
{
    *telling = telling_of(team, call, mode);
    telling_next(telling, team);
    telling_record(telling);
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

/* Two reductions of as many bytes, in elements of different lengths; where they are many nothing tells. */
static bool elements_differ(const struct mismatch *m)
{
    uint32_t a = m->my_signature, b = m->their_signature;
    return (a ^ b) % ROOTS && (a ^ b) < ROOTS && a >> KIND_SHIFT >= FIRST_FOLD &&
           what_said(a) < COLL_KINDS && !is_rooted((enum collective)what_said(a)) &&
           (a >> BYTES_SHIFT & (2 * BYTES_PLAIN - 1)) < BYTES_PLAIN;
}

static bool bytes_alone_differ(const struct mismatch *m)
{
    uint32_t differs = m->my_signature ^ m->their_signature;
    uint32_t what = what_said(m->my_signature);
    uint32_t bytes = (2 * BYTES_PLAIN - 1) << BYTES_SHIFT | ITEMS_MASK << ITEMS_SHIFT;
    if (m->my_signature >> KIND_SHIFT == KIND_SERVES)
        return false;
    if (what >= COLL_KINDS || !is_rooted((enum collective)what))
        bytes |= ROOTS - 1;
    return m->my_number == m->their_number && !(differs & ~bytes);
}

/* "MPI_Bcast with root 2, 80 bytes"; of a long one's bytes it has only a hash. */
static void signature_tell(FILE *to, uint32_t signature, uint64_t long_bytes, bool of_what)
{
    uint32_t what = what_said(signature), root = signature % ROOTS;
    uint32_t said = signature >> BYTES_SHIFT & (2 * BYTES_PLAIN - 1);
    uint64_t bytes = said < BYTES_PLAIN ? said : long_bytes;
    uint32_t items = signature >> ITEMS_SHIFT & ITEMS_MASK;
    uint32_t kind = signature >> KIND_SHIFT;
    const char *op = kind < FIRST_FOLD ? NULL : op_names[(kind - FIRST_FOLD) % OPS];
    char name[RECORD_NAME_CHARS];
    const char *served = served_said(signature);
    if (what >= COLL_KINDS) {
        fputs(signature == SIGNATURE_FINALIZED ? "MPI_Finalize"
              : signature == SIGNATURE_FREED   ? "MPI_Comm_free"
              : served                         ? served
                                               : "something unknown",
              to);
        return;
    }
    form_name(signature, name, sizeof name);
    fputs(name, to);
    if (is_rooted((enum collective)what))
        fprintf(to, " with root %u", root);
    if (op)
        fprintf(to, " with %s", op);
    if (bytes)
        fprintf(to, ", %llu bytes", (unsigned long long)bytes);
    if (of_what)
        fprintf(to, "%s %s", bytes ? " of" : ", of",
                items == ITEMS_INTEGERS ? "integers" : "floating-point numbers");
}

static const char *ordinal(uint32_t n)
{
    static const char *const ends[] = { "th", "st", "nd", "rd" };
    return n % 10 > 3 || n % 100 / 10 == 1 ? ends[0] : ends[n % 10];
}

/* Where all else is the same: what is not known of one is told as unlike the other. */
static void length_tell(FILE *to, uint64_t bytes, uint64_t others, bool first)
{
    if (!bytes && others)
        fputs(", another number of bytes", to);
    else if (bytes && bytes == others)
        fputs(first ? " in elements of one length" : " in elements of another length", to);
}

/* 0: another one, nobody remembers which. */
static void side_tell(FILE *to, bool mine, const struct mismatch *m)
{
    bool of_what = items_differ(m->my_signature, m->their_signature);
    bool are_long = bytes_alone_differ(m) && m->my_signature >> BYTES_SHIFT & BYTES_PLAIN &&
                    m->their_signature >> BYTES_SHIFT & BYTES_PLAIN;
    uint32_t signature = mine ? m->my_signature : m->their_signature;
    uint64_t bytes = mine ? m->my_bytes : m->their_bytes;
    fprintf(to, "rank %d called ", mine ? m->me : m->peer);
    if (signature)
        signature_tell(to, signature, bytes_alone_differ(m) ? bytes : 0, of_what);
    else
        fputs("something else", to);
    if (signature && elements_differ(m))
        fprintf(to, " in elements of %u", signature % ROOTS);
    else if (are_long && !of_what)
        length_tell(to, bytes, mine ? m->their_bytes : m->my_bytes, !mine);
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

static bool form_alone_differs(const struct mismatch *m)
{
    return ((m->my_number ^ m->their_number) & COLL_NUMBERS) == 0 && m->their_signature &&
           what_said(m->my_signature) == what_said(m->their_signature) &&
           form_said(m->my_signature) != form_said(m->their_signature);
}

static const char *what_to_do(const struct mismatch *m)
{
    bool listed = has_known_counts((enum collective)what_said(m->my_signature));
    if (bytes_alone_differ(m) && listed)
        return ": all ranks must give the same recvcounts, and datatypes of the same kind";
    if (bytes_alone_differ(m))
        return ": their counts and datatypes must make the same number of bytes of the same "
               "kind, "
               "in groups one by one";
    if (form_alone_differs(m))
        return ": blocking, nonblocking and persistent collectives do not go together";
    return ": all ranks must call the same collectives in the same order, with the same root "
           "and "
           "operation";
}

/* No mismatch, but as much an end. */
static void no_memory_tell(FILE *to, const struct mismatch *m)
{
    fprintf(to, "rank %d could not do its part of ", m->peer);
    signature_tell(to, m->my_signature, 0, false);
    place_tell(to, m);
    fputs(": it was out of memory", to);
}

static void difference_tell(FILE *to, const struct mismatch *m)
{
    side_tell(to, false, m);
    fputs(" while ", to);
    side_tell(to, true, m);
    place_tell(to, m);
    fputs(what_to_do(m), to);
}

bool mismatch_text(const struct mismatch *m, char text[BROKEN_CHARS])
{
    if (m->their_signature && !signatures_differ(m->my_signature, m->their_signature) &&
        m->my_number == m->their_number)
        return false;
    memset(text, 0, BROKEN_CHARS);
    FILE *to = fmemopen(text, BROKEN_CHARS - 1, "w");
    if (!to) {
        snprintf(text, BROKEN_CHARS, "rank %d called another collective", m->peer);
        return true;
    }
    if (m->their_signature == SIGNATURE_NO_MEMORY)
        no_memory_tell(to, m);
    else
        difference_tell(to, m);
    fclose(to);
    return true;
}
