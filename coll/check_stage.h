/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plans of all ranks on a stage: what check.c prepares and judges, check_examine.c looks at, and
 * check_perform.c performs.
 */
#ifndef XMPI_CHECK_STAGE_H
#define XMPI_CHECK_STAGE_H

#include "coll/check_law.h"

enum order {
    NO_ORDER, /* what is seen without performing anything */
    FIRST_COME,
    LAST_FIRST,
    SHUFFLED,
    SHUFFLED_AGAIN,
    EAGER,
    WINDOWED, /* as rolled plans are (window.h), through a smaller window than theirs */
    IN_PROGRAM_ORDER,
    IN_ORDER_AS_TAKEN, /* likewise, and sends are over when they are taken */
    ORDERS
};

/* One step of a rank after the other, as coll/run_inline.c does. */
static inline bool is_in_program_order(enum order order)
{
    return order == IN_PROGRAM_ORDER || order == IN_ORDER_AS_TAKEN;
}

struct memory {
    struct symbol *unit; /* in stage->units */
    int *start;          /* start[b] = first unit of block b; nblocks + 1 entries.  NULL: b */
    int nblocks, nunits;
    bool there; /* the caller gave this buffer */
};

struct progress {
    int nwait;
    bool posted, landed, done;
    struct symbol *carried; /* a send's captured, or a fold's landed, units; in stage->held */
};

struct actor {
    const struct plan *plan;
    struct memory room[ROOMS];
    struct progress *step; /* in stage->steps */
    int *partner;          /* of each message step: the step at the peer; in stage->partners */
    int next_fold;         /* that gets a landing; in program order the next step */
    int oldest;            /* step that is not over */
    int entered;           /* steps that may begin */
    bool landing;          /* in use */
    int read[ROOMS];       /* by so many sends that are begun and not over */
};

struct action {
    int rank, step;
    bool transfer; /* the message of this send; otherwise begin the step */
};

struct stage {
    const struct world *world;
    struct verdict *verdict;
    struct actor *actor;
    struct action *queue; /* every step begins once, every message moves once */
    int head, tail;
    struct symbol *units; /* of all ranks, and so are the next two */
    struct progress *steps;
    int *partners;
    struct symbol *held; /* room for what all messages carry */
    size_t nheld;
    enum order order;
    struct law law;
    uint64_t random;
    int done;
    struct { /* the first step that wrote into OUT what does not belong there; step -1: none */
        int rank, step;
    } misplaced;
};

static inline struct symbol *units(struct actor *a, struct span s)
{
    const struct memory *m = &a->room[s.room];
    return m->unit + (m->start ? m->start[s.first] : s.first);
}

static inline int count(const struct actor *a, struct span s)
{
    const int *start = a->room[s.room].start;
    return start ? start[s.first + s.n] - start[s.first] : s.n;
}

/* The verdict: what is wrong, or that there is no memory to find out.  False. */
bool stage_wrong(struct stage *stage, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool stage_no_memory(struct stage *stage);

/* Is nothing wrong that can be seen before anything is performed?  Of each message step the partner is noted. */
bool stage_examine(struct stage *stage);

/* Of whom a rank may not have heard when it leaves a barrier, -1: everybody has heard of all.  False: there is
 * no memory to find out.  Of plans that have been performed. */
bool check_barrier(const struct stage *stage, int *rank, int *unheard);

/* Perform all plans in the stage's order, from begin to end or until nothing moves any more. */
void stage_perform(struct stage *stage);

#endif
