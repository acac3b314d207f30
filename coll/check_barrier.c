/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Does a barrier hold everybody back until all have come?  Its messages are empty, so its blocks need say
 * nothing; what its steps wait for does:
 *
 *     a step has heard of    its own rank, all that the steps have heard of that it waits for, and where it
 *                            takes a message, all that its sender has
 *
 * A rank leaves when all its steps are over, so together they must have heard of all ranks.  Whatever order
 * they are performed in: only what waits counts.
 *
 * Costs a bit for each step and rank.
 */
#include "coll/check_stage.h"

#include <stdlib.h>

struct hearing {
    const struct stage *stage;
    size_t words;    /* of 64 ranks each */
    uint64_t *heard; /* of each step, in the order of stage->steps */
    int *waits;      /* likewise: steps and messages that are not over */
    struct hearer {
        int rank, step;
    } * ready;           /* wait for nothing any more */
    size_t begun, known; /* of them */
};

static size_t index_of(const struct hearing *h, int rank, int step)
{
    const struct stage *g = h->stage;
    return (size_t)(g->actor[rank].step - g->steps) + (size_t)step;
}

static uint64_t *heard_by(const struct hearing *h, int rank, int step)
{
    return h->heard + index_of(h, rank, step) * h->words;
}

static void hear(const struct hearing *h, uint64_t *all, const uint64_t *more)
{
    for (size_t w = 0; w < h->words; w++)
        all[w] |= more[w];
}

/* One that it has waited for is over. */
static void tell(struct hearing *h, const uint64_t *heard, int rank, int step)
{
    hear(h, heard_by(h, rank, step), heard);
    if (--h->waits[index_of(h, rank, step)] == 0)
        h->ready[h->known++] = (struct hearer){ rank, step };
}

static void count_waits(struct hearing *h)
{
    const struct stage *g = h->stage;
    for (int r = 0; r < g->world->p; r++)
        for (int i = 0; i < g->actor[r].plan->nsteps; i++) {
            const struct step *s = &g->actor[r].plan->step[i];
            bool takes = s->verb == VERB_RECV || s->verb == VERB_FOLD;
            h->waits[index_of(h, r, i)] = s->nwait + takes;
            heard_by(h, r, i)[r / 64] |= 1ull << r % 64;
            if (s->nwait + takes == 0)
                h->ready[h->known++] = (struct hearer){ r, i };
        }
}

static void spread(struct hearing *h)
{
    while (h->begun < h->known) {
        struct hearer one = h->ready[h->begun++];
        const struct actor *a = &h->stage->actor[one.rank];
        const struct step *s = &a->plan->step[one.step];
        const uint64_t *heard = heard_by(h, one.rank, one.step);
        if (s->verb == VERB_SEND)
            tell(h, heard, s->peer, a->partner[one.step]);
        for (int k = 0; k < s->nnext; k++)
            tell(h, heard, one.rank, a->plan->next[s->first_next + k]);
    }
}

/* The first rank of which this one has not heard; -1: it has of all. */
static int unheard_by(const struct hearing *h, int rank, uint64_t *all)
{
    const struct stage *g = h->stage;
    for (size_t w = 0; w < h->words; w++)
        all[w] = 0;
    all[rank / 64] |= 1ull << rank % 64;
    for (int i = 0; i < g->actor[rank].plan->nsteps; i++)
        hear(h, all, heard_by(h, rank, i));
    for (int r = 0; r < g->world->p; r++)
        if (!(all[r / 64] >> r % 64 & 1))
            return r;
    return -1;
}

bool check_barrier(const struct stage *g, int *rank, int *unheard)
{
    size_t p = (size_t)g->world->p, steps = 0;
    struct hearing h = { .stage = g, .words = (p + 63) / 64 };
    for (size_t r = 0; r < p; r++)
        steps += (size_t)g->actor[r].plan->nsteps;
    h.heard = calloc((steps + 1) * h.words, sizeof *h.heard);
    h.waits = malloc((steps + 1) * sizeof *h.waits);
    h.ready = malloc((steps + 1) * sizeof *h.ready);
    bool memory = h.heard && h.waits && h.ready;
    *rank = *unheard = -1;
    if (memory) {
        count_waits(&h);
        spread(&h);
    }
    for (int r = 0; memory && r < g->world->p && *unheard < 0; r++) {
        *rank = r;
        *unheard = unheard_by(&h, r, h.heard + steps * h.words);
    }
    free(h.heard);
    free(h.waits);
    free(h.ready);
    return memory;
}
