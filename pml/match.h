/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matching: which receive takes which message.  One struct match per channel holds the receives
 * that wait for a message (posted) and the messages that wait for a receive (arrived).  Pure:
 * knows nothing of requests, wires or memory of messages; entries are embedded in the caller's
 * structures.
 *
 * The rule (MPI 5.0, 3.5): a message goes to the oldest posted receive that accepts it; a
 * receive takes the oldest arrived message that it accepts.
 */
#ifndef XMPI_MATCH_H
#define XMPI_MATCH_H

#include "pml/pml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Classes of receives: bit 0, any source; bit 1, any tag. */
enum { MATCH_ANY_SOURCE_BIT = 1, MATCH_ANY_TAG_BIT = 2, MATCH_CLASSES = 4 };

struct match_key {
    int32_t source, tag; /* PML_ANY_SOURCE, PML_ANY_TAG in receives (pml/pml.h) */
    uint32_t step;       /* always exact */
};

_Static_assert(offsetof(struct match_key, step) == sizeof(uint64_t),
               "source and tag are one word");

struct match_link { /* circular list */
    struct match_link *next, *prev;
};

struct match_node { /* an entry of a table */
    struct match_link link;
    struct match_key key;
    uint32_t hash;
};

struct match_posted { /* embedded in a receive */
    struct match_node node;
    uint64_t stamp; /* order of posting */
};

struct match_arrived { /* embedded in an unexpected message */
    struct match_node node[MATCH_CLASSES];
    struct match_link all;
};

struct match;
struct match_head { /* begins struct match */
    uint32_t arrived;
    uint32_t posted_kinds; /* bit c: receives of this class are in the table */
    uint32_t row_count;    /* receives in the row; not 0: the table has none */
    struct match_link row; /* oldest first */
};

/* Is any message here? */
static inline bool match_has_arrived(const struct match *match)
{
    return ((const struct match_head *)match)->arrived > 0;
}

/* Would no receive that is posted get a message with this (exact) key?  False as well where that takes too
 * long to say: many stand in the row. */
bool match_none_accepts(const struct match *match, struct match_key key);

/* A receive with this key, for which no message is here, may be given the next message past the matcher if
 * it accepts it: no receive that is posted would get that.  With wildcards there is no saying which it is,
 * so none may be posted. */
static inline bool match_lets_pass(const struct match *match, struct match_key key)
{
    const struct match_head *head = (const struct match_head *)match;
    if (__builtin_expect((head->posted_kinds | head->row_count) == 0, 1))
        return true;
    return key.source != PML_ANY_SOURCE && key.tag != PML_ANY_TAG &&
           match_none_accepts(match, key);
}

/* No message is here, and a receive that is posted now stands in the row. */
static inline bool match_takes_row(const struct match *match)
{
    const struct match_head *head = (const struct match_head *)match;
    return (head->arrived | head->posted_kinds) == 0;
}

/* NULL when memory is out. */
struct match *match_new(void);
/* Room for so many entries on each side, so that they allocate nothing; as far as there is memory. */
void match_reserve(struct match *match, size_t entries);
/* Both sides must be empty. */
void match_delete(struct match *match);

/* Receives.  The key is copied; the entry stays the caller's and must not move. */
static inline void match_post(struct match *match, struct match_posted *posted,
                              struct match_key key);
void match_unpost(struct match *match, struct match_posted *posted);

/* A message with this (exact) key is here: take the receive it belongs to off the list and
 * return it, NULL when none accepts it. */
static inline struct match_posted *match_arrive(struct match *match, struct match_key key);

/* All receives, in no order: some first one, and the one after that; NULL: no more. */
struct match_posted *match_any_posted(struct match *match);
struct match_posted *match_next_posted(struct match *match, const struct match_posted *posted);

/* Messages: keep one that no receive wanted; find the oldest one a receive with this key
 * accepts (NULL: none); take one off the list. */
void match_store(struct match *match, struct match_arrived *arrived, struct match_key key);
struct match_arrived *match_find(struct match *match, struct match_key key);
void match_take(struct match *match, struct match_arrived *arrived);

/* How many receives are posted, how many messages have arrived before theirs. */
size_t match_posted_count(const struct match *match);
size_t match_arrived_count(const struct match *match);

/* The oldest arrived message of all, NULL when there is none: for emptying the list. */
struct match_arrived *match_oldest(struct match *match);
/* The one that arrived after this one, NULL: it was the last. */
struct match_arrived *match_next(struct match *match, struct match_arrived *arrived);

/* ---- the usual case: messages come in the order in which their receives were posted ---- */

/* All other cases. */
void match_post_table(struct match *match, struct match_posted *posted);
struct match_posted *match_arrive_other(struct match *match, struct match_key key);

/* Where match_takes_row, or no receive is in the table. */
static inline void match_post_row(struct match *match, struct match_posted *posted,
                                  struct match_key key)
{
    struct match_head *head = (struct match_head *)match;
    struct match_link *link = &posted->node.link;
    posted->node.key = key;
    link->next = &head->row;
    link->prev = head->row.prev;
    head->row.prev->next = link;
    head->row.prev = link;
    head->row_count++;
}

static inline void match_post(struct match *match, struct match_posted *posted,
                              struct match_key key)
{
    if (((struct match_head *)match)->posted_kinds == 0) {
        match_post_row(match, posted, key);
        return;
    }
    posted->node.key = key;
    match_post_table(match, posted);
}

static inline bool match_accepts_any(const struct match_key *wanted, struct match_key key)
{
    return (wanted->source == key.source || wanted->source == PML_ANY_SOURCE) &&
           (wanted->tag == key.tag || wanted->tag == PML_ANY_TAG);
}

/* Source and tag are one word: as a rule there are no wildcards. */
static inline bool match_accepts(const struct match_key *wanted, struct match_key key)
{
    uint64_t mine, theirs;
    memcpy(&mine, wanted, sizeof mine);
    memcpy(&theirs, &key, sizeof theirs);
    if (__builtin_expect(mine != theirs, 0) && !match_accepts_any(wanted, key))
        return false;
    return wanted->step == key.step;
}

/* The oldest receive, if it stands in the row and accepts this message.  NULL: another one may. */
static inline struct match_posted *match_oldest_accepts(const struct match *match,
                                                        struct match_key key)
{
    const struct match_head *head = (const struct match_head *)match;
    struct match_node *oldest = (struct match_node *)head->row.next;
    return head->row_count > 0 && match_accepts(&oldest->key, key)
               ? (struct match_posted *)oldest
               : NULL;
}

/* The oldest that accepts this message, if it is one of the few oldest and they stand in the row. */
struct match_posted *match_few_accept(const struct match *match, struct match_key key);

/* The same, as a rule without a call. */
static inline struct match_posted *match_row_accepts(const struct match *match,
                                                     struct match_key key)
{
    struct match_posted *oldest = match_oldest_accepts(match, key);
    bool alone = ((const struct match_head *)match)->row_count < 2;
    return __builtin_expect(oldest || alone, 1) ? oldest : match_few_accept(match, key);
}

/* Take one of the row out. */
static inline void match_row_goes(struct match *match, struct match_posted *posted)
{
    struct match_link *link = &posted->node.link;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    ((struct match_head *)match)->row_count--;
}

static inline struct match_posted *match_arrive(struct match *match, struct match_key key)
{
    struct match_posted *oldest = match_oldest_accepts(match, key);
    if (!oldest)
        return ((struct match_head *)match)->row_count == 1 ? NULL
                                                            : match_arrive_other(match, key);
    match_row_goes(match, oldest);
    return oldest;
}

#endif
