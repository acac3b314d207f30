/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The user's own algorithms.  XMPI_PLAN is a list of files with commas, read when algorithms are
 * looked for by name; the info key xmpi_plan names one more.  No two have the same name, nor one of the
 * library's.  Whatever is to be used is
 * verified for the number of ranks at hand first, by every rank alike, so a wrong plan is an error
 * of the call on all of them, never a hang.
 */
#include "coll/own.h"

#include "coll/bind.h"
#include "coll/check.h"
#include "coll/script.h"
#include "runtime/fail.h"
#include "runtime/param.h"
#include "mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OWN = 32, MOST_FILES = 16, VERDICTS = 64 };
static const long most_steps = 2000000, /* of all ranks: some seconds */
    most_blocks = 16000000;             /* and half a gigabyte */

static struct script scripts[MOST_OWN];
static struct algorithm own[MOST_OWN];
static int nown;
static const char *files[MOST_FILES];
static int nfiles;
static bool looked;
static char complaint[SCRIPT_WHY + 40];

/* The library's, or one of the first n of those that were read; NULL: the name is free. */
static const struct algorithm *namesake(const struct script *s, int n)
{
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == s->what && !a->inter && strcmp(a->name, s->name) == 0)
            return a;
    for (int i = 0; i < n; i++)
        if (own[i].what == s->what && strcmp(own[i].name, s->name) == 0)
            return &own[i];
    return NULL;
}

/* Of two of one name, one would never be used, whatever a user believes. */
static int clash(const struct script *s, const struct algorithm *other)
{
    const char *what = collective_name(s->what);
    if (other->script)
        return fail(MPI_ERR_OTHER,
                    "%s:%d: there is an algorithm %s for %s in %s:%d; rename one", s->path,
                    s->line, s->name, what, other->script->path, other->script->line);
    return fail(MPI_ERR_OTHER, "%s:%d: the library has an algorithm %s for %s; rename this one",
                s->path, s->line, s->name, what);
}

/* Was the same text read by another path? */
static bool is_known(const struct script *s)
{
    for (int i = 0; i < nown; i++)
        if (strcmp(own[i].script->text, s->text) == 0)
            return true;
    return false;
}

static void forget(const struct script *s)
{
    free(s->words);
    free(s->text);
    free(s->path);
}

int own_load(const char *path)
{
    int n;
    for (int i = 0; i < nfiles; i++)
        if (strcmp(files[i], path) == 0)
            return 0;
    if (nfiles == MOST_FILES)
        return fail(MPI_ERR_OTHER, "%s: more than %d files of algorithms", path, MOST_FILES);
    int error = script_read(path, scripts + nown, MOST_OWN - nown, &n);
    if (error)
        return error;
    if (is_known(&scripts[nown])) {
        forget(&scripts[nown]);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        const struct script *s = &scripts[nown + i];
        const struct algorithm *other = namesake(s, nown + i);
        if (other) {
            error = clash(s, other);
            forget(&scripts[nown]);
            return error;
        }
        own[nown + i] = (struct algorithm){ .what = s->what,
                                            .name = s->name,
                                            .program = script_program,
                                            .ordered = s->ordered,
                                            .sized = s->scratch && has_sized_scratch(s->what),
                                            .pipelines = s->cut,
                                            .never_cut = !s->cut,
                                            .script = s };
    }
    nown += n;
    files[nfiles++] = own[nown - 1].script->path;
    return 0;
}

static void look(void)
{
    const char *list = param_string(PLAN);
    char *copy = strdup(list ? list : ""), *rest = copy;
    looked = true;
    for (char *path; copy && !complaint[0] && (path = strsep(&rest, ","));)
        if (*path && own_load(path))
            snprintf(complaint, sizeof complaint, "%s", fail_text());
    free(copy);
}

const char *own_complaint(void)
{
    if (!looked)
        look();
    return complaint;
}

const struct algorithm *own_find(enum collective what, const char *name)
{
    if (!looked)
        look();
    for (int i = 0; i < nown; i++)
        if (own[i].what == what && strcmp(own[i].name, name) == 0)
            return &own[i];
    return NULL;
}

