/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A job travels to other hosts: every host takes its share of it, and bytes that were changed on
 * the way are an error or another job, never a crash.
 */
#include "launcher/share.h"
#include "launcher/out.h"

#include "test/unit/unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static char *words[] = { "xmpirun", "-np", "3", "one", ":", "-np", "40", "two", "and", NULL };
static char *variables[] = { "COLOUR=red", "EMPTY=", NULL };

/* A plan over nhosts, of which number `here` is this machine (-1: none); `by_node`: ranks go round. */
static void plan_over(struct plan *plan, int nhosts, int nranks, int here, bool by_node)
{
    *plan = (struct plan){ .nhosts = nhosts, .nranks = nranks, .world = nranks };
    plan->hosts = calloc((size_t)nhosts, sizeof *plan->hosts);
    plan->ranks = calloc((size_t)nranks, sizeof *plan->ranks);
    int32_t *nodes = calloc((size_t)nranks, sizeof *nodes);
    plan->nnodes = nhosts < nranks ? nhosts : nranks;
    plan->node_of = nodes;
    for (int i = 0; i < nhosts; i++)
        plan->hosts[i] = (struct host){ .name = "host",
                                        .is_local = i == here,
                                        .budget.others = i % 3 ? 0 : i };
    for (int i = 0; i < nranks; i++) {
        int per_host = (nranks + nhosts - 1) / nhosts;
        nodes[i] = by_node ? i % nhosts : i / per_host;
        plan->nnodes = nodes[i] + 1 > plan->nnodes ? nodes[i] + 1 : plan->nnodes;
        plan->ranks[i] = (struct planned){ .world = i, .app = i >= 3, .host = nodes[i] };
    }
}

static void plan_free(struct plan *plan)
{
    free(plan->hosts);
    free(plan->ranks);
    free((void *)plan->node_of);
}

static void pack_whole(const struct plan *plan, struct pack *pack)
{
    static struct options options;
    struct job job = { .options = &options, .id = "12-34", .psets = "sets" };
    ck_assert_int_eq(cli_parse(9, words, &options), 0);
    environ = variables;
    int32_t *node_of = share_nodes(plan);
    share_pack(&job, plan, node_of, pack);
    free(node_of);
}

static int take(const struct pack *pack, int number, struct job *job, struct plan *plan,
                struct options *options)
{
    const int32_t *node_of = NULL;
    struct share_wish wish = { "host", number, &node_of, NULL };
    struct unpack from = { pack->bytes, pack->bytes + pack->n, false };
    *plan = (struct plan){ 0 };
    return share_take(&from, &wish, job, plan, options);
}

static void compare(const struct plan *whole, const struct pack *pack, int host, int number)
{
    struct job job;
    struct plan share;
    struct options options;
    ck_assert_int_eq(take(pack, number, &job, &share, &options), 0);
    ck_assert_str_eq(job.id, "12-34");
    ck_assert_str_eq(job.psets, "sets");
    ck_assert_int_eq(share.world, whole->world);
    ck_assert_int_eq(share.nnodes, whole->nnodes);
    ck_assert_int_eq(options.napps, 2);
    ck_assert_str_eq(options.apps[1].argv[1], "and");
    ck_assert_str_eq(environ[0], "COLOUR=red");
    int mine = 0;
    for (int i = 0; i < whole->world; i++) {
        ck_assert_int_eq(share.node_of[i], whole->node_of[i]);
        if (whole->ranks[i].host != host)
            continue;
        ck_assert_int_eq(share.ranks[mine].world, i);
        ck_assert_int_eq(share.ranks[mine].app, whole->ranks[i].app);
        ck_assert_int_eq(share.ranks[mine].local, mine);
        mine++;
    }
    ck_assert_int_eq(share.nranks, mine);
    ck_assert_int_eq(share.hosts[0].budget.others, mine ? whole->hosts[host].budget.others : 0);
}

START_TEST(each_takes_its_share)
{
    for (int variant = 0; variant < 40; variant++) {
        int nhosts = 1 + variant % 10, here = variant % 4 - 1, number = 0;
        struct plan whole;
        struct pack pack = { 0 };
        plan_over(&whole, nhosts, 43, here, variant / 20);
        pack_whole(&whole, &pack);
        for (int host = 0; host < nhosts; host++)
            if (host != here)
                compare(&whole, &pack, host, number++);
        pack_free(&pack);
        plan_free(&whole);
    }
}
END_TEST

/* One byte after the other is changed, and every end is cut off. */
START_TEST(damaged_shares)
{
    struct plan whole, share;
    struct options options;
    struct job job;
    struct pack pack = { 0 }, copy;
    plan_over(&whole, 5, 43, 0, false);
    pack_whole(&whole, &pack);
    ck_assert_int_ge(dup2(open("/dev/null", O_WRONLY), STDERR_FILENO), 0); /* complaints */
    for (size_t at = 0; at < pack.n; at++) {
        for (int value = 0; value < 3; value++) {
            static const char values[] = { 0, 1, (char)0xff };
            copy = (struct pack){ malloc(pack.n), pack.n, pack.n }; /* not a byte more */
            memcpy(copy.bytes, pack.bytes, pack.n);
            copy.bytes[at] = values[value];
            take(&copy, (int)(at % 4), &job, &share, &options);
            free(copy.bytes);
        }
        copy = (struct pack){ memcpy(malloc(at + 1), pack.bytes, at), at, at };
        ck_assert_int_ne(take(&copy, 0, &job, &share, &options), 0);
        free(copy.bytes);
    }
}
END_TEST

/* --node-rank: each node has a command line of its own, and this one names fewer programs than run elsewhere. */
START_TEST(other_words)
{
    const int32_t *node_of = NULL;
    struct plan whole, share = { 0 };
    struct options options, own = { .napps = 1 };
    struct share_wish wish = { "host", 0, &node_of, &own };
    struct job job;
    struct pack pack = { 0 };
    plan_over(&whole, 43, 43, -1, false);
    pack_whole(&whole, &pack);
    struct unpack from = { pack.bytes, pack.bytes + pack.n, false };
    complaints_wanted = false;
    ck_assert_int_eq(share_take(&from, &wish, &job, &share, &options), EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(last_complaint, "more programs"));
    pack_free(&pack);
    plan_free(&whole);
}
END_TEST

UNIT_MAIN("share", each_takes_its_share, damaged_shares, other_words)
