/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which tuning file is in force, and what it says.
 *
 *     XMPI_TUNING=FILE    for all questions.  xmpirun hands the variable to every rank, and all must
 *                         see the same text.  It is obeyed on whatever machine; of another one rank 0
 *                         says that it is.
 *     XMPI_TUNING=none    none
 *     otherwise           $XDG_CONFIG_HOME/xmpi/tuning-NUMBER or ~/.config/xmpi/tuning-NUMBER, where
 *                         NUMBER tells machines apart (runtime/hw.h), if it is there.  Only for
 *                         ranks of one node: nodes may have homes of their own, and ranks must
 *                         choose alike.
 *
 * A file that XMPI_TUNING names must be right: what is wrong with it is an error of every
 * collective.  One that lies about is passed over with a warning.
 */
#include "coll/tuning.h"
#include "coll/tuning_device.h"

#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "runtime/hw.h"
#include "runtime/log.h"
#include "runtime/param.h"
#include "mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    bool looked;
    struct tuning *named, *found; /* by XMPI_TUNING; in its usual place */
    char complaint[600];          /* about the named one */
} files;

/* The folder of this user's files; "": nobody knows. */
static void usual_folder(char *path, size_t room)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    path[0] = '\0';
    if (config && *config)
        snprintf(path, room, "%s/xmpi", config);
    else if (home && *home)
        snprintf(path, room, "%s/.config/xmpi", home);
}

void tuning_default_path(char *path, size_t room)
{
    usual_folder(path, room);
    size_t n = strlen(path);
    if (n)
        snprintf(path + n, room - n, "/tuning-%08x", hw_machine_number());
}

static void look_in_usual_place(void)
{
    char path[PATH_MAX], here[16];
    usual_folder(path, sizeof path);
    if (!*path || access(path, X_OK) != 0) /* as a rule: then the machine does not matter */
        return;
    tuning_default_path(path, sizeof path);
    if (access(path, R_OK) != 0)
        return;
    if (tuning_read(path, &files.found)) {
        if (boot.rank == 0)
            say("%s; the whole file is passed over", fail_text());
        return;
    }
    snprintf(here, sizeof here, "%08x", hw_machine_number());
    if (strcmp(files.found->machine, here) != 0) {
        if (boot.rank == 0)
            say("%s was measured on machine %s, this is %s; it is passed over", path,
                files.found->machine, here);
        tuning_free(files.found);
        files.found = NULL;
    }
}

/* Whoever names a file may know better, or have forgotten where it comes from. */
static void machine_compare(const struct tuning *tuning)
{
    char here[16];
    snprintf(here, sizeof here, "%08x", hw_machine_number());
    if (boot.rank == 0 && *tuning->machine && strcmp(tuning->machine, here) != 0)
        say("XMPI_TUNING=%s was measured on machine %s, this is %s; it is obeyed.  To measure "
            "here: xmpi tune; without its line \"machine\" it is for any",
            tuning->path, tuning->machine, here);
}

static void look(void)
{
    const char *named = param_string(TUNING);
    files.looked = true;
    if (named && strcmp(named, "none") == 0)
        return;
    if (!named)
        look_in_usual_place();
    else if (tuning_read(named, &files.named))
        snprintf(files.complaint, sizeof files.complaint, "%s", fail_text());
    else
        machine_compare(files.named);
}

void tuning_forget(void)
{
    tuning_free(files.named);
    tuning_free(files.found);
    memset(&files, 0, sizeof files);
}

int tuning_in_force(const struct question *q, const struct tuning **tuning)
{
    if (!files.looked)
        look();
    if (files.complaint[0])
        return fail(MPI_ERR_OTHER, "XMPI_TUNING: %s", files.complaint);
    *tuning = files.named ? files.named : q->one_node ? files.found : NULL;
    return 0;
}

/* ---- asking a file ---- */

static bool within(size_t x, struct reach reach)
{
    return x >= reach.from && x <= reach.to;
}

static bool fits(const struct tuning_row *row, const struct question *q)
{
    return row->what == q->what && !q->inter && (!row->noncommutative || q->order_matters) &&
           within((size_t)q->nodes, row->nodes) && within((size_t)q->ranks, row->ranks) &&
           within(q->bytes, row->bytes);
}

const struct tuning_row *tuning_find(const struct tuning *tuning, const struct question *q,
                                     const struct tuned **use)
{
    for (int i = 0; tuning && i < tuning->nrows; i++) {
        const struct tuning_row *row = &tuning->row[i];
        if (!fits(row, q))
            continue;
        for (int k = 0; k < row->nuse; k++)
            if (!choose_objection(row->use[k].use.algorithm, q)) {
                *use = &row->use[k];
                return row;
            }
    }
    return NULL;
}

int tuning_choose(const struct question *q, struct choice *choice, bool *found)
{
    const struct tuning *tuning = NULL;
    const struct tuned *use;
    *found = false;
    int error = tuning_in_force(q, &tuning);
    const struct tuning_row *row = error ? NULL : tuning_find(tuning, q, &use);
    if (!row)
        return error;
    *found = true;
    *choice = (struct choice){ use->use.algorithm, use->use.pieces, use->use.radix,   BY_TUNING,
                               row->line,          tuning->path,    use->use.throttle };
    return 0;
}

/* ---- devices ---- */

static const struct tuning_device *device_find(const struct tuning *tuning, const char *model)
{
    for (int i = 0; tuning && i < tuning->ndevices; i++) {
        const struct tuning_device *device = &tuning->device[i];
        if (strcmp(device->model, "any") == 0 || strcmp(device->model, model) == 0)
            return device;
    }
    return NULL;
}

/* A file that is wrong is told by the first collective. */
void tuning_for_device(void)
{
    static char from[PATH_MAX + 16];
    char model[GPU_MODEL_CHARS];
    if (*from || !gpu_model(model))
        return;
    if (!files.looked)
        look();
    const struct tuning *tuning = files.named ? files.named : files.found;
    const struct tuning_device *device = device_find(tuning, model);
    if (!device)
        return;
    snprintf(from, sizeof from, "%s:%d", tuning->path, device->line);
    for (int i = 0; i < device->nset; i++)
        param_advise(device->set[i].name, device->set[i].value, from);
}
