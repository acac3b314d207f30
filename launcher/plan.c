/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plan: how many ranks, on which host, on which CPUs.  The topology is only loaded when a
 * decision or the user asks for it; most jobs start without.
 */
#include "launcher/plan.h"

#include "launcher/batch.h"
#include "launcher/gather.h"
#include "launcher/gpus.h"
#include "launcher/hosts.h"
#include "launcher/out.h"
#include "launcher/remote.h"
#include "launcher/wish.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Look at the host if it is this machine; others have said it (remote_ask).  NULL, or why it is not
 * known. */
static const char *look_at_shape(const struct options *options, struct host *host)
{
    const char *why = "hwloc is not installed there (Debian: libhwloc15)";
    if (host->shape.npus)
        return NULL;
    if (!host->is_local || topology_load(&host->shape, &host->budget.allowed, &why) != 0)
        return why;
    gpus_keep_visible(&host->shape, gpus_visible(options));
    return NULL;
}

/* -1 when the shape is not known; the user hears of it if it was his wish. */
static int need_shape(const struct options *options, struct host *host, bool wished)
{
    const char *why = look_at_shape(options, host);
    if (why)
        (wished ? complain : notice)("host %s: ranks are not bound to CPUs: %s", host->name,
                                     why);
    return why ? -1 : 0;
}

/* What may help where no GPU is left. */
static const char *gpus_advice(const struct options *options, const struct host *host,
                               const char *visible)
{
    if (host->shape.unnamed_gpus && visible && strstr(visible, "MIG-"))
        return ", as which GPU a part (MIG) belongs to is not known; each rank still finds its "
               "part";
    if (host->shape.unnamed_gpus && options->machine)
        return ", or name GPUs by number: the description of the machine has no UUIDs";
    if (host->shape.unnamed_gpus)
        return ", name GPUs by number, or run nvidia-smi there first: its driver says no UUIDs "
               "before somebody has opened it";
    return host->is_local && !options->machine ? ", or see what `xmpi doctor` says of GPUs"
                                               : "";
}

/* Ranks are dealt to GPUs: the host must have one. */
static int need_gpus(const struct options *options, struct host *host)
{
    const char *option = options->map.by == LEVEL_GPU ? "map-by" : "bind-to";
    const char *why = look_at_shape(options, host);
    bool is_ours = host->is_local || !gather_is_wanted(options);
    const char *visible = is_ours ? gpus_visible(options) : NULL;
    if (why)
        complain("--%s gpu: host %s: which CPUs are near to GPUs is not known: %s", option,
                 host->name, why);
    else if (!host->shape.ngpus)
        complain("--%s gpu: host %s has no NVIDIA GPU that ranks may use%s%s; use --map-by "
                 "core or numa there%s",
                 option, host->name, visible ? ", with CUDA_VISIBLE_DEVICES=" : "",
                 visible ? visible : "", gpus_advice(options, host, visible));
    return why || !host->shape.ngpus ? EXIT_USAGE : 0;
}

/* ---- how many ranks ---- */

static int objects_at(const struct topology *topology, enum level level)
{
    switch (level) {
    case LEVEL_HWTHREAD:
        return topology->npus;
    case LEVEL_CORE:
        return topology->ncores;
    case LEVEL_L3:
        return topology->nl3 ? topology->nl3 : 1;
    case LEVEL_NUMA:
        return topology->nnuma ? topology->nnuma : 1;
    case LEVEL_PACKAGE:
        return topology->npackages ? topology->npackages : 1;
    case LEVEL_GPU:
        return topology->ngpus;
    default:
        return 1;
    }
}

/* Ranks that all hosts can run at once. */
static long budgets_of(const struct plan *plan)
{
    long slots = 0;
    for (int i = 0; i < plan->nhosts; i++)
        slots += plan->hosts[i].slots ? plan->hosts[i].slots : plan->hosts[i].budget.slots;
    return slots;
}

/* A number of ranks of which more than a job can have is as good as that, and one. */
static int no_more(long ranks)
{
    return ranks > RANKS_MOST ? RANKS_MOST + 1 : (int)ranks;
}

/* ppr:N:WHAT: how many ranks each host takes.  Nothing where a shape is not to be known. */
static int count_objects(const struct options *options, struct plan *plan)
{
    const struct map_options *map = &options->map;
    for (int i = 0; i < plan->nhosts && map->per > 0; i++) {
        struct host *host = &plan->hosts[i];
        int status = map->by == LEVEL_GPU ? need_gpus(options, host) : 0;
        if (status)
            return status;
        if (map->by != LEVEL_NODE && need_shape(options, host, true) != 0)
            return 0;
    }
    for (int i = 0; i < plan->nhosts && map->per > 0; i++)
        plan->hosts[i].by_objects =
            no_more((long)map->per * objects_at(&plan->hosts[i].shape, map->by));
    return 0;
}

