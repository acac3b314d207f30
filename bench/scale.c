/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher's own state in a job of many hosts, in one process: who runs where, the job as a row of
 * bytes, the share that a host takes of it, the network addresses that each host gets.  Prints time and
 * memory for 10 000 to a million ranks on 4096 hosts; what grows faster than the ranks do is a
 * mistake.  Nothing is started.
 *
 *     gcc -O2 -D_GNU_SOURCE -I. -Iinclude -I_build -I_build/include bench/scale.c \
 *         _build/launcher/.libs/liblauncher.a -ldl -o scale && ./scale
 *
 * (with -I_build/include where mpi.h is made).
 */
#include "launcher/cards.h"
#include "launcher/share.h"
#include "launcher/tree.h"
#include "runtime/clock.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HOSTS = 4096, CARD_BYTES = 64 };

extern char **environ;
static char *words[] = { "xmpirun", "program", NULL };

static uint64_t began;
static size_t bytes_before;

static size_t bytes_now(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void begin(void)
{
    bytes_before = bytes_now();
    began = clock_ns();
}

static void end(const char *what)
{
    double ms = (double)(clock_ns() - began) * 1e-6;
    size_t now = bytes_now();
    printf("    %-44s %9.1f ms %9.1f MiB\n", what, ms,
           now > bytes_before ? (double)(now - bytes_before) / (1 << 20) : 0);
}

static void place(struct plan *plan, enum level by)
{
    struct map_options map = { .by = by };
    int *host_of = calloc((size_t)plan->nranks, sizeof *host_of);
    int *next = calloc(HOSTS, sizeof *next);
    int32_t *nodes = calloc((size_t)plan->nranks, sizeof *nodes);
    plan->ranks = calloc((size_t)plan->nranks, sizeof *plan->ranks);
    map_hosts(plan->hosts, HOSTS, &map, plan->nranks, host_of);
    for (int i = 0; i < plan->nranks; i++) {
        plan->ranks[i] = (struct planned){ i, 0, host_of[i], next[host_of[i]]++ };
        nodes[i] = host_of[i];
    }
    plan->node_of = nodes;
    plan->nnodes = HOSTS;
    free(host_of);
    free(next);
}

/* The cards of all ranks arrive on one host, in frames of one host each. */
static void hand_out(struct job *job, int nlocal)
{
    char card[CARD_BYTES] = "card";
    for (int world = 0; world < job->plan->world; world += nlocal) {
        struct pack pack = { 0 };
        int n = job->plan->world - world < nlocal ? job->plan->world - world : nlocal;
        pack_number(&pack, n);
        for (int i = 0; i < n; i++) {
            pack_number(&pack, world + i);
            pack_bytes(&pack, card, sizeof card);
        }
        struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
        if (!cards_hand_out(job, &from))
            abort();
        pack_free(&pack);
    }
}

static void host_side(const struct pack *pack, int number)
{
    struct job job = { 0 };
    struct plan plan = { 0 };
    struct options options;
    const int32_t *node_of;
    struct share_wish wish = { "host", number, &node_of };
    struct unpack from = { pack->bytes, pack->bytes + pack->n, false };
    begin();
    if (share_take(&from, &wish, &job, &plan, &options) != 0)
        abort();
    end("a host: its share of the job");
    job.plan = &plan;
    job.nranks = plan.nranks;
    size_t bytes = bootseg_bytes(plan.nranks, plan.world, job.psets);
    begin();
    job.segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (job.segment == MAP_FAILED)
        abort();
    bootseg_format(job.segment, "1-2", plan.nranks, plan.world, job.psets);
    memcpy(bootseg_nodes(job.segment), plan.node_of, (size_t)plan.world * sizeof(int32_t));
    end("a host: its boot segment");
    begin();
    hand_out(&job, plan.nranks);
    end("a host: the addresses of all ranks");
    printf("    of them in the segment %.1f MiB\n",
           (double)plan.world * sizeof(struct boot_other) / (1 << 20));
    munmap(job.segment, bytes);
}

static void simulate(int nranks, enum level by)
{
    struct plan plan = { .nhosts = HOSTS, .nranks = nranks, .world = nranks };
    struct options options;
    struct job job = { .options = &options, .id = "1-2" };
    struct pack pack = { 0 };
    printf("%d ranks on %d hosts, by %s; a tree of %d levels\n", nranks, HOSTS, level_name(by),
           tree_height(HOSTS, FANOUT));
    begin();
    plan.hosts = calloc(HOSTS, sizeof *plan.hosts);
    for (int i = 0; i < HOSTS; i++)
        plan.hosts[i] = (struct host){ .name = "host", .slots = (nranks + HOSTS - 1) / HOSTS };
    place(&plan, by);
    end("xmpirun: which rank where");
    if (cli_parse(2, words, &options) != 0)
        abort();
    begin();
    share_begin(&job, &plan);
    end("xmpirun: process sets");
    begin();
    int32_t *node_of = share_nodes(&plan);
    share_pack(&job, &plan, node_of, &pack);
    end("xmpirun: the job as bytes, for all hosts");
    printf("    which are %.1f KiB\n", (double)pack.n / 1024);
    host_side(&pack, HOSTS / 2);
}

int main(void)
{
    static char *none[] = { NULL };
    environ = none; /* it travels with the job, and is no matter of scale */
    static const int sizes[] = { 10000, 100000, 1000000 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        simulate(sizes[i], LEVEL_SLOT);
        simulate(sizes[i], LEVEL_NODE);
    }
    return 0;
}
