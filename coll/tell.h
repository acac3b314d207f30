/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a collective says about itself: to the flight recorder while it waits, and to its peers
 * in the signature of its messages, so that whoever meets another collective can name both:
 *
 *     31               25 24  23 22   21 20            11 10            0
 *     | what, operation | form | items | bytes          | root        |
 *
 * Only reductions have an operation, so both are one number (kind_of).  Form is enum mode: blocking, nonblocking
 * and persistent ones do not go together (MPI 5.0, 6.12), and where they go the same way nothing else tells.
 * Bytes are those of the type signature where the standard wants it equal on all ranks (where they have a list of
 * counts, of all blocks together), below 512 as they are, above as a hash with the top bit set, which takes the
 * bits of the root as well where there is none; of reductions with an operation of MPI's the hash, or these bits,
 * also say how long an element is; roots are compared modulo 2048.  Items are integers or floating-point numbers,
 * or not said (0, which goes with both): mixtures, bytes, packed data.  Of operations that were put together
 * (call->shape) bytes are a hash that also says which they were.  Functions that are no collectives of this room
 * (served.c) say which they are in the bits of the root, and nothing else.
 */
#ifndef XMPI_COLL_TELL_H
#define XMPI_COLL_TELL_H

#include "coll/coll.h"

struct telling { /* of a collective under way; lives as long as its waits */
    struct record_scope scope;
    const struct team *team;
    const struct call *call;
    uint32_t number;    /* of the collectives begun on the team, as words carry it */
    uint32_t signature; /* what its messages say they are; never 0 */
    uint64_t before;    /* what was said in the one before */
    int root;           /* on the team, -1 = none */
    uint64_t bytes; /* of one block, or of the vector, where all ranks have the same; else 0 */
};

/* Do these say that two ranks are in different collectives?  More than two words that differ. */
bool signatures_differ(uint32_t a, uint32_t b);

/* Numbers of collectives as messages and words carry them: so many bits, and one for persistent ones. */
enum { COLL_NUMBERS = 0x3fffffff, COLL_PERSISTENT = 0x40000000 };

/* How many collectives number a is ahead of b; negative: behind.  Numbers go around, and of two ranks neither is
 * half of them ahead of the other.  Bits above them say nothing here. */
static inline int numbers_ahead(uint32_t a, uint32_t b)
{
    uint32_t ahead = (a - b) & COLL_NUMBERS;
    return (int)ahead - (ahead > COLL_NUMBERS / 2 ? COLL_NUMBERS + 1 : 0);
}

/* What a rank says of a collective in a word. */
static inline uint64_t said_word(uint32_t number, uint32_t signature)
{
    return (uint64_t)number << 32 | signature;
}
static inline uint64_t telling_word(const struct telling *telling)
{
    return said_word(telling->number, telling->signature);
}
static inline bool words_differ(uint64_t a, uint64_t b)
{
    return a != b && (a >> 32 != b >> 32 || signatures_differ((uint32_t)a, (uint32_t)b));
}

/* The next collective of a team begins: count it, record it.  The call may be copied. */
void telling_begin(struct telling *telling, struct team *team, const struct call *call,
                   enum mode mode);

/* The same in three parts: what is alike whenever it comes again, */
struct telling telling_of(const struct team *team, const struct call *call, enum mode mode);
/* what is not, */
static inline void telling_next(struct telling *telling, struct team *team)
{
    telling->before = team->said[team->calls % TEAM_SAID];
    telling->number = ++team->calls & COLL_NUMBERS;
    team->said[team->calls % TEAM_SAID] = telling_word(telling);
}
/* and the record, before it is waited for. */
void telling_record(const struct telling *telling);

/* The tag of its messages. */
static inline int telling_tag(const struct telling *telling)
{
    return (int)(telling->number & COLL_NUMBERS);
}

/* The same, which also says whether it is a persistent one. */
int telling_number(const struct telling *telling);

/* A message of it that is no step of a plan. */
static inline struct envelope telling_envelope(const struct telling *telling, int peer)
{
    return (struct envelope){ .peer = peer,
                              .tag = telling_tag(telling),
                              .signature = telling->signature,
                              .group = telling->team->channel.peers };
}

/* What waits of this collective belong to; in a wait for several, the things that are told next. */
void telling_tell(const struct telling *telling, struct record_wait *wait);

/* One thing that a wait of a collective waits for: that this rank of the team takes part. */
void part_tell(struct record_wait *wait, int peer, int world);

/* A message of a plan, to this peer or from it; one item for all of them. */
void message_tell(struct record_wait *wait, const struct channel *channel, int peer, bool to);

/* How many bytes both had, as far as that is known here. */
void mismatch_measure(struct mismatch *mismatch);

/* What two ranks called, and where.  False: they go together. */
bool mismatch_text(const struct mismatch *mismatch, char text[BROKEN_CHARS]);

