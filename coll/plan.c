/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writing plans down, and inferring what waits for what.
 *
 * A step waits for the last writer of every block it reads, and for the last writer and all
 * later readers of every block it writes: read after write, write after write, write after
 * read, as in a processor.  One trace per block remembers its last writer and the readers
 * since; walking the steps once in program order finds all edges.
 *
 * Throttling is inferred, too: with plan->in_flight = k the n-th send waits for send n - k to be over,
 * and receives likewise; with plan->by_rounds both wait for both.  Any plan may be throttled: that of
 * all sends and that of all receives are orders in which it can be performed (test/plan).  Of a plan
 * in pieces each piece is throttled by itself, since the two ends of a message may take turns with
 * different others (shape.c): piece j of the n-th send waits for piece j of send n - k.
 *
 *     step          reads    writes    waits for
 *     0  send       in[1]              -
 *     1  fold       in[0]    out[0]    -
 *     2  send       out[0]             1       read after write
 *     3  recv                out[0]    2       write after read (1 is implied)
 *
 * Costs O(blocks touched) time and, meanwhile, 12 bytes per block and per reader.
 */
#include "coll/plan.h"

#include "coll/roll.h"
#include "coll/talks.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <stdlib.h>

int plan_no_memory(struct plan *plan)
{
    if (!plan->error)
        plan->error = fail(MPI_ERR_NO_MEM, "no memory for a plan of %d steps on %d ranks",
                           plan->nsteps, plan->key.size);
    return plan->error;
}

void plan_rooms(struct plan *plan, int nin, int nout, int ntmp)
{
    plan->nblocks[ROOM_IN] = nin;
    plan->nblocks[ROOM_OUT] = nout;
    plan->nblocks[ROOM_TMP] = ntmp;
}

/* In place is decided here and nowhere else. */
struct span plan_aliased(const struct plan *plan, struct span s)
{
    enum alias alias = plan->key.alias;
    if (alias == ALIAS_NONE)
        return s;
    if (alias == ALIAS_SAME && s.room == ROOM_IN)
        s.room = ROOM_OUT;
    else if (alias == ALIAS_MINE && s.room == ROOM_IN)
        s = out(s.first + plan->key.me, s.n);
    else if (alias == ALIAS_INPUT && s.room == ROOM_OUT)
        s = in(s.first + plan->key.me, s.n);
    return s;
}

static bool grow(struct plan *plan)
{
    int cap = plan->cap ? 2 * plan->cap : 16;
    struct step *more = realloc(plan->step, (size_t)cap * sizeof(*more));
    if (!more)
        return plan_no_memory(plan), false;
    plan->step = more;
    plan->cap = cap;
    return true;
}

void plan_emit(struct plan *plan, const struct step *step)
{
    struct span to = plan_aliased(plan, step->to), from = plan_aliased(plan, step->from);
    bool empty = step->verb == VERB_SEND ? from.n == 0 : to.n == 0;
    bool still = step->verb == VERB_COPY && to.room == from.room && to.first == from.first;
    if (plan->error || empty || still)
        return;
    if (plan->most_steps && plan->nsteps >= plan->most_steps) {
        plan->error = fail(MPI_ERR_UNSUPPORTED_OPERATION, "a plan of more than %d steps",
                           plan->most_steps);
        return;
    }
    struct step s = *step;
    s.to = to;
    s.from = from;
    if (!plan->roll && plan->rolls && plan->roll_after && plan->nsteps >= plan->roll_after)
        roll_open(plan);
    if (plan->roll)
        roll_append(plan, &s);
    else if (!plan->error && (plan->nsteps < plan->cap || grow(plan)))
        plan->step[plan->nsteps++] = s;
}

static const struct span nothing = { ROOM_TMP, 0, 0 };

void plan_send(struct plan *plan, int to, struct span from)
{
    plan_emit(plan,
              &(struct step){ .verb = VERB_SEND, .peer = to, .to = nothing, .from = from });
}

void plan_recv(struct plan *plan, int from, struct span to)
{
    plan_emit(plan,
              &(struct step){ .verb = VERB_RECV, .peer = from, .to = to, .from = nothing });
}

void plan_fold(struct plan *plan, int from, struct span to, struct span with, enum side side)
{
    plan_emit(plan,
              &(struct step){
                  .verb = VERB_FOLD, .side = side, .peer = from, .to = to, .from = with });
}

void plan_copy(struct plan *plan, struct span to, struct span from)
{
    plan_emit(plan, &(struct step){ .verb = VERB_COPY, .peer = -1, .to = to, .from = from });
}

void plan_join(struct plan *plan, struct span to, struct span add, enum side side)
{
    plan_emit(plan, &(struct step){
                        .verb = VERB_JOIN, .side = side, .peer = -1, .to = to, .from = add });
}

