/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A ring in which each rank passes on to its neighbour what has come from the other one:
 *
 *     send | recv send | recv send | ...      a CPU does in this order what its plan says, for a message
 *                                             comes after the one before it, and the send that it sets
 *                                             free is begun at once (sim.c)
 *
 * So there is no choice of who comes first, no queue of events is needed, and a round of all ranks is
 * a function of when their CPUs and ways were free before it: a few sums, and the later of two.  What such
 * a function gives grows evenly after some rounds, always: each round takes as long as the slowest
 * rank, or each tour as long as a message takes from a rank of one node to that of the next, whichever is
 * more.  As soon as all CPUs and ways are as much later as a round ago, or as a tour (as many rounds as
 * there are actors), they will be for ever, and the rounds that are left are that many times more.
 *
 * The plan of so many ranks is never made.  Those of 8, 16 and 32 are, and are cut in pieces that
 * repeat: in a ring, the same pieces, that repeat oftener.
 *
 * What is found is what sim.c finds, exactly.
 *
 * Costs some 10 ns per actor and round, of which there are two to four per actor and piece.
 */
#include "coll/march.h"

#include "runtime/fail.h"
#include "mpi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a plan as pieces that repeat ---- */

enum { SIZES = 3, LEAST_RANKS = 8, PIECES = 12, LONGEST = 4, OFTEN = 4 };

struct piece {
    int first, n; /* acts */
    double times;
};

struct pieces {
    struct piece piece[PIECES];
    int n;
    bool too_many;
};

static bool same_act(const struct act *a, const struct act *b)
{
    return a->verb == b->verb && a->parts == b->parts && a->bytes == b->bytes &&
           (a->peer < 0) == (b->peer < 0);
}

/* How often acts first .. first + n - 1 come one after the other. */
static int repeats(const struct role *role, int first, int n)
{
    int i = first + n;
    while (i < role->nacts && same_act(&role->act[i], &role->act[i - n]))
        i++;
    return (i - first) / n;
}

static struct pieces cut(const struct role *role)
{
    struct pieces pieces = { .n = 0 };
    for (int i = 0; i < role->nacts && !pieces.too_many;) {
        struct piece piece = { i, 1, 1 };
        for (int n = 1; n <= LONGEST && piece.times < 2; n++) {
            int times = i + n <= role->nacts ? repeats(role, i, n) : 0;
            if (times >= OFTEN)
                piece = (struct piece){ i, n, times };
        }
        pieces.too_many = pieces.n == PIECES;
        if (!pieces.too_many)
            pieces.piece[pieces.n++] = piece;
        i += piece.n * (int)piece.times;
    }
    return pieces;
}

static bool same_pieces(const struct pieces *a, const struct role *as, const struct pieces *b,
                        const struct role *bs)
{
    bool same = a->n == b->n && !a->too_many && !b->too_many;
    for (int i = 0; same && i < a->n; i++) {
        const struct piece *p = &a->piece[i], *q = &b->piece[i];
        same = p->n == q->n && (p->times > 1) == (q->times > 1);
        for (int k = 0; same && k < p->n; k++)
            same = same_act(&as->act[p->first + k], &bs->act[q->first + k]);
    }
    return same;
}

/* The pieces on p ranks, given those on 8, 16 and 32.  False: they do not grow evenly. */
static bool foretell(struct pieces at[SIZES], int p)
{
    for (int i = 0; i < at[2].n; i++) {
        double a = at[0].piece[i].times, b = at[1].piece[i].times, c = at[2].piece[i].times;
        if (c - b != 2 * (b - a))
            return false;
        at[2].piece[i].times = c + (b - a) / LEAST_RANKS * (p - 4 * LEAST_RANKS);
    }
    return true;
}

/* ---- does it march? ---- */

static bool sets_free(const struct role *role, int i, int later)
{
    const struct act *act = &role->act[i];
    for (int k = 0; k < act->nnext; k++)
        if (role->next[act->first_next + k] == later)
            return true;
    return false;
}

/* Sends of long messages are over late, and what is received may come late when its room is not free:
 * how many acts lie at least between these and what they wait for or what waits for them. */
static int least_wait(const struct role *role)
{
    int closest = role->nacts;
    for (int i = 0; i < role->nacts; i++)
        for (int k = 0; k < role->act[i].nnext; k++) {
            int waits = role->next[role->act[i].first_next + k];
            if (role->act[i].verb == VERB_SEND || role->act[waits].verb == VERB_RECV)
                closest = least(closest, waits - i);
        }
    return closest;
}

/* One message after the other, to one side, and each receive sets free what follows it. */
static bool marches(const struct cast *cast)
{
    const struct role *role = cast->role;
    int to = 0, last_sent = -1;
    bool received = false;
    for (int i = 0; i < role->nacts; i++) {
        const struct act *act = &role->act[i];
        bool sends = act->peer >= 0 && act->verb == VERB_SEND;
        if (act->peer >= 0 && !sends) {
            if (last_sent != act->partner)
                return false;
            last_sent = -1;
            received = true;
            continue;
        }
        if (received && !sets_free(role, i - 1, i))
            return false;
        if (!sends)
            continue;
        if (last_sent >= 0 || (to && act->peer != to) ||
            (act->peer != 1 && act->peer != cast->p - 1))
            return false;
        to = act->peer;
        last_sent = i;
    }
    return received && last_sent < 0;
}