/* The root as a rank of the team. */
int root_of(const struct team *team, const struct call *call);

/* ---- functions that are no collectives of this room (served.c) ---- */

/* Between these two all members of a team do something together that is no collective: it is numbered, told and
 * compared like one, by the name of the function that the program has called.  To be ended either way, also after
 * an error of beginning; what the end returns is kept for the team. */
struct joining {
    struct telling telling;
    struct call call;
    int stray;
};
int joining_begin(struct joining *joining, struct team *team);
int joining_end(const struct joining *joining, int error);

/* A message between members of that team, while this rank joins: it says so, and whoever expects another
 * function's message knows. */
void joining_sign(const struct channel *channel, struct envelope *message);

/* "MPI_Comm_dup"; NULL: no such function. */
const char *served_name(uint32_t served);

/* ---- ranks in different collectives (mismatch.c) ---- */

/* While there are teams: words about this are heard, and there is memory to tell that there is none. */
void mismatch_open(void);
void mismatch_close(void);

/* What was said in the collective of that number; 0: it has not come so far, or was forgotten. */
static inline uint64_t said_of(const uint64_t said[TEAM_SAID], uint32_t number)
{
    uint64_t word = said[number % TEAM_SAID];
    return ((word >> 32 ^ number) & COLL_NUMBERS) == 0 ? word : 0;
}
/* The same of this rank. */
static inline uint64_t said_in(const struct team *team, uint32_t number)
{
    return said_of(team->said, number);
}

/* The error of a rank that has met another one in another collective, and soon the end of all on their
 * communicator; 0: they go together. */
int mismatch_fail(const struct mismatch *mismatch);

/* Tell the others what was found: before the program hears of it, which may never come back, and before
 * the communicator goes. */
int mismatch_settle(void);

/* A collective has ended, or could not begin, with this error, or with a message of one before it: its own comes
 * first.  What it returns; the text is kept for it. */
int mismatch_end(const struct team *team, int error, int stray) __attribute__((cold));

/* The same of what is no collective of this room, whose members agree on errors of their own. */
int mismatch_keep(const struct team *team, int error, int stray) __attribute__((cold));

/* After an error in the collective of this word.  Where it is MPI_ERR_NO_MEM this rank may not have begun, or what
 * it has sent on is wrong: the others, who wait for it, end, and so does what is called on the team from now on. */
void mismatch_give_up(const struct team *team, uint64_t word, int error) __attribute__((cold));

/* There is one that this team was asked about before it came to it (team->asked): has it come now? */
void mismatch_recall(struct team *team);

/* ---- ranks that have left (last.c) ---- */

/* Kinds that are no collectives; instead of a signature: what a rank has called that will never call this one, or
 * that it had no memory for its part. */
enum { KIND_SHIFT = 25, KIND_NO_MEMORY = 124, KIND_SERVES, KIND_FREED, KIND_FINALIZED };
static const uint32_t SIGNATURE_NO_MEMORY = (uint32_t)KIND_NO_MEMORY << KIND_SHIFT,
                      SIGNATURE_FREED = (uint32_t)KIND_FREED << KIND_SHIFT,
                      SIGNATURE_FINALIZED = (uint32_t)KIND_FINALIZED << KIND_SHIFT;

/* Of a rank that has left; zeros where it has said more elsewhere since then (struct record_last). */
struct last_words {
    uint32_t calls;
    bool freed;
    uint64_t said[TEAM_SAID];
    struct mismatch met;
};

/* A copy, or NULL, of what a rank of this machine has left behind.  False: it has not left, or it is of another
 * machine. */
bool last_words_of(const struct channel *channel, int peer, struct last_words *copy);

/* See struct pml_judge. */
bool last_misses(const struct channel *channel, int world, int number);

/* Was that something else than `mine`, or will it never be said?  Then fills in all of *m but who we are. */
bool last_words_differ(const struct last_words *last, int peer, uint64_t mine,
                       struct mismatch *m);

/* ---- messages of collectives that are over here (stray.c) ---- */

/* The next blocking collective looks, though nothing came unexpected. */
void stray_look_again(struct team *team);

/* MPI_ERR_OTHER, kept for the team (fail_keep), when there is a message from before collective
 * `number`. */
int stray_look(struct team *team, uint32_t number);

/* Nothing came unexpected. */
static inline bool strays_are_none(const struct team *team)
{
    return __builtin_expect(team->channel.unexpected == team->looked, 1);
}

/* The same before this collective begins. */
static inline int stray_check(struct team *team, const struct telling *telling)
{
    return strays_are_none(team) ? 0 : stray_look(team, telling->number);
}

/* The same when nobody calls on this team any more; says on stderr what there is. */
void stray_say(struct team *team);

#endif
