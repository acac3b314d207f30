/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A plan to look at.  CPUs are chosen here as each host will choose them for its share, if its shape
 * is known.
 */
#include "launcher/show.h"

#include <stdlib.h>
#include <string.h>

struct show {
    const struct options *options;
    const struct plan *plan;
    struct planned *ranks; /* those of the first host, of the second one .. */
    char **cpus;           /* text by rank of the job */
    const char **gpus;     /* likewise; NULL: any */
    bool has_gpus;         /* some rank has one of its own */
};

static void print_command(char *const *argv, FILE *to)
{
    for (int i = 0; argv[i]; i++)
        fprintf(to, "%s%s", i ? " " : "", argv[i]);
    fputc('\n', to);
}

static void show_host(const struct plan *share, FILE *to)
{
    const struct host *host = share->hosts;
    const struct budget *b = &host->budget;
    char text[CPUS_CHARS];
    fprintf(to, "%s: cores %d, cpus %d", host->name, b->cores, b->pus);
    if (!cpuset_is_empty(&b->allowed))
        fprintf(to, " (%s)", cpuset_format(&b->allowed, text, sizeof text));
    if (b->quota > 0)
        fprintf(to, ", quota %.2f", b->quota);
    fprintf(to, "; ranks %d", share->nranks);
    if (share->nranks)
        fprintf(to, ", map by %s", level_name(share->decided.by));
    if (share->nranks && share->decided.to != LEVEL_NONE && share->decided.pe)
        fprintf(to, ", pe=%d", share->decided.pe);
    if (share->nranks)
        fprintf(to, ", bind to %s%s", level_name(share->decided.to),
                share->crowded ? ", crowded" : "");
    fputc('\n', to);
}

static int show_share(struct show *show, struct plan *share, FILE *to)
{
    char text[CPUS_CHARS];
    int status = share->nranks && !share->placements ? plan_choose(show->options, share) : 0;
    if (status)
        return status;
    show_host(share, to);
    if (share->hosts->shape.npus)
        picture_draw(&share->hosts->shape, share->ranks, share->placements, share->nranks, to);
    for (int i = 0; i < share->nranks; i++) {
        char **cpus = &show->cpus[share->ranks[i].world];
        if (!(*cpus = strdup(plan_cpus_of(share, i, text, sizeof text))))
            abort();
        const char *gpu = plan_gpu_of(share, i);
        show->gpus[share->ranks[i].world] = gpu;
        show->has_gpus |= gpu != NULL;
    }
    return 0;
}

/* The ranks of a host follow each other; *first[i] .. first[i + 1] are those of host i. */
static int *sort_by_host(struct show *show)
{
    const struct plan *plan = show->plan;
    int *first = calloc((size_t)plan->nhosts + 2, sizeof *first);
    if (!first)
        abort();
    for (int i = 0; i < plan->nranks; i++)
        first[plan->ranks[i].host + 2]++;
    for (int i = 2; i <= plan->nhosts; i++)
        first[i] += first[i - 1];
    for (int i = 0; i < plan->nranks; i++)
        show->ranks[first[plan->ranks[i].host + 1]++] = plan->ranks[i];
    return first;
}

static int show_hosts(struct show *show, FILE *to)
{
    const struct plan *plan = show->plan;
    int *first = sort_by_host(show), status = 0;
    for (int i = 0; i < plan->nhosts && !status; i++) {
        struct plan share = { .hosts = &plan->hosts[i],
                              .nhosts = 1,
                              .nranks = first[i + 1] - first[i],
                              .ranks = show->ranks + first[i] };
        if (!plan_is_spread(plan))
            share = *plan;
        status = show_share(show, &share, to);
        if (share.placements != plan->placements)
            free(share.placements);
    }
    free(first);
    return status;
}

static void show_table(const struct show *show, FILE *to)
{
    const struct plan *plan = show->plan;
    fprintf(to, "%-6s %-16s %-12s ", "rank", "host", "cpus");
    if (show->has_gpus)
        fprintf(to, "%-13s ", "gpu");
    fprintf(to, "program\n");
    for (int i = 0; i < plan->nranks; i++) {
        const struct planned *r = &plan->ranks[i];
        fprintf(to, "%-6d %-16s %-12s ", r->world, plan->hosts[r->host].name,
                show->cpus[r->world]);
        if (show->has_gpus)
            fprintf(to, "%-13s ", show->gpus[r->world] ? show->gpus[r->world] : "any");
        print_command(show->options->apps[r->app].argv, to);
    }
}

int plan_show(const struct options *options, const struct plan *plan, FILE *to)
{
    struct show show = { options,
                         plan,
                         calloc((size_t)plan->nranks, sizeof *show.ranks),
                         calloc((size_t)plan->nranks, sizeof *show.cpus),
                         calloc((size_t)plan->nranks, sizeof *show.gpus),
                         false };
    if (!show.ranks || !show.cpus || !show.gpus)
        abort();
    int status = show_hosts(&show, to);
    if (!status)
        show_table(&show, to);
    for (int i = 0; i < plan->nranks; i++)
        free(show.cpus[i]);
    free(show.cpus);
    free(show.gpus);
    free(show.ranks);
    return status;
}
