/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What each option means: the fields of struct options that it sets.  One switch per section of
 * the table in options.def.
 */
#include "launcher/apply.h"

#include "launcher/environment.h"
#include "launcher/out.h"
#include "launcher/tree.h"
#include "runtime/psets.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

int option_bad_value(const struct option_use *p, const char *expected)
{
    complain("%s %s: expected %s", p->spelling, p->values.text[0], expected);
    return EXIT_USAGE;
}

int option_number(const struct option_use *p, int least, int most, int *to)
{
    char *end;
    errno = 0;
    long value = strtol(p->values.text[0], &end, 10);
    if (*end || end == p->values.text[0] || errno || value < least || value > most) {
        complain("%s %s: expected a number from %d to %d", p->spelling, p->values.text[0],
                 least, most);
        return EXIT_USAGE;
    }
    *to = (int)value;
    return 0;
}

static bool has_name(const char *item)
{
    return *item && *item != '=';
}

/* NAME VALUE, or NAME=VALUE in one word. */
static int set_variable(struct option_use *p, struct environment_changes *env)
{
    char *name = p->values.text[0];
    if (!has_name(name))
        return option_bad_value(p, "the name of a variable, and its value");
    strings_add(&env->set, p->values.n > 1 ? environment_text(name, p->values.text[1]) : name);
    return 0;
}

/* -x NAME means "pass it on", which happens anyway unless the environment starts empty. */
static int export_variable(struct option_use *p)
{
    char *item = p->values.text[0];
    size_t bytes = strcspn(item, "=");
    if (!has_name(item))
        return option_bad_value(p, "NAME or NAME=VALUE");
    if (item[bytes] == '=') {
        strings_add(&p->app->env.set, item);
        return 0;
    }
    const char *value = getenv(item);
    if (value)
        strings_add(&p->app->env.set, environment_text(item, value));
    else if (!strchr(item, '*'))
        notice("%s %s: there is no such variable", p->spelling, item);
    return 0;
}

static int list_variables(struct option_use *p, struct environment_changes *env)
{
    for (char *word = strtok(p->values.text[0], ", "); word; word = strtok(NULL, ", "))
        strings_add(&env->only, word);
    if (!env->only.n)
        env->none = true;
    return 0;
}

static int umask_value(const struct option_use *p)
{
    char *end;
    long mode = strtol(p->values.text[0], &end, 8);
    if (*end || end == p->values.text[0] || mode < 0 || mode > 0777)
        return option_bad_value(p, "an octal file mode, such as 022");
    p->app->umask = (int)mode;
    return 0;
}

/* ---- streams ---- */

static int stdin_rank(const struct option_use *p)
{
    const char *value = p->values.text[0];
    int *to = &p->options->iof.stdin_rank;
    if (strcmp(value, "all") == 0)
        *to = STDIN_ALL;
    else if (strcmp(value, "none") == 0)
        *to = STDIN_NONE;
    else
        return option_number(p, 0, INT_MAX, to);
    return 0;
}

static int output_directory(const struct option_use *p, char *value)
{
    char *modifier = strrchr(value, ':');
    if (modifier && strcasecmp(modifier, ":nocopy") == 0) {
        *modifier = 0;
        p->options->iof.files_only = true;
    }
    p->options->iof.directory = value;
    return 0;
}

/* --output tag,timestamp,dir=D,file=P */
static int output_list(const struct option_use *p)
{
    struct iof_options *iof = &p->options->iof;
    for (char *word = strtok(p->values.text[0], ","); word; word = strtok(NULL, ",")) {
        if (strcmp(word, "tag") == 0 || strncmp(word, "tag-", 4) == 0)
            iof->tag = TAG_JOB;
        else if (strcmp(word, "rank") == 0)
            iof->tag = TAG_RANK;
        else if (strcmp(word, "timestamp") == 0)
            iof->timestamp = true;
        else if (strncmp(word, "dir=", 4) == 0)
            iof->directory = word + 4;
        else if (strncmp(word, "file=", 5) == 0)
            iof->outfile = word + 5;
        else if (strcmp(word, "nocopy") == 0)
            iof->files_only = true;
        else
            return option_bad_value(p, "tag, rank, timestamp, dir=DIR, file=PATTERN or nocopy");
    }
    return 0;
}

