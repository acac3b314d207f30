/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What all ranks of a job on several hosts do: xmpirun asks down the tree, every launcher looks at
 * its own ranks (status.c), answers come up.
 */
#ifndef XMPI_LAUNCHER_SURVEY_H
#define XMPI_LAUNCHER_SURVEY_H

#include <stdbool.h>

struct job;
struct pack;
struct situation; /* status.h */
struct unpack;

enum {
    SURVEY_MS = 2000,     /* who has not answered by then is not waited for */
    SURVEY_MOST = 1 << 14 /* ranks; 4 KB each, and who would read it? */
};

/* Situations by rank of the job, freed afterwards; `missing` of them are STANDING_UNKNOWN. */
typedef void survey_done(struct job *job, const char *why, const struct situation *ranks,
                         int missing);

/* xmpirun: ask everybody.  Without `full`, ranks that have moved since the last such question are
 * only said to have.  Questions are asked one after the other; `why` must stay. */
void survey_begin(struct job *job, bool full, const char *why, survey_done *done);

/* At the deadline. */
void survey_late(struct job *job);

/* The question has come: pack the answer of this host. */
void survey_answer(struct job *job, struct unpack *question, struct pack *answer);

/* xmpirun: an answer has come; `from` is bad when it makes no sense. */
void survey_take(struct job *job, struct unpack *from);

#endif
