/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trees as all their members see them: whoever has a parent is one of its branches, a branch is as
 * large as its lower end says, everybody is somewhere, each node is reached once, and no way is
 * longer than its logarithms allow.
 */
#include "src/circle_tree.h"

#include "mpi.h"
#include "unit.h"

#include <stdlib.h>

enum { MOST = 50 };

static struct tree seen[MOST];
static int first[MOST], n, nodes, root;

/* Places on nodes: in blocks, in turn, or as it comes. */
static void nodes_draw(int kind)
{
    int low[MOST];
    n = 1 + rand() % MOST;
    nodes = 1 + rand() % n;
    for (int i = 0; i < nodes; i++)
        low[i] = -1;
    for (int i = 0; i < n; i++) {
        int node = kind == 0 ? i * nodes / n : kind == 1 ? i % nodes : rand() % nodes;
        low[node] = low[node] < 0 ? i : low[node];
        first[i] = low[node];
    }
    nodes = 0;
    for (int i = 0; i < n; i++)
        nodes += first[i] == i;
}

static void look(const int *places)
{
    root = rand() % n;
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(tree_make(&seen[i], places, n, i, root), MPI_SUCCESS);
}

/* The branches of `member` are what lies behind it, in their order; returns where that ends. */
static int check_below(int member, int place)
{
    const struct tree *tree = &seen[member];
    int end = place + 1;
    ck_assert_int_eq(tree_member(tree, place), member);
    for (int i = 0; i < tree->branches; i++) {
        const struct tree_branch *branch = &tree->branch[i];
        ck_assert_int_eq(seen[branch->member].parent, member);
        ck_assert_int_eq(seen[branch->member].members, branch->members);
        ck_assert_int_eq(place + branch->at, end);
        end = check_below(branch->member, end);
    }
    ck_assert_int_eq(end - place, tree->members);
    return end;
}

static int log_up(int of)
{
    int log = 0;
    while (1 << log < of)
        log++;
    return log;
}

static int largest_node(void)
{
    int members[MOST] = { 0 }, most = 0;
    for (int i = 0; i < n; i++)
        if (++members[first[i]] > most)
            most = members[first[i]];
    return most;
}

static void check_ways(int depth_allowed)
{
    int crossings = 0;
    for (int i = 0; i < n; i++) {
        int depth = 0;
        for (int at = i; seen[at].parent >= 0; at = seen[at].parent)
            depth++;
        ck_assert_int_le(depth, depth_allowed);
        crossings += i != root && first[i] != first[seen[i].parent];
    }
    ck_assert_int_eq(crossings, nodes - 1);
}

static void forget(void)
{
    for (int i = 0; i < n; i++)
        tree_free(&seen[i]);
}

START_TEST(every_node_is_reached_once)
{
    srand(7);
    for (int round = 0; round < 600; round++) {
        nodes_draw(round % 3);
        look(first);
        ck_assert_int_eq(seen[root].parent, -1);
        ck_assert_int_eq(check_below(root, 0), n);
        check_ways(log_up(nodes) + log_up(largest_node()));
        forget();
    }
}
END_TEST

START_TEST(one_node_needs_no_table)
{
    for (int round = 0; round < 200; round++) {
        n = 1 + rand() % MOST;
        nodes = 1;
        for (int i = 0; i < n; i++)
            first[i] = 0;
        look(NULL);
        ck_assert_ptr_null(seen[root].order);
        ck_assert_int_eq(check_below(root, 0), n);
        check_ways(log_up(n));
    }
}
END_TEST

START_TEST(the_picture)
{
    static const int nodes_of[] = { 0, 1, 0, 3, 1, 0, 3, 0 };
    static const int order[] = { 0, 2, 5, 7, 1, 4, 3, 6 };
    static const int parents[] = { -1, 0, 0, 0, 1, 0, 3, 5 };
    for (int i = 0; i < 8; i++) {
        struct tree tree;
        ck_assert_int_eq(tree_make(&tree, nodes_of, 8, i, 0), MPI_SUCCESS);
        ck_assert_int_eq(tree_member(&tree, i), order[i]);
        ck_assert_int_eq(tree.parent, parents[i]);
        tree_free(&tree);
    }
}
END_TEST

UNIT_MAIN("circle_tree", every_node_is_reached_once, one_node_needs_no_table, the_picture)
