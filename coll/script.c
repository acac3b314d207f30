/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Statements of scripts, read or performed.  Reading walks through every branch once; performing
 * jumps over branches that are not taken, and goes back for every turn of a loop.  What a script
 * may do is bounded: MOST_STATEMENTS per rank.
 */
#include "coll/script.h"

#include "coll/effort.h"
#include "coll/forced.h"
#include "coll/script_words.h"
#include "runtime/fail.h"
#include "mpi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATEMENTS = 1 << 20, MOST_BLOCKS = 1 << 20, MOST_TEXT = 1 << 20 };

static void statements(struct walk *walk);

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
    bool fits = walk->doing && !walk->why[0];
    struct span span = blocks(room, (int)first, (int)(last - first + 1));
    return fits && fits_in_place(walk, w, span) ? span : blocks(room, 0, 0);
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

static bool may_write(const struct walk *walk)
{
    return walk->doing && !walk->why[0];
}

static void send_do(struct walk *walk)
{
    struct span from = span_read(walk);
    int peer = peer_read(walk, "->");
    if (may_write(walk))
        plan_send(walk->plan, peer, from);
}

static void recv_do(struct walk *walk)
{
    struct span to = target_read(walk);
    int peer = peer_read(walk, "<-");
    if (may_write(walk))
        plan_recv(walk->plan, peer, to);
}

static void fold_do(struct walk *walk)
{
    const struct word *w = walk->word;
    struct span to = target_read(walk), with = span_read(walk);
    int peer = peer_read(walk, "<-");
    enum side side = side_read(walk);
    same_length(walk, w, to, with);
    if (may_write(walk))
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
    if (may_write(walk))
        copy_blocks(walk->plan, to, from);
}

static void join_do(struct walk *walk)
{
    const struct word *w = walk->word;
    struct span to = target_read(walk), add = span_read(walk);
    enum side side = side_read(walk);
    same_length(walk, w, to, add);
    if (may_write(walk))
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
    const char *objection = algorithm_objection(a, (int)n, a->radix, NULL);
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
    if (may_write(walk))
        call_perform(walk, w, a, number, &homes);
}

/* ---- control ---- */

/* Statements, and turns of loops. */
static void statement_count(struct walk *walk, const struct word *where)
{
    if (walk->doing && walk->left-- <= 0)
        walk_refuse(walk, where, "rank %d of %d: more than %d statements", walk->me, walk->p,
                    MOST_STATEMENTS);
}

/* Walk over what lies in braces, performing it or not. */
static void braces(struct walk *walk, bool doing)
{
    bool before = walk->doing;
    int known = walk->nvariables;
    if (walk->plan && !(before && doing) && word_is(walk->word, "{")) {
        walk->word += walk->word->close + 1; /* it was read before */
        return;
    }
    walk_expect(walk, "{");
    walk_enter(walk);
    walk->doing = before && doing;
    statements(walk);
    walk_leave(walk);
    walk->doing = before;
    walk->nvariables = known;
    walk_expect(walk, "}");
}

static void if_do(struct walk *walk)
{
    bool before = walk->doing, open = true; /* no branch was taken yet */
    bool more = true;
    while (more) {
        walk->doing = before && open;
        bool yes = walk_number(walk) != 0;
        braces(walk, yes);
        walk->doing = before;
        open = open && !yes;
        bool other = walk_take(walk, "else");
        more = other && walk_take(walk, "if");
        if (other && !more)
            braces(walk, open);
    }
}

static const struct word *name_read(struct walk *walk)
{
    const struct word *name = walk->word;
    if (name->kind != WORD_NAME)
        walk_refuse(walk, name, "expected a name, found %.*s", name->length, name->at);
    else
        walk->word++;
    return name;
}

static void for_do(struct walk *walk)
{
    const struct word *name = name_read(walk);
    walk_expect(walk, "in");
    long from = walk_number(walk);
    walk_expect(walk, "..");
    long to = walk_number(walk);
    const struct word *body = walk->word;
    int known = walk->nvariables;
    bool turns = walk->doing && from <= to;
    for (long i = from; turns && i <= to && !walk->why[0]; i++) {
        walk->word = body;
        statement_count(walk, name);
        walk_name(walk, name, i);
        braces(walk, true);
        walk->nvariables = known;
    }
    if (!turns) {
        walk_name(walk, name, 0);
        braces(walk, false);
        walk->nvariables = known;
    }
}

