/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sorting votes.  They go up a tree that crosses to each node once (src/circle_tree.h), put together on
 * the way (src/split_voters.h), and its root sorts all of them.  Down goes only what a subtree needs: the
 * classes of its own colours.
 *
 *          0           nodes     0 1 2 3 | 4 5 6 7
 *        / | \
 *       1  2  4        votes of  0: 0 .. 7      4: 4 .. 7     6: 6 7
 *          |  |\
 *          3  5 6      down to 6 go the classes of the two colours of 6 and 7,
 *               |      and 6 passes on that of 7
 *               7
 *
 * Cost: 2 log n steps.  Where each node votes for colours of its own, up go 24 bytes for each of
 * them and down 16: of 2^20 processes on 2^14 nodes the root hears 384 KiB and sorts for 1.4 ms.  Where
 * votes have no pattern (random keys of 16 colours: 13 MB, 180 ms), it needs up to 64 bytes per process
 * for a moment, a leaf those of its own class, nothing else: a table of everybody's votes is nowhere
 * but at the root.
 */
#include "src/split_sort.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "src/circle_tree.h"
#include "src/context.h"
#include "src/split_voters.h"

#include <stdlib.h>
#include <string.h>

int split_no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory to split a communicator of %d processes", n);
}

/* ---- sorting ---- */

struct member {
    int32_t key, rank;
};

static int member_order(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Write n members of a colour down; returns the number of words. */
static size_t class_write(int32_t color, const struct member *members, int n, int32_t *words)
{
    int64_t stride = n > 1 ? (int64_t)members[1].rank - members[0].rank : 1;
    bool regular = true;
    for (int i = 2; i < n && regular; i++)
        regular = (int64_t)members[i].rank - members[i - 1].rank == stride;
    words[0] = color;
    words[1] = regular ? n : -n;
    words[2] = members[0].rank;
    words[3] = (int32_t)stride;
    for (int i = 0; i < n && !regular; i++)
        words[2 + i] = members[i].rank;
    return regular ? 4 : 2 + (size_t)n;
}

/* The runs of one colour, the first n here: how many, and of how many members. */
static int color_voters(const struct voters *runs, int n, int *members)
{
    int same = 0;
    for (*members = 0; same < n && runs[same].color == runs[0].color; same++)
        *members += runs[same].n;
    return same;
}

/* One colour: a single run as it is, more of them member by member.  0: memory is out. */
static size_t class_of_voters(const struct voters *runs, int n, int count, int32_t *words)
{
    if (n == 1) {
        memcpy(words, &(int32_t[4]){ runs->color, runs->n, runs->rank, runs->rank_step },
               4 * sizeof *words);
        return 4;
    }
    struct member *members = malloc((size_t)count * sizeof *members), *next = members;
    if (!members)
        return 0;
    for (int r = 0; r < n; r++)
        for (int i = 0; i < runs[r].n; i++)
            *next++ = (struct member){ (int32_t)(runs[r].key + (int64_t)i * runs[r].key_step),
                                       runs[r].rank + i * runs[r].rank_step };
    qsort(members, (size_t)count, sizeof *members, member_order);
    size_t length = class_write(runs->color, members, count, words);
    free(members);
    return length;
}

/* Words for all colours, at most. */
static size_t words_at_most(const struct voters *runs, int n)
{
    size_t words = 0;
    for (int at = 0, members; at < n;) {
        int same = color_voters(runs + at, n - at, &members);
        words += same == 1 ? 4 : 2 + (size_t)members;
        at += same;
    }
    return words;
}

bool classes_of_voters(const struct voters *runs, int n, struct classes *sorted)
{
    *sorted = (struct classes){ malloc((words_at_most(runs, n) + 1) * sizeof(int32_t)), 0 };
    for (int at = 0, members; at < n && sorted->words;) {
        int same = color_voters(runs + at, n - at, &members);
        size_t length =
            class_of_voters(runs + at, same, members, sorted->words + sorted->length);
        if (length == 0) {
            free(sorted->words);
            *sorted = (struct classes){ 0 };
        }
        sorted->length += length;
        at += same;
    }
    return sorted->words != NULL;
}

bool classes_sort(const struct vote *votes, int n, int base, struct classes *sorted)
{
    struct voters *runs = malloc(((size_t)n + 1) * sizeof *runs);
    *sorted = (struct classes){ 0 };
    bool done =
        runs && classes_of_voters(
                    runs, voters_merge(runs, voters_of_votes(votes, n, base, runs)), sorted);
    free(runs);
    return done;
}

/* ---- picking ---- */

static size_t class_length(const int32_t *words)
{
    return words[1] >= 0 ? 4 : 2 + (size_t)-words[1];
}

bool classes_pick(const struct classes *all, const struct voters *runs, int n,
                  struct classes *picked)
{
    *picked = (struct classes){ malloc((all->length + 1) * sizeof *picked->words), 0 };
    if (!picked->words)
        return false;
    int run = 0;
    for (size_t at = 0; at < all->length; at += class_length(all->words + at)) {
        const int32_t *words = all->words + at;
        while (run < n && runs[run].color < words[0])
            run++;
        if (run == n || runs[run].color != words[0])
            continue;
        memcpy(picked->words + picked->length, words, class_length(words) * sizeof *words);
        picked->length += class_length(words);
    }
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

/* What is known below here: my own run, if I vote, and behind it what each branch has sent, sorted
 * by colour; branch i's are runs[begin[i]] to runs[begin[i + 1] - 1]. */
struct gathered {
    struct voters *runs;
    int begin[TREE_BRANCHES + 1];
};

static int voters_receive(struct channel *channel, const struct tree *tree,
                          struct gathered *gathered)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < tree->branches && !rc; i++) {
        const struct tree_branch *branch = &tree->branch[i];
        struct voters *to = gathered->runs + gathered->begin[i];
        size_t bytes = (size_t)branch->members * sizeof *to;
        rc = context_receive_some(channel, branch->member, STEP_SPLIT, to, &bytes);
        gathered->begin[i + 1] = gathered->begin[i] + (int)(bytes / sizeof *to);
    }
    return rc;
}

