/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The command line of xmpi plan.  Whatever is wrong is said with the argument, its value and what
 * would do instead.
 */
#include "tools/plan.h"

#include "coll/forced.h"
#include "coll/own.h"
#include "runtime/amount.h"
#include "tools/names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool number_read(const char *text, long least, long most, long *number)
{
    char *end;
    *number = strtol(text, &end, 10);
    return end != text && *end == '\0' && *number >= least && *number <= most;
}

struct seconds_text seconds_text(double seconds)
{
    struct seconds_text t;
    if (seconds >= 1)
        snprintf(t.text, sizeof t.text, "%.4g s", seconds);
    else if (seconds >= 1e-3)
        snprintf(t.text, sizeof t.text, "%.4g ms", seconds * 1e3);
    else
        snprintf(t.text, sizeof t.text, "%.4g us", seconds * 1e6);
    return t;
}

/* ---- names ---- */

static int read_name(struct plan_args *args, const char *name)
{
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    for (int what = 0; what < COLL_KINDS; what++) {
        const char *known = collective_name((enum collective)what);
        if (strlen(known) != length || strncmp(known, name, length) != 0)
            continue;
        const char *rest = colon ? colon + 1 : "";
        if (*own_complaint())
            return plan_wrong("XMPI_PLAN: %s", own_complaint());
        args->algorithm = algorithm_find((enum collective)what, false, rest);
        if (!args->algorithm)
            args->algorithm = algorithm_find((enum collective)what, true, rest);
        if (args->algorithm && args->algorithm->program)
            return 0;
        if (args->algorithm)
            return plan_wrong("%s is no plan: it works through %s", name,
                              args->algorithm->attaches ? "each other's memory (coll/attach.c)"
                                                        : "shared flags (coll/tiny.c)");
        return plan_wrong("%s", names_no_algorithm((enum collective)what, rest));
    }
    return plan_wrong("%s", names_no_collective(name));
}

static int one_at_a_time(const struct plan_args *args, const char *name)
{
    const struct algorithm *a = args->algorithm;
    return plan_wrong("%s:%s and %s: one algorithm at a time; leave out one of them",
                      collective_name(a->what), a->name, name);
}

/* ---- options ---- */

/* Plans of so many ranks and pieces are made in seconds; XMPI_COLL takes as many pieces. */
enum { MOST_PIECES = 4096 };

static int read_int(const char *option, const char *value, int least, int most, int *number)
{
    long n;
    if (!number_read(value, least, most, &n))
        return plan_wrong("%s %s is no number from %d to %d", option, value, least, most);
    *number = (int)n;
    return 0;
}

/* "8" or "1..64" */
static int read_ranks(struct plan_args *args, const char *value)
{
    const char *dots = strstr(value, "..");
    char first[40];
    long from, to;
    if (!dots) {
        int code = read_int("-n", value, 1, PLAN_RANKS, &args->from);
        args->to = args->from;
        return code;
    }
    if (strcmp(args->subcommand, "check") != 0)
        return plan_wrong("-n %s: only check takes a range; give one number of ranks", value);
    snprintf(first, sizeof first, "%.*s", (int)(dots - value), value);
    if (!number_read(first, 1, PLAN_RANKS, &from) || !number_read(dots + 2, 1, PLAN_RANKS, &to))
        return plan_wrong(
            "-n %s is no range of ranks; as in -n 1..64, with numbers from 1 to %d", value,
            PLAN_RANKS);
    args->from = (int)from;
    args->to = (int)to;
    return to < from
               ? plan_wrong("-n %s: the range is empty; give the smaller number first", value)
               : 0;
}

static int read_flag(struct plan_args *args, const char *option)
{
    static const struct {
        const char *name;
        size_t at;
    } flags[] = { { "--expand", offsetof(struct plan_args, expand) },
                  { "--in-place", offsetof(struct plan_args, in_place) },
                  { "--graph", offsetof(struct plan_args, graph) } };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(option, flags[i].name)) {
            *(bool *)((char *)args + flags[i].at) = true;
            return 0;
        }
    return -1;
}

/* "4x4x8" */
static int read_dims(struct plan_args *args, const char *value)
{
    const char *at = value;
    for (args->ndims = 0; args->ndims < PLAN_DIMS;) {
        char *end;
        long size = strtol(at, &end, 10);
        if (end == at || size < 1 || size > INT_MAX)
            break;
        args->dims[args->ndims++] = (int)size;
        if (*end == '\0')
            return 0;
        if (*end != 'x')
            break;
        at = end + 1;
    }
    return plan_wrong("--dims %s is no shape of a torus of 1 to %d dimensions; as in 4x4",
                      value, PLAN_DIMS);
}

