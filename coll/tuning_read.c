/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading a tuning file, line by line.  A row that can never decide anything is refused here, with
 * file, line and reason: whoever wrote it meant something else.
 */
#include "coll/tuning.h"

#include "coll/tiny.h"
#include "runtime/amount.h"
#include "runtime/fail.h"
#include "runtime/param.h"
#include "runtime/printable.h"
#include "mpi.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 4000 };

struct reader {
    struct tuning *tuning;
    int line;
    unsigned seen;        /* conditions of this row, a bit each */
    char why[FORCED_WHY]; /* "" = all is well */
};

#define REFUSE(r, ...) snprintf((r)->why, FORCED_WHY, __VA_ARGS__)

/* N, N..M, N.., ..M, any */
static bool reach_read(const char *text, struct reach *reach)
{
    *reach = (struct reach){ 0, SIZE_MAX };
    if (strcmp(text, "any") == 0)
        return true;
    const char *end = amount_begin(text, &reach->from);
    bool begins = end != NULL;
    if (begins)
        text = end;
    else
        reach->from = 0;
    if (begins && !*text)
        reach->to = reach->from;
    if (!*text)
        return begins;
    if (strncmp(text, "..", 2) != 0)
        return false;
    text += 2;
    if (!*text)
        return begins;
    return amount_read(text, &reach->to) && reach->to >= reach->from;
}

static void condition_read(struct reader *r, struct tuning_row *row, char *word)
{
    static const char *const names[] = { "nodes", "ranks", "bytes" };
    struct reach *const reaches[] = { &row->nodes, &row->ranks, &row->bytes };
    char *value = strchr(word, '=');
    if (strcmp(word, "noncommutative") == 0) {
        row->noncommutative = true;
        if (row->what < COLL_REDUCE)
            REFUSE(r, "%s has no operation that might not commute", collective_name(row->what));
        return;
    }
    if (value)
        *value++ = '\0';
    for (int i = 0; value && i < 3; i++)
        if (strcmp(word, names[i]) == 0) {
            if (r->seen >> i & 1)
                REFUSE(r, "%s= is there twice", word);
            else if (!reach_read(value, reaches[i]))
                REFUSE(r, "%s=%s is not N, N..M, N.., ..M or any", word, value);
            else if (reaches[i] != &row->bytes && reaches[i]->to == 0)
                REFUSE(r, "%s=%s is never so; give a number from 1 on", word, value);
            r->seen |= 1u << i;
            return;
        }
    REFUSE(r, "\"%s\" is no condition; there are nodes=, ranks=, bytes=, noncommutative", word);
}

/* The same, of numbers of ranks: none of those that the row is for will do.  Among very many one does; what
 * somebody wrote is performed for each. */
static const char *never_so_many(const struct tuning_row *row, const struct forced *use)
{
    enum { MANY = 1 << 16, MANY_OWN = 64 };
    static char text[FORCED_WHY - 64];
    char near[40];
    const struct algorithm *a = use->algorithm;
    const char *why = NULL;
    size_t to = row->ranks.to, many = a->script ? MANY_OWN : MANY;
    if (a->needs == NEEDS_PLACES || to > INT_MAX || to - row->ranks.from >= many)
        return NULL;
    for (size_t p = row->ranks.from ? row->ranks.from : 1; p <= to; p++) {
        why = algorithm_objection(a, (int)p, NULL);
        if (!why)
            return NULL;
    }
    int from = (int)(row->ranks.from ? row->ranks.from : 1);
    algorithm_ranks_near(a, from, (int)to, near, sizeof near);
    snprintf(text, sizeof text, "cannot work on so many ranks: %.240s%s%s%s", why,
             *near ? "; on " : "", near, *near ? " it can" : "");
    return text;
}

/* Why an algorithm never serves where the row applies; NULL: it may.  Too many ranks for shared slots: use_read. */
static const char *never(const struct tuning_row *row, const struct forced *use)
{
    const struct algorithm *a = use->algorithm;
    bool alone = row->ranks.to == 1;
    if (alone && a->needs == NEEDS_PLACES)
        return "works between places, and the row is for one rank, which has one";
    if (alone && !a->program)
        return "works by memory that ranks share, and the row is for one rank";
    if (row->noncommutative && !a->ordered)
        return "does not fold in rank order, and the row is for operations that do not commute";
    if (use->pieces > 1 && !algorithm_cuts(a))
        return "cannot be cut in pieces";
    if (use->pieces > 1 && pieces_objection(a))
        return "cannot be cut in pieces with XMPI_SHORT_BLOCKS=1, where two ends would cut a "
               "block differently";
    if (use->throttle && !a->program)
        return "is no plan that could be throttled";
    if (a->program)
        return never_so_many(row, use);
    if (row->nodes.from > 1)
        return "needs memory that all ranks share, and the row is for several nodes";
    if (a->attaches || row->ranks.from > TINY_RANKS)
        return NULL;
    int ranks = row->ranks.from > 1 ? (int)row->ranks.from : 2;
    bool fits = tiny_needs(row->what, ranks, row->bytes.from) <= TINY_BYTES;
    return fits ? NULL : "cannot hold so many bytes in a shared slot";
}

