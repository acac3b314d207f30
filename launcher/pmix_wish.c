/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_wish.h.  PMIx calls what a caller says of a job, beside its programs, directives.  Those of
 * the table are obeyed; of the others, those that the caller marks as required are refused.  Jobs have
 * one map and one set of hosts, so directives about these hold for all programs, whoever they are
 * given with.
 */
#include "launcher/pmix_wish.h"

#include "launcher/environment.h"
#include "launcher/out.h"
#include "launcher/program.h"
#include "launcher/wish.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static pmix_status_t refuse(const struct upcall *u, pmix_status_t status, const char *what,
                            const char *why)
{
    complain("PMIx_Spawn by rank %u of %s: %s%s", u->from.rank, u->from.nspace, what, why);
    return status;
}

/* ---- directives ---- */

/* With a value of its own, as words of a command line. */
static const struct {
    const char *key, *option;
    bool hosts;
} options[] = {
    { PMIX_HOST, "--host", true },
    { PMIX_HOSTFILE, "--hostfile", true },
    { PMIX_MAPBY, "--map-by", false },
    { PMIX_BINDTO, "--bind-to", false },
};

static bool is_on(const pmix_info_t *info)
{
    return info->value.type == PMIX_UNDEF ||
           (info->value.type == PMIX_BOOL && info->value.data.flag);
}

/* Directives about how the whole job runs. */
static bool take_option(struct wish *wish, const pmix_info_t *info)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (info_is(info, options[i].key) && info->value.type == PMIX_STRING) {
            strings_add(&wish->options, (char *)options[i].option);
            strings_add(&wish->options, info->value.data.string);
            wish->own_hosts |= options[i].hosts;
            return true;
        }
    if (info_is(info, PMIX_TAG_OUTPUT) && is_on(info))
        strings_add(&wish->options, "--tag-output");
    else if (info_is(info, PMIX_TIMESTAMP_OUTPUT) && is_on(info))
        strings_add(&wish->options, "--timestamp-output");
    else
        return false;
    return true;
}

/* What callers give may be their own environment, which says which rank they are. */
static void take_variable(struct app *app, char *item)
{
    if (strchr(item, '=') && !environment_is_launchers(item))
        strings_add(&app->env.set, item);
}

static char *envar_text(const pmix_envar_t *envar)
{
    return environment_text(envar->envar, envar->value ? envar->value : "");
}

/* Directives about one program. */
static bool take_app_directive(struct app *app, const pmix_info_t *info)
{
    if (info_is(info, PMIX_WDIR) && info->value.type == PMIX_STRING)
        app->wdir = info->value.data.string;
    else if (info_is(info, PMIX_SET_ENVAR) && info->value.type == PMIX_ENVAR)
        take_variable(app, envar_text(&info->value.data.envar));
    else if (info_is(info, PMIX_UNSET_ENVAR) && info->value.type == PMIX_STRING)
        strings_add(&app->env.unset, info->value.data.string);
    else
        return false;
    return true;
}

static bool is_refused(const struct upcall *u, const pmix_info_t *info)
{
    if (!(info->flags & PMIX_INFO_REQD))
        return false;
    refuse(u, PMIX_ERR_NOT_SUPPORTED, info->key, " is required and not supported");
    return true;
}

/* ---- programs ---- */

static pmix_status_t take_app(const struct upcall *u, const pmix_app_t *from, struct wish *wish,
                              struct app *app)
{
    struct strings argv = { 0 };
    *app = (struct app){ .np = from->maxprocs, .umask = -1, .wdir = from->cwd };
    if (!from->cmd || !*from->cmd)
        return refuse(u, PMIX_ERR_BAD_PARAM, "a program has no name", "");
    strings_add(&argv, from->cmd);
    for (int i = 0; from->argv && from->argv[i]; i++)
        if (i > 0) /* the first one is its name again */
            strings_add(&argv, from->argv[i]);
    app->argv = argv.text;
    if (from->maxprocs < 1)
        return refuse(u, PMIX_ERR_BAD_PARAM, from->cmd, ": maxprocs is less than 1");
    for (size_t i = 0; i < u->ninfo; i++)
        take_app_directive(app, &u->info[i]); /* of the job: for all programs */
    for (char **item = from->env; item && *item; item++)
        take_variable(app, *item);
    for (size_t i = 0; i < from->ninfo; i++)
        if (!take_app_directive(app, &from->info[i]) && !take_option(wish, &from->info[i]) &&
            is_refused(u, &from->info[i]))
            return PMIX_ERR_NOT_SUPPORTED;
    return PMIX_SUCCESS;
}

pmix_status_t wish_from_pmix(const struct upcall *u, struct wish *wish)
{
    pmix_status_t status = PMIX_SUCCESS;
    wish->parent = u->from.nspace;
    wish->parent_rank = (int)u->from.rank;
    struct app ignored = { 0 };
    for (size_t i = 0; i < u->ninfo && status == PMIX_SUCCESS; i++)
        if (!take_option(wish, &u->info[i]) && !take_app_directive(&ignored, &u->info[i]) &&
            is_refused(u, &u->info[i]))
            status = PMIX_ERR_NOT_SUPPORTED;
    free(ignored.env.set.text);
    free(ignored.env.unset.text);
    if (status == PMIX_SUCCESS && !u->napps)
        status = refuse(u, PMIX_ERR_BAD_PARAM, "no program was given", "");
    wish->apps = calloc(u->napps + 1, sizeof *wish->apps);
    if (!wish->apps)
        abort();
    for (size_t i = 0; i < u->napps && status == PMIX_SUCCESS; i++) {
        wish->napps = (int)i + 1;
        status = take_app(u, &u->apps[i], wish, &wish->apps[i]);
    }
    return status;
}

pmix_status_t wish_failure(int wait_status)
{
    switch (WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1) {
    case EXIT_NOT_FOUND:
    case EXIT_NOT_EXECUTABLE:
        return PMIX_ERR_JOB_EXE_NOT_FOUND;
    case EXIT_USAGE:
        return PMIX_ERR_JOB_FAILED_TO_MAP;
    default:
        return PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    }
}
