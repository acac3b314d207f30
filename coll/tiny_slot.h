/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shared slots of a communicator: what the parts of coll/tiny*.c have in common.
 *
 *     block     header | rank 0: slot 0, slot 1, ... | rank 1: slot 0, slot 1, ... | ... | long
 *     slot      sequence, said, before, payload
 *     long      rank 0: two halves | rank 1: two halves | ...
 *
 * Operation s writes the slot s modulo `depth` of its rank.  That may be done only when whoever
 * reads what operation s - depth wrote there is through with it, that is, has begun the one after
 * it; `known` says how far everybody has begun.  After a barrier or an allreduce that is known; a
 * broadcast does not let the root wait for anybody, so now and then the writer has to look
 * (tiny_turn).  The root of a scatter writes into the slots of others, too, so it looks at everybody, and
 * everybody's slot is then read by all (tiny_writes_everywhere).
 *
 * Slots are many, so that ranks run ahead of each other, and therefore short.  A longer payload lies
 * in the long part, and its slot says where: one behind the other until a half is full; then the
 * other half, as soon as everybody is through with what is there.  Two ranks have slots as long as
 * any payload.
 *
 * Who hears another rank compares what both say.  Who did not hear it, being a root that only
 * sends, finds out with the next one it hears: hence `before`.
 *
 * A slot is written by its rank alone, the sequence last: whoever sees it sees the rest.  Who looks at one that may be
 * written anew meanwhile (look_back and last_said in tiny_slot.c) looks at the slot before it afterwards: the fence in
 * tiny_publish lies between the two.
 */
#ifndef XMPI_TINY_SLOT_H
#define XMPI_TINY_SLOT_H

#include "coll/coll.h"
#include "coll/tiny.h"
#include "runtime/clock.h"
#include "runtime/progress.h"

#include <string.h>

struct slot {
    _Atomic uint64_t sequence;
    _Atomic uint64_t said;    /* number and signature of this collective, coll/tell.h */
    _Atomic uint64_t before;  /* of the one before on the communicator, whatever way it went */
    _Atomic uint64_t gave_up; /* coll/attach.c: the operation that the rank has left */
    char payload[];
};

enum { MOVERS_OF_BLOCKS, MOVERS_OF_GATHERS, MOVERS_OF_LETTERS, MOVERS }; /* coll/attach.h */
struct block;                                                            /* coll/tiny_block.c */
struct means_table;                                                      /* runtime/means.h */
struct rivals;                                                           /* coll/rival.h */

/* Who reads a slot: one rank, or these. */
enum { EVERYBODY = -1, NOBODY = -2 };
_Static_assert(TINY_RANKS - 1 <= INT8_MAX, "a rank that reads is kept in 8 bits");
enum { TINY_DEPTH = 64 }; /* slots of a rank, at most */

struct tiny {
    char *slots;
    size_t slot_bytes, rank_bytes; /* from slot to slot, from rank to rank */
    size_t room;                   /* bytes of payload in a slot */
    char *longs;                   /* payloads that are longer */
    size_t long_bytes;             /* of a rank; 0: there are none */
    size_t long_at, long_half;     /* where this rank's next one goes, in this half */
    uint64_t long_last[2];         /* the operations that wrote last into its halves */
    uint64_t sequence;             /* operations begun */
    uint64_t known;                /* everybody has begun this one */
    uint32_t depth;                /* slots of a rank, a power of two */
    uint32_t apart; /* collectives (bits) that could not reach memory, coll/attach.c */
    uint8_t unable; /* of two ranks (bits) the one that cannot, coll/attach_blocks.c */
    struct means_table *movers; /* who had better move a block, a table each */
    struct rivals *rivals;      /* NULL: attach has none */
    bool unread;                /* once this rank's could not, coll/attach_pull.c */
    uint32_t spin;              /* looks at a slot before it is waited for in earnest */
    uint32_t listened;          /* operations in a row in which one other was heard */
    bool behind;                /* that one was ahead, see tiny_fetch */
    bool crowded;               /* more ranks than CPUs */
    int reading;                /* enum reading, as in struct team */
    int8_t readers[TINY_DEPTH]; /* of this rank's slots, see above */
    struct letters {            /* tiny_letters.c */
        uint32_t bytes;         /* of all letters of a rank */
        uint32_t most;          /* of a block in a cell; 0: there is no room for cells */
        bool near;              /* letters lie in the slot */
        size_t placed_from;     /* blocks of that length are moved from or to a place */
        size_t placed_to;
        bool read; /* in this call: from it, by who gets them */
    } letters;
    int n, me, tracks;
    const struct channel *channel; /* the team's: who may be lost */
    struct block *block;           /* NULL: another one's (tiny_track) */
    struct member {
        struct doorbell *bell;
        uint64_t begun; /* this operation, at least; of two ranks `known` says it */
        int world;
    } member[]; /* all ranks */
};