static void let_do(struct walk *walk)
{
    const struct word *name = name_read(walk);
    walk_expect(walk, "=");
    walk_name(walk, name, walk_number(walk));
}

static void require_do(struct walk *walk)
{
    const struct word *w = walk->word;
    if (walk_number(walk) == 0 && walk->doing && !walk->why[0]) {
        walk->excluded = true;
        walk_refuse(walk, w, "it does not serve %d ranks", walk->p);
    }
}

static void statement(struct walk *walk)
{
    static const struct {
        const char *name;
        void (*perform)(struct walk *walk);
    } kinds[] = { { "send", send_do },      { "recv", recv_do }, { "fold", fold_do },
                  { "copy", copy_do },      { "join", join_do }, { "call", call_do },
                  { "if", if_do },          { "for", for_do },   { "let", let_do },
                  { "require", require_do } };
    const struct word *w = walk->word;
    int before = walk->plan ? walk->plan->nsteps : 0;
    statement_count(walk, w);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (walk_take(walk, kinds[i].name)) {
            kinds[i].perform(walk);
            bool here = walk->plan && !walk->found_line && walk->wanted_step >= before &&
                        walk->wanted_step < walk->plan->nsteps;
            if (here)
                walk->found_line = w->line;
            return;
        }
    walk_refuse(walk, w, "expected send, recv, fold, copy, join, call, if, for, let, require");
}

/* Up to where they end, or where it shows that there will be no plan. */
static void statements(struct walk *walk)
{
    bool broken = walk->plan && walk->plan->error;
    while (!walk->why[0] && !broken && walk->word->kind != WORD_END &&
           !word_is(walk->word, "}") && !word_is(walk->word, "algorithm")) {
        statement(walk);
        broken = walk->plan && walk->plan->error;
    }
}

/* blocks in 1 out 1 tmp 0, then statements */
static void body(struct walk *walk)
{
    static const char *const given[] = { "me", "p", "root" };
    static const struct word word[] = { { .kind = WORD_NAME, .at = "me", .length = 2 },
                                        { .kind = WORD_NAME, .at = "p", .length = 1 },
                                        { .kind = WORD_NAME, .at = "root", .length = 4 } };
    const long value[] = { walk->me, walk->p, walk->root };
    long n[ROOMS] = { 0 };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        walk_name(walk, &word[i], value[i]);
    const struct word *w = walk->word;
    walk_expect(walk, "blocks");
    for (int r = 0; r < ROOMS; r++) {
        walk_expect(walk, room_name(r));
        const struct word *from = walk->word;
        n[r] = walk_number(walk);
        walk->scratch = !(word_is(from, "0") && walk->word == from + 1); /* of the last: tmp */
        if (walk->doing && (n[r] < 0 || n[r] > MOST_BLOCKS))
            walk_refuse(walk, w, "%ld blocks of %s; from 0 to %d may be", n[r], room_name(r),
                        MOST_BLOCKS);
    }
    if (may_write(walk))
        plan_rooms(walk->plan, (int)n[ROOM_IN], (int)n[ROOM_OUT], (int)n[ROOM_TMP]);
    statements(walk);
}

/* ---- reading a file ---- */

static void head(struct walk *walk, struct script *script)
{
    script->line = walk->word->line;
    walk_expect(walk, "algorithm");
    const struct word *name = name_read(walk);
    if (name->length >= (int)sizeof script->name)
        walk_refuse(walk, name, "a name of %d letters; %d at most", name->length,
                    (int)sizeof script->name - 1);
    snprintf(script->name, sizeof script->name, "%.*s", name->length, name->at);
    walk_expect(walk, "for");
    const struct word *w = name_read(walk);
    char what[48];
    snprintf(what, sizeof what, "%.*s", w->length, w->at);
    int kind = collective_find(what);
    if (kind < 0 || is_neighbourhood((enum collective)kind))
        walk_refuse(walk, w, "there is no collective %s that plans can be written for", what);
    script->what = (enum collective)(kind < 0 ? 0 : kind);
    for (bool more = true; more;) {
        bool ordered = walk_take(walk, "ordered"), cut = walk_take(walk, "cut");
        script->ordered |= ordered;
        script->cut |= cut;
        more = ordered || cut;
    }
    script->body = (int)(walk->word - script->words);
}

