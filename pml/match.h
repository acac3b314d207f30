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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes of receives: bit 0, any source; bit 1, any tag. */
enum { MATCH_ANY_SOURCE_BIT = 1, MATCH_ANY_TAG_BIT = 2, MATCH_CLASSES = 4 };

struct match_key {
    int32_t source, tag; /* PML_ANY_SOURCE, PML_ANY_TAG in receives */
    uint32_t step;       /* always exact */
};

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
    uint32_t posted_kinds; /* bit c: receives of this class are posted */
};

/* Is any message here? */
static inline bool match_has_arrived(const struct match *match)
{
    return ((const struct match_head *)match)->arrived > 0;
}

/* Neither message nor receive. */
static inline bool match_is_empty(const struct match *match)
{
    const struct match_head *head = (const struct match_head *)match;
    return (head->arrived | head->posted_kinds) == 0;
}

/* NULL when memory is out. */
struct match *match_new(void);
/* Both sides must be empty. */
void match_delete(struct match *match);

/* Receives.  The key is copied; the entry stays the caller's and must not move. */
void match_post(struct match *match, struct match_posted *posted, struct match_key key);
void match_unpost(struct match *match, struct match_posted *posted);

/* A message with this (exact) key is here: take the receive it belongs to off the list and
 * return it, NULL when none accepts it. */
struct match_posted *match_arrive(struct match *match, struct match_key key);

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

#endif