/* "ring:pieces=2 12.5us" */
static void use_read(struct reader *r, struct tuning_row *row, char *text)
{
    char *rest = NULL, *name = strtok_r(text, " \t", &rest), *time, *end;
    if (!name) {
        REFUSE(r, "an algorithm is missing between commas");
        return;
    }
    if (row->nuse == TUNING_MOST) {
        REFUSE(r, "more than %d algorithms in a row", TUNING_MOST);
        return;
    }
    struct tuned *use = &row->use[row->nuse++];
    use->us = -1;
    algorithm_read(row->what, name, &use->use, r->why);
    const char *why = r->why[0] ? NULL : never(row, &use->use);
    if (why)
        REFUSE(r, "%s %s", use->use.algorithm->name, why);
    else if (!r->why[0] && !use->use.algorithm->program && row->ranks.from > TINY_RANKS)
        REFUSE(r, "%s serves %d ranks at most", use->use.algorithm->name, TINY_RANKS);
    time = strtok_r(NULL, " \t", &rest);
    if (!time || r->why[0])
        return;
    use->us = strtod(time, &end);
    if (end == time || strcmp(end, "us") != 0 || strtok_r(NULL, " \t", &rest) ||
        !(use->us >= 0 && isfinite(use->us)))
        REFUSE(r, "\"%s\" after %s is not a time like 12.5us", time, use->use.algorithm->name);
}

/* Does the choice depend on an amount of data that all ranks know? */
static bool has_bytes(enum collective what)
{
    return what != COLL_BARRIER && is_amount_known(what);
}

static void row_read(struct reader *r, struct tuning_row *row, char *line, char *colon)
{
    char *rest = NULL, *uses = colon + 1, *word;
    *colon = '\0';
    word = strtok_r(line, " \t", &rest);
    int what = word ? collective_find(word) : -1;
    const struct reach any = { 0, SIZE_MAX };
    r->seen = 0;
    if (what < 0) {
        no_collective(word ? word : "", r->why);
        return;
    }
    *row = (struct tuning_row){
        .what = (enum collective)what, .nodes = any, .ranks = any, .bytes = any, .line = r->line
    };
    while (!r->why[0] && (word = strtok_r(NULL, " \t", &rest)))
        condition_read(r, row, word);
    if (!r->why[0] && row->nodes.from > row->ranks.to)
        REFUSE(r, "nodes=%zu and more never have so few ranks as %zu", row->nodes.from,
               row->ranks.to);
    bool names_bytes = row->bytes.from > 0 || row->bytes.to < SIZE_MAX;
    if (!r->why[0] && names_bytes && !has_bytes(row->what))
        REFUSE(r, "%s is chosen without regard to bytes: take them out of the row",
               collective_name(row->what));
    for (char *use; !r->why[0] && (use = strsep(&uses, ","));)
        use_read(r, row, use);
}

static void row_add(struct reader *r, char *line, char *colon)
{
    struct tuning *t = r->tuning;
    struct tuning_row *more = realloc(t->row, ((size_t)t->nrows + 1) * sizeof(*more));
    if (!more) {
        REFUSE(r, "no memory for one more row");
        return;
    }
    t->row = more;
    row_read(r, &more[t->nrows], line, colon);
    t->nrows += !r->why[0];
}

/* ---- devices ---- */