static inline struct slot *slot_of(const struct tiny *t, int rank, uint64_t s)
{
    return (struct slot *)(t->slots + (size_t)rank * t->rank_bytes +
                           (s & (t->depth - 1)) * t->slot_bytes);
}

static inline bool slot_says(const struct slot *slot, uint64_t s)
{
    return atomic_load_explicit(&slot->sequence, memory_order_acquire) >= s;
}

/* Perhaps while its rank writes it anew; see the beginning of this file. */
static inline uint64_t slot_said(const struct slot *slot)
{
    return atomic_load_explicit(&slot->said, memory_order_relaxed);
}
static inline uint64_t slot_before(const struct slot *slot)
{
    return atomic_load_explicit(&slot->before, memory_order_relaxed);
}

/* Whom a rank hears. */
enum heard { HEARS_ALL, HEARS_ROOT, ROOT_HEARS_ALL, HEARS_LOWER, HEARS_BELOW };

struct round;
struct telling; /* coll/tell.h */

/* How a collective goes: tiny.c. */
struct performance {
    void (*say)(struct round *round, const struct call *call); /* NULL: take does, too */
    int (*take)(struct round *round, const struct call *call);
    enum heard hears;
    bool apart; /* each rank says something else to each of the others */
};

/* One operation on this rank: what is the same whenever it comes again (tiny_prepare), */
struct round {
    struct tiny *tiny;
    const struct performance *performance;
    size_t bytes;        /* of a block, or of the vector; of gatherv and scatterv in a slot */
    size_t length;       /* of a payload, whoever writes one */
    int first, last;     /* the ranks that are awaited, for the flight recorder */
    int source;          /* the only one that is heard, and does not hear us; or NOBODY */
    int readers;         /* of this rank's slot: one rank, EVERYBODY or NOBODY */
    struct unfit *unfit; /* of those with counts, coll/tiny.h */
    const struct telling *telling;
    bool everywhere; /* this rank writes into all slots */

    /* and what is not */
    int error; /* somebody is in another collective; kept for the tiny (fail_keep) */
    uint64_t sequence, said, before;
    size_t place; /* of this rank's part in each, where blocks differ */
    struct slot *mine;
    char *payload; /* of this rank */
};

/* ---- one operation in two halves: tiny.c performs it, later.c waits in between ---- */

/* May the next operation begin now? */
bool tiny_may_begin(const struct tiny *tiny, const struct call *call);

/* Does this rank write into the slots of all others (cells_of in coll/tiny_parts.h)? */
bool tiny_writes_everywhere(const struct tiny *tiny, const struct call *call);

/* Once for all operations that are alike: `telling` but for what counts them. */
void tiny_prepare(struct round *round, struct tiny *tiny, const struct telling *telling);

/* A record_teller of a round: who has not said it.  The same of the next operation's turn. */
void tiny_tell(const void *round, struct record_wait *wait);
void tiny_turn_tell(const struct tiny *tiny, const struct call *call, struct record_wait *wait);

/* ---- the pieces ---- */

/* What its slots and long part are good for: once they are known. */
void tiny_letters_open(struct tiny *tiny);

/* Wait until nobody needs the slot; find a place for a long payload.  MPIX_ERR_PROC_FAILED when
 * somebody is lost. */
int tiny_turn(struct round *round);
int tiny_place(struct round *round);

/* What a rank has heard went well, but somebody is in another collective: the error, with its text. */
int tiny_recall(const struct round *round) __attribute__((cold));

/* Wait until a rank has written its slot.  MPIX_ERR_PROC_FAILED when somebody is lost before. */
int tiny_wait(const struct round *round, int rank);

