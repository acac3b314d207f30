/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words and numbers of scripts.  Expressions are read by precedence, lowest first; while a script is
 * only read, or passed over, names must be known but values are of no account.
 */
#include "coll/script_words.h"

#include "runtime/printable.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

static bool in_name(int c)
{
    return isalnum(c) || c == '_' || c == '-';
}

/* Two signs that are one word. */
static bool is_pair(const char *at)
{
    static const char *const pairs[] = { "->", "<-", "..", "==", "!=", "<=", ">=", "<<" };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strncmp(at, pairs[i], 2) == 0)
            return true;
    return false;
}

/* A minus inside a name joins only what is not a subtraction: "two-level", but "hop - 1". */
static int word_length(const char *at, int kind)
{
    int n = 1;
    while (kind == WORD_NAME && in_name((unsigned char)at[n]) &&
           (at[n] != '-' || isalpha((unsigned char)at[n + 1])))
        n++;
    while (kind == WORD_NUMBER && isdigit((unsigned char)at[n]))
        n++;
    return kind == WORD_SIGN && is_pair(at) ? 2 : n;
}

/* Operators by how tightly they bind, loosest first. */
static const char *const operators[][7] = {
    { "or" },        { "and" },    { "==", "!=", "<", "<=", ">", ">=" },
    { "<<", "xor" }, { "+", "-" }, { "*", "/", "mod" },
};
enum { LEVELS = sizeof operators / sizeof *operators };

static int binds(const struct word *w)
{
    for (int depth = 0; depth < LEVELS; depth++)
        for (int i = 0; operators[depth][i]; i++)
            if (word_is(w, operators[depth][i]))
                return depth + 1;
    return 0;
}

/* Where each brace closes.  Meanwhile those that are open are a list, the innermost first. */
static void match_braces(struct word *words)
{
    int open = -1;
    for (int i = 0; words[i].kind != WORD_END; i++)
        if (word_is(&words[i], "{")) {
            words[i].close = open;
            open = i;
        } else if (word_is(&words[i], "}") && open >= 0) {
            int outer = words[open].close;
            words[open].close = i - open;
            open = outer;
        }
    for (int outer; open >= 0; open = outer) {
        outer = words[open].close;
        words[open].close = 0;
    }
}

struct word *words_of(const char *text)
{
    struct word *words = calloc(strlen(text) + 1, sizeof(*words)), *w = words;
    const char *start = text, *at = text;
    int line = 1;
    while (words && *at) {
        if (*at == '#')
            at += strcspn(at, "\n");
        if (*at == '\n') {
            line++;
            start = at + 1;
        }
        if (!*at || isspace((unsigned char)*at)) {
            at += *at != '\0';
            continue;
        }
        *w = (struct word){ .at = at, .line = line, .column = (int)(at - start) + 1 };
        w->kind = isalpha((unsigned char)*at)   ? WORD_NAME
                  : isdigit((unsigned char)*at) ? WORD_NUMBER
                                                : WORD_SIGN;
        w->length = word_length(at, w->kind);
        w->binds = binds(w);
        at += w++->length;
    }
    if (!words)
        return NULL;
    *w = (struct word){
        .kind = WORD_END, .at = at, .line = line, .column = (int)(at - start) + 1
    };
    match_braces(words);
    return words;
}

bool word_is(const struct word *word, const char *text)
{
    return word->at[0] == text[0] && word->length == (int)strlen(text) &&
           memcmp(word->at, text, strlen(text)) == 0;
}

/* ---- walking ---- */

void walk_refuse(struct walk *walk, const struct word *where, const char *format, ...)
{
    enum { MOST_PATH = SCRIPT_WHY / 2 }; /* its end, so that the reason has room */
    const char *path = walk->script->path;
    char raw[SCRIPT_WHY];
    size_t length = strlen(path);
    va_list values;
    if (walk->why[0])
        return;
    int used = snprintf(walk->why, SCRIPT_WHY, "%s%s:%d:%d: ", length > MOST_PATH ? "..." : "",
                        length > MOST_PATH ? path + length - MOST_PATH : path, where->line,
                        where->column);
    va_start(values, format);
    vsnprintf(raw, sizeof raw, format, values);
    va_end(values);
    printable(walk->why + used, (size_t)(SCRIPT_WHY - used), raw);
}

bool walk_take(struct walk *walk, const char *text)
{
    if (walk->why[0] || !word_is(walk->word, text))
        return false;
    walk->word++;
    return true;
}

bool walk_one_of(struct walk *walk, const struct walk_kind *kinds)
{
    for (; kinds->name; kinds++)
        if (walk_take(walk, kinds->name)) {
            kinds->perform(walk);
            return true;
        }
    return false;
}

void walk_expect(struct walk *walk, const char *text)
{
    const struct word *w = walk->word;
    if (!walk_take(walk, text))
        walk_refuse(walk, w, "expected %s, found %s%.*s", text,
                    w->kind == WORD_END ? "the end" : "", w->length, w->at);
}