static int stream_option(const struct option_use *p, int id)
{
    struct iof_options *iof = &p->options->iof;
    char *value = p->values.n ? p->values.text[0] : NULL;
    switch (id) {
    case OPTION_STDIN:
        return stdin_rank(p);
    case OPTION_LABEL:
        iof->tag = TAG_RANK;
        return 0;
    case OPTION_TAG:
        iof->tag = TAG_JOB;
        return 0;
    case OPTION_TIMESTAMP:
        iof->timestamp = true;
        return 0;
    case OPTION_PREPEND:
        iof->tag = TAG_PATTERN;
        iof->pattern = value;
        return 0;
    case OPTION_OUTPUT:
        return output_list(p);
    case OPTION_OUTPUT_DIR:
        return output_directory(p, value);
    case OPTION_OUTFILE:
        iof->outfile = value;
        return 0;
    case OPTION_ERRFILE:
        iof->errfile = value;
        return 0;
    default:
        iof->pty = id == OPTION_PTY;
        return 0;
    }
}

/* ---- the job ---- */

static int environment_option(struct option_use *p, int id)
{
    struct options *options = p->options;
    int port;
    switch (id) {
    case OPTION_EXPORT:
        return export_variable(p);
    case OPTION_ENV:
        return set_variable(p, &p->app->env);
    case OPTION_GENV:
        return set_variable(p, &options->env);
    case OPTION_UNSET:
        strings_add(&p->app->env.unset, p->values.text[0]);
        return 0;
    case OPTION_ENVNONE:
        p->app->env.none = true;
        return 0;
    case OPTION_GENVNONE:
        options->env.none = true;
        return 0;
    case OPTION_ENVLIST:
        return list_variables(p, &p->app->env);
    case OPTION_GENVLIST:
        return list_variables(p, &options->env);
    case OPTION_MASTER_ADDR:
        options->master_addr = p->values.text[0];
        return 0;
    case OPTION_MASTER_PORT:
        options->master_port = p->values.text[0];
        return strcmp(options->master_port, "auto") == 0 ? 0
                                                         : option_number(p, 1, 65535, &port);
    default:
        return 0; /* -envall: so it is */
    }
}

static int process_set(struct option_use *p)
{
    if (!pset_may_be_called(p->values.text[0]))
        return option_bad_value(
            p, "a name without blanks and commas that does not begin with mpi://");
    strings_add(&p->app->psets, p->values.text[0]);
    return 0;
}

static int initial_errhandler(struct option_use *p)
{
    static const char *const names[] = { "mpi_errors_are_fatal", "mpi_errors_abort",
                                         "mpi_errors_return" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(p->values.text[0], names[i]) == 0) {
            strings_add(&p->options->env.set,
                        environment_text("XMPI_INITIAL_ERRHANDLER", names[i]));
            return 0;
        }
    return option_bad_value(p, "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return");
}

/* Hosts are those of the job, wherever they are named. */
static int host_list(struct option_use *p, struct strings *list)
{
    struct options *options = p->options;
    bool other = options->hosts_section && options->hosts_section != options->napps;
    options->hosts_section = other ? -1 : options->napps;
    strings_add(list, p->values.text[0]);
    return 0;
}

static int process_option(struct option_use *p, int id)
{
    struct options *options = p->options;
    switch (id) {
    case OPTION_NP:
        return option_number(p, 1, INT_MAX, &p->app->np);
    case OPTION_PER_HOST:
        return option_per_host(p);
    case OPTION_WDIR:
        p->app->wdir = p->values.text[0];
        return 0;
    case OPTION_ERRHANDLER:
        return initial_errhandler(p);
    case OPTION_MEMORY_KINDS:
        strings_add(&p->options->env.set,
                    environment_text("XMPI_MEMORY_ALLOC_KINDS", p->values.text[0]));
        return 0;
    case OPTION_PATH:
        p->app->path = p->values.text[0];
        return 0;
    case OPTION_UMASK:
        return umask_value(p);
    case OPTION_PSET:
        return process_set(p);
    case OPTION_UNIVERSE:
        return option_number(p, 1, INT_MAX, &options->universe);
    case OPTION_HOST:
        return host_list(p, &options->hosts);
    case OPTION_AGENT:
        options->agent = p->values.text[0];
        return 0;
    case OPTION_FANOUT:
        return option_number(p, 1, FANOUT_MOST, &options->fanout);
    case OPTION_NODE_RANK:
        return option_number(p, 0, INT_MAX, &options->node_rank);
    case OPTION_JOB_NAME:
        options->job_name = p->values.text[0];
        return 0;
    case OPTION_HOSTFILE:
        return host_list(p, &options->hostfiles);
    default:
        return option_number(p, 1, RANKS_MOST, &options->nnodes); /* each has one or more */
    }
}

