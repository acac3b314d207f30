/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi plan goal: an algorithm as a GOAL schedule, the text that LogGOPSim and its kin simulate.
 *
 *     num_ranks 2
 *     rank 0 {
 *     l1: send 8b to 1 tag 0        a message; its tag is its number among those from 0 to 1
 *     l2: recv 8b from 1 tag 0
 *     l3: calc 4                    a fold or a copy, in nanoseconds of the model
 *     l3 requires l2                a fold is posted before its turn, as run.c does, so only its
 *     l3 requires l1                calculation waits for the steps before it
 *     }
 *
 * The steps are those of the plans, message for message.  Bytes are whole ones and cut as a call
 * cuts them (plan_bytes.h), so what a rank gets is all that there is.  What cannot be performed here
 * (cast.h) is refused.  Costs a line or two per step.
 *
 * What is performed twice (twice.c) is written twice, with a calc of nothing between; messages of
 * the first time have even tags, the others odd ones.
 */
#include "tools/plan.h"

#include "coll/cast.h"
#include "mpi.h"
#include "runtime/fail.h"
#include "tools/plan_bytes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 8000000 };

struct goal {
    FILE *f;
    const struct price_model *model;
    const struct price_query *query;
    const struct cast *cast; /* opened for that query */
};

/* Once through the plan of a rank. */
struct pass {
    struct plan plan;
    struct plan_bytes bytes;
    int label;     /* of step 0 */
    int tags, tag; /* message n has tag n * tags + tag */
    int opens,
        closes; /* labels of the calc that leads here, and of the one that comes after; 0: none */
};

static bool is_fold(const struct step *s)
{
    return s->verb == VERB_FOLD;
}

/* A step has one label or, when it is a fold, one more, of its calculation; what comes after waits for that. */
static int first_label(const struct pass *pass, int i)
{
    return pass->label + 2 * i;
}

static int last_label(const struct pass *pass, int i)
{
    return first_label(pass, i) + is_fold(&pass->plan.step[i]);
}

static void write_calc(const struct goal *g, int label, const struct step *s, size_t bytes)
{
    double per_byte = s->verb == VERB_COPY ? g->model->copy : g->model->fold;
    fprintf(g->f, "l%d: calc %ld\n", label, (long)((double)bytes * per_byte * 1e9 + 0.5));
}

static void write_step(const struct goal *g, const struct pass *pass, int i)
{
    const struct step *s = &pass->plan.step[i];
    int label = first_label(pass, i);
    size_t bytes = plan_bytes_of(&pass->bytes, s->verb == VERB_SEND ? s->from : s->to);
    if (step_is_local(s)) {
        write_calc(g, label, s, bytes);
        return;
    }
    bool sends = s->verb == VERB_SEND;
    fprintf(g->f, "l%d: %s %zub %s %d tag %lld\n", label, sends ? "send" : "recv", bytes,
            sends ? "to" : "from", s->peer, (long long)s->slot * pass->tags + pass->tag);
    if (is_fold(s)) {
        write_calc(g, label + 1, s, bytes);
        fprintf(g->f, "l%d requires l%d\n", label + 1, label);
    }
}

static void write_order(const struct goal *g, const struct pass *pass, int i)
{
    const struct step *s = &pass->plan.step[i];
    if (pass->opens && s->nwait == 0)
        fprintf(g->f, "l%d requires l%d\n", last_label(pass, i), pass->opens);
    for (int k = 0; k < s->nnext; k++)
        fprintf(g->f, "l%d requires l%d\n",
                last_label(pass, pass->plan.next[s->first_next + k]), last_label(pass, i));
    if (pass->closes && s->nnext == 0)
        fprintf(g->f, "l%d requires l%d\n", pass->closes, last_label(pass, i));
}

static void write_pass(const struct goal *g, struct pass *pass, bool closes)
{
    int n = pass->plan.nsteps;
    for (int i = 0; i < n; i++)
        write_step(g, pass, i);
    pass->closes = closes ? pass->label + 2 * n : 0;
    if (closes)
        fprintf(g->f, "l%d: calc 0\n", pass->closes);
    for (int i = 0; i < n; i++)
        write_order(g, pass, i);
}

static int write_role(const struct goal *g, const struct plan_key *key)
{
    const struct algorithm *a = g->query->algorithm;
    int passes = a->sized ? 2 : 1, closed = 0, error = 0;
    for (int i = 0; i < passes && !error; i++) {
        struct pass pass = { .label = closed + 1, .tags = passes, .tag = i, .opens = closed };
        error = plan_make(&pass.plan, key, a->program);
        pass.bytes =
            (struct plan_bytes){ &pass.plan, a->what, g->query->bytes, i + 1 < passes };
        if (!error)
            write_pass(g, &pass, i + 1 < passes);
        closed = pass.closes;
        plan_free(&pass.plan);
    }
    return error;
}

static int write_rank(const struct goal *g, int me)
{
    const struct price_query *q = g->query;
    struct plan_key key = cast_key(g->cast, q, me);
    struct neighbours *near;
    if (!cast_edges(q, &key, &near))
        return fail(MPI_ERR_NO_MEM, "no memory for the neighbours of %d ranks", q->p);
    fprintf(g->f, "\nrank %d {\n", me);
    int error = write_role(g, &key);
    fprintf(g->f, "}\n");
    free(near);
    return error;
}

static int write_goal(const struct goal *g)
{
    int error = 0;
    fprintf(g->f, "num_ranks %d\n", g->query->p);
    for (int r = 0; r < g->query->p && !error; r++)
        error = write_rank(g, r);
    return error;
}

int plan_goal(const struct plan_args *args)
{
    struct price_query query = plan_query(args);
    struct cast cast;
    if (!args->output)
        return plan_wrong("where to?  As in -o ring.goal, or -o - for the standard output");
    int error = cast_open(&cast, &query, 1, (struct grouping){ 0, 0 }, MOST_STEPS);
    bool out = strcmp(args->output, "-") == 0;
    FILE *f = error ? NULL : out ? stdout : fopen(args->output, "we");
    struct goal goal = { f, &args->model, &query, &cast };
    if (f)
        error = write_goal(&goal);
    bool good = f && (out || !ferror(f)); /* the standard output is looked at in the end */
    int cause = errno;
    cast_close(&cast);
    if (f && !out && fclose(f) != 0 && good) {
        good = false;
        cause = errno;
    }
    if (error)
        plan_wrong("%s", fail_text());
    else if (!good)
        plan_wrong("cannot write %s: %s", args->output, strerror(cause));
    return error || !good;
}
