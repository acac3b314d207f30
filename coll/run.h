/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Performing a bound plan.
 */
#ifndef XMPI_RUN_H
#define XMPI_RUN_H

#include "coll/bind.h"
#include "coll/coll.h"

struct task;    /* of one step, run.c */
struct telling; /* coll/tell.h */
enum { LANDINGS = 4 };

struct landing { /* where the message of a fold waits for its turn */
    char *memory;
    size_t bytes; /* capacity */
    bool used;
};

struct execution {
    struct request request; /* complete when the collective is */
    struct team *team;
    const struct plan *plan;
    struct bound bound;
    int tag;               /* number of this collective on its team */
    uint32_t signature;    /* what its messages say they are */
    struct task *task;     /* of each step; of each entry of the window */
    struct window *window; /* of a plan that is rolled up, else NULL */
    int32_t *ready;        /* steps that wait for nothing, in the order in which they came to */
    int ntasks, head, tail, nready, left;
    int next_fold; /* no fold before this step lacks a landing */
    struct landing landing[LANDINGS];
    size_t landing_bytes; /* of those in use */
    bool busy;            /* steps are being taken from `ready` */
    int error;            /* the first one */
    bool broken;          /* a process is lost: no more messages */
};

/* Take over a binding and allocate.  The call must outlive the run.  On failure nothing is left behind, nor is the
 * binding.  Tag and signature are to be set before it begins. */
int run_open(struct execution *run, struct team *team, const struct bound *bound);
void run_close(struct execution *run);

/* Give back the landings, which it keeps for when it begins again. */
void run_lighten(struct execution *run);

/* It will begin again and again, and is to allocate nothing then. */
void run_reserve(struct execution *run);

/* Begin; never blocks.  request.done is set when all is over, perhaps at once.  The same run may
 * begin again after that. */
void run_begin(struct execution *run);

/* Complete it with an error instead of beginning. */
void run_fail(struct execution *run, int error);

/* From beginning to end, blocking: of a run that is open, */
int run_through(struct execution *run, const struct telling *telling);
/* and of a binding, which it takes over. */
int run_to_end(struct team *team, const struct bound *bound, const struct telling *telling);

/* Perform a bound plan in program order, blocking, without a run (run_inline.c).  Only where
 * run_is_inline says so. */
bool run_is_inline(const struct bound *bound);
int run_inline(struct team *team, const struct bound *bound, int tag, uint32_t signature);

/* What both readers do in a step.  to = here op incoming, or the other way round. */
static inline int step_fold(const struct bound *bound, const struct step *step,
                            const struct buffer *to, const void *here, const void *incoming)
{
    const struct reduction *op = &bound->call->reduction;
    bool turned = step->side == INCOMING_FIRST;
    const void *a = turned ? incoming : here, *b = turned ? here : incoming;
    if (__builtin_expect(to->where == HERE, 1))
        return reduce_apply(op, to->base, a, b, to->count);
    device_fold(op, to, a, b);
    return 0;
}

/* A step without a message: to = from, or to = to op from. */
static inline int step_perform(const struct bound *bound, const struct step *step,
                               const struct buffer *to, const struct buffer *from)
{
    if (step->verb == VERB_JOIN)
        return step_fold(bound, step, to, to->base, from->base);
    buffer_copy(to, from);
    return 0;
}

/* A record_teller: the messages of a run that are posted and not over. */
void run_tell(const void *run, struct record_wait *wait);

/* ---- sizes first (sized.c): programs that pass on blocks of which only the two ends know how long
 * they are ---- */

struct sized {
    struct call call; /* the same movement of one number per block */
    int64_t *sizes;   /* in bytes: of the blocks of IN, then of OUT */
    bool known;       /* they have moved: a persistent one keeps its counts */
    struct execution run;
};

/* Prepare the movement of the sizes of a binding's blocks, as part of the same collective: with its
 * tag and signature.  0 or MPI_ERR_NO_MEM, and nothing is left behind. */
int sized_open(struct sized *sized, struct team *team, const struct bound *bound, int tag,
               uint32_t signature);
void sized_close(struct sized *sized);

/* It is over: give the binding its scratch.  0, what went wrong, or MPI_ERR_NO_MEM. */
int sized_take(struct sized *sized, struct bound *bound);

/* All of it, blocking. */
int sized_run(struct team *team, struct bound *bound, int tag, uint32_t signature);

/* ---- what blocking collectives (coll.c) and those with a request (coll_request.c) have in common ---- */

struct cached; /* coll/cache.h */
struct choice; /* coll/choose.h */

/* The plan of the chosen algorithm, to be dropped (cache_drop); says what was chosen if the user wants to know. */
int coll_plan(struct team *team, const struct call *call, enum mode mode,
              const struct choice *choice, struct cached **cached);

/* Says the same of one that has no plan. */
void coll_explain(struct team *team, const struct call *call, enum mode mode,
                  const struct choice *choice);

/* Elements [first, first + count) of a vector; of all else the whole. */
struct telling coll_rest(const struct telling *telling, size_t first, size_t count,
                         struct call *part);

#endif
