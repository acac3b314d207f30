/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes of spans as xmpi plan goal writes them are those that bind.c finds for a call: every step of every
 * algorithm that needs no places, on few ranks, whole and in pieces, of data that are cut unevenly.
 */
#include "coll/bind.h"
#include "coll/rules.h"
#include "tools/plan_bytes.h"

#include "test/unit/unit.h"

static char data[2][1 << 16];

/* All that a call has of so many bytes; blocks of a reduce_scatter are shares of the own group's ranks. */
static struct call called(const struct plan *plan, enum collective what, size_t bytes,
                          int64_t *shares)
{
    struct part part = { .layout = &layout_bytes, .count = bytes, .where = HERE };
    struct call call = { .what = what, .send = part, .recv = part, .root = plan->root };
    call.reduction = (struct reduction){ .commutes = true, .layout = &layout_bytes };
    call.send.base = data[0];
    call.recv.base = data[1];
    int split = plan->split, own = plan->key.size;
    if (split)
        own = plan->key.me < split ? split : own - split;
    for (int i = 0; i < own; i++)
        shares[i] = (int64_t)(bind_cut(bytes, own, i + 1) - bind_cut(bytes, own, i));
    call.recv.vector = is_reduce_scatter(what);
    call.recv.counts = (struct counts){ .wide = shares };
    return call;
}

static void compare(const struct algorithm *a, const struct plan *plan, size_t bytes)
{
    int64_t shares[16];
    struct call call = called(plan, a->what, bytes, shares);
    struct plan_bytes ours = { plan, a->what, bytes, false };
    struct bound bound;
    ck_assert_int_eq(bind_open(&bound, plan, &call), 0);
    for (int i = 0; i < plan->nsteps; i++) {
        const struct step *s = &plan->step[i];
        struct span span = s->verb == VERB_SEND ? s->from : s->to;
        struct buffer buffer;
        struct layout *made;
        ck_assert_int_eq(bind_span(&bound, span, &buffer, &made), 0);
        ck_assert_msg(buffer_bytes(&buffer) == plan_bytes_of(&ours, span),
                      "%s:%s, step %d of rank %d of %d, %zu bytes in %d pieces: %zu, not %zu",
                      collective_name(a->what), a->name, i, plan->key.me, plan->key.size, bytes,
                      plan->key.pieces, plan_bytes_of(&ours, span), buffer_bytes(&buffer));
        if (made)
            layout_drop(made);
    }
    bind_close(&bound);
}

static int compare_ranks(const struct algorithm *a, int p, int pieces, int split)
{
    int steps = 0;
    for (int me = 0; me < p; me++) {
        struct plan_key key = { .me = me,
                                .size = p,
                                .root = is_rooted(a->what) ? p / 2 : 0,
                                .split = split,
                                .pieces = pieces,
                                .radix = a->radix };
        struct plan plan;
        ck_assert_int_eq(plan_make(&plan, &key, a->program), 0);
        for (size_t bytes = 1; bytes < 2000; bytes = 9 * bytes + 1)
            compare(a, &plan, bytes);
        steps += plan.nsteps;
        plan_free(&plan);
    }
    return steps;
}

START_TEST(bytes_are_those_of_a_call)
{
    int steps = 0;
    for (const struct algorithm *a = algorithms; a->name; a++) {
        if (!a->program || has_sized_scratch(a->what) || is_neighbourhood(a->what))
            continue;
        for (int p = 2; p <= 9; p++)
            for (int pieces = 1; pieces <= (algorithm_cuts(a) ? 4 : 1); pieces += 3)
                if (!algorithm_objection(a, p, NULL))
                    steps += compare_ranks(a, p, pieces, a->inter ? (p + 1) / 3 : 0);
    }
    ck_assert_int_gt(steps, 10000);
}
END_TEST

UNIT_MAIN("plan_bytes", bytes_are_those_of_a_call)