/* "CUDA_IPC=16384" */
static void setting_read(struct reader *r, struct tuning_device *device, char *text)
{
    static const char *const known[] = { "CUDA_IPC", "CUDA_REDUCE", "CUDA_BLOCK", "CUDA_PACK",
                                         "CUDA_ENQUEUE" };
    char *rest = NULL, *word = strtok_r(text, " \t", &rest);
    char *value = word ? strchr(word, '=') : NULL;
    enum { KNOWN = sizeof known / sizeof *known };
    int i = 0;
    if (!value || strtok_r(NULL, " \t", &rest)) {
        REFUSE(r, "\"%s\" is no setting like CUDA_IPC=16384", word ? word : "");
        return;
    }
    *value++ = '\0';
    while (i < KNOWN && strcmp(word, known[i]) != 0)
        i++;
    if (i == KNOWN)
        REFUSE(r,
               "%s is not set by devices; there are CUDA_IPC, CUDA_REDUCE, CUDA_BLOCK, "
               "CUDA_PACK, CUDA_ENQUEUE",
               word);
    else if (strlen(value) >= TUNING_WORD || !param_advise(word, value, NULL))
        REFUSE(r, "%s=%s is no number", word, value);
    else if (device->nset == TUNING_SETTINGS)
        REFUSE(r, "more than %d settings in a row", TUNING_SETTINGS);
    if (r->why[0])
        return;
    snprintf(device->set[device->nset].name, TUNING_WORD, "%s", word);
    snprintf(device->set[device->nset++].value, TUNING_WORD, "%s", value);
}

/* "NVIDIA A100-SXM4-40GB : CUDA_IPC=16384, ..." */
static void device_add(struct reader *r, char *model, char *colon)
{
    struct tuning *t = r->tuning;
    struct tuning_device *more = realloc(t->device, ((size_t)t->ndevices + 1) * sizeof(*more));
    if (!more) {
        REFUSE(r, "no memory for one more row");
        return;
    }
    t->device = more;
    struct tuning_device *device = &more[t->ndevices];
    *device = (struct tuning_device){ .line = r->line };
    char *end = colon;
    while (end > model && strchr(" \t", end[-1]))
        end--;
    *end = '\0';
    model += strspn(model, " \t");
    if (!*model || strlen(model) >= sizeof device->model)
        REFUSE(r, "device wants the name of a GPU, of %zu characters at most, or any",
               sizeof device->model - 1);
    snprintf(device->model, sizeof device->model, "%s", model);
    char *settings = colon + 1;
    for (char *one; !r->why[0] && (one = strsep(&settings, ","));)
        setting_read(r, device, one);
    t->ndevices += !r->why[0];
}

/* ---- lines ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The colon that stands alone; others belong to names. */
static char *lone_colon(char *line)
{
    char *at = *line ? strchr(line + 1, ':') : NULL;
    while (at && !(is_blank(at[-1]) && (is_blank(at[1]) || !at[1])))
        at = strchr(at + 1, ':');
    return at;
}

static void line_read(struct reader *r, char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    line += strspn(line, " \t");
    char *colon = lone_colon(line), rest, machine[sizeof r->tuning->machine];
    long version;
    if (!*line)
        return;
    if (sscanf(line, "xmpi-tuning %ld %c", &version, &rest) == 1) {
        if (version != 1)
            REFUSE(r, "this is version %ld of tuning files; this xmpi reads version 1",
                   version);
    } else if (!colon && sscanf(line, "machine %15s", machine) == 1) {
        printable(r->tuning->machine, sizeof machine, machine);
    } else if (!colon) {
        REFUSE(r, "\"%s\" is no row: collective conditions : algorithm time, ...", line);
    } else if (strncmp(line, "device", 6) == 0 && strchr(" \t", line[6])) {
        device_add(r, line + 6, colon);
    } else {
        row_add(r, line, colon);
    }
}

void tuning_free(struct tuning *tuning)
{
    if (!tuning)
        return;
    free(tuning->row);
    free(tuning->device);
    free(tuning->path);
    free(tuning);
}

int tuning_read(const char *path, struct tuning **tuning)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return fail(MPI_ERR_OTHER, "cannot read %s: %s", path, strerror(errno));
    struct reader r = { .tuning = calloc(1, sizeof(*r.tuning)) };
    char line[MOST_LINE + 2];
    if (r.tuning)
        r.tuning->path = strdup(path);
    if (!r.tuning || !r.tuning->path)
        REFUSE(&r, "no memory for a tuning file");
    while (!r.why[0] && fgets(line, sizeof line, file)) {
        r.line++;
        bool whole = strchr(line, '\n') || feof(file);
        if (whole)
            line_read(&r, line + (r.line == 1 ? text_mark(line) : 0));
        else if (strlen(line) < MOST_LINE)
            REFUSE(&r, "it has a zero byte, so it is no text");
        else
            REFUSE(&r, "a line has %d characters at most", MOST_LINE);
    }
    int unread = ferror(file) ? errno : 0;
    fclose(file);
    if (!r.why[0] && !unread) {
        *tuning = r.tuning;
        return 0;
    }
    tuning_free(r.tuning);
    if (!r.why[0])
        return fail(MPI_ERR_OTHER, "cannot read %s: %s", path, strerror(unread));
    return fail(MPI_ERR_OTHER, "%s:%d: %s", path, r.line, printable(line, sizeof line, r.why));
}