/* ---- the march ---- */

/* A moment and its history, as in sim.c. */
struct when {
    double clock, part[3];
};
enum { LATENCY, BANDWIDTH, COMPUTE };

static struct when past(struct when w, int part, double seconds)
{
    w.clock += seconds;
    w.part[part] += seconds;
    return w;
}

static struct when later(const struct when *a, const struct when *b)
{
    return a->clock >= b->clock ? *a : *b;
}

enum { CPU, OUT, IN, COMING, CLOCKS };

struct row {
    const struct price_model *model;
    const struct link_price **link; /* of the message that an actor sends */
    int actors, step;               /* to the receiver: 1, or -1 */
    struct when *now;               /* CLOCKS of each actor */
    struct when *before, *tour;     /* a round ago; a tour ago */
    double asking, coming; /* the longest that a send takes that asks before it comes */
    int64_t acts, most;
};

static void act_local(struct row *row, const struct act *act)
{
    bool copies = act->verb == VERB_COPY;
    double busy = act->bytes * (copies ? row->model->copy : row->model->fold);
    for (int a = 0; a < row->actors; a++) {
        struct when *cpu = &row->now[a * CLOCKS + CPU];
        *cpu = past(*cpu, copies ? BANDWIDTH : COMPUTE, busy);
    }
}

static void act_send(struct row *row, const struct act *act)
{
    for (int a = 0; a < row->actors; a++) {
        const struct link_price *link = row->link[a];
        struct when *w = &row->now[a * CLOCKS];
        bool asks = link->eager && act->bytes > (double)link->eager;
        w[CPU] = past(w[CPU], LATENCY, act->parts * link->overhead);
        struct when at = asks ? past(w[CPU], LATENCY, 2 * link->latency) : w[CPU];
        at = later(&at, &w[OUT]);
        w[OUT] =
            past(past(at, LATENCY, act->parts * link->gap), BANDWIDTH, act->bytes * link->byte);
        w[COMING] = past(at, LATENCY, link->latency);
        if (asks)
            row->asking = fmax(row->asking, w[COMING].clock - w[CPU].clock);
    }
}

static void act_receive(struct row *row, const struct act *act)
{
    double fold = act->verb == VERB_FOLD ? act->bytes * row->model->fold : 0;
    for (int a = 0; a < row->actors; a++) {
        int from = mod(a - row->step, row->actors);
        const struct link_price *link = row->link[from];
        struct when *w = &row->now[a * CLOCKS], *there = &row->now[from * CLOCKS];
        struct when at = later(&there[COMING], &w[IN]);
        w[IN] =
            past(past(at, LATENCY, act->parts * link->gap), BANDWIDTH, act->bytes * link->byte);
        row->coming = fmax(row->coming, w[IN].clock - there[COMING].clock);
        at = later(&w[IN], &w[CPU]);
        w[CPU] = past(past(at, LATENCY, act->parts * link->overhead), COMPUTE, fold);
    }
}

static void round_of(struct row *row, const struct role *role, const struct piece *piece)
{
    for (int i = 0; i < piece->n; i++) {
        const struct act *act = &role->act[piece->first + i];
        if (act->peer < 0)
            act_local(row, act);
        else if (act->verb == VERB_SEND)
            act_send(row, act);
        else
            act_receive(row, act);
    }
    row->acts += (int64_t)piece->n * row->actors;
}

/* Is everything as much later than then? */
static bool all_later(const struct row *row, const struct when *then)
{
    double by = row->now[0].clock - then[0].clock;
    for (int i = 1; i < row->actors * CLOCKS; i++)
        if (fabs(row->now[i].clock - then[i].clock - by) > 1e-9 * by)
            return false;
    return by > 0;
}

/* Everything so many times later again.  Clocks stay, as all would go on alike; only the parts, of
 * which nothing is decided, tell how long it took. */
static void skip(struct row *row, const struct when *then, double times)
{
    for (int i = 0; i < row->actors * CLOCKS; i++)
        for (int k = 0; k < 3; k++)
            row->now[i].part[k] += times * (row->now[i].part[k] - then[i].part[k]);
}

static void remember(const struct row *row, struct when *then)
{
    memcpy(then, row->now, (size_t)row->actors * CLOCKS * sizeof *then);
}

/* All rounds of a piece.  Returns how many were performed, or -1: too many would be. */
static int64_t perform_piece(struct row *row, const struct role *role,
                             const struct piece *piece)
{
    int64_t left = (int64_t)piece->times, done = 0;
    int glance = row->actors / 8 + 1;
    for (bool skipped = false; left > 0; left--, done++) {
        bool look = !skipped && done > 0 && left > 1;
        if (look && done % row->actors == 0) {
            if (done > row->actors && all_later(row, row->tour)) {
                skip(row, row->tour, (double)(left / row->actors));
                left %= row->actors;
                skipped = true;
                if (left == 0)
                    break;
            } else {
                remember(row, row->tour);
            }
        }
        bool glances = look && !skipped && done % glance == 0;
        if (glances)
            remember(row, row->before);
        round_of(row, role, piece);
        if (glances && all_later(row, row->before)) {
            skip(row, row->before, (double)(left - 1));
            left = 1;
        }
        if (row->acts > row->most)
            return -1;
    }
    return done;
}