enum { LIMIT_MOST = 2000000000 /* seconds, 63 years: nanoseconds of it are a number */ };

bool limit_read(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    if (*end || !(*seconds > 0)) /* NaN is not */
        return false;
    if (*seconds > LIMIT_MOST)
        *seconds = 0; /* nobody lives to see it */
    return true;
}

static int timeout_value(const struct option_use *p)
{
    if (!limit_read(p->values.text[0], &p->options->timeout))
        return option_bad_value(p, "a number of seconds");
    return 0;
}

static int pmix_value(const struct option_use *p)
{
    static const char *words[] = { "auto", "always", "never" };
    for (int i = 0; i < 3; i++)
        if (strcmp(p->values.text[0], words[i]) == 0) {
            p->options->pmix = (enum pmix_wish)i;
            return 0;
        }
    return option_bad_value(p, "auto, always or never");
}

static int running_option(const struct option_use *p, int id)
{
    struct options *options = p->options;
    switch (id) {
    case OPTION_TIMEOUT:
        return timeout_value(p);
    case OPTION_PMIX:
        return pmix_value(p);
    case OPTION_TOOLS:
        options->tools = true;
        return 0;
    case OPTION_VERBOSE:
        options->verbose = notices_wanted = true;
        return 0;
    case OPTION_QUIET:
        options->quiet = true;
        return 0;
    case OPTION_KEEP_GOING:
        options->keep_going = true;
        return 0;
    default:
        options->exit_codes = true;
        return 0;
    }
}

/* --display map,bind: Open MPI's words, with qualifiers (":parseable") that say how. */
static int display(const struct option_use *p)
{
    static const struct {
        const char *word;
        bool binds;
    } known[] = { { "map", false },    { "map-devel", false },  { "map-diffable", false },
                  { "alloc", false },  { "allocation", false }, { "topo", false },
                  { "cpus", false },   { "bind", true },        { "binding", true },
                  { "bindings", true } };
    const size_t n = sizeof known / sizeof known[0];
    const char *text = p->values.text[0];
    do {
        size_t bytes = strcspn(text, ",:"), i = 0;
        while (i < n &&
               (strlen(known[i].word) != bytes || strncasecmp(known[i].word, text, bytes) != 0))
            i++;
        if (i == n)
            return option_bad_value(p, "map, bind, allocation or topo, or some of them, as in "
                                       "map,bind");
        *(known[i].binds ? &p->options->bindings : &p->options->display_map) = true;
        text += bytes + strcspn(text + bytes, ",");
    } while (*text++);
    return 0;
}

static int showing_option(const struct option_use *p, int id)
{
    struct options *options = p->options;
    const char *value = p->values.n ? p->values.text[0] : "";
    switch (id) {
    case OPTION_DRY_RUN:
        options->dry_run = true;
        return 0;
    case OPTION_MACHINE:
        options->machine = value;
        return 0;
    case OPTION_DISPLAY_MAP:
        options->display_map = true;
        return 0;
    case OPTION_DISPLAY:
        return display(p);
    case OPTION_BINDINGS:
        options->bindings = true;
        return 0;
    case OPTION_STATUS:
        options->status = true;
        return 0;
    case OPTION_VERSION:
        help_version(stdout);
        break;
    default:
        (strcmp(value, "man") == 0 ? help_manual : help_print)(stdout);
    }
    options->done = true;
    return 0;
}

int option_apply(struct option_use *p, const struct option_row *row)
{
    switch (row->section) {
    case SECTION_PROCESSES:
    case SECTION_HOSTS:
        return process_option(p, row->id);
    case SECTION_ENVIRONMENT:
        return environment_option(p, row->id);
    case SECTION_PLACEMENT:
        return option_placement(p, row->id);
    case SECTION_STREAMS:
        return stream_option(p, row->id);
    case SECTION_RUNNING:
        return running_option(p, row->id);
    case SECTION_SHOWING:
        return showing_option(p, row->id);
    default:
        notice("%s is ignored: %s", p->spelling, row->text);
        return 0;
    }
}
