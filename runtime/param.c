/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading the knobs.  Every variable XMPI_* of the environment is looked at once: knobs are
 * read, near misses of a knob's name are pointed out, everything else is left alone (other
 * tools use the prefix too).  Complaints come from rank 0 alone, or from everybody where ranks
 * are not known; a bad value never stops the program, its default is used.
 */
#include "runtime/param.h"

#include "runtime/amount.h"
#include "runtime/bootseg.h"
#include "runtime/log.h"
#include "runtime/param_text.h"
#include "runtime/typo.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

extern char **environ;

static const char PREFIX[] = "XMPI_";
enum { PREFIX_CHARS = sizeof PREFIX - 1, NAME_CHARS = 32 };

struct param params[PARAM_COUNT] = {
#define PARAM(id, type, standard, help)                                                        \
    [PARAM_ID_##id] = { #id, PARAM_##type, standard, help, 0, NULL, false, NULL },
#include "runtime/params.def"
#undef PARAM
};

/* Before there are ranks launchers have said which one this will be: ours, and those with PMIx. */
static bool another_tells(void)
{
    const char *rank = getenv(getenv(BOOT_ENV) ? "RANK" : "PMIX_RANK");
    return log_rank_shown() > 0 || (log_rank_shown() < 0 && rank && atoi(rank) > 0);
}

bool param_tells_here(void)
{
    const char *local = getenv(getenv(BOOT_ENV) ? "LOCAL_RANK" : "SLURM_LOCALID");
    return local ? atoi(local) == 0 : !another_tells();
}

/* `wrong`: what it is not, as in "not a number"; `then`: what comes of it, NULL: the default is used. */
static void complain(const struct param *p, const char *value, const char *wrong,
                     const char *then)
{
    if (another_tells())
        return;
    if (!then)
        then = *p->standard ? "using the default, " : "going on as if it were not set";
    say("%s%s=%s is %s; %s%s", PREFIX, p->name, value, wrong, then, p->standard);
}

/* ---- values ---- */

static bool int_read(const char *text, long long *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && 0 <= *number && *number <= INT_MAX;
}

static bool size_read(const char *text, long long *number)
{
    size_t bytes;
    bool read = amount_read(text, &bytes);
    *number = (long long)bytes;
    return read;
}

static bool bool_read(const char *text, long long *number)
{
    static const char *const words[] = { "0", "1", "no", "yes", "false", "true", "off", "on" };
    for (int i = 0; i < 8; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *number = i % 2;
            return true;
        }
    return false;
}

static const struct form {
    const char *words;
    bool (*read)(const char *text, long long *number);
} forms[] = {
    [PARAM_INT] = { "a whole number from 0 on, below 2147483648", int_read },
    [PARAM_SIZE] = { "a number of bytes such as 4096, 64k or 1M", size_read },
    [PARAM_BOOL] = { "a yes or no (1, 0, yes, no, true, false, on, off)", bool_read },
};

/* Whole numbers that have more bounds than that. */
static const struct bounds {
    enum param_id id;
    const char *what;
    long long least, most;
} bounds[] = {
    { PARAM_ID_ENGINES, "a whole number", 0, BOOT_RINGS },
    { PARAM_ID_OFI_TIMEOUT, "a number of seconds", 1, 1000000 },
    { PARAM_ID_STORE_PORT, "a port", 0, 65535 },
    { PARAM_ID_STORE_TIMEOUT, "a number of seconds", 1, 1000000 },
};

static const struct bounds *bounds_of(const struct param *p)
{
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (&params[bounds[i].id] == p)
            return &bounds[i];
    return NULL;
}

static bool number_read(const struct param *p, const char *text, long long *number)
{
    const struct bounds *b = bounds_of(p);
    return forms[p->type].read(text, number) &&
           (!b || (b->least <= *number && *number <= b->most));
}

static void number_complain(const struct param *p, const char *text)
{
    const struct bounds *b = bounds_of(p);
    char wrong[80];
    if (b)
        snprintf(wrong, sizeof wrong, "not %s from %lld to %lld", b->what, b->least, b->most);
    else
        snprintf(wrong, sizeof wrong, "not %s", forms[p->type].words);
    complain(p, text, wrong, NULL);
}

static bool text_take(struct param *p, const char *text)
{
    const char *then, *wrong = param_text_wrong((enum param_id)(p - params), text, &then);
    if (wrong)
        complain(p, text, wrong, then);
    if (wrong && !then)
        text = p->standard;
    p->string = *text ? text : NULL;
    return !wrong;
}

/* False: it is no value, and what it was stays. */
static bool param_take(struct param *p, const char *text)
{
    if (p->type == PARAM_STRING)
        return text_take(p, text);
    long long number;
    bool good = number_read(p, text, &number);
    if (good)
        p->number = number;
    else
        number_complain(p, text);
    return good;
}

/* ---- names ---- */

/* Names of ours that are not knobs of the library. */
static bool name_is_known(const char *name, size_t n)
{
    static const char *const known[] = { "BOOT", "PMIX_RANK", "CC",    "CXX",
                                         "FC",   "HOME",      "PREFIX" };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i]) == n && memcmp(name, known[i], n) == 0)
            return true;
    return false;
}

static void name_doubt(const char *name, size_t n)
{
    if (n >= NAME_CHARS || name_is_known(name, n) || another_tells())
        return;
    for (int i = 0; i < PARAM_COUNT; i++) {
        /* In a word of four letters two changes make any other word. */
        int near = strlen(params[i].name) > 4 ? 2 : 1;
        if (typo_distance(name, n, params[i].name) <= near) {
            say("%s%.*s is not a setting of xmpi; did you mean %s%s?", PREFIX, (int)n, name,
                PREFIX, params[i].name);
            return;
        }
    }
}

static void variable_read(const char *variable)
{
    const char *name = variable + PREFIX_CHARS;
    const char *equals = strchr(name, '=');
    if (!equals)
        return;
    size_t n = (size_t)(equals - name);
    for (int i = 0; i < PARAM_COUNT; i++)
        if (strlen(params[i].name) == n && memcmp(params[i].name, name, n) == 0) {
            bool empty = equals[1] == '\0' && params[i].type != PARAM_STRING; /* the default */
            params[i].is_set = !empty && param_take(&params[i], equals + 1);
            return;
        }
    name_doubt(name, n);
}

/* Data that others wrote into our memory would be taken for uninitialised; so it is copied here. */
static void valgrind_take(struct param *copies)
{
    if (copies->is_set || !param_under_valgrind())
        return;
    copies->string = "none";
    copies->from = "Valgrind";
}

bool param_under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "/vgpreload_");
}

void params_read(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    for (int i = 0; i < PARAM_COUNT; i++)
        param_take(&params[i], params[i].standard);
    for (char **variable = environ; variable && *variable; variable++)
        if (strncmp(*variable, PREFIX, PREFIX_CHARS) == 0)
            variable_read(*variable);
    valgrind_take(&params[PARAM_ID_SHM_SINGLE_COPY]);
}

bool param_advise(const char *name, const char *value, const char *from)
{
    long long number;
    for (int i = 0; i < PARAM_COUNT; i++) {
        struct param *p = &params[i];
        if (strcmp(p->name, name) != 0)
            continue;
        if (p->type == PARAM_STRING || !number_read(p, value, &number))
            return false;
        if (!p->is_set && from) {
            p->number = number;
            p->from = from;
        }
        return true;
    }
    return false;
}
