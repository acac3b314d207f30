/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rounds: that they are a schedule, in which nobody waits who need not, and how many there are of what is cut in
 * pieces.  What goes whole is in cost_test.
 */
#include "coll/count.h"
#include "coll/forced.h"
#include "runtime/fail.h"
#include "mpi.h"

#include "test/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { PLENTY = 4000000 };

/* ---- of what is cut in pieces ---- */

static double logs(int p)
{
    int q = 0;
    while (1 << q < p)
        q++;
    return q;
}

/* Lowest and highest: s for each of S pieces, q for each of log2 p, and p for each rank but one. */
struct bound {
    double s, q, sp, sq;
};

static double value(const struct bound *b, int pieces, int p)
{
    return b->s * pieces + b->q * logs(p) + b->sp * pieces * (p - 1) + b->sq * pieces * logs(p);
}

static const struct row {
    enum collective what;
    const char *name;
    int least_p;
    struct bound low, high;
} rows[] = {
    /* 2 S + 2 log2 p */
    { COLL_BCAST, "double-tree", 3, { .s = 2 }, { .s = 2, .q = 2 } },
    /* the halves whose leaf a rank is go up before those that it sums up: 3 S, and 2 more down */
    { COLL_REDUCE, "double-tree", 3, { .s = 2 }, { .s = 3.4, .q = 2 } },
    { COLL_ALLREDUCE, "double-tree", 4, { .s = 4 }, { .s = 5, .q = 3 } },
    /* 3 S, and as much again as trees of ranks that are no power keep each other waiting */
    { COLL_ALLREDUCE, "dual-root", 5, { .s = 3 }, { .s = 3.8, .q = 3 } },
    /* S (log2 p + p - 1), which its root sends */
    { COLL_BCAST, "scatter-allgather", 3, { .sp = 1 }, { .sp = 1.1, .sq = 1.1 } },
    { COLL_ALLREDUCE, "ring", 2, { .sp = 2 }, { .sp = 2 } },
    { COLL_ALLREDUCE, "spread", 2, { .sp = 2 }, { .sp = 2 } },
    { COLL_ALLREDUCE, "all-pairs", 2, { .sp = 1 }, { .sp = 1 } },
};

static double rounds_of(const struct row *row, int p, int pieces)
{
    struct price_query q = { .algorithm = algorithm_find(row->what, false, row->name),
                             .p = p,
                             .bytes = 1 << 20,
                             .pieces = pieces };
    struct count c;
    ck_assert_msg(q.algorithm != NULL, "no %s", row->name);
    ck_assert_msg(count_of(&q, PLENTY, &c) == 0, "%s", fail_text());
    return c.rounds;
}

START_TEST(pieces_follow_each_other)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int p = rows[i].least_p; p <= 64; p += 1 + p / 8)
            for (int pieces = 1; pieces <= 64; pieces *= 8) {
                double rounds = rounds_of(&rows[i], p, pieces);
                double low = value(&rows[i].low, pieces, p),
                       high = value(&rows[i].high, pieces, p);
                ck_assert_msg(rounds >= low && rounds <= high,
                              "%s:%s on %d ranks in %d pieces: %g rounds, not %g to %g",
                              collective_name(rows[i].what), rows[i].name, p, pieces, rounds,
                              low, high);
            }
}
END_TEST

/* ---- a schedule ---- */

struct schedule {
    const struct cast *cast;
    int **sent, **taken; /* of each act: the rounds that were over */
    int rounds, messages;
};

static void note(void *self, int actor, int act, int from, int to)
{
    struct schedule *s = self;
    const struct act *a = &cast_role(s->cast, actor)->act[act];
    ck_assert_int_gt(to, from);
    ck_assert_int_eq(s->taken[actor][act], 0);
    s->taken[actor][act] = to;
    s->sent[a->peer][a->partner] = from;
    s->rounds = to > s->rounds ? to : s->rounds;
    s->messages++;
}

