/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See ranges.h.  A name is taken apart at its first bracket, and what follows the bracket is
 * expanded in turn for each number:
 *
 *     r[1-2]n[08-09]  ->  r1 + n[08-09], r2 + n[08-09]  ->  r1n08 r1n09 r2n08 r2n09
 *
 * Nothing is kept but the name in the making.
 */
#include "launcher/ranges.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t";

enum { NAME_CHARS = 512, NAMES_MOST = 100000 };

struct walk {
    int (*take)(void *to, char *name);
    void *to;
    const char *why;
    int names;
};

static int bad(struct walk *walk, const char *why)
{
    walk->why = why;
    return -1;
}

/* A number of at most nine digits; its length, 0: there is none. */
static size_t digits(const char *text, long *number)
{
    size_t n = strspn(text, "0123456789");
    *number = n && n < 10 ? strtol(text, NULL, 10) : 0;
    return n < 10 ? n : 0;
}

static bool is_address(const char *open)
{
    const char *colon = strchr(open, ':'), *close = strchr(open, ']');
    return colon && close && colon < close;
}

static int expand(struct walk *walk, char *name, size_t used, const char *rest);

/* One "a-b" or "a" of a bracket, with what follows the bracket. */
static int expand_range(struct walk *walk, char *name, size_t used, const char *range,
                        const char *rest)
{
    long first, last;
    size_t width = digits(range, &first), second = width;
    last = first;
    if (width && range[width] == '-')
        second = digits(range + width + 1, &last);
    const char *end = range + width + (range[width] == '-' ? 1 + second : 0);
    if (!width || !second || (*end != ',' && *end != ']'))
        return bad(walk, "expected numbers such as [1-4,7]");
    if (last < first)
        return bad(walk, "a range runs backwards");
    for (long i = first; i <= last; i++) {
        if (used + width + 10 > NAME_CHARS)
            return bad(walk, "a name is too long");
        size_t more = (size_t)snprintf(name + used, 16, "%0*ld", (int)width, i);
        int status = expand(walk, name, used + more, rest);
        if (status)
            return status;
    }
    return 0;
}

static int expand_bracket(struct walk *walk, char *name, size_t used, const char *open)
{
    const char *close = strchr(open, ']');
    if (!close)
        return bad(walk, "there is no ] for the [");
    for (const char *range = open; range < close;) {
        int status = expand_range(walk, name, used, range + 1, close + 1);
        if (status)
            return status;
        range += 1 + strcspn(range + 1, ",]");
    }
    return 0;
}

/* `used` characters of the name are there; `rest` follows. */
static int expand(struct walk *walk, char *name, size_t used, const char *rest)
{
    size_t plain = strcspn(rest, "[");
    while (rest[plain] == '[' && is_address(rest + plain)) {
        plain += strcspn(rest + plain, "]");
        plain += strcspn(rest + plain, "[");
    }
    if (used + plain >= NAME_CHARS)
        return bad(walk, "a name is too long");
    memcpy(name + used, rest, plain);
    used += plain;
    if (rest[plain] == '[')
        return expand_bracket(walk, name, used, rest + plain);
    name[used] = 0;
    const char *open = strchr(name, '[');
    if (strchr(name, ']') && !open)
        return bad(walk, "there is no [ for the ]");
    if (++walk->names > NAMES_MOST)
        return bad(walk, "these are more than a hundred thousand names");
    char copy[NAME_CHARS]; /* who takes it may change it */
    memcpy(copy, name, used + 1);
    return walk->take(walk->to, copy);
}

/* The length of the first word: commas in brackets do not end it. */
static size_t word_bytes(const char *text)
{
    size_t n = 0;
    for (int depth = 0; text[n] && (depth > 0 || text[n] != ','); n++)
        depth += (text[n] == '[') - (text[n] == ']');
    return n;
}

int ranges_walk(const char *text, int (*take)(void *to, char *name), void *to, const char **why)
{
    struct walk walk = { .take = take, .to = to };
    char name[NAME_CHARS];
    char *word = malloc(strlen(text) + 1); /* no name as such: brackets may hold many numbers */
    int status = 0;
    if (!word)
        abort();
    while (*text && !status) {
        size_t n = word_bytes(text);
        size_t first = strspn(text, blanks), last = n; /* "a, b" are two words without blanks */
        while (last > first && strchr(blanks, text[last - 1]))
            last--;
        first = first < last ? first : last;
        memcpy(word, text + first, last - first);
        word[last - first] = 0;
        if (*word)
            status = expand(&walk, name, 0, word);
        text += n + (text[n] == ',');
    }
    free(word);
    *why = walk.why;
    return status;
}

int ranges_counts(const char *text, int *numbers, int most)
{
    int n = 0;
    for (; *text; text += *text == ',') {
        long number, times = 1;
        size_t bytes = digits(text, &number);
        text += bytes;
        if (bytes && strncmp(text, "(x", 2) == 0) {
            size_t more = digits(text + 2, &times);
            if (!more || text[2 + more] != ')')
                return -1;
            text += 3 + more;
        }
        if (!bytes || number < 1 || times > most - n || (*text && *text != ','))
            return -1;
        while (times-- > 0)
            numbers[n++] = (int)number;
    }
    return n;
}