/* This rank has spoken: wake those who sleep and have waited for that. */
void tiny_wake(const struct round *round) __attribute__((cold));

/* It is about to: leave those who sleep on other CPUs to somebody there, who may go on at once when it has. */
void tiny_pass(const struct round *round) __attribute__((cold));

/* This rank and that one do not say the same in this operation, or in the one before. */
void tiny_mismatch(struct round *round, int rank, const struct slot *slot)
    __attribute__((cold));

/* Everybody reads all slots. */
static inline void tiny_all(struct round *round, struct tiny *t)
{
    round->tiny = t;
    round->first = 0;
    round->last = t->n - 1;
    round->source = NOBODY;
    round->readers = EVERYBODY;
}

/* Have all spoken whom this rank hears in the round, as of now?  Those below *heard have. */
static inline bool tiny_has_heard(const struct round *round, int *heard)
{
    const struct tiny *t = round->tiny;
    for (; *heard <= round->last; ++*heard)
        if (*heard != t->me && !slot_says(slot_of(t, *heard, round->sequence), round->sequence))
            return false;
    return true;
}

/* Begin the next operation: afterwards this rank's slot, round->mine, may be filled in.  Its
 * round->payload has t->room bytes; tiny_place finds more. */
static inline int tiny_begin(struct round *round, uint64_t said, uint64_t before)
{
    struct tiny *t = round->tiny;
    uint64_t s = ++t->sequence;
    round->sequence = s;
    round->said = said;
    round->before = before;
    round->mine = slot_of(t, t->me, s);
    round->error = 0;
    round->payload = round->mine->payload;
    int lost = __builtin_expect(t->known + t->depth > s, 1) ? 0 : tiny_turn(round);
    t->readers[s & (t->depth - 1)] = (int8_t)round->readers;
    return lost;
}

/* What a rank has written, in its slot or elsewhere. */
static inline const char *tiny_payload(const struct round *round, int rank,
                                       const struct slot *slot)
{
    const struct tiny *t = round->tiny;
    if (__builtin_expect(round->length <= t->room, 1))
        return slot->payload;
    uint64_t at;
    memcpy(&at, slot->payload, sizeof at);
    if (__builtin_expect(at > t->long_bytes - round->length, 0))
        at = 0; /* the rank is in another collective */
    return t->longs + (size_t)rank * t->long_bytes + at;
}

/* A slot ends there for whoever brings it here in advance. */
static inline size_t slot_end(const struct round *round)
{
    size_t end = TINY_HEAD + round->bytes, most = round->tiny->slot_bytes;
    return end < most ? end : most;
}

enum { TINY_LINE = 64 };

/* Who has read a slot has its lines, and stores into them wait for one after the other: so a slot that will be written
 * soon is asked for in advance. */
static inline void tiny_want(const struct round *round, uint64_t sequence)
{
    const struct tiny *t = round->tiny;
    const char *slot = (const char *)slot_of(t, t->me, sequence);
    for (size_t at = 0, end = slot_end(round); at < end; at += TINY_LINE)
        cpu_want(slot + at);
}

/* Whoever only hears one rank, again and again, may be behind it: then that one's next slot is written
 * already, and is brought here while this rank leaves the library and comes again.  Where it is
 * not, that would take the lines from its writer; whether it is takes time to see, so it is looked at now
 * and then. */
static inline void tiny_fetch(const struct round *round)
{
    enum { SELDOM = 16 };
    struct tiny *t = round->tiny;
    if (round->source == NOBODY) {
        t->listened = 0;
        t->behind = false;
        return;
    }
    bool looks = ++t->listened % SELDOM == 0;
    if (!looks && !t->behind)
        return;
    uint64_t next = round->sequence + 1;
    const struct slot *slot = slot_of(t, round->source, next);
    if (looks)
        t->behind = slot_says(slot, next);
    else
        for (size_t at = 0, end = slot_end(round); at < end; at += TINY_LINE)
            __builtin_prefetch((const char *)slot + at);
}