/* To the parent, or, at the root, into their classes. */
static int voters_pass(struct channel *channel, const struct tree *tree,
                       const struct gathered *gathered, struct classes *classes)
{
    int n = gathered->begin[tree->branches], rc = MPI_SUCCESS;
    struct voters *merged = malloc(((size_t)n + 1) * sizeof *merged);
    if (!merged)
        return split_no_memory(tree->n);
    memcpy(merged, gathered->runs, (size_t)n * sizeof *merged);
    n = voters_merge(merged, n);
    if (tree->parent >= 0)
        rc = context_send(channel, tree->parent, 0, STEP_SPLIT, merged,
                          (size_t)n * sizeof *merged);
    else if (!classes_of_voters(merged, n, classes))
        rc = split_no_memory(tree->n);
    free(merged);
    return rc;
}

static int classes_down(struct channel *channel, const struct tree *tree,
                        const struct gathered *gathered, const struct classes *mine)
{
    int rc = MPI_SUCCESS;
    for (int i = tree->branches - 1; i >= 0 && !rc; i--) {
        int begin = gathered->begin[i], n = gathered->begin[i + 1] - begin;
        struct classes theirs;
        if (!classes_pick(mine, gathered->runs + begin, n, &theirs))
            return split_no_memory(channel->size);
        rc = classes_send(channel, tree->branch[i].member, &theirs);
        free(theirs.words);
    }
    return rc;
}

static int tree_sort(struct channel *channel, const struct tree *tree,
                     struct gathered *gathered, struct classes *classes)
{
    int rc = voters_receive(channel, tree, gathered);
    if (!rc)
        rc = voters_pass(channel, tree, gathered, classes);
    if (!rc && tree->parent >= 0)
        rc = classes_receive(channel, tree->parent, classes);
    return rc ? rc : classes_down(channel, tree, gathered, classes);
}

int split_sort(struct comm *comm, struct vote mine, struct classes *classes)
{
    struct circle all = circle_of_team(comm, STEP_SPLIT);
    struct tree tree;
    *classes = (struct classes){ 0 };
    int rc = circle_tree(&all, &tree);
    if (rc)
        return rc;
    struct gathered gathered = { .runs = malloc((size_t)tree.members * sizeof(struct voters)) };
    if (gathered.runs) {
        gathered.begin[0] = voters_of_votes(&mine, 1, all.rank, gathered.runs);
        rc = tree_sort(all.channel, &tree, &gathered, classes);
    } else {
        rc = split_no_memory(all.n);
    }
    free(gathered.runs);
    tree_free(&tree);
    return rc;
}
