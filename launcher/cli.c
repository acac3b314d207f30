/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line.  One walk over the words: options are looked up in the table of
 * options.def, the first word that is no option starts a program and its arguments, and `:`
 * ends them and starts the next program of an MPMD job.
 *
 *     xmpirun -np 1 -x A=1 ./master in.dat : -np 3 ./worker
 *             `------- section ----------'   `-- section --'
 *
 * Options of a section hold for its program; those that concern the job may stand anywhere.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launcher/apply.h"

#include "launcher/out.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

const struct option_row option_rows[] = {
#define OPTION(id, spelling, values, metavar, section, text)                                   \
    { OPTION_##id, spelling, values, metavar, SECTION_##section, text },
#define ALIAS(id, spelling) { OPTION_##id, spelling, 0, NULL, SECTION_COUNT, NULL },
#define IGNORED(spelling, values, why)                                                         \
    { OPTION_IGNORED, spelling, values, "", SECTION_IGNORED, why },
#include "launcher/options.def"
};
const int noption_rows = sizeof option_rows / sizeof option_rows[0];

void strings_add(struct strings *list, char *text)
{
    list->text = realloc(list->text, ((size_t)list->n + 2) * sizeof *list->text);
    if (!list->text)
        abort();
    list->text[list->n++] = text;
    list->text[list->n] = NULL;
}

/* ---- words ---- */

/* The same option?  Typed without dashes, up to `bytes`; `_` counts as `-`. */
static bool spelled(const char *typed, size_t bytes, const char *spelling)
{
    for (size_t i = 0; i < bytes; i++)
        if (!spelling[i] || (typed[i] == '_' ? '-' : typed[i]) != spelling[i])
            return false;
    return !spelling[bytes];
}

static const struct option_row *find(const char *typed, size_t bytes)
{
    for (int i = 0; i < noption_rows; i++) {
        if (!spelled(typed, bytes, option_rows[i].spelling))
            continue;
        int main_row = i;
        while (!option_rows[main_row].text)
            main_row--;
        return &option_rows[main_row];
    }
    return NULL;
}

static int unknown(const char *typed)
{
    const char *near = option_nearest(typed);
    if (near)
        complain("there is no option %s; did you mean %s%s?", typed,
                 near[0] && near[1] ? "--" : "-", near);
    else
        complain("there is no option %s; xmpirun --help lists them", typed);
    return EXIT_USAGE;
}

/* A copy: lists are cut into words where they lie, and other hosts get the words as they were typed. */
static void add_value(struct option_use *p, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    strings_add(&p->values, copy);
}

/* -genv NAME=VALUE is complete with one word. */
static bool is_whole_variable(const struct option_use *p, const struct option_row *row)
{
    bool is_variable = row->id == OPTION_ENV || row->id == OPTION_GENV;
    return is_variable && p->values.n == 1 && strchr(p->values.text[0], '=');
}

/* Read the option at words[*at] and its values; *at ends on the last of them. */
static int read_option(struct option_use *p, struct strings *words, int *at)
{
    char *word = words->text[*at];
    const char *bare = word + (word[1] == '-' ? 2 : 1);
    size_t bytes = strcspn(bare, "=");
    const struct option_row *row = find(bare, bytes);
    if (!row)
        return unknown(word);
    p->spelling = word;
    p->values.n = 0;
    int wanted = row->values;
    if (bare[bytes] == '=') {
        if (wanted == 0 && row->id != OPTION_HELP) {
            complain("%s: this option has no value", word);
            return EXIT_USAGE;
        }
        add_value(p, bare + bytes + 1);
        p->spelling = strndup(word, (size_t)(bare - word) + bytes);
    }
    while (p->values.n < wanted && !is_whole_variable(p, row)) {
        if (*at + 1 >= words->n) {
            complain("%s: a value is missing (%s)", word, row->metavar);
            return EXIT_USAGE;
        }
        add_value(p, words->text[++*at]);
    }
    return option_apply(p, row);
}

static struct app *app_add(struct options *options)
{
    size_t n = (size_t)++options->napps;
    options->apps = realloc(options->apps, n * sizeof *options->apps);
    if (!options->apps)
        abort();
    options->apps[n - 1] = (struct app){ .np = -1, .umask = -1 };
    return &options->apps[n - 1];
}

/* The program and its arguments, up to a `:` or the end; *at ends on the last. */
static void read_program(struct option_use *p, struct strings *words, int *at)
{
    struct strings argv = { 0 };
    while (*at < words->n && strcmp(words->text[*at], ":") != 0)
        strings_add(&argv, words->text[(*at)++]);
    --*at;
    p->app->argv = argv.text;
}

static int read_words(struct options *options, struct strings *words);

/* What other launchers of the job get as its command line: they may not have files that this one reads. */
static struct strings told;

static void tell(const struct strings *words, int from, int to)
{
    for (int i = from; i < to; i++)
        strings_add(&told, words->text[i]);
}

enum { FILES_DEEP = 16 };

/* -configfile stands for its contents, which are sections of their own, and may name files in turn. */
static int read_configfile(struct options *options, const char *path)
{
    static int depth;
    if (depth == FILES_DEEP) {
        complain("-configfile %s: files of programs that name files of programs end after %d; "
                 "does one name itself?",
                 path, FILES_DEEP);
        return EXIT_USAGE;
    }
    struct strings words = { 0 };
    int status = appfile_read(path, &words);
    strings_add(&told, ":");
    depth++;
    status = status ? status : read_words(options, &words);
    depth--;
    strings_add(&told, ":");
    return status;
}

/* Its section ends there; options before it are for all.  Others find the file where they would look for the
 * program, and nothing in it. */
static void end_before_file(struct option_use *p)
{
    if (p->app) {
        p->app->before_file = true;
        strings_add(&told, "-configfile");
        strings_add(&told, "/dev/null");
    }
    p->app = NULL;
}

static bool is_configfile(const char *word)
{
    const char *bare = word + 1 + (word[1] == '-');
    const struct option_row *row = find(bare, strlen(bare));
    return row && row->id == OPTION_CONFIGFILE;
}

static int read_words(struct options *options, struct strings *words)
{
    struct option_use p = { .options = options };
    int status = 0;
    for (int at = 0; at < words->n && !status && !options->done; at++) {
        char *word = words->text[at];
        int from = at;
        if (strcmp(word, ":") == 0) {
            p.app = NULL;
            tell(words, from, at + 1);
            continue;
        }
        if (word[0] == '-' && word[1] && at + 1 < words->n && is_configfile(word)) {
            end_before_file(&p);
            status = read_configfile(options, words->text[++at]);
            continue;
        }
        if (!p.app)
            p.app = app_add(options);
        if (word[0] == '-' && word[1] && strcmp(word, "--") != 0) {
            status = read_option(&p, words, &at);
            tell(words, from, at + 1);
            continue;
        }
        at += strcmp(word, "--") == 0;
        read_program(&p, words, &at);
        tell(words, from, at + 1);
    }
    return status;
}

/* Every section names a program, or a file of programs: who asks for ranks and names none would miss them. */
static int check_apps(struct options *options)
{
    int kept = 0, all = options->napps, without = 0;
    for (int i = 0; i < all; i++) {
        if (!options->apps[i].argv && !options->apps[i].before_file && !without)
            without = i + 1;
        if (options->apps[i].argv)
            options->apps[kept++] = options->apps[i];
    }
    options->napps = kept;
    if (kept && !without)
        return 0;
    if (!kept)
        complain("no program to run; as in `xmpirun -np 4 ./a.out` (xmpirun --help)");
    else
        complain(
            "section %d of %d names no program; each needs one, as in `-np 2 ./a : -np 3 ./b`",
            without, all);
    return EXIT_USAGE;
}

/* MPIEXEC_TIMEOUT=seconds, as others have it. */
static int read_limit(struct options *options)
{
    const char *limit = getenv("MPIEXEC_TIMEOUT");
    if (!limit || !*limit || limit_read(limit, &options->timeout))
        return 0;
    complain("MPIEXEC_TIMEOUT=%s: expected a number of seconds; unset it for no limit", limit);
    return EXIT_USAGE;
}

/* Who spawns tells others himself (wish.h). */
int cli_add(struct options *options, struct strings *words)
{
    struct strings before = told;
    told = (struct strings){ 0 };
    int status = read_words(options, words);
    free(told.text);
    told = before;
    return status;
}

int cli_parse(int argc, char **argv, struct options *options)
{
    *options = (struct options){ .iof = { .stdin_rank = 0, .pty = -1 }, .node_rank = -1 };
    struct strings words = { 0 };
    told = (struct strings){ 0 };
    strings_add(&told, argv[0]);
    for (int i = 1; i < argc; i++)
        strings_add(&words, argv[i]);
    int status = read_limit(options);
    if (!status)
        status = read_words(options, &words);
    options->words = told.text;
    if (!status && !options->done && !options->status)
        status = check_apps(options);
    complaints_wanted = !options->quiet || status;
    return status;
}
