/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A tree over some processes that are on nodes, seen by one of them.
 */
#ifndef XMPI_CIRCLE_TREE_H
#define XMPI_CIRCLE_TREE_H

enum { TREE_BRANCHES = 64 }; /* as many as two numbers of 31 bits have bits, and more */

/* Members are numbered 0 to n - 1; what a process and its branches collect lies in the order of the
 * tree, its own first. */
struct tree_branch {
    int member;      /* who is at its lower end */
    int at, members; /* what it collects is this part of what I collect */
};

struct tree {
    int parent;  /* -1: I am the root */
    int members; /* that I collect from, with me */
    int branches;
    struct tree_branch
        branch[TREE_BRANCHES]; /* this node's first, small ones before large ones */
    int n, root;
    int *order; /* the member at each place of the tree; NULL: root, root + 1, .. */
};

/* `first` tells nodes apart: the lowest member on the node of each; NULL: they are all on one.  To be
 * freed by tree_free.  MPI_ERR_NO_MEM. */
int tree_make(struct tree *tree, const int *first, int n, int me, int root);
void tree_free(struct tree *tree);

/* The member at a place of the tree. */
int tree_member(const struct tree *tree, int place);

#endif
