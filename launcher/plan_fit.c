/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the user asked for, and what a host has: a rank that shall have more cores than there are is
 * refused, and so are ranks that would share some under --bind-to ..:no-overload.
 */
#include "launcher/out.h"
#include "launcher/plan.h"

void plan_bind_near_gpus(const struct options *options, const struct host *host,
                         struct plan *plan)
{
    struct map_fit fit = map_fit(&host->shape, &plan->decided, plan->nranks, false);
    if (options->map.to != LEVEL_UNSET || map_fits(&fit, &plan->decided))
        return;
    plan->decided.to = LEVEL_NONE;
    if (options->map.pe)
        complain(
            "--map-by gpu:pe=%d: host %s has fewer than %d cores for each rank near to its "
            "GPU: ranks are not bound; --bind-to core lets them share cores",
            options->map.pe, host->name, options->map.pe);
}

/* " near to a GPU", " on a numa", or nothing where ranks are dealt to the host as it is. */
static const char *where(const struct map_options *decided, char *text, size_t room)
{
    bool whole = (decided->by <= LEVEL_CORE && !decided->per) || decided->by == LEVEL_NODE;
    if (decided->by == LEVEL_GPU)
        return " near to a GPU";
    if (whole)
        return "";
    snprintf(text, room, " on a %s", level_name(decided->by));
    return text;
}

static int too_many_cores(const struct host *host, const struct map_options *decided,
                          const char *units, int fewest)
{
    char text[32];
    const char *place = where(decided, text, sizeof text);
    bool by_core = !*place || decided->by <= LEVEL_CORE;
    complain(
        "pe=%d (--map-by ..:pe, --cpus-per-rank): a rank shall have %d %s, but host %s has "
        "only %d%s; use pe=%d or less%s",
        decided->pe, decided->pe, units, host->name, fewest, place, fewest,
        by_core ? "" : ", or --map-by slot");
    return EXIT_USAGE;
}

static int too_many_ranks(const struct host *host, const struct plan *plan,
                          const struct map_fit *fit, const char *units)
{
    char text[32];
    const struct map_options *decided = &plan->decided;
    int others = host->budget.others;
    if (map_fits(fit, decided))
        complain("--bind-to %s:no-overload: %d ranks of other jobs, or of other names of host "
                 "%s, use its %s, too; leave no-overload out",
                 level_name(decided->to), others, host->name, units);
    else
        complain("--bind-to %s:no-overload: %d ranks with pe=%d, but host %s has only %d %s%s; "
                 "use fewer ranks there or a smaller pe, or leave no-overload out",
                 level_name(decided->to), fit->ranks, decided->pe ? decided->pe : 1, host->name,
                 fit->room, units, where(decided, text, sizeof text));
    return EXIT_USAGE;
}

int plan_check_fit(const struct options *options, const struct host *host,
                   const struct plan *plan)
{
    const struct map_options *decided = &plan->decided;
    if (decided->to == LEVEL_NONE)
        return 0;
    bool threads = options->hwthreads || decided->by == LEVEL_HWTHREAD ||
                   (decided->by == LEVEL_GPU && decided->to == LEVEL_HWTHREAD);
    struct map_fit fit = map_fit(&host->shape, decided, plan->nranks, threads);
    const char *units = threads ? "hardware threads" : "cores";
    if (decided->pe > fit.fewest)
        return too_many_cores(host, decided, units, fit.fewest);
    /* Hosts that share CPUs bind all their ranks from the first core on. */
    bool shared = host->budget.others > 0 && decided->to <= LEVEL_CORE;
    if (options->no_overload && (shared || !map_fits(&fit, decided)))
        return too_many_ranks(host, plan, &fit, units);
    return 0;
}
