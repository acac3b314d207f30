/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statements of scripts that write steps down: the verbs, and calls of the library's algorithms.
 */
#include "coll/forced.h"
#include "coll/script_words.h"

#include <stdio.h>

/* ---- parts ---- */

static enum room room_read(struct walk *walk)
{
    for (int r = 0; r < ROOMS; r++)
        if (walk_take(walk, room_name(r)))
            return (enum room)r;
    walk_refuse(walk, walk->word, "expected in, out or tmp, found %.*s", walk->word->length,
                walk->word->at);
    return ROOM_IN;
}

/* Blocks that in place are those of the other buffer have to be there, whatever its room says. */
static bool fits_in_place(struct walk *walk, const struct word *w, struct span span)
{
    struct span there = plan_aliased(walk->plan, span);
    int n = walk->plan->nblocks[there.room];
    if (there.first + there.n > n)
        walk_refuse(walk, w, "rank %d of %d: in place %.*s[%d] is block %d of %d", walk->me,
                    walk->p, w->length, w->at, span.first + span.n - 1,
                    there.first + there.n - 1, n);
    return there.first + there.n <= n;
}

static struct span span_read(struct walk *walk)
{
    const struct word *w = walk->word;
    enum room room = room_read(walk);
    walk_expect(walk, "[");
    long first = walk_number(walk), last = first;
    if (walk_take(walk, ".."))
        last = walk_number(walk);
    walk_expect(walk, "]");
    int there = walk->doing ? walk->plan->nblocks[room] : 0;
    if (last < first)
        return blocks(room, 0, 0);
    if (walk->doing && (first < 0 || last >= there))
        walk_refuse(walk, w, "rank %d of %d: %.*s[%ld .. %ld], but there are %d blocks",
                    walk->me, walk->p, w->length, w->at, first, last, there);
    if (!walk->doing || walk->why[0])
        return blocks(room, 0, 0); /* of any numbers */
    struct span span = blocks(room, (int)first, (int)(last - first + 1));
    return fits_in_place(walk, w, span) ? span : blocks(room, 0, 0);
}

/* What is written to: not the input. */
static struct span target_read(struct walk *walk)
{
    const struct word *w = walk->word;
    struct span span = span_read(walk);
    if (word_is(w, "in"))
        walk_refuse(walk, w, "in is never written");
    return span;
}

static int peer_read(struct walk *walk, const char *arrow)
{
    walk_expect(walk, arrow);
    const struct word *w = walk->word;
    long peer = walk_number(walk);
    if (walk->doing && (peer < 0 || peer >= walk->p || peer == walk->me))
        walk_refuse(walk, w, "rank %d of %d: rank %ld is %s", walk->me, walk->p, peer,
                    peer == walk->me ? "itself" : "not there");
    return (int)peer;
}

static enum side side_read(struct walk *walk)
{
    if (walk_take(walk, "last"))
        return INCOMING_LAST;
    walk_expect(walk, "first");
    return INCOMING_FIRST;
}

static void same_length(struct walk *walk, const struct word *w, struct span a, struct span b)
{
    if (walk->doing && a.n != b.n)
        walk_refuse(walk, w, "rank %d of %d: %d blocks and %d blocks", walk->me, walk->p, a.n,
                    b.n);
}

/* ---- verbs ---- */

static void send_do(struct walk *walk)
{
    struct span from = span_read(walk);
    int peer = peer_read(walk, "->");
    if (walk_writes(walk))
        plan_send(walk->plan, peer, from);
}

static void recv_do(struct walk *walk)
{
    struct span to = target_read(walk);
    int peer = peer_read(walk, "<-");
    if (walk_writes(walk))
        plan_recv(walk->plan, peer, to);
}

static void fold_do(struct walk *walk)
{
    const struct word *w = walk->word;
    struct span to = target_read(walk), with = span_read(walk);
    int peer = peer_read(walk, "<-");
    enum side side = side_read(walk);
    same_length(walk, w, to, with);
    if (walk_writes(walk))
        plan_fold(walk->plan, peer, to, with, side);
}

/* Where blocks move up or down among themselves, one after the other: from the end that nothing is read from
 * any more. */
static void copy_blocks(struct plan *plan, struct span to, struct span from)
{
    bool up = to.first > from.first;
    if (to.room != from.room || (up ? to.first - from.first : from.first - to.first) >= to.n) {
        plan_copy(plan, to, from);
        return;
    }
    for (int i = 0; i < to.n && to.first != from.first; i++) {
        int b = up ? to.n - 1 - i : i;
        plan_copy(plan, blocks((enum room)to.room, to.first + b, 1),
                  blocks((enum room)from.room, from.first + b, 1));
    }
}

static void copy_do(struct walk *walk)
{
    const struct word *w = walk->word;
    struct span to = target_read(walk), from = span_read(walk);
    same_length(walk, w, to, from);
    if (walk_writes(walk))
        copy_blocks(walk->plan, to, from);
}

