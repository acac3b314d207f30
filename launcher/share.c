/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See share.h.  With xmpirun's own words another host decides all that is not in the plan exactly as
 * xmpirun does: options, environment of ranks, output, limits.
 */
#include "launcher/share.h"

#include "launcher/gather.h"
#include "launcher/others.h"
#include "launcher/out.h"
#include "launcher/psets.h"
#include "launcher/spawned.h"
#include "launcher/wish.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

void share_begin(struct job *job, const struct plan *whole)
{
    job_name(job->id);
    job->psets = psets_write(job->options, whole);
}

int32_t *share_nodes(const struct plan *whole)
{
    int32_t *of_host = calloc((size_t)whole->nhosts + 1, sizeof *of_host);
    if (!of_host)
        abort();
    for (int i = 0; i < whole->nhosts; i++)
        of_host[i] = -1;
    for (int i = 0; i < whole->nranks; i++)
        of_host[whole->ranks[i].host] = whole->node_of[i];
    int others = 0;
    for (int i = 0; i < whole->nhosts; i++)
        if (!whole->hosts[i].is_local)
            of_host[others++] = of_host[i];
    of_host[others] = NODES_END;
    return of_host;
}

static int count_others(const struct plan *whole)
{
    int others = 0;
    for (int i = 0; i < whole->nhosts; i++)
        others += !whole->hosts[i].is_local;
    return others;
}

/* Ranks that follow each other are on the same node, or one node further each. */
static int length_of_run(const int32_t *nodes, int n, int step)
{
    int length = 1;
    while (length < n && nodes[length] == nodes[length - 1] + step)
        length++;
    return length;
}

static void pack_nodes(const int32_t *nodes, int n, struct pack *pack)
{
    for (int at = 0; at < n;) {
        int same = length_of_run(nodes + at, n - at, 0),
            rising = length_of_run(nodes + at, n - at, 1), step = rising > same;
        pack_number(pack, nodes[at]);
        pack_number(pack, step);
        pack_number(pack, step ? rising : same);
        at += step ? rising : same;
    }
}

static void pack_apps(const struct plan *whole, struct pack *pack)
{
    for (int at = 0, end; at < whole->nranks; at = end) {
        for (end = at; end < whole->nranks && whole->ranks[end].app == whole->ranks[at].app;)
            end++;
        pack_number(pack, whole->ranks[at].app);
        pack_number(pack, end - at);
    }
}

static void *list_of(int n, size_t bytes)
{
    void *list = calloc((size_t)n + 1, bytes);
    if (!list)
        abort();
    return list;
}

static void pack_names(const struct plan *whole, struct pack *pack)
{
    const char **names = plan_node_names(whole);
    for (int node = 0; node < whole->nnodes; node++)
        pack_text(pack, names[node]);
    free(names);
}

/* Of nodes that share their CPUs with others: ranks that these have there. */
static void pack_others(const struct plan *whole, struct pack *pack)
{
    int32_t *of_node = list_of(whole->nnodes, sizeof *of_node);
    int n = 0;
    for (int i = 0; i < whole->nranks; i++)
        of_node[whole->node_of[i]] = whole->hosts[whole->ranks[i].host].budget.others;
    for (int node = 0; node < whole->nnodes; node++)
        n += of_node[node] > 0;
    pack_number(pack, n);
    for (int node = 0; node < whole->nnodes; node++)
        if (of_node[node] > 0) {
            pack_number(pack, node);
            pack_number(pack, of_node[node]);
        }
    free(of_node);
}

static void pack_plan(const struct plan *whole, const int32_t *node_of_other, struct pack *pack)
{
    int others = count_others(whole);
    pack_number(pack, others);
    for (int i = 0; i < others; i++)
        pack_number(pack, node_of_other[i]);
    pack_number(pack, whole->world);
    pack_number(pack, whole->nnodes);
    pack_nodes(whole->node_of, whole->world, pack);
    pack_apps(whole, pack);
    pack_names(whole, pack);
    pack_others(whole, pack);
}

void share_pack(const struct job *job, const struct plan *whole, const int32_t *node_of_other,
                struct pack *pack)
{
    char cwd[PATH_MAX];
    pack_text(pack, job->id);
    pack_text(pack, getcwd(cwd, sizeof cwd));
    pack_text(pack, job->psets);
    pack_number(pack, out_stdout.is_tty);
    pack_plan(whole, node_of_other, pack);
    bool shown = !gather_is_wanted(job->options); /* others have their own */
    pack_texts(pack, shown ? job->options->words : NULL);
    pack_texts(pack, shown ? environ : NULL);
    pack_number(pack, job->options->spawned != NULL);
    if (job->options->spawned)
        wish_pack(job->options->spawned, pack);
}

/* ---- the other side ---- */

static void take_nodes(struct unpack *from, int32_t *nodes, int n, int nnodes)
{
    for (int at = 0; at < n && !from->bad;) {
        int node = unpack_int(from, 0, nnodes - 1), step = unpack_int(from, 0, 1),
            length = unpack_int(from, 1, n - at);
        from->bad |= step && length > nnodes - node;
        for (int i = 0; i < length && !from->bad; i++)
            nodes[at + i] = node + step * i;
        at += length;
    }
}

