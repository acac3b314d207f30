/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The words of a script, and walking along them: every function either gets what it expects or
 * notes, once, where it did not.
 */
#ifndef XMPI_SCRIPT_WORDS_H
#define XMPI_SCRIPT_WORDS_H

#include "coll/script.h"

struct word {
    enum { WORD_NAME, WORD_NUMBER, WORD_SIGN, WORD_END } kind;
    const char *at;
    int length, line, column;
    int close; /* of "{": so many words on is its "}"; else 0 */
    int binds; /* of an operator: how tightly, from 1; else 0 */
};

struct variable {
    const char *name;
    int length;
    long value;
};

enum { WALK_VARIABLES = 64 };

/* Reading a script and performing it are one walk; only `doing` makes it write steps down. */
struct walk {
    const struct script *script;
    const struct word *word; /* the next one */
    bool doing;
    struct plan *plan;
    int me, p, root;
    long left;  /* statements that it may still perform */
    int nested; /* braces and parentheses that are open */
    struct variable variable[WALK_VARIABLES];
    int nvariables;
    int wanted_step, found_line; /* script_line */
    bool scratch;                /* there are blocks of tmp, or may be */
    bool excluded;               /* a require was not fulfilled */
    char why[SCRIPT_WHY];        /* "" = all is well */
};

/* It may write steps down: it performs, and nothing was wrong so far. */
static inline bool walk_writes(const struct walk *walk)
{
    return walk->doing && !walk->why[0];
}

/* A statement, by its first word. */
struct walk_kind {
    const char *name;
    void (*perform)(struct walk *walk); /* what comes behind that word */
};

/* Perform the one that comes next; false: it is none of them.  The last has no name. */
bool walk_one_of(struct walk *walk, const struct walk_kind *kinds);

/* Those that write steps down (script_steps.c). */
extern const struct walk_kind script_steps[];

/* Cut a text in words, the last is WORD_END; NULL: no memory. */
struct word *words_of(const char *text);

bool word_is(const struct word *word, const char *text);
bool walk_take(struct walk *walk, const char *text);   /* if it comes next */
void walk_expect(struct walk *walk, const char *text); /* it must */
/* One more brace or parenthesis; walk_leave when it closes. */
void walk_enter(struct walk *walk);
void walk_leave(struct walk *walk);

void walk_refuse(struct walk *walk, const struct word *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A number, by expression; 0 after a mistake. */
long walk_number(struct walk *walk);
void walk_name(struct walk *walk, const struct word *name, long value); /* let it be known */

#endif
