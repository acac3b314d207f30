/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who waits for whom, and who may still go on.  From the ranks' waits follows:
 *
 *     a rank that does not wait may go on; one that has finalized or died will not act any more.  One that
 *       has finalized may begin sessions, but sends nothing on the communicators that it had
 *     a rank that waits for all of some ranks may go on when all of them may
 *     a rank that waits for any of some ranks may go on when one of them may
 *
 * The rest is stuck.
 */
#ifndef XMPI_LAUNCHER_GRAPH_H
#define XMPI_LAUNCHER_GRAPH_H

#include "launcher/status.h"

struct graph {
    const struct situation *ranks;
    int n;
    bool *moves; /* may go on */
    struct blame *blame;
};

/* What is known of what it waits for: as many of `items`. */
static inline int items_known(const struct record_wait *wait)
{
    return wait->nitems < RECORD_ITEMS ? wait->nitems : RECORD_ITEMS;
}

/* It has waited for `settled` seconds, and nothing is on its way there that somebody may still take. */
bool is_settled(const struct graph *g, int rank, double settled);

/* Fills `moves`. */
void graph_find_moves(struct graph *g, double settled);
bool is_stuck(const struct graph *g, int rank);

/* The first of what a stuck rank waits for in vain; NULL: nothing that is known. */
const struct record_item *vain_item(const struct graph *g, int rank);

/* Of whom; -1: any rank. */
int vain_hope(const struct graph *g, int rank);

/* Adds words, as far as they fit. */
void blame_say(struct graph *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For whom those wait that have waited for `settled` seconds, where nobody is stuck (blame_holder.c). */
void blame_holder(struct graph *g, double settled);

/* Number k of a pass: a pipeline of ranks, whichever way it goes, takes two of them and not one for each rank. */
int to_and_fro(const struct graph *g, int pass, int k);

#endif