const struct algorithm *own_each(int i)
{
    if (!looked)
        look();
    return i < nown ? &own[i] : NULL;
}

const char *own_objection(const struct algorithm *a, int p)
{
    static struct {
        int p; /* 0: it was not asked */
        bool excluded;
        char why[SCRIPT_WHY];
    } known[MOST_OWN];
    int i = 0;
    while (a->script && i < nown && &own[i] != a)
        i++;
    if (!a->script || i == nown) /* nobody finds it by its name */
        return NULL;
    if (known[i].p != p) {
        const struct plan_key key = { .size = p, .pieces = 1, .script = a->script };
        known[i].excluded = script_excludes(&key, known[i].why);
        known[i].p = p;
    }
    return known[i].excluded ? known[i].why : NULL;
}

/* ---- verifying ---- */

int own_line(const struct algorithm *a, const struct plan_key *key, bool in_place,
             const char *verdict)
{
    int rank, step;
    const char *at = strstr(verdict, "rank ");
    if (at && (sscanf(at, "rank %d step %d", &rank, &step) == 2 ||
               sscanf(at, "rank %d waits at step %d", &rank, &step) == 2)) {
        struct plan_key theirs = *key;
        theirs.me = rank;
        theirs.alias =
            bind_alias(a->what, in_place && (!is_rooted(a->what) || rank == key->root));
        theirs.script = a->script;
        return script_line(&theirs, step);
    }
    return 0;
}

static int wrong(const struct algorithm *a, const struct plan_key *key, bool in_place,
                 const char *verdict)
{
    int line = own_line(a, key, in_place, verdict);
    return fail(MPI_ERR_OTHER, "%s:%d: algorithm %s is wrong: %s", a->script->path,
                line ? line : a->script->line, a->name, verdict);
}

static int undecided(const struct algorithm *a, const struct plan_key *key, const char *verdict)
{
    return fail(MPI_ERR_OTHER, "%s:%d: algorithm %s cannot be verified on %d ranks: %s",
                a->script->path, a->script->line, a->name, key->size, verdict);
}

static int verify(const struct algorithm *a, const struct plan_key *key, bool in_place)
{
    struct world world = { .what = a->what,
                           .program = a->program,
                           .p = key->size,
                           .root = key->root,
                           .pieces = key->pieces,
                           .throttle = key->throttle,
                           .in_place = in_place,
                           .ordered = a->ordered,
                           .script = a->script,
                           .program_order = true,
                           .most = most_steps,
                           .most_blocks = most_blocks };
    struct verdict verdict = { "", false };
    struct plan *plans = calloc((size_t)key->size, sizeof(*plans));
    if (!plans)
        return fail(MPI_ERR_NO_MEM, "no memory to verify %s", a->name);
    bool made = check_make(&world, plans, &verdict);
    int error = made ? 0 : MPI_ERR_OTHER; /* the script said why */
    bool good = made && check_plans(&world, plans, &verdict);
    if (verdict.undecided)
        error = undecided(a, key, verdict.text);
    else if (made && !good)
        error = wrong(a, key, in_place, verdict.text);
    check_free(&world, plans);
    free(plans);
    return error;
}

int own_verify(const struct algorithm *a, const struct plan_key *key)
{
    static struct {
        const struct algorithm *algorithm;
        int size, root, pieces, throttle;
    } good[VERDICTS];
    static int next;
    for (int i = 0; i < VERDICTS; i++)
        if (good[i].algorithm == a && good[i].size == key->size && good[i].root == key->root &&
            good[i].pieces == key->pieces && good[i].throttle == key->throttle)
            return 0;
    bool twice = bind_alias(a->what, true) != ALIAS_NONE || is_reduction(a->what);
    int error = verify(a, key, false);
    if (!error && twice)
        error = verify(a, key, true);
    if (error)
        return error;
    good[next].algorithm = a;
    good[next].size = key->size;
    good[next].root = key->root;
    good[next].pieces = key->pieces;
    good[next].throttle = key->throttle;
    next = (next + 1) % VERDICTS;
    return 0;
}
