/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi plan goal: an algorithm as a GOAL schedule, the text that LogGOPSim and its kin simulate.
 *
 *     num_ranks 2
 *     rank 0 {
 *     l1: send 8b to 1 tag 0        a message; its tag is the number of the step that takes it
 *     l2: recv 8b from 1 tag 1
 *     l3: calc 4                    a fold or a copy, in nanoseconds of the model
 *     l3 requires l2                a fold is posted before its turn, as run.c does, so only its
 *     l3 requires l1                calculation waits for the steps before it
 *     }
 *
 * The plan is the one that is counted and performed here (cast.h), so both simulators see the same
 * messages and dependencies.  Costs a line or two per step.
 */
#include "tools/plan.h"

#include "coll/cast.h"
#include "runtime/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 8000000 };

static bool is_fold(const struct act *act)
{
    return act->peer >= 0 && act->verb == VERB_FOLD;
}

/* Labels are 2i + 1 and, of the calculation of a fold, 2i + 2; what comes after waits for that. */
static int first_label(int i)
{
    return 2 * i + 1;
}

static int last_label(const struct role *role, int i)
{
    return 2 * i + 1 + is_fold(&role->act[i]);
}

static long nanoseconds(const struct price_model *model, const struct act *act)
{
    double per_byte = act->verb == VERB_COPY ? model->copy : model->fold;
    return (long)(act->bytes * per_byte * 1e9 + 0.5);
}

static void write_act(FILE *f, const struct price_model *model, const struct role *role, int i)
{
    const struct act *act = &role->act[i];
    int label = first_label(i);
    if (act->peer >= 0 && act->verb == VERB_SEND)
        fprintf(f, "l%d: send %.0fb to %d tag %d\n", label, act->bytes, act->peer,
                act->partner);
    else if (act->peer >= 0)
        fprintf(f, "l%d: recv %.0fb from %d tag %d\n", label, act->bytes, act->peer, i);
    else
        fprintf(f, "l%d: calc %ld\n", label, nanoseconds(model, act));
    if (is_fold(act))
        fprintf(f, "l%d: calc %ld\nl%d requires l%d\n", label + 1, nanoseconds(model, act),
                label + 1, label);
}

static void write_role(FILE *f, const struct price_model *model, const struct role *role)
{
    for (int i = 0; i < role->nacts; i++)
        write_act(f, model, role, i);
    for (int i = 0; i < role->nacts; i++)
        for (int k = 0; k < role->act[i].nnext; k++)
            fprintf(f, "l%d requires l%d\n",
                    last_label(role, role->next[role->act[i].first_next + k]),
                    last_label(role, i));
}

static void write_goal(FILE *f, const struct price_model *model, const struct cast *cast)
{
    fprintf(f, "num_ranks %d\n", cast->p);
    for (int r = 0; r < cast->p; r++) {
        fprintf(f, "\nrank %d {\n", r);
        write_role(f, model, &cast->role[r]);
        fprintf(f, "}\n");
    }
}

int plan_goal(const struct plan_args *args)
{
    struct price_query query = plan_query(args);
    struct cast cast;
    if (!args->output)
        return plan_wrong("where to?  As in -o ring.goal, or -o - for the standard output");
    int error = cast_open(&cast, &query, 1, (struct grouping){ 0, 0 }, MOST_STEPS);
    if (error) {
        cast_close(&cast);
        plan_wrong("%s", fail_text());
        return 1;
    }
    bool out = strcmp(args->output, "-") == 0;
    FILE *f = out ? stdout : fopen(args->output, "we");
    if (f)
        write_goal(f, &args->model, &cast);
    cast_close(&cast);
    bool good = out || (f && !ferror(f));
    good = (!f || out || fclose(f) == 0) && good;
    if (good)
        return 0;
    plan_wrong("cannot write %s: %s", args->output, strerror(errno));
    return 1;
}