/* A rank's sends, or what it takes: one in a round, and none of them idle while something is ready. */
static void check_way(const struct schedule *s, int rank, bool sends, const int *ready)
{
    const struct role *role = cast_role(s->cast, rank);
    int *used = calloc((size_t)s->rounds + 1, sizeof *used);
    for (int i = 0; i < role->nacts; i++) {
        if (role->act[i].peer < 0 || (role->act[i].verb == VERB_SEND) != sends)
            continue;
        int round = sends ? s->sent[rank][i] : s->taken[rank][i] - 1;
        ck_assert_int_eq(used[round]++, 0);
    }
    for (int i = 0; i < role->nacts; i++) {
        const struct act *act = &role->act[i];
        if (act->peer < 0 || (act->verb == VERB_SEND) != sends)
            continue;
        int first = sends ? ready[i] : s->sent[act->peer][act->partner];
        int round = sends ? s->sent[rank][i] : s->taken[rank][i] - 1;
        ck_assert_int_ge(round, first);
        for (int r = first; r < round; r++)
            ck_assert_int_eq(used[r], 1);
    }
    free(used);
}

/* When all that an act waits for is over: those before it in the plan. */
static void check_rank(const struct schedule *s, int rank)
{
    const struct role *role = cast_role(s->cast, rank);
    int *ready = calloc((size_t)role->nacts + 1, sizeof *ready);
    for (int i = 0; i < role->nacts; i++) {
        const struct act *act = &role->act[i];
        bool sends = act->peer >= 0 && act->verb == VERB_SEND;
        int there = sends ? s->sent[rank][i] : s->taken[rank][i];
        int over = there > ready[i] ? there : ready[i];
        for (int k = 0; k < act->nnext; k++) {
            int next = role->next[act->first_next + k];
            ck_assert_int_gt(next, i);
            ready[next] = over > ready[next] ? over : ready[next];
        }
    }
    check_way(s, rank, true, ready);
    check_way(s, rank, false, ready);
    free(ready);
}

static void check_schedule(const struct cast *cast, const char *name)
{
    struct schedule s = { .cast = cast };
    int rounds, messages = 0, p = cast->nactors;
    size_t acts = (size_t)cast->acts + 1;
    int *all = calloc(2 * acts, sizeof *all), *at = all;
    s.sent = calloc(2 * (size_t)p, sizeof *s.sent);
    s.taken = s.sent + p;
    for (int r = 0; r < p; at += cast_role(cast, r++)->nacts) {
        s.sent[r] = at;
        s.taken[r] = at + acts;
        for (int i = 0; i < cast_role(cast, r)->nacts; i++)
            messages += cast_role(cast, r)->act[i].peer >= 0 &&
                        cast_role(cast, r)->act[i].verb == VERB_SEND;
    }
    ck_assert_msg(count_rounds(cast, note, &s, &rounds) == 0, "%s: %s", name, fail_text());
    ck_assert_msg(s.rounds == rounds && s.messages == messages, "%s: %d of %d rounds", name,
                  s.rounds, rounds);
    for (int r = 0; r < p; r++)
        check_rank(&s, r);
    free(all);
    free(s.sent);
}

/* Of every algorithm: one message each way, in the order of what waits for what, and as early as can be. */
START_TEST(nobody_waits_who_need_not)
{
    static const int sizes[] = { 2, 3, 5, 8, 12, 16, 23 };
    int schedules = 0;
    for (const struct algorithm *a = algorithms; a->name; a++)
        for (int i = 0; i < 7 * 3; i++) {
            struct price_query q = { .algorithm = a,
                                     .p = sizes[i % 7],
                                     .pieces = algorithm_cuts(a) ? 1 + 2 * (i / 7) : 1,
                                     .bytes = 8000,
                                     .seats = { .per_node = i / 7 == 1 ? 4 : 0 } };
            struct cast cast;
            int error = cast_open(&cast, &q, 1, (struct grouping){ 0, 0 }, PLENTY);
            if (!error)
                check_schedule(&cast, a->name);
            schedules += !error;
            ck_assert(!error || error == MPI_ERR_UNSUPPORTED_OPERATION);
            fail_clear();
            cast_close(&cast);
        }
    ck_assert_int_gt(schedules, 1000);
}
END_TEST

/* What comes while something else is folded is taken, and folded in its turn: no rounds of their own. */
START_TEST(folds_in_order_take_no_rounds)
{
    static const struct row linear = { .what = COLL_REDUCE_SCATTER, .name = "linear" };
    for (int p = 2; p <= 64; p++)
        ck_assert_double_eq(rounds_of(&linear, p, 1), p - 1);
}
END_TEST

UNIT_MAIN("rounds", pieces_follow_each_other, nobody_waits_who_need_not,
          folds_in_order_take_no_rounds)