/* ---- hazards ---- */

struct trace { /* of one block */
    int writer;
    int reader; /* newest in the list of readers since, -1 = none */
};

struct reading {
    int step, older;
};

struct closing {
    struct plan *plan;
    int base[ROOMS]; /* first trace of each room */
    struct trace *trace;
    struct reading *reading;
    int nreading, cap_reading;
    int *message
        [2]; /* sends and receives, when they are throttled: j-th piece of the n-th at nk + j */
    int *nmessages[2];  /* so far, of each piece */
    int *seen;          /* seen[s] = now: the edge s -> now exists already */
    int32_t (*pair)[2]; /* before, now */
    int npair, cap_pair;
};

static void add_edge(struct closing *c, int before, int now)
{
    if (before < 0 || before == now || c->seen[before] == now || c->plan->error)
        return;
    c->seen[before] = now;
    if (c->npair == c->cap_pair) {
        int cap = c->cap_pair ? 2 * c->cap_pair : 64;
        int32_t(*more)[2] = realloc(c->pair, (size_t)cap * sizeof(*more));
        if (!more) {
            plan_no_memory(c->plan);
            return;
        }
        c->pair = more;
        c->cap_pair = cap;
    }
    c->pair[c->npair][0] = before;
    c->pair[c->npair++][1] = now;
    c->plan->step[now].nwait++;
    c->plan->step[before].nnext++;
}

static void note_reader(struct closing *c, struct trace *t, int now)
{
    if (c->nreading == c->cap_reading) {
        int cap = c->cap_reading ? 2 * c->cap_reading : 64;
        struct reading *more = realloc(c->reading, (size_t)cap * sizeof(*more));
        if (!more) {
            plan_no_memory(c->plan);
            return;
        }
        c->reading = more;
        c->cap_reading = cap;
    }
    c->reading[c->nreading] = (struct reading){ now, t->reader };
    t->reader = c->nreading++;
}

static void find_hazards(struct closing *c, int now)
{
    const struct step *s = &c->plan->step[now];
    for (int b = 0; b < s->from.n; b++) {
        struct trace *t = &c->trace[c->base[s->from.room] + s->from.first + b];
        add_edge(c, t->writer, now);
        note_reader(c, t, now);
    }
    for (int b = 0; b < s->to.n; b++) {
        struct trace *t = &c->trace[c->base[s->to.room] + s->to.first + b];
        add_edge(c, t->writer, now);
        for (int r = t->reader; r >= 0; r = c->reading[r].older)
            add_edge(c, c->reading[r].step, now);
        t->writer = now;
        t->reader = -1;
    }
}

static void throttle(struct closing *c, int now)
{
    const struct plan *plan = c->plan;
    const struct step *s = &plan->step[now];
    if (step_is_local(s) || plan->in_flight == 0)
        return;
    int k = plan->key.pieces > 1 ? plan->key.pieces : 1, j = (int)(s->slot % (uint32_t)k);
    int way = s->verb != VERB_SEND, n = c->nmessages[way][j]++;
    c->message[way][n * k + j] = now;
    int before = n - plan->in_flight;
    if (before >= 0)
        add_edge(c, c->message[way][before * k + j], now);
    if (before >= 0 && plan->by_rounds && before < c->nmessages[!way][j])
        add_edge(c, c->message[!way][before * k + j], now);
}

/* Turn the list of edges into successor lists. */
static void list_successors(struct closing *c)
{
    struct plan *plan = c->plan;
    plan->next = malloc(((size_t)c->npair + 1) * sizeof(*plan->next));
    if (!plan->next) {
        plan_no_memory(plan);
        return;
    }
    plan->nnext = c->npair;
    int at = 0;
    for (int i = 0; i < plan->nsteps; i++) {
        plan->step[i].first_next = at;
        at += plan->step[i].nnext;
        plan->step[i].nnext = 0;
    }
    for (int e = 0; e < c->npair; e++) {
        struct step *s = &plan->step[c->pair[e][0]];
        plan->next[s->first_next + s->nnext++] = c->pair[e][1];
    }
}