/* Those of our node; the programs of all come in runs. */
static void take_ranks(struct unpack *from, struct plan *plan)
{
    int mine = 0;
    for (int i = 0; i < plan->world; i++)
        mine += plan->node_of[i] == plan->node;
    plan->ranks = list_of(mine, sizeof *plan->ranks);
    int32_t *apps = list_of(plan->world, sizeof *apps);
    plan->app_of = apps;
    for (int at = 0; at < plan->world && !from->bad;) {
        int app = unpack_int(from, 0, RANKS_MOST),
            end = at + unpack_int(from, 1, plan->world - at);
        for (; at < end && !from->bad; apps[at++] = app)
            if (plan->node_of[at] == plan->node)
                plan->ranks[plan->nranks] = (struct planned){ at, app, 0, plan->nranks },
                plan->nranks++;
    }
}

static const int32_t *take_others(struct unpack *from, int *n)
{
    *n = unpack_int(from, 1, (int)((size_t)(from->end - from->at) / 8));
    int32_t *nodes = list_of(*n, sizeof *nodes);
    for (int i = 0; i < *n; i++)
        nodes[i] = unpack_int(from, -1, RANKS_MOST);
    nodes[*n] = NODES_END;
    return nodes;
}

static int take_others_here(struct unpack *from, const struct plan *plan)
{
    int others = 0, n = unpack_int(from, 0, plan->nnodes);
    for (int i = 0; i < n && !from->bad; i++) {
        int node = unpack_int(from, 0, plan->nnodes - 1),
            ranks = unpack_int(from, 1, RANKS_MOST);
        others = node == plan->node ? ranks : others;
    }
    return others;
}

static void take_plan(struct unpack *from, int number, struct plan *plan,
                      const int32_t **node_of_other)
{
    int others;
    *node_of_other = take_others(from, &others);
    from->bad |= number >= others;
    plan->world = unpack_int(from, 1, RANKS_MOST);
    plan->nnodes = unpack_int(from, 1, RANKS_MOST);
    plan->node = from->bad ? -1 : (*node_of_other)[number];
    for (int i = 0; i < others; i++)
        from->bad |= (*node_of_other)[i] >= plan->nnodes;
    int32_t *nodes = list_of(plan->world, sizeof *nodes);
    take_nodes(from, nodes, plan->world, plan->nnodes);
    plan->node_of = nodes;
    take_ranks(from, plan);
    const char **names = list_of(plan->nnodes, sizeof *names);
    for (int i = 0; i < plan->nnodes && !from->bad; i++)
        names[i] = unpack_text(from);
    plan->node_names = names;
    plan->hosts[0].budget.others = take_others_here(from, plan);
}

/* Every rank has a program, those of other hosts, too: PMIx clients and tools are told of all. */
static bool fits(const struct plan *plan, const struct options *options)
{
    for (int i = 0; i < plan->world; i++)
        if (plan->app_of[i] >= options->napps)
            return false;
    return true;
}

/* A directory of its own, wherever it is started from. */
static bool all_have_directories(const struct options *options)
{
    for (int i = 0; i < options->napps; i++)
        if (!options->apps[i].wdir || *options->apps[i].wdir != '/')
            return false;
    return true;
}

static int go_to(const char *directory, const struct options *options)
{
    if (chdir(directory) == 0 || all_have_directories(options))
        return 0;
    if (!*directory) {
        complain("the directory where xmpirun was started does not exist any more; -wdir says "
                 "another one");
        return 1;
    }
    complain("cannot go to directory %s, where xmpirun was started: %s; -wdir says another one",
             directory, strerror(errno));
    return 1;
}

int share_take(struct unpack *from, const struct share_wish *wish, struct job *job,
               struct plan *plan, struct options *options)
{
    static struct host host = { .is_local = true };
    int nwords, nvariables;
    host.name = wish->name;
    plan->hosts = &host;
    plan->nhosts = 1;
    snprintf(job->id, sizeof job->id, "%s", unpack_text(from));
    const char *directory = unpack_text(from);
    job->psets = (char *)unpack_text(from);
    out_stdout.is_tty = unpack_number(from) != 0;
    take_plan(from, wish->number, plan, wish->node_of_other);
    char **words = unpack_texts(from, &nwords), **variables = unpack_texts(from, &nvariables);
    static struct wish spawned;
    bool is_spawned = unpack_int(from, 0, 1);
    if (from->bad || (is_spawned && !wish_take(from, &spawned)))
        goto damaged;
    if (!wish->own)
        environ = variables;
    int status = wish->own ? 0 : cli_parse(nwords, words, options);
    if (!status && is_spawned)
        status = spawned_apply(options, &spawned);
    if (wish->own)
        *options = *wish->own;
    if (status)
        return status;
    if (!fits(plan, options) && !wish->own)
        goto damaged;
    if (!fits(plan, options)) {
        complain("node 0 runs more programs than this command line names: all nodes need the "
                 "same ones");
        return EXIT_USAGE;
    }
    return wish->own ? 0 : go_to(directory, options);

damaged:
    complain("the share of the job that xmpirun sent is damaged");
    return 1;
}
