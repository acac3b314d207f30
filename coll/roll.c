/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Finding loops in steps as they come.
 *
 *     steps   a b c  c' d' c" d" c"' d"' ...           primes: the same, evenly on
 *     kept    [a b] x 1   [c d] x many
 *
 * Steps that no loop foretells are appended to a loop of one round.  When its last 3k beats are k
 * beats three times, evenly on, for a k of up to MOST_BEATS, they become a loop of their own.  A
 * loop that is left in the middle of a round ends before it.
 */
#include "coll/roll.h"

#include "coll/talks.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BEATS = 8 };

struct roll_bounds roll_bounds = { 1024, 64 };

struct beat {
    uint8_t verb, side, to_room, from_room;
    int16_t peer_on, slot_on, to_on, from_on; /* from round to round */
    int32_t peer;
    uint32_t slot;
    int32_t to, to_n, from, from_n;
};

struct loop {
    int32_t step;        /* the first */
    int32_t beat, beats; /* its body */
    int32_t rounds;
};

struct roll {
    struct beat *beat;
    struct loop *loop;
    int nbeats, nloops;
    struct rolling *rolling; /* while steps are appended */
};

struct rolling {
    int cap_beats, cap_loops;
    int begun; /* steps of the last loop's next round that have come */
    struct talks talks;
};

/* ---- beats and steps ---- */

/* n rounds on, modulo m where there is an m. */
static int32_t moved(int32_t at, int on, int n, int m)
{
    int64_t there = at + (int64_t)on * n;
    if (m > 0 && on) {
        there %= m;
        there += there < 0 ? m : 0;
    }
    return (int32_t)there;
}

static struct step step_in(const struct plan *plan, const struct beat *b, int round)
{
    const int *m = plan->nblocks;
    return (struct step){
        .verb = b->verb,
        .side = b->side,
        .peer = moved(b->peer, b->peer_on, round, plan->key.size),
        .slot = b->slot + (uint32_t)b->slot_on * (uint32_t)round,
        .to = { b->to_room, moved(b->to, b->to_on, round, m[b->to_room]), b->to_n },
        .from = { b->from_room, moved(b->from, b->from_on, round, m[b->from_room]), b->from_n },
    };
}

static struct beat beat_of(const struct step *s)
{
    return (struct beat){ .verb = s->verb,
                          .side = s->side,
                          .to_room = (uint8_t)s->to.room,
                          .from_room = (uint8_t)s->from.room,
                          .peer = s->peer,
                          .slot = s->slot,
                          .to = s->to.first,
                          .to_n = s->to.n,
                          .from = s->from.first,
                          .from_n = s->from.n };
}

static bool same_span(struct span a, struct span b)
{
    return a.room == b.room && a.first == b.first && a.n == b.n;
}

static bool same_step(const struct step *a, const struct step *b)
{
    return a->verb == b->verb && a->side == b->side && a->peer == b->peer &&
           a->slot == b->slot && same_span(a->to, b->to) && same_span(a->from, b->from);
}

/* ---- finding loops ---- */

/* How far on b is from a, the short way round.  False: too far to be kept. */
static bool on(int32_t a, int32_t b, int m, int16_t *far)
{
    int64_t there = (int64_t)b - a;
    if (m > 0) {
        there = mod((int)(there % m), m);
        there -= there > m / 2 ? m : 0;
    }
    *far = (int16_t)there;
    return *far == there;
}

/* The beat that is a, and b one round later.  False: they are not of one kind. */
static bool pair_of(const struct plan *plan, const struct beat *a, const struct beat *b,
                    struct beat *both)
{
    const int *m = plan->nblocks;
    if (a->verb != b->verb || a->side != b->side || a->to_room != b->to_room ||
        a->from_room != b->from_room || a->to_n != b->to_n || a->from_n != b->from_n)
        return false;
    *both = *a;
    return on(a->peer, b->peer, a->peer < 0 ? 0 : plan->key.size, &both->peer_on) &&
           on((int32_t)a->slot, (int32_t)b->slot, 0, &both->slot_on) &&
           on(a->to, b->to, m[a->to_room], &both->to_on) &&
           on(a->from, b->from, m[a->from_room], &both->from_on);
}

/* Are the last 3k beats the same k beats three times?  *body: them. */
static bool repeats(const struct plan *plan, int k, struct beat *body)
{
    const struct roll *roll = plan->roll;
    const struct beat *last = roll->beat + roll->nbeats - 3 * k;
    for (int i = 0; i < k; i++) {
        const struct beat *b = &last[i];
        if (!pair_of(plan, b, b + k, &body[i]))
            return false;
        struct step third = step_in(plan, &body[i], 2), came = step_in(plan, b + 2 * k, 0);
        if (!same_step(&third, &came))
            return false;
    }
    return true;
}

static struct loop *new_loop(struct plan *plan, int step)
{
    struct roll *roll = plan->roll;
    if (roll->nloops == roll->rolling->cap_loops) {
        int cap = roll->rolling->cap_loops ? 2 * roll->rolling->cap_loops : 8;
        struct loop *more = realloc(roll->loop, (size_t)cap * sizeof *more);
        if (!more) {
            plan_no_memory(plan);
            return NULL;
        }
        roll->loop = more;
        roll->rolling->cap_loops = cap;
    }
    struct loop *loop = &roll->loop[roll->nloops++];
    *loop = (struct loop){ step, roll->nbeats, 0, 1 };
    return loop;
}

