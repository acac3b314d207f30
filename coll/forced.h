/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Algorithms that are forced: for a process (XMPI_COLL) or for a communicator (the info key
 * xmpi_coll, MPI_T), in one text: collective=algorithm[:pieces=n][:radix=k][:throttle=m],...
 */
#ifndef XMPI_FORCED_H
#define XMPI_FORCED_H

#include "coll/rules.h"

#include <stddef.h>

enum { MOST_FORCED_RADIX = 64 }; /* radix times ranks, up to 2^24 of them, is an int */

struct forced { /* algorithm NULL: nothing is */
    const struct algorithm *algorithm;
    int pieces, radix, throttle; /* radix, throttle: 0 = none, as the algorithm says */
};

struct orders {
    struct forced of[COLL_KINDS];
    const char *who; /* gave them: "XMPI_COLL" */
    char *text;
};

/* What XMPI_COLL says about a collective; *orders NULL: nothing.  MPI_ERR_OTHER when XMPI_COLL
 * cannot be understood, MPI_ERR_NO_MEM. */
int forced_get(enum collective what, const struct orders **orders);

/* Read another text than the environment's, for tests.  Whoever keeps choices has to notice:
 * forced_epoch grows (team_stamp in coll/coll.h). */
int forced_read(const char *text);

/* NULL: there is none of that name. */
const struct algorithm *algorithm_find(enum collective what, bool inter, const char *name);

/* NAME[:pieces=n][:radix=k][:throttle=m], which is cut up.  "" or what is wrong with it, in `why`. */
enum { FORCED_WHY = 400 };
void algorithm_read(enum collective what, char *text, struct forced *forced,
                    char why[FORCED_WHY]);

/* -1: there is none of that name. */
int collective_find(const char *name);

/* That there is none, and which there are. */
void no_collective(const char *name, char why[FORCED_WHY]);

/* Is the word in a list with commas? */
bool list_has(const char *list, const char *word);

/* Why it cannot be cut in pieces; NULL: it can. */
const char *pieces_objection(const struct algorithm *algorithm);

#endif