void plan_infer(struct plan *plan)
{
    struct closing c = { .plan = plan };
    int total = 0;
    for (int r = 0; r < ROOMS; r++) {
        c.base[r] = total;
        total += plan->nblocks[r];
    }
    c.trace = malloc(((size_t)total + 1) * sizeof(*c.trace));
    size_t steps = (size_t)plan->nsteps + 1,
           pieces = (size_t)(plan->key.pieces > 1 ? plan->key.pieces : 1);
    c.seen = malloc(3 * steps * sizeof(*c.seen));
    c.nmessages[0] = calloc(2 * pieces, sizeof(int));
    if (c.trace && c.seen && c.nmessages[0]) {
        c.message[0] = c.seen + steps;
        c.message[1] = c.message[0] + steps;
        c.nmessages[1] = c.nmessages[0] + pieces;
        for (int i = 0; i < total; i++)
            c.trace[i] = (struct trace){ -1, -1 };
        for (int i = 0; i < plan->nsteps; i++)
            c.seen[i] = -1;
        for (int i = 0; i < plan->nsteps && !plan->error; i++) {
            find_hazards(&c, i);
            throttle(&c, i);
        }
        if (!plan->error)
            list_successors(&c);
    } else {
        plan_no_memory(plan);
    }
    free(c.trace);
    free(c.seen);
    free(c.nmessages[0]);
    free(c.reading);
    free(c.pair);
}

static bool is_there(const struct plan *plan, struct span s)
{
    int64_t end = (int64_t)s.first + s.n;
    return s.n == 0 || (s.n > 0 && s.first >= 0 && end <= plan->nblocks[s.room]);
}

/* Whatever infers and performs steps takes it that their blocks are there. */
static bool has_blocks(struct plan *plan, const struct step *s)
{
    struct span bad = is_there(plan, s->to) ? s->from : s->to;
    if (is_there(plan, bad))
        return true;
    plan->error = fail(MPI_ERR_INTERN, "a step of rank %d of %d: %s[%d .. %lld] of %d blocks",
                       plan->key.me, plan->key.size, room_name(bad.room), bad.first,
                       (long long)bad.first + bad.n - 1, plan->nblocks[bad.room]);
    return false;
}

void plan_number(struct plan *plan, struct talks *talks, struct step *s)
{
    if (!has_blocks(plan, s) || step_is_local(s))
        return;
    struct talk *talk = talk_with(talks, s->peer);
    if (!talk) {
        plan_no_memory(plan);
        return;
    }
    int blocks = s->to.n > s->from.n ? s->to.n : s->from.n;
    s->slot = s->verb == VERB_SEND ? talk->sent++ : talk->got++;
    plan->nfolds += s->verb == VERB_FOLD;
    plan->most = blocks > plan->most ? blocks : plan->most;
}

static void number_all(struct plan *plan)
{
    struct talks talks = { .talk = NULL };
    for (int i = 0; i < plan->nsteps && !plan->error; i++)
        plan_number(plan, &talks, &plan->step[i]);
    talks_close(&talks);
}

static void write_out(struct plan *plan, program *f)
{
    int throttle = plan->key.throttle;
    f(plan, plan->key.me, plan->key.size);
    if (throttle && (plan->in_flight == 0 || throttle < plan->in_flight))
        plan->in_flight = throttle;
    free(plan->member);
    plan->member = NULL;
}

static bool is_in_tmp(struct span s)
{
    return s.room == ROOM_TMP && s.n > 0;
}

/* A program may ask for blocks that this rank has no use for. */
static void tmp_drop(struct plan *plan)
{
    for (int i = 0; i < plan->nsteps; i++)
        if (is_in_tmp(plan->step[i].to) || is_in_tmp(plan->step[i].from))
            return;
    plan->nblocks[ROOM_TMP] = 0;
}

static void plan_close(struct plan *plan)
{
    number_all(plan);
    tmp_drop(plan);
    if (plan->key.pieces > 1 && !plan->error)
        plan_segment(plan, plan->key.pieces);
    if (!plan->error)
        plan_infer(plan);
}

static void plan_open(struct plan *plan, const struct plan_key *key)
{
    *plan = (struct plan){
        .key = *key,
        .root = key->root,
        .split = key->split,
        .radix = key->radix,
        .neighbours = key->neighbours,
        .places = key->places,
    };
}

int plan_make(struct plan *plan, const struct plan_key *key, program *f)
{
    plan_open(plan, key);
    write_out(plan, f);
    if (!plan->error)
        plan_close(plan);
    return plan->error;
}

int plan_keep(struct plan *plan, const struct plan_key *key, program *f)
{
    plan_open(plan, key);
    plan->roll_after = key->pieces > 1 ? 0 : roll_bounds.steps;
    write_out(plan, f);
    if (!plan->error && plan->roll)
        roll_close(plan);
    else if (!plan->error)
        plan_close(plan);
    return plan->error;
}

size_t plan_bytes(const struct plan *plan)
{
    size_t written = (size_t)plan->cap * sizeof *plan->step;
    if (plan->next)
        written += ((size_t)plan->nnext + 1) * sizeof *plan->next;
    return sizeof *plan + (plan->roll ? roll_bytes(plan->roll) : written);
}

void plan_free(struct plan *plan)
{
    free(plan->step);
    free(plan->next);
    free(plan->member);
    roll_free(plan->roll);
    *plan = (struct plan){ .error = 0 };
}