/* NULL, with errno, when it cannot be read in whole. */
static char *text_of(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file ? calloc(1, MOST_TEXT + 2) : NULL;
    size_t n = text ? fread(text, 1, MOST_TEXT + 1, file) : 0;
    int error = !text || ferror(file) ? errno : n > MOST_TEXT ? EFBIG : 0;
    if (!error && memchr(text, '\0', n)) /* it would end there */
        error = EILSEQ;
    if (file)
        fclose(file);
    if (!error)
        return text;
    free(text);
    errno = error;
    return NULL;
}

int script_read(const char *path, struct script *scripts, int most, int *n)
{
    struct script common = { .path = strdup(path), .text = text_of(path) };
    struct walk walk = { .script = &common, .wanted_step = -1 };
    int error;
    *n = 0;
    if (!common.text || !common.path) {
        const char *why = errno == EILSEQ ? "it has a zero byte, so it is no text" : NULL;
        error = fail(MPI_ERR_OTHER, "cannot read %s: %s", path, why ? why : strerror(errno));
        goto no_text;
    }
    walk.word = common.words = words_of(common.text);
    while (walk.word && !walk.why[0] && walk.word->kind != WORD_END) {
        if (*n == most)
            walk_refuse(
                &walk, walk.word,
                "one algorithm too many; beside those of other files there is room for %d",
                most);
        if (walk.why[0])
            break;
        scripts[*n] = common;
        head(&walk, &scripts[*n]);
        walk.nvariables = 0;
        if (!walk.why[0])
            body(&walk);
        if (!walk.why[0])
            scripts[*n].scratch = walk.scratch;
        ++*n;
    }
    if (walk.word && !walk.why[0] && *n > 0)
        return 0;
    error = walk.why[0] ? fail(MPI_ERR_OTHER, "%s", walk.why)
            : walk.word ? fail(MPI_ERR_OTHER, "%s: there is no algorithm in the file", path)
                        : fail(MPI_ERR_NO_MEM, "%s: no memory for a file of algorithms", path);
no_text:
    free(common.words);
    free(common.text);
    free(common.path);
    *n = 0;
    return error;
}

/* ---- performing ---- */

static void perform(struct walk *walk, struct plan *plan, const struct plan_key *key)
{
    const struct script *s = key->script;
    *walk = (struct walk){ .script = s,
                           .word = s->words + s->body,
                           .doing = true,
                           .plan = plan,
                           .me = key->me,
                           .p = key->size,
                           .root = key->root,
                           .left = MOST_STATEMENTS,
                           .wanted_step = -1 };
}

void script_program(struct plan *plan, int me, int p)
{
    struct walk walk;
    (void)me;
    (void)p;
    perform(&walk, plan, &plan->key);
    body(&walk);
    if (walk.why[0] && !plan->error)
        plan->error = fail(MPI_ERR_OTHER, "%s", walk.why);
}

/* The steps of the script, neither cut nor closed. */
static void write_out(struct walk *walk, struct plan *plan, const struct plan_key *key,
                      int wanted_step)
{
    *plan = (struct plan){ .key = *key, .root = key->root, .most_steps = EFFORT_STEPS };
    perform(walk, plan, key);
    walk->wanted_step = wanted_step;
    body(walk);
}

int script_line(const struct plan_key *key, int step)
{
    struct plan plan;
    struct walk walk;
    if (key->pieces > 1) {
        write_out(&walk, &plan, key, -1);
        step = plan_uncut(&plan, key->pieces, step);
        plan_free(&plan);
    }
    write_out(&walk, &plan, key, step);
    plan_free(&plan);
    return walk.found_line;
}

bool script_excludes(const struct plan_key *key)
{
    struct plan plan;
    struct walk walk;
    write_out(&walk, &plan, key, -1);
    plan_free(&plan);
    return walk.excluded;
}