/* It is filled in: show it, and wake who sleeps. */
static inline void tiny_publish(const struct round *round)
{
    const struct tiny *t = round->tiny;
    struct slot *mine = round->mine;
    atomic_thread_fence(
        memory_order_release); /* after the sequence before this, see is_still */
    atomic_store_explicit(&mine->said, round->said, memory_order_relaxed);
    atomic_store_explicit(&mine->before, round->before, memory_order_relaxed);
    if (__builtin_expect(doorbell_pass != NULL, 0))
        tiny_pass(round);
    atomic_store_explicit(&mine->sequence, round->sequence, memory_order_release);
    enum { AHEAD = 2 };
    if (t->known + 1 < round->sequence) /* this rank runs ahead of the others */
        tiny_want(round, round->sequence + AHEAD);
    bool some_sleep = false;
    doorbells_look();
    for (int r = 0; r < t->n; r++) /* this one is awake, unless it has more threads */
        some_sleep |= doorbell_is_down(t->member[r].bell);
    if (__builtin_expect(some_sleep, 0))
        tiny_wake(round);
}

/* A look now and then is enough, and leaves the line to who is about to write it, and the core to who shares it:
 * docs/collectives.md.  Where ranks exceed CPUs there are few looks, and no rests. */
static inline void tiny_rest(const struct tiny *t, uint32_t looks)
{
    enum { LOOKS = 4 };
    if (looks % LOOKS == 1 && !t->crowded)
        cpu_pause();
}

/* Who waits for a slot of a few lines reads all of them again and again, so that they come as soon as they are written
 * and not after the sequence; of more lines that takes too many from the writer.  Returns how many looks are left. */
static inline uint32_t tiny_look(const struct round *round, const struct slot *slot)
{
    enum { FEW_LINES = 5, MORE = 4 };
    const struct tiny *t = round->tiny;
    uint32_t more = t->crowded ? 1 : MORE, looks = t->spin * more;
    size_t end = slot_end(round);
    if (end <= TINY_LINE || end > FEW_LINES * TINY_LINE)
        return t->spin;
    for (; looks > 0 && !slot_says(slot, round->sequence); looks--) {
        for (size_t at = TINY_LINE; at < end; at += TINY_LINE)
            __builtin_prefetch((const char *)slot + at);
        if (looks % MORE == 0)
            tiny_rest(t, looks / MORE);
    }
    return looks / more;
}

/* The slot of another rank, once it is written. */
static inline int tiny_hear(struct round *round, int rank, const struct slot **heard)
{
    struct tiny *t = round->tiny;
    const struct slot *slot = slot_of(t, rank, round->sequence);
    for (uint32_t looks = tiny_look(round, slot); !slot_says(slot, round->sequence); looks--) {
        if (looks == 0) {
            int lost = tiny_wait(round, rank);
            if (lost)
                return lost;
            break;
        }
        tiny_rest(t, looks);
    }
    if (__builtin_expect(slot_said(slot) != round->said || slot_before(slot) != round->before,
                         0))
        tiny_mismatch(round, rank, slot);
    if (t->n == 2)
        t->known = round->sequence;
    else
        t->member[rank].begun = round->sequence;
    *heard = slot;
    return 0;
}

/* Begin, and show the slot, with these two words of the call: afterwards the ranks round->first to round->last, but
 * this one, have to say the same sequence before tiny_take, which does not wait then.  MPIX_ERR_PROC_FAILED. */
static inline int tiny_say(struct round *round, const struct call *call, uint64_t said,
                           uint64_t before)
{
    const struct performance *p = round->performance;
    const struct tiny *tiny = round->tiny;
    int lost = tiny_begin(round, said, before);
    if (__builtin_expect(round->length > tiny->room, 0) && !lost &&
        (p->hears != HEARS_ROOT || call->root == tiny->me))
        lost = tiny_place(round);
    if (lost || !p->say)
        return lost;
    p->say(round, call);
    tiny_publish(round);
    return 0;
}

static inline int tiny_take(struct round *round, const struct call *call)
{
    const struct performance *p = round->performance;
    int lost = p->take(round, call);
    if (!lost && p->hears == HEARS_ALL)
        round->tiny->known = round->sequence;
    return __builtin_expect(lost || !round->error, 1) ? lost : tiny_recall(round);
}

/* The slots of all others. */
static inline int tiny_hear_all(struct round *round)
{
    const struct slot *slot;
    for (int r = 0; r < round->tiny->n; r++) {
        int lost = r == round->tiny->me ? 0 : tiny_hear(round, r, &slot);
        if (lost)
            return lost;
    }
    return 0;
}

#endif