/* The last 3k beats become a loop: the body's k beats, three rounds. */
static void roll_up(struct plan *plan, int k, const struct beat *body)
{
    struct roll *roll = plan->roll;
    struct loop *loop = &roll->loop[roll->nloops - 1];
    int first = loop->step + loop->beats - 3 * k;
    roll->nbeats -= 3 * k;
    loop->beats -= 3 * k;
    if (loop->beats > 0)
        loop = new_loop(plan, first);
    if (!loop)
        return;
    memcpy(roll->beat + roll->nbeats, body, (size_t)k * sizeof *body);
    roll->nbeats += k;
    loop->beats = k;
    loop->rounds = 3;
}

static void look_for_loop(struct plan *plan)
{
    struct beat body[MOST_BEATS];
    int have = plan->roll->loop[plan->roll->nloops - 1].beats;
    for (int k = 1; k <= MOST_BEATS && 3 * k <= have; k++)
        if (repeats(plan, k, body)) {
            roll_up(plan, k, body);
            return;
        }
}

/* ---- writing down ---- */

/* A step that no loop foretells. */
static void append_alone(struct plan *plan, const struct step *s, int step)
{
    struct roll *roll = plan->roll;
    if (roll->nloops == 0 || roll->loop[roll->nloops - 1].rounds > 1)
        if (!new_loop(plan, step))
            return;
    if (roll->nbeats == roll->rolling->cap_beats) {
        int cap = roll->rolling->cap_beats ? 2 * roll->rolling->cap_beats : 32;
        struct beat *more = realloc(roll->beat, (size_t)cap * sizeof *more);
        if (!more) {
            plan_no_memory(plan);
            return;
        }
        roll->beat = more;
        roll->rolling->cap_beats = cap;
    }
    roll->beat[roll->nbeats++] = beat_of(s);
    roll->loop[roll->nloops - 1].beats++;
    look_for_loop(plan);
}

/* The last loop ends here; what has come of its next round stands alone. */
static void leave_loop(struct plan *plan)
{
    struct roll *roll = plan->roll;
    struct loop loop = roll->loop[roll->nloops - 1];
    int begun = roll->rolling->begun, step = loop.step + loop.beats * loop.rounds;
    roll->rolling->begun = 0;
    for (int i = 0; i < begun && !plan->error; i++) {
        struct step s = step_in(plan, &roll->beat[loop.beat + i], loop.rounds);
        append_alone(plan, &s, step + i);
    }
}

static bool is_foretold(struct plan *plan, const struct step *s)
{
    struct roll *roll = plan->roll;
    struct loop *loop = roll->nloops ? &roll->loop[roll->nloops - 1] : NULL;
    if (!loop || loop->rounds == 1)
        return false;
    struct step next =
        step_in(plan, &roll->beat[loop->beat + roll->rolling->begun], loop->rounds);
    if (!same_step(&next, s))
        return false;
    if (++roll->rolling->begun == loop->beats) {
        roll->rolling->begun = 0;
        loop->rounds++;
    }
    return true;
}

void roll_append(struct plan *plan, const struct step *step)
{
    struct step s = *step;
    plan_number(plan, &plan->roll->rolling->talks, &s);
    if (plan->error)
        return;
    if (!is_foretold(plan, &s)) {
        if (plan->roll->rolling->begun)
            leave_loop(plan);
        if (!plan->error)
            append_alone(plan, &s, plan->nsteps);
    }
    plan->nsteps++;
}

void roll_open(struct plan *plan)
{
    int n = plan->nsteps;
    struct step *written = plan->step;
    struct roll *roll = calloc(1, sizeof *roll);
    struct rolling *rolling = calloc(1, sizeof *rolling);
    if (!roll || !rolling) {
        free(roll);
        free(rolling);
        plan_no_memory(plan);
        return;
    }
    roll->rolling = rolling;
    plan->roll = roll;
    plan->step = NULL;
    plan->nsteps = plan->cap = 0;
    for (int i = 0; i < n && !plan->error; i++)
        roll_append(plan, &written[i]);
    free(written);
}

static void end_rolling(struct roll *roll)
{
    if (roll->rolling)
        talks_close(&roll->rolling->talks);
    free(roll->rolling);
    roll->rolling = NULL;
}

void roll_close(struct plan *plan)
{
    struct roll *roll = plan->roll;
    if (roll->rolling->begun)
        leave_loop(plan);
    end_rolling(roll);
    struct beat *beat = realloc(roll->beat, (size_t)roll->nbeats * sizeof *beat);
    struct loop *loop = realloc(roll->loop, (size_t)roll->nloops * sizeof *loop);
    roll->beat = beat ? beat : roll->beat; /* what cannot be made smaller stays as it is */
    roll->loop = loop ? loop : roll->loop;
}

void roll_free(struct roll *roll)
{
    if (!roll)
        return;
    end_rolling(roll);
    free(roll->beat);
    free(roll->loop);
    free(roll);
}

/* ---- reading ---- */

struct step roll_step(const struct plan *plan, int i)
{
    const struct roll *roll = plan->roll;
    int low = 0, high = roll->nloops - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (roll->loop[middle].step <= i)
            low = middle;
        else
            high = middle - 1;
    }
    const struct loop *loop = &roll->loop[low];
    int at = i - loop->step, round = at / loop->beats;
    return step_in(plan, &roll->beat[loop->beat + at % loop->beats], round);
}

int roll_loops(const struct roll *roll)
{
    return roll->nloops;
}

struct roll_loop roll_loop(const struct roll *roll, int n)
{
    const struct loop *loop = &roll->loop[n];
    return (struct roll_loop){ loop->step, loop->beats, loop->rounds };
}

int roll_beats(const struct roll *roll)
{
    return roll->nbeats;
}

size_t roll_bytes(const struct roll *roll)
{
    return sizeof *roll + (size_t)roll->nbeats * sizeof *roll->beat +
           (size_t)roll->nloops * sizeof *roll->loop;
}