static bool row_open(struct row *row, const struct price_query *query, int step)
{
    size_t n = (size_t)row->actors, clocks = n * CLOCKS;
    row->step = step;
    row->now = calloc(3 * clocks, sizeof *row->now);
    row->link = malloc(n * sizeof(const struct link_price *));
    if (!row->now || !row->link)
        return false;
    row->before = row->now + clocks;
    row->tour = row->before + clocks;
    for (int a = 0; a < row->actors; a++)
        row->link[a] =
            &row->model->link[seats_apart(&query->seats, a, mod(a + step, query->p))];
    return true;
}

static void row_close(struct row *row)
{
    free(row->now);
    free(row->link);
}

/* Nobody is ahead of its receiver by more than a tour.  What waits for a send that asks, or lets one
 * wait, comes so many acts later that this cannot be seen. */
static bool nothing_waits(const struct row *row, const struct cast cast[SIZES], int p)
{
    if (row->asking == 0)
        return true;
    double at[2] = { least_wait(cast[1].role), least_wait(cast[2].role) };
    double acts = at[1] + (at[1] - at[0]) / (2 * LEAST_RANKS) * (p - 4 * LEAST_RANKS);
    double least = row->link[0]->overhead;
    for (int a = 1; a < row->actors; a++)
        least = fmin(least, row->link[a]->overhead);
    return row->asking + row->coming <= (acts - LONGEST * row->actors) * least;
}

static void result(const struct row *row, struct march *march)
{
    const struct when *end = &row->now[CPU];
    for (int a = 1; a < row->actors; a++)
        if (row->now[a * CLOCKS + CPU].clock > end->clock)
            end = &row->now[a * CLOCKS + CPU];
    march->found = true;
    march->price =
        (struct price){ end->part[LATENCY], end->part[BANDWIDTH], end->part[COMPUTE] };
    march->acts = row->acts;
}

/* The plans of few ranks, and the pieces that those of all have. */
struct plans {
    struct cast cast[SIZES];
    struct pieces pieces;
    bool march; /* and they do */
};

static int plans_open(struct plans *plans, const struct price_query *query)
{
    struct pieces pieces[SIZES] = { { .n = 0 } };
    *plans = (struct plans){ .march = true };
    for (int i = 0; i < SIZES && plans->march; i++) {
        struct cast *cast = &plans->cast[i];
        struct price_query small = *query;
        small.p = LEAST_RANKS << i;
        int error = cast_open_alike(cast, &small, (double)query->p / small.p,
                                    (struct grouping){ .shift = 1 });
        if (error && error != MPI_ERR_UNSUPPORTED_OPERATION)
            return error;
        if (error)
            fail_clear(); /* no price on so few ranks: no ring */
        plans->march = !error && cast->symmetry == SYMMETRY_SHIFT && marches(cast);
        if (plans->march)
            pieces[i] = cut(cast->role);
        plans->march = plans->march &&
                       same_pieces(&pieces[0], plans->cast[0].role, &pieces[i], cast->role);
    }
    plans->march = plans->march && foretell(pieces, query->p);
    plans->pieces = pieces[SIZES - 1];
    return 0;
}

static void plans_close(struct plans *plans)
{
    for (int i = 0; i < SIZES; i++)
        cast_close(&plans->cast[i]);
}

/* To the right or to the left. */
static int step_of(const struct role *role)
{
    int i = 0;
    while (role->act[i].verb != VERB_SEND)
        i++;
    return role->act[i].peer == 1 ? 1 : -1;
}

static void perform(struct row *row, const struct plans *plans, int p, struct march *march)
{
    for (int i = 0; i < plans->pieces.n; i++) {
        int64_t rounds =
            perform_piece(row, plans->cast[SIZES - 1].role, &plans->pieces.piece[i]);
        if (rounds < 0)
            return;
        march->rounds += rounds;
    }
    if (nothing_waits(row, plans->cast, p))
        result(row, march);
}

int march_run(const struct price_model *model, const struct price_query *query, int unit,
              size_t most, struct march *march)
{
    struct plans plans;
    *march = (struct march){ .found = false };
    if (!cast_scales(query) || query->p <= LEAST_RANKS << SIZES || query->root >= LEAST_RANKS ||
        query->algorithm->needs > NEEDS_EVEN)
        return 0;
    int error = plans_open(&plans, query);
    if (!error && plans.march) {
        struct row row = { .model = model, .actors = unit, .most = (int64_t)most };
        if (row_open(&row, query, step_of(plans.cast[0].role)))
            perform(&row, &plans, query->p, march);
        else
            error = fail(MPI_ERR_NO_MEM, "no memory for a ring of %d ranks", unit);
        row_close(&row);
    }
    plans_close(&plans);
    return error;
}