/* An option with a number or a text.  -1: there is none of that name. */
static int read_value(struct plan_args *args, const char *option, const char *value)
{
    static const struct {
        const char *name;
        size_t at;
        int least, most; /* -1: a text */
    } options[] = { { "--rank", offsetof(struct plan_args, rank), 0, PLAN_RANKS - 1 },
                    { "--root", offsetof(struct plan_args, root), 0, PLAN_RANKS - 1 },
                    { "--pieces", offsetof(struct plan_args, pieces), 1, MOST_PIECES },
                    { "--radix", offsetof(struct plan_args, radix), 2, MOST_FORCED_RADIX },
                    { "--throttle", offsetof(struct plan_args, throttle), 1, PLAN_RANKS },
                    { "--nodes", offsetof(struct plan_args, nodes), 1, PLAN_RANKS },
                    { "--split", offsetof(struct plan_args, split), 1, PLAN_RANKS },
                    { "--topology", offsetof(struct plan_args, topology), -1, -1 },
                    { "-o", offsetof(struct plan_args, output), -1, -1 } };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(option, options[i].name) != 0)
            continue;
        char *at = (char *)args + options[i].at;
        if (options[i].least >= 0)
            return read_int(option, value, options[i].least, options[i].most, (int *)at);
        *(const char **)at = value;
        return 0;
    }
    if (!strcmp(option, "-n"))
        return read_ranks(args, value);
    if (!strcmp(option, "--dims"))
        return read_dims(args, value);
    if (!strcmp(option, "--machine"))
        return machine_read(args, value) ? 0 : 2;
    if (!strcmp(option, "--set"))
        return machine_set(args, value) ? 0 : 2;
    if (strcmp(option, "--bytes") != 0)
        return -1;
    args->has_bytes = true;
    if (!amount_read(value, &args->bytes))
        return plan_wrong("--bytes %s is no amount; as in 8, 64k or 1MiB", value);
    return 0;
}

/* What nobody would look at is refused: whoever wrote it expects something of it. */
static int check_use(const struct plan_args *args, const char *option)
{
    static const char plans[] = " show check cost sim draw goal ";
    static const struct {
        const char *option, *of;
    } uses[] = { { "-n", plans },
                 { "--pieces", plans },
                 { "--radix", plans },
                 { "--throttle", plans },
                 { "--nodes", plans },
                 { "--split", plans },
                 { "--dims", plans },
                 { "--root", " show cost sim draw goal " },
                 { "--bytes", " cost sim goal " },
                 { "--machine", " cost sim goal " },
                 { "--set", " cost sim goal " },
                 { "--topology", " sim " },
                 { "--rank", " show " },
                 { "--expand", " show " },
                 { "--in-place", " show " },
                 { "--graph", " draw " },
                 { "-o", " draw goal import " } };
    char word[40];
    snprintf(word, sizeof word, " %s ", args->subcommand);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (!strcmp(option, uses[i].option) && !strstr(uses[i].of, word))
            return plan_wrong("%s is for%sand not for %s; leave it out", option, uses[i].of,
                              args->subcommand);
    return 0;
}

/* An option and, if it has one, its value.  Returns how many words it was; *code: what is wrong. */
static int read_option(struct plan_args *args, const char *option, const char *value, int *code)
{
    *code = check_use(args, option);
    if (*code)
        return 0;
    *code = read_flag(args, option);
    if (*code == 0)
        return 1;
    if (value)
        *code = read_value(args, option, value);
    if (*code < 0)
        *code =
            plan_wrong("%s is not an option, or its value is missing; see xmpi plan %s --help",
                       option, args->subcommand);
    return 2;
}

/* ---- all of it ---- */

/* Two groups, which --split asks for where both have an algorithm of the name, and a torus. */
static int check_shape(struct plan_args *args)
{
    const struct algorithm *a = args->algorithm;
    if (args->split && !a->inter && algorithm_find(a->what, true, a->name))
        a = args->algorithm = algorithm_find(a->what, true, a->name);
    const char *name = collective_name(a->what);
    int64_t places = 1;
    for (int i = 0; i < args->ndims && places <= INT_MAX; i++)
        places *= args->dims[i];
    if (args->split && !a->inter)
        return plan_wrong("%s:%s works within one group; leave out --split %d", name, a->name,
                          args->split);
    if (a->inter && args->split >= args->from)
        return plan_wrong("--split %d leaves no rank of %d for the second group", args->split,
                          args->from);
    if (args->ndims && !is_neighbourhood(a->what))
        return plan_wrong("%s:%s knows no neighbours; leave out --dims", name, a->name);
    if (args->ndims && (places != args->from || args->from != args->to))
        return plan_wrong("--dims is a torus of %lld places, so take -n %lld",
                          (long long)places, (long long)places);
    return 0;
}

