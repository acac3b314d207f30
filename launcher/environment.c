/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Building environments.  In this order, later ones win:
 *
 *     ours (or nothing, or a list)  ->  -genv  ->  -x, -env  ->  the job's own variables
 *
 * What another launcher left in our environment to tell its ranks who they are is taken out:
 * xmpirun inside `srun` or inside a rank starts a job of its own.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launcher/environment.h"

#include "runtime/bootseg.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

char *environment_text(const char *name, const char *value)
{
    char *text;
    if (asprintf(&text, "%s=%s", name, value) < 0)
        abort();
    return text;
}

bool environment_is_launchers(const char *item)
{
    static const char *const prefixes[] = {
        BOOT_ENV "=",       BOOT_JOB_ENV "=",    "RANK=",          "WORLD_SIZE=",
        "LOCAL_RANK=",      "LOCAL_WORLD_SIZE=", "PMI_",           "OMPI_COMM_WORLD_",
        "MPI_LOCALRANKID=", "MPI_LOCALNRANKS=",  BOOT_GPU_ENV "=",
    };
    if (starts(item, "PMIX_"))
        return !starts(item, "PMIX_MCA_");
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (starts(item, prefixes[i]))
            return true;
    return false;
}

/* Position of the variable named as in `item` ("NAME" or "NAME=..."), -1: not there. */
static int find(const struct environment *env, const char *item)
{
    size_t bytes = strcspn(item, "=");
    for (int i = 0; i < env->used; i++)
        if (strncmp(env->list[i], item, bytes) == 0 && env->list[i][bytes] == '=')
            return i;
    return -1;
}

static void set(struct environment *env, char *item)
{
    int at = find(env, item);
    if (at < 0)
        at = env->used++;
    env->list[at] = item;
    env->list[env->used] = NULL;
}

static void start_from(struct environment *env, const struct environment_changes *global,
                       const struct environment_changes *local)
{
    const struct environment_changes *sources[] = { global, local };
    bool none = global->none || local->none || global->only.n || local->only.n;
    for (char **item = environ; !none && *item; item++)
        if (!environment_is_launchers(*item))
            env->list[env->used++] = *item;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < sources[s]->only.n; i++) {
            size_t bytes = strlen(sources[s]->only.text[i]);
            for (char **item = environ; *item; item++)
                if (strncmp(*item, sources[s]->only.text[i], bytes) == 0 &&
                    (*item)[bytes] == '=')
                    set(env, *item);
        }
}

static void apply(struct environment *env, const struct environment_changes *changes)
{
    for (int i = 0; i < changes->unset.n; i++) {
        int at = find(env, changes->unset.text[i]);
        if (at >= 0)
            env->list[at] = env->list[--env->used];
    }
    for (int i = 0; i < changes->set.n; i++)
        set(env, changes->set.text[i]);
}

void environment_build(struct environment *env, const struct options *options,
                       const struct app *app, const struct strings *common)
{
    size_t most = ENVIRONMENT_TAIL + 1;
    for (char **item = environ; *item; item++)
        most++;
    most += (size_t)(options->env.set.n + app->env.set.n + common->n);
    *env = (struct environment){ .list = calloc(most, sizeof *env->list) };
    if (!env->list)
        abort();
    start_from(env, &options->env, &app->env);
    apply(env, &options->env);
    apply(env, &app->env);
    for (int i = 0; i < common->n; i++)
        set(env, common->text[i]);
    env->common = env->used;
    environment_reset(env);
}

void environment_reset(struct environment *env)
{
    env->used = env->common;
    env->list[env->used] = NULL;
}

void environment_add(struct environment *env, char *text)
{
    assert(env->used < env->common + ENVIRONMENT_TAIL);
    env->list[env->used++] = text;
    env->list[env->used] = NULL;
}

const char *environment_get(const struct environment *env, const char *name)
{
    int at = find(env, name);
    return at < 0 ? NULL : env->list[at] + strlen(name) + 1;
}