/* --node-rank: nodes may have different numbers of ranks.  A node whose user has not said one has one,
 * if others have. */
static void note_own_ranks(const struct options *options, struct plan *plan)
{
    struct host *hosts = plan->hosts;
    bool said = false;
    hosts[0].own_ranks = gather_ranks_here(options, &hosts[0].budget);
    for (int i = 0; i < plan->nhosts; i++)
        said |= hosts[i].own_ranks > 0;
    for (int i = 0; i < plan->nhosts; i++)
        hosts[i].own_ranks += said && !hosts[i].own_ranks;
}

static int count_own_ranks(const struct plan *plan)
{
    int n = 0;
    for (int i = 0; i < plan->nhosts; i++)
        n += plan->hosts[i].own_ranks;
    return n;
}

/* The number of ranks when -np does not say. */
static long default_np(const struct map_options *map, const struct plan *plan)
{
    if (plan->hosts[0].own_ranks)
        return count_own_ranks(plan);
    if (map->per_host > 0)
        return (long)map->per_host * plan->nhosts;
    if (map->per_host == PER_HOST_SLOTS)
        return budgets_of(plan);
    long by_objects = 0, slots = 0;
    for (int i = 0; i < plan->nhosts; i++) {
        by_objects += plan->hosts[i].by_objects;
        slots += plan->hosts[i].slots;
    }
    return by_objects ? by_objects : slots ? slots : plan->nhosts;
}

static int count_ranks(const struct options *options, struct plan *plan)
{
    long total = 0;
    int status = count_objects(options, plan);
    if (status)
        return status;
    for (int i = 0; i < options->napps; i++) {
        struct app *app = &options->apps[i];
        if (app->np < 0)
            app->np = options->napps == 1 ? no_more(default_np(&options->map, plan)) : 1;
        total += app->np;
    }
    if (total > RANKS_MOST) {
        complain("%s%ld ranks are more than the %d that a job can have; see -np, -ppn, ppr:N "
                 "and slots",
                 total == RANKS_MOST + 1 ? "at least " : "", total, RANKS_MOST);
        return EXIT_USAGE;
    }
    plan->nranks = (int)total;
    return 0;
}

static int check_strict(const struct options *options, const struct plan *plan)
{
    long room = budgets_of(plan), wanted = plan->nranks;
    for (int i = 0; i < plan->nhosts; i++)
        wanted += plan->hosts[i].taken;
    if (!options->strict || wanted <= room)
        return 0;
    complain("%ld ranks, but %ld %s here, and --nooversubscribe was given", wanted, room,
             plan->hosts[0].slots ? "slots" : "cores");
    return EXIT_USAGE;
}

/* ---- which rank where ---- */

static int place_ranks(const struct options *options, struct plan *plan)
{
    size_t n = (size_t)plan->nranks;
    plan->ranks = calloc(n, sizeof *plan->ranks);
    int *host_of = calloc(n, sizeof *host_of),
        *next = calloc((size_t)plan->nhosts, sizeof *next);
    if (!plan->ranks || !host_of || !next) {
        complain("out of memory for %d ranks", plan->nranks);
        return 1;
    }
    int placed = map_hosts(plan->hosts, plan->nhosts, &options->map, plan->nranks, host_of),
        rank = 0;
    if (placed < plan->nranks) {
        complain("%d ranks, but max_slots allow %d", plan->nranks, placed);
        return EXIT_USAGE;
    }
    for (int app = 0; app < options->napps; app++)
        for (int i = 0; i < options->apps[app].np; i++, rank++)
            plan->ranks[rank] =
                (struct planned){ rank, app, host_of[rank], next[host_of[rank]]++ };
    map_others(plan->hosts, plan->nhosts, plan->nranks, host_of);
    for (int i = 0; i < plan->nhosts; i++)
        plan->hosts[i].budget.others += plan->hosts[i].taken;
    free(host_of);
    free(next);
    return 0;
}

/* Did the user ask for something that only a topology can answer? */
static bool wants_topology(const struct options *options)
{
    const struct map_options *map = &options->map;
    bool binds = map->to != LEVEL_UNSET && map->to != LEVEL_NONE;
    return binds || map->pe > 1 || map->per || map->by > LEVEL_SLOT;
}

