/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scripts, read or performed: files, and statements that decide what is next; those that write steps down
 * are in script_steps.c.  Reading walks through every branch once; performing
 * jumps over branches that are not taken, and goes back for every turn of a loop.  What a script
 * may do is bounded: MOST_STATEMENTS per rank.
 */
#include "coll/script.h"

#include "coll/effort.h"
#include "coll/forced.h"
#include "coll/script_words.h"
#include "runtime/fail.h"
#include "runtime/printable.h"
#include "mpi.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STATEMENTS = 1 << 20, MOST_BLOCKS = 1 << 20, MOST_TEXT = 1 << 20 };

static void statements(struct walk *walk);

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
    bool more = turns;
    for (long i = from; more && !walk->why[0]; i += more) {
        walk->word = body;
        statement_count(walk, name);
        walk_name(walk, name, i);
        braces(walk, true);
        walk->nvariables = known;
        more = i < to; /* the last may be the largest number there is */
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
        if (walk->root > 0)
            walk_refuse(walk, w,
                        "it does not serve %d ranks when the root is %d, as any may be",
                        walk->p, walk->root);
        else
            walk_refuse(walk, w, "it does not serve %d ranks", walk->p);
    }
}

static void statement(struct walk *walk)
{
    static const struct walk_kind controls[] = { { "if", if_do },
                                                 { "for", for_do },
                                                 { "let", let_do },
                                                 { "require", require_do },
                                                 { NULL, NULL } };
    const struct word *w = walk->word;
    int before = walk->plan ? walk->plan->nsteps : 0;
    statement_count(walk, w);
    if (!walk_one_of(walk, script_steps) && !walk_one_of(walk, controls))
        walk_refuse(walk, w,
                    "expected send, recv, fold, copy, join, call, if, for, let, require");
    else if (walk->plan && !walk->found_line && walk->wanted_step >= before &&
             walk->wanted_step < walk->plan->nsteps)
        walk->found_line = w->line;
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
    if (walk_writes(walk))
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

/* Why it could not, by errno. */
static int unread(const char *path)
{
    if (errno == EFBIG)
        return fail(MPI_ERR_OTHER, "cannot read %s: it has more than %d bytes", path,
                    MOST_TEXT);
    return fail(MPI_ERR_OTHER, "cannot read %s: %s", path,
                errno == EILSEQ ? "it has a zero byte, so it is no text" : strerror(errno));
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
    size_t mark = error ? 0 : text_mark(text);
    if (!error)
        return memmove(text, text + mark, n - mark + 1);
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
        error = unread(path);
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

bool script_excludes(const struct plan_key *key, char why[SCRIPT_WHY])
{
    struct plan plan;
    struct walk walk;
    write_out(&walk, &plan, key, -1);
    plan_free(&plan);
    memcpy(why, walk.why, SCRIPT_WHY);
    return walk.excluded;
}
