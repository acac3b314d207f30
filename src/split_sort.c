/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorting votes.  They go up a tree that crosses to each node once (src/circle_tree.h), and its root
 * sorts all of them.  Down goes only what a subtree needs: the classes of its own colours.
 *
 *          0           nodes     0 1 2 3 | 4 5 6 7
 *        / | \
 *       1  2  4        votes of  0: 0 .. 7      4: 4 .. 7     6: 6 7
 *          |  |\
 *          3  5 6      down to 6 go the classes of the two colours of 6 and 7,
 *               |      and 6 passes on that of 7
 *               7
 *
 * Cost: 2 log n steps.  The root needs 28 bytes per process for a moment, a leaf those of its own
 * class, nothing else: a table of everybody's votes is nowhere but at the root.
 */
#include "src/split_sort.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "src/context.h"
#include "src/circle_tree.h"

#include <stdlib.h>
#include <string.h>

int split_no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes", n);
}

/* ---- sorting ---- */

struct member {
    int32_t color, key, rank;
};

static int member_order(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->color != y->color)
        return x->color < y->color ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Write n members of one colour down; returns the number of words. */
static size_t class_write(const struct member *members, int n, int32_t *words)
{
    int64_t stride = n > 1 ? (int64_t)members[1].rank - members[0].rank : 1;
    bool regular = true;
    for (int i = 2; i < n && regular; i++)
        regular = (int64_t)members[i].rank - members[i - 1].rank == stride;
    words[0] = members[0].color;
    words[1] = regular ? n : -n;
    words[2] = members[0].rank;
    words[3] = (int32_t)stride;
    for (int i = 0; i < n && !regular; i++)
        words[2 + i] = members[i].rank;
    return regular ? 4 : 2 + (size_t)n;
}

bool classes_sort(const struct vote *votes, int n, int base, struct classes *sorted)
{
    int count = 0;
    struct member *members = malloc(((size_t)n + 1) * sizeof *members);
    *sorted = (struct classes){ malloc(((size_t)n + 1) * 4 * sizeof(int32_t)), 0 };
    for (int i = 0; members && i < n; i++)
        if (votes[i].color != MPI_UNDEFINED)
            members[count++] = (struct member){ votes[i].color, votes[i].key, base + i };
    if (!members || !sorted->words) {
        free(members);
        free(sorted->words);
        *sorted = (struct classes){ 0 };
        return false;
    }
    qsort(members, (size_t)count, sizeof *members, member_order);
    for (int at = 0, end; at < count; at = end) {
        for (end = at + 1; end < count && members[end].color == members[at].color;)
            end++;
        sorted->length += class_write(members + at, end - at, sorted->words + sorted->length);
    }
    free(members);
    return true;
}

/* ---- picking ---- */

static size_t class_length(const int32_t *words)
{
    return words[1] >= 0 ? 4 : 2 + (size_t)-words[1];
}

static int color_order(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

bool classes_pick(const struct classes *all, const struct vote *votes, int n,
                  struct classes *picked)
{
    int32_t *colors = malloc(((size_t)n + 1) * sizeof *colors);
    *picked = (struct classes){ malloc((all->length + 1) * sizeof *picked->words), 0 };
    if (!colors || !picked->words) {
        free(colors);
        free(picked->words);
        return false;
    }
    for (int i = 0; i < n; i++)
        colors[i] = votes[i].color;
    qsort(colors, (size_t)n, sizeof *colors, color_order);
    int color = 0;
    for (size_t at = 0; at < all->length; at += class_length(all->words + at)) {
        const int32_t *words = all->words + at;
        while (color < n && colors[color] < words[0])
            color++;
        if (color == n || colors[color] != words[0])
            continue;
        memcpy(picked->words + picked->length, words, class_length(words) * sizeof *words);
        picked->length += class_length(words);
    }
    free(colors);
    return true;
}

struct ranks *classes_members(const struct classes *classes, int32_t color,
                              const struct ranks *peers)
{
    struct ranks_draft draft = { 0 };
    for (size_t at = 0; at < classes->length; at += class_length(classes->words + at)) {
        const int32_t *words = classes->words + at;
        if (words[0] != color)
            continue;
        if (words[1] >= 0)
            ranks_add_part(&draft, peers, words[1], words[2], words[3]);
        for (int i = 0; i < -words[1]; i++)
            ranks_add(&draft, ranks_world(peers, words[2 + i]));
    }
    return ranks_finish(&draft);
}

/* ---- up and down the tree ---- */

static int classes_send(struct channel *channel, int child, const struct classes *classes)
{
    uint64_t length = classes->length;
    int rc = context_send(channel, child, 0, STEP_SPLIT, &length, sizeof length);
    if (!rc && length > 0)
        rc = context_send(channel, child, 0, STEP_SPLIT, classes->words,
                          length * sizeof *classes->words);
    return rc;
}

static int classes_receive(struct channel *channel, int parent, struct classes *classes)
{
    uint64_t length = 0;
    int rc = context_receive(channel, parent, 0, STEP_SPLIT, &length, sizeof length);
    *classes = (struct classes){ rc ? NULL : malloc((length + 1) * sizeof(int32_t)), length };
    if (!rc && !classes->words)
        rc = split_no_memory(channel->size);
    if (!rc && length > 0)
        rc = context_receive(channel, parent, 0, STEP_SPLIT, classes->words,
                             length * sizeof *classes->words);
    return rc;
}

static int classes_down(struct channel *channel, const struct tree *tree,
                        const struct vote *votes, const struct classes *mine)
{
    int rc = MPI_SUCCESS;
    for (int i = tree->branches - 1; i >= 0 && !rc; i--) {
        const struct tree_branch *branch = &tree->branch[i];
        struct classes theirs;
        if (!classes_pick(mine, votes + branch->at, branch->members, &theirs))
            return split_no_memory(channel->size);
        rc = classes_send(channel, branch->member, &theirs);
        free(theirs.words);
    }
    return rc;
}

/* The root's, of votes in the order of the tree. */
static int classes_of_tree(const struct tree *tree, const struct vote *votes,
                           struct classes *classes)
{
    struct vote *by_rank = malloc((size_t)tree->n * sizeof *by_rank);
    for (int i = 0; by_rank && i < tree->n; i++)
        by_rank[tree_member(tree, i)] = votes[i];
    bool sorted = by_rank && classes_sort(by_rank, tree->n, 0, classes);
    free(by_rank);
    return sorted ? MPI_SUCCESS : split_no_memory(tree->n);
}

/* votes[0] is mine. */
static int tree_sort(const struct circle *circle, const struct tree *tree, struct vote *votes,
                     struct classes *classes)
{
    int rc = circle_up(circle, tree, votes, sizeof *votes);
    if (!rc)
        rc = tree->parent < 0 ? classes_of_tree(tree, votes, classes)
                              : classes_receive(circle->channel, tree->parent, classes);
    return rc ? rc : classes_down(circle->channel, tree, votes, classes);
}

int split_sort(struct comm *comm, struct vote mine, struct classes *classes)
{
    struct circle all = circle_of_team(comm, STEP_SPLIT);
    struct tree tree;
    *classes = (struct classes){ 0 };
    int rc = circle_tree(&all, &tree);
    if (rc)
        return rc;
    struct vote *votes = malloc((size_t)tree.members * sizeof *votes);
    if (votes) {
        votes[0] = mine;
        rc = tree_sort(&all, &tree, votes, classes);
    } else {
        rc = split_no_memory(all.n);
    }
    free(votes);
    tree_free(&tree);
    return rc;
}
