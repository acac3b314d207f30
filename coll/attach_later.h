/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nonblocking collectives of much data in each other's memory, on a track of coll/later.c.
 */
#ifndef XMPI_ATTACH_LATER_H
#define XMPI_ATTACH_LATER_H

#include <stdbool.h>

struct attach_later;
struct request; /* pml/pml.h */
struct round;   /* coll/tiny_slot.h */
struct team;    /* coll/coll.h */
struct telling; /* coll/tell.h */
struct tiny;

/* One call, which has not begun; `telling` and its call stay where they are.  NULL: no memory. */
struct attach_later *attach_later_new(struct team *team, struct tiny *track,
                                      const struct telling *telling);
void attach_later_free(struct attach_later *x); /* NULL is allowed */

/* It is the first of its track, and may begin there.  Called again and again from then on, does as much as can
 * be done without waiting, one piece at most.  True: it is over, with *error. */
bool attach_later_go_on(struct attach_later *x, int *error);

/* Would that do anything?  Costs looks at slots. */
bool attach_later_can(struct attach_later *x);

/* Has it more to do at once? */
bool attach_later_works(const struct attach_later *x);

/* For the flight recorder: the round whose words are awaited, or what the messages of the rest wait for; one of
 * the two is NULL, both before it has begun. */
const struct round *attach_later_round(const struct attach_later *x);
const struct request *attach_later_rest(const struct attach_later *x);

#endif