int plan_choose(const struct options *options, struct plan *plan)
{
    struct host *host = &plan->hosts[0];
    const struct budget *budget = &host->budget;
    plan->crowded = map_is_crowded(budget, plan->nranks);
    plan->decided = map_decide(&options->map, budget, plan->nranks, batch_is_here());
    bool wished = wants_topology(options);
    bool shown = options->display_map || options->dry_run || options->bindings;
    if (plan->decided.to == LEVEL_NONE && !wished && !shown)
        return 0;
    int status = plan->decided.by == LEVEL_GPU ? need_gpus(options, host) : 0;
    if (status)
        return status;
    if (plan->decided.by == LEVEL_GPU)
        plan_bind_near_gpus(options, host, plan);
    if (need_shape(options, host, wished) != 0) {
        plan->decided.to = LEVEL_NONE;
        return 0;
    }
    if ((status = plan_check_fit(options, host, plan)) != 0)
        return status;
    plan->placements = calloc((size_t)plan->nranks, sizeof *plan->placements);
    if (!plan->placements) {
        complain("out of memory for %d ranks", plan->nranks);
        return 1;
    }
    map_cpus(&host->shape, &plan->decided, plan->nranks, plan->placements);
    return 0;
}

static void tell(const struct plan *plan, const struct host *here)
{
    const struct budget *b = &here->budget;
    if (b->quota > 0)
        notice(
            "cores that may be used: %d, CPUs: %d, CPUs' worth of time by cgroup quota: %.2f",
            b->cores, b->pus, b->quota);
    else
        notice("cores that may be used: %d, CPUs: %d", b->cores, b->pus);
    notice("ranks: %d, bound to: %s%s", plan->nranks, level_name(plan->decided.to),
           !plan->crowded ? ""
           : b->others ? "; with those of other hosts or jobs more ranks than cores: waiting "
                         "ranks give way"
                       : "; more ranks than cores: waiting ranks give way");
}

const char *plan_cpus_of(const struct plan *plan, int rank, char *text, size_t room)
{
    if (!plan->placements || cpuset_is_empty(&plan->placements[rank].cpus))
        return "any";
    return cpuset_format(&plan->placements[rank].cpus, text, room);
}

const char *plan_gpu_of(const struct plan *plan, int rank)
{
    int gpu = plan->placements ? plan->placements[rank].gpu : -1;
    return gpu < 0 ? NULL : plan->hosts[0].shape.gpus[gpu].bus;
}

/* --report-bindings: a line per rank of this host. */
static void show_bindings(const struct plan *plan)
{
    for (int i = 0; i < plan->nranks; i++) {
        char text[CPUS_CHARS], line[CPUS_CHARS + 200];
        const char *gpu = plan_gpu_of(plan, i);
        const char *cpus = plan_cpus_of(plan, i, text, sizeof text);
        const struct boot_place *p = plan->placements ? &plan->placements[i].place : NULL;
        int n = snprintf(line, sizeof line, "rank %d is ", plan->ranks[i].world);
        if (!p || strcmp(cpus, "any") == 0)
            n += snprintf(line + n, sizeof line - (size_t)n, "not bound");
        else
            n += snprintf(line + n, sizeof line - (size_t)n,
                          "bound to cpus %s (package %d, numa %d, core %d)", cpus, p->package,
                          p->numa, p->core);
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%s\n", gpu ? ", gpu " : "",
                      gpu ? gpu : "");
        out_write(&out_stderr, NULL, line, (size_t)n);
    }
}

/* Hosts with ranks are the nodes of the job, counted in the order of their first rank. */
static void number_nodes(struct plan *plan)
{
    int32_t *nodes = calloc((size_t)plan->nranks + (size_t)plan->nhosts, sizeof *nodes);
    if (!nodes)
        abort();
    int32_t *of_host = nodes + plan->nranks; /* its node + 1 */
    for (int i = 0; i < plan->nranks; i++) {
        int host = plan->ranks[i].host;
        if (!of_host[host])
            of_host[host] = ++plan->nnodes;
        nodes[i] = of_host[host] - 1;
    }
    plan->node_of = nodes;
    plan->world = plan->nranks;
}

/* --machine: all hosts are like that one, and nobody is asked. */
static int pretend(const struct options *options, struct plan *plan)
{
    const char *why, *text = options->machine;
    struct topology shape;
    bool is_file = access(text, F_OK) == 0;
    if ((is_file ? topology_recorded(&shape, text, &why)
                 : topology_synthetic(&shape, text, NULL, &why)) != 0) {
        complain("--machine %s: %s%s", text, is_file ? "" : "there is no such file, and ", why);
        return EXIT_USAGE;
    }
    gpus_keep_visible(&shape, gpus_visible(options));
    for (int i = 0; i < plan->nhosts; i++) {
        plan->hosts[i].shape = shape;
        budget_of(&plan->hosts[i].budget, &shape, options->hwthreads);
    }
    return 0;
}