static void join_do(struct walk *walk)
{
    const struct word *w = walk->word;
    struct span to = target_read(walk), add = span_read(walk);
    enum side side = side_read(walk);
    same_length(walk, w, to, add);
    if (walk_writes(walk))
        plan_join(walk->plan, to, add, side);
}

/* ---- calls ---- */

static const struct algorithm *callee_read(struct walk *walk)
{
    char what[48], name[48];
    const struct word *w = walk->word;
    snprintf(what, sizeof what, "%.*s", w[0].length, w[0].at);
    if (w[0].kind != WORD_NAME || w[1].kind != WORD_NAME) {
        walk_refuse(walk, w,
                    "expected a collective and an algorithm, as in call bcast binomial");
        return NULL;
    }
    snprintf(name, sizeof name, "%.*s", w[1].length, w[1].at);
    int kind = collective_find(what);
    const struct algorithm *a =
        kind < 0 ? NULL : algorithm_find((enum collective)kind, false, name);
    bool alone = a && a->program && !a->script; /* and knows no more than ranks and blocks */
    if (!alone || a->needs == NEEDS_PLACES || is_neighbourhood(a->what)) {
        walk_refuse(walk, w, "the library has no plan %s for %s that could be called", name,
                    what);
        return NULL;
    }
    walk->word += 2;
    return a;
}

/* The called program cuts its rooms in blocks; ours must be cut at least as finely. */
static void homes_check(struct walk *walk, const struct word *w, const struct algorithm *a,
                        const struct group *group, const struct homes *homes)
{
    const struct span home[ROOMS] = { homes->in, homes->out, homes->tmp };
    struct plan sub = { .key = { .me = group->me, .size = group->n, .pieces = 1 },
                        .root = group->root,
                        .radix = group->radix };
    a->program(&sub, group->me, group->n);
    bool used[ROOMS] = { false };
    for (int i = 0; i < sub.nsteps; i++) {
        used[sub.step[i].to.room] |= sub.step[i].to.n > 0;
        used[sub.step[i].from.room] |= sub.step[i].from.n > 0;
    }
    for (int r = 0; r < ROOMS; r++)
        if (used[r] && (home[r].n == 0 || home[r].n % sub.nblocks[r] != 0))
            walk_refuse(walk, w,
                        "rank %d of %d: %s needs a multiple of %d blocks of %s, not %d",
                        walk->me, walk->p, a->name, sub.nblocks[r], room_name(r), home[r].n);
    plan_free(&sub);
}

static void call_perform(struct walk *walk, const struct word *w, const struct algorithm *a,
                         const long number[4], const struct homes *homes)
{
    long first = number[0], n = number[1], stride = number[2], root = number[3];
    if (n < 1 || stride < 1 || first < 0 || (n - 1) > (walk->p - 1 - first) / stride ||
        root < 0 || root >= n) {
        walk_refuse(walk, w, "rank %d of %d: no such group (%ld, %ld, %ld, %ld)", walk->me,
                    walk->p, first, n, stride, root);
        return;
    }
    long seat = walk->me - first;
    const char *objection = algorithm_objection(a, (int)n, NULL);
    if (seat < 0 || seat % stride != 0 || seat / stride >= n)
        return; /* not a member */
    if (objection) {
        walk_refuse(walk, w, "%s cannot: %s", a->name, objection);
        return;
    }
    struct group group = { .first = (int)first,
                           .stride = (int)stride,
                           .n = (int)n,
                           .me = (int)(seat / stride),
                           .root = (int)root,
                           .radix = a->radix };
    homes_check(walk, w, a, &group, homes);
    if (!walk->why[0])
        plan_call(walk->plan, &group, homes, a->program);
}

static void call_do(struct walk *walk)
{
    const struct word *w = walk->word;
    const struct algorithm *a = callee_read(walk);
    struct homes homes = { in(0, 0), out(0, 0), tmp(0, 0) };
    struct span *const home[] = { &homes.in, &homes.out, &homes.tmp };
    long number[4];
    for (int i = 0; i < 4; i++) {
        walk_expect(walk, i ? "," : "(");
        number[i] = walk_number(walk);
    }
    walk_expect(walk, ")");
    for (int r = 0; r < 3; r++)
        if (r < 2 || word_is(walk->word, "tmp")) {
            walk_expect(walk, room_name(r));
            *home[r] = span_read(walk);
        }
    if (walk_writes(walk))
        call_perform(walk, w, a, number, &homes);
}

const struct walk_kind script_steps[] = { { "send", send_do }, { "recv", recv_do },
                                          { "fold", fold_do }, { "copy", copy_do },
                                          { "join", join_do }, { "call", call_do },
                                          { NULL, NULL } };
