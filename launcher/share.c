/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See share.h.  With xmpirun's own words another host decides all that is not in the plan exactly as
 * xmpirun does: options, environment of ranks, output, limits.
 */
#include "launcher/share.h"

#include "launcher/out.h"
#include "launcher/psets.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_RANKS = 1 << 20 };

extern char **environ;

void share_begin(struct job *job, const struct plan *whole)
{
    job_name(job->id);
    job->psets = psets_write(job->options, whole);
}

static int ranks_of(const struct plan *whole, int host, int *node)
{
    int n = 0;
    for (int i = 0; i < whole->nranks; i++)
        if (whole->ranks[i].host == host) {
            n++;
            *node = whole->node_of[i];
        }
    return n;
}

static void pack_plan(const struct plan *whole, int host, int node, int n, struct pack *pack)
{
    pack_number(pack, whole->world);
    pack_number(pack, node);
    pack_number(pack, whole->nnodes);
    for (int i = 0; i < whole->world; i++)
        pack_number(pack, whole->node_of[i]);
    pack_number(pack, n);
    for (int i = 0; i < whole->nranks; i++)
        if (whole->ranks[i].host == host) {
            pack_number(pack, whole->ranks[i].world);
            pack_number(pack, whole->ranks[i].app);
        }
}

bool share_pack(const struct job *job, const struct plan *whole, int host, struct pack *pack)
{
    char cwd[PATH_MAX];
    int node = 0, n = ranks_of(whole, host, &node);
    if (!n)
        return false;
    pack_text(pack, job->id);
    pack_text(pack, whole->hosts[host].name);
    pack_text(pack, getcwd(cwd, sizeof cwd));
    pack_text(pack, job->psets);
    pack_number(pack, out_stdout.is_tty);
    pack_plan(whole, host, node, n, pack);
    pack_texts(pack, job->options->words);
    pack_texts(pack, environ);
    return true;
}

/* ---- the other side ---- */

static void *list_of(int n, size_t bytes)
{
    void *list = calloc((size_t)n + 1, bytes);
    if (!list)
        abort();
    return list;
}

static void take_plan(struct unpack *from, struct plan *plan)
{
    plan->world = unpack_int(from, 1, MOST_RANKS);
    plan->node = unpack_int(from, 0, MOST_RANKS);
    plan->nnodes = unpack_int(from, 1, MOST_RANKS);
    int32_t *nodes = list_of(plan->world, sizeof *nodes);
    for (int i = 0; i < plan->world; i++)
        nodes[i] = unpack_int(from, 0, plan->nnodes - 1);
    plan->node_of = nodes;
    plan->nranks = unpack_int(from, 0, plan->world);
    plan->ranks = list_of(plan->nranks, sizeof *plan->ranks);
    for (int i = 0; i < plan->nranks; i++) {
        int world = unpack_int(from, 0, plan->world - 1);
        plan->ranks[i] = (struct planned){ world, unpack_int(from, 0, MOST_RANKS), 0, i };
    }
}

/* Every rank has a program, and this host is one of the job's. */
static bool fits(const struct plan *plan, const struct options *options)
{
    for (int i = 0; i < plan->nranks; i++)
        if (plan->ranks[i].app >= options->napps)
            return false;
    return plan->node < plan->nnodes;
}

static int go_to(const char *directory)
{
    if (chdir(directory) == 0)
        return 0;
    complain("cannot go to directory %s, where xmpirun was started: %s; -wdir says another one",
             directory, strerror(errno));
    return 1;
}

int share_take(struct unpack *from, struct job *job, struct plan *plan, struct options *options)
{
    static struct host host = { .is_local = true };
    int nwords, nvariables;
    snprintf(job->id, sizeof job->id, "%s", unpack_text(from));
    host.name = launcher_name = unpack_text(from);
    const char *directory = unpack_text(from);
    job->psets = (char *)unpack_text(from);
    out_stdout.is_tty = unpack_number(from) != 0;
    take_plan(from, plan);
    char **words = unpack_texts(from, &nwords), **variables = unpack_texts(from, &nvariables);
    if (from->bad)
        goto damaged;
    plan->hosts = &host;
    plan->nhosts = 1;
    environ = variables;
    int status = cli_parse(nwords, words, options);
    if (status)
        return status;
    if (!fits(plan, options))
        goto damaged;
    return go_to(directory);

damaged:
    complain("the share of the job that xmpirun sent is damaged");
    return 1;
}
