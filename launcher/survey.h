/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all ranks of a job on several hosts do: xmpirun asks down the tree, every launcher looks at
 * its own ranks (status.c), answers come up.
 */
#ifndef XMPI_LAUNCHER_SURVEY_H
#define XMPI_LAUNCHER_SURVEY_H

#include <stdbool.h>

struct job;
struct situation; /* status.h */

enum {
    SURVEY_MS = 2000,     /* who has not answered by then is not waited for */
    SURVEY_MOST = 1 << 14 /* ranks; 4 KB each, and who would read it? */
};

/* Situations by rank of the job, freed afterwards; `missing` of them are STANDING_UNKNOWN. */
typedef void survey_done(struct job *job, const char *why, const struct situation *ranks,
                         int missing);

/* xmpirun: ask everybody.  Without `full`, ranks that have moved since the last such question are
 * only said to have.  Questions are asked one after the other; `why` must stay.  False: there are too
 * many of them already. */
bool survey_begin(struct job *job, bool full, const char *why, survey_done *done);

/* At the deadline. */
void survey_late(struct job *job);

/* All launchers of the job, before it runs: be ready for questions. */
void survey_open(void);

/* The ranks of this host have ended, and it answers no more: tell xmpirun what there is to know of them. */
void survey_part(struct job *job);

/* A rank of another host has died, perhaps with its host. */
void survey_lost(const struct job *job, int world);

/* Is it for us to ask, and are there not too many ranks? */
bool survey_is_possible(const struct job *job);

#endif