/* On one node there is one place; -n must be a multiple of --nodes. */
static int check_places(const struct plan_args *args)
{
    const struct algorithm *a = args->algorithm;
    const char *what = collective_name(a->what);
    int nodes = 2;
    if (a->needs != NEEDS_PLACES || args->nodes > 1)
        return 0;
    if (args->from == 1)
        return plan_wrong(
            "%s:%s works between places, and one rank has one; take more ranks, on several "
            "--nodes",
            what, a->name);
    while (args->from % nodes)
        nodes++;
    return plan_wrong("%s:%s works between places, and all %d ranks are in one; say on how "
                      "many nodes they are, as in --nodes %d",
                      what, a->name, args->from, nodes);
}

const char *plan_why_not(const struct algorithm *a, int p, const struct places *places)
{
    const char *why = algorithm_objection(a, p, places);
    return !why && a->inter && p < 2 ? "two groups are two ranks at least" : why;
}

int plan_objection(const struct plan_args *args, const struct places *places)
{
    const struct algorithm *a = args->algorithm;
    const char *why = plan_why_not(a, args->from, places);
    char near[40];
    if (!why)
        return 0;
    algorithm_ranks_near(a, args->from, args->from, near, sizeof near);
    return (a->script ? plan_cannot : plan_wrong)("%s:%s on %d ranks: %s%s%s",
                                                  collective_name(a->what), a->name, args->from,
                                                  why, *near ? "; take " : "", near);
}

/* Of what has a time: on so many nodes ranks are in places. */
static int check_ranks(const struct plan_args *args)
{
    static const struct places somewhere = { .levels = 1 };
    int code = check_places(args);
    return code ? code : plan_objection(args, &somewhere);
}

static int complete(struct plan_args *args)
{
    const char *sub = args->subcommand;
    bool priced = !strcmp(sub, "cost") || !strcmp(sub, "sim") || !strcmp(sub, "goal");
    if (!strcmp(sub, "list") || !strcmp(sub, "import"))
        return 0;
    if (!args->algorithm)
        return plan_wrong("of which algorithm?  As in: xmpi plan %s allreduce:ring -n 8", sub);
    const char *name = collective_name(args->algorithm->what);
    if (args->from == 0)
        return plan_wrong("on how many ranks?  As in: xmpi plan %s %s:%s -n 8", sub, name,
                          args->algorithm->name);
    if (priced && !args->has_bytes && args->algorithm->what != COLL_BARRIER)
        return plan_wrong("of how many bytes?  As in --bytes 64k");
    if (args->rank >= args->from || args->root >= args->from)
        return plan_wrong("%s %d is no rank of %d; ranks go from 0 to %d",
                          args->rank >= args->from ? "--rank" : "--root",
                          args->rank >= args->from ? args->rank : args->root, args->from,
                          args->from - 1);
    if (args->nodes && args->from % args->nodes)
        return plan_wrong("%d ranks cannot be spread evenly over --nodes %d; take a divisor",
                          args->from, args->nodes);
    if (args->pieces > 1 && !algorithm_cuts(args->algorithm))
        return plan_wrong("%s:%s cannot be cut; leave out --pieces %d", name,
                          args->algorithm->name, args->pieces);
    if (args->root && !is_rooted(args->algorithm->what))
        return plan_wrong("%s:%s has no root; leave out --root %d", name, args->algorithm->name,
                          args->root);
    if (args->radix && !args->algorithm->radix)
        return plan_wrong("%s:%s has no radix; leave out --radix %d", name,
                          args->algorithm->name, args->radix);
    int code = check_shape(args);
    bool timed = priced || !strcmp(sub, "draw");
    return code || !timed ? code : check_ranks(args);
}

/* A word that may be there once. */
static int read_only(const char **place, const char *word)
{
    if (*place)
        return plan_wrong("%s and %s: one at a time; leave out one of them", *place, word);
    *place = word;
    return 0;
}

int plan_args_read(struct plan_args *args, int argc, char **argv)
{
    args->model = price_standard;
    args->hop = 0.1e-6;
    args->wire = -1; /* as the interface of a node */
    for (int i = 1, words; i < argc; i += words) {
        int code = 0;
        words = 1;
        if (argv[i][0] == '-')
            words = read_option(args, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &code);
        else if (!strcmp(args->subcommand, "list"))
            code = read_only(&args->output, argv[i]);
        else if (!strcmp(args->subcommand, "import"))
            code = read_only(&args->input, argv[i]);
        else
            code = args->algorithm ? one_at_a_time(args, argv[i]) : read_name(args, argv[i]);
        if (code)
            return code;
    }
    if (args->wire < 0)
        args->wire = args->model.link[DISTANCE_NET].byte;
    return complete(args);
}

struct price_query plan_query(const struct plan_args *args)
{
    return (struct price_query){
        .algorithm = args->algorithm,
        .p = args->from,
        .root = args->root,
        .pieces = args->pieces,
        .radix = args->radix,
        .bytes = args->bytes,
        .split = args->split,
        .throttle = args->throttle,
        .dims = args->ndims ? args->dims : NULL,
        .ndims = args->ndims,
        .seats = { .per_node = args->nodes > 1 ? args->from / args->nodes : 0 },
    };
}