void walk_enter(struct walk *walk)
{
    enum { MOST_NESTED = 200 };
    if (++walk->nested > MOST_NESTED)
        walk_refuse(walk, walk->word, "more than %d levels", MOST_NESTED);
}

void walk_leave(struct walk *walk)
{
    walk->nested--;
}

/* ---- numbers ---- */

void walk_name(struct walk *walk, const struct word *name, long value)
{
    if (walk->nvariables == WALK_VARIABLES)
        walk_refuse(walk, name, "more than %d names", WALK_VARIABLES);
    else
        walk->variable[walk->nvariables++] = (struct variable){ name->at, name->length, value };
}

static long named(struct walk *walk, const struct word *w)
{
    for (int i = walk->nvariables - 1; i >= 0; i--) {
        const struct variable *v = &walk->variable[i];
        if (v->length == w->length && v->name[0] == w->at[0] &&
            memcmp(v->name, w->at, (size_t)w->length) == 0)
            return v->value;
    }
    walk_refuse(
        walk, w, "there is no name %.*s; there are me, p, root and those of let and for%s",
        w->length, w->at,
        memchr(w->at, '-', (size_t)w->length) ? "; a difference needs blanks: a - b" : "");
    return 0;
}

static long log2_up(long x)
{
    int log = 0;
    while (log < 62 && (1l << log) < x)
        log++;
    return log;
}

static long function(struct walk *walk, const struct word *w)
{
    long a, b = 0;
    walk_expect(walk, "(");
    a = walk_number(walk);
    if (!word_is(w, "log2")) {
        walk_expect(walk, ",");
        b = walk_number(walk);
    }
    walk_expect(walk, ")");
    if (word_is(w, "log2"))
        return log2_up(a);
    return word_is(w, "min") == (a < b) ? a : b;
}

static long signed_number(struct walk *walk);

static long simple(struct walk *walk)
{
    walk_enter(walk);
    long value = walk->why[0] ? 0 : signed_number(walk);
    walk_leave(walk);
    return value;
}

static long literal(struct walk *walk, const struct word *w)
{
    enum { MOST_DIGITS = 18 };
    if (w->length > MOST_DIGITS)
        walk_refuse(walk, w, "%.*s is too large a number; %d digits at most", w->length, w->at,
                    MOST_DIGITS);
    return walk->why[0] ? 0 : atol(w->at);
}

static long signed_number(struct walk *walk)
{
    const struct word *w = walk->word;
    if (walk_take(walk, "(")) {
        long value = walk_number(walk);
        walk_expect(walk, ")");
        return value;
    }
    if (walk_take(walk, "-"))
        return (long)(0 - (unsigned long)simple(walk));
    if (walk_take(walk, "not"))
        return !simple(walk);
    if (w->kind != WORD_NAME && w->kind != WORD_NUMBER)
        walk_refuse(walk, w, "expected a number or a name, found %s%.*s",
                    w->kind == WORD_END ? "the end" : "", w->length, w->at);
    if (walk->why[0])
        return 0;
    walk->word++;
    if (w->kind == WORD_NUMBER)
        return literal(walk, w);
    if (word_is(w, "min") || word_is(w, "max") || word_is(w, "log2"))
        return function(walk, w);
    return named(walk, w);
}

static long divide(struct walk *walk, const struct word *w, long a, long b)
{
    bool rest = word_is(w, "mod");
    if (b <= 0 && walk->doing)
        walk_refuse(walk, w, "%s by %ld", rest ? "mod" : "division", b);
    if (b <= 0)
        return 0;
    long r = a % b;
    return rest ? (r < 0 ? r + b : r) : a / b;
}

static long compute(struct walk *walk, const struct word *w, long a, long b)
{
    switch (w->at[0]) {
    case '+':
        return (long)((unsigned long)a + (unsigned long)b);
    case '-':
        return (long)((unsigned long)a - (unsigned long)b);
    case '*':
        return (long)((unsigned long)a * (unsigned long)b);
    case '/':
    case 'm':
        return divide(walk, w, a, b);
    case 'o':
        return a || b;
    case 'a':
        return a && b;
    case 'x':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '>':
        return w->length == 2 ? a >= b : a > b;
    default:
        if (word_is(w, "<<"))
            return b < 0 || b > 31 ? 0 : (long)((unsigned long)a << b);
        return w->length == 2 ? a <= b : a < b;
    }
}

static long level(struct walk *walk, int depth)
{
    if (depth == LEVELS)
        return simple(walk);
    long value = level(walk, depth + 1);
    while (walk->word->binds == depth + 1 && !walk->why[0]) {
        const struct word *w = walk->word++;
        value = compute(walk, w, value, level(walk, depth + 1));
    }
    return value;
}

long walk_number(struct walk *walk)
{
    return level(walk, 0);
}