static int ask_hosts(const struct options *options, struct plan *plan)
{
    int others = 0;
    if (options->machine && !options->dry_run) {
        complain("--machine %s: ranks run on the machines there are; add --dry-run to see what "
                 "would be done there",
                 options->machine);
        return EXIT_USAGE;
    }
    if (options->machine)
        return pretend(options, plan);
    for (int i = 0; i < plan->nhosts; i++) {
        others += !plan->hosts[i].is_local;
        if (plan->hosts[i].is_local)
            budget_read(&plan->hosts[i].budget, options->hwthreads);
    }
    int status = others ? remote_ask(options, plan->hosts, plan->nhosts) : 0;
    if (gather_is_wanted(options))
        note_own_ranks(options, plan);
    const char *visible = gpus_visible(options);
    for (int i = 0; i < plan->nhosts; i++)
        if (!gather_is_wanted(
                options)) /* there each node's environment counts, and it has looked */
            gpus_keep_visible(&plan->hosts[i].shape, visible);
    return status;
}

int plan_cpus(const struct options *options, struct plan *plan)
{
    int status = plan_choose(options, plan);
    if (status)
        return status;
    tell(plan, &plan->hosts[0]);
    if (options->bindings)
        show_bindings(plan);
    return 0;
}

bool plan_is_spread(const struct plan *plan)
{
    return plan->nhosts > 1 || !plan->hosts[0].is_local;
}

static int check_binding(const struct options *options)
{
    const struct map_options *map = &options->map;
    if (map->to != LEVEL_GPU || map->by == LEVEL_GPU || map->by == LEVEL_UNSET)
        return 0;
    complain("--bind-to gpu: --map-by %s does not say which GPU a rank has; use --map-by gpu",
             level_name(map->by));
    return EXIT_USAGE;
}

/* Of a spawned job: what other jobs have there. */
static void note_taken(const struct options *options, struct plan *plan)
{
    for (int i = 0; i < plan->nhosts && options->spawned; i++)
        plan->hosts[i].taken =
            wish_taken(options->spawned, plan->hosts[i].is_local ? NULL : plan->hosts[i].name);
}

int plan_make(const struct options *options, struct plan *plan)
{
    *plan = (struct plan){ 0 };
    int status = check_binding(options);
    if (!status)
        status = hosts_find(options, &plan->hosts, &plan->nhosts);
    if (!status)
        status = ask_hosts(options, plan);
    if (status)
        return status;
    note_taken(options, plan);
    status = count_ranks(options, plan);
    if (!status)
        status = check_strict(options, plan);
    if (!status)
        status = place_ranks(options, plan);
    if (status)
        return status;
    number_nodes(plan);
    return plan_is_spread(plan) ? 0 : plan_cpus(options, plan);
}

const char **plan_node_names(const struct plan *whole)
{
    const char **names = calloc((size_t)whole->nnodes + 1, sizeof *names);
    if (!names)
        abort();
    for (int i = 0; i < whole->nranks; i++)
        names[whole->node_of[i]] = whole->hosts[whole->ranks[i].host].name;
    return names;
}

static const int32_t *apps_of(const struct plan *whole)
{
    int32_t *apps = calloc((size_t)whole->nranks + 1, sizeof *apps);
    if (!apps)
        abort();
    for (int i = 0; i < whole->nranks; i++)
        apps[i] = whole->ranks[i].app;
    return apps;
}

int plan_share(const struct options *options, const struct plan *whole, int host,
               struct plan *share)
{
    static struct host nowhere = { .name = "here", .is_local = true };
    *share = (struct plan){ .hosts = host < 0 ? &nowhere : &whole->hosts[host],
                            .nhosts = 1,
                            .world = whole->world,
                            .node = -1,
                            .nnodes = whole->nnodes,
                            .node_of = whole->node_of,
                            .app_of = apps_of(whole),
                            .node_names = plan_node_names(whole),
                            .ranks = calloc((size_t)whole->nranks + 1, sizeof *share->ranks) };
    if (!share->ranks)
        abort();
    for (int i = 0; i < whole->nranks; i++) {
        if (whole->ranks[i].host != host)
            continue;
        share->node = whole->node_of[i];
        share->ranks[share->nranks] = whole->ranks[i];
        share->ranks[share->nranks++].host = 0;
    }
    return share->nranks ? plan_cpus(options, share) : 0;
}
