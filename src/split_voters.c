/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Votes on their way up a tree.  The processes of a node mostly vote for one colour, whatever its
 * number is, with keys that go on by their ranks; then all of them are one run:
 *
 *     rank             8         9        10        11
 *     color, key    77, -8    77, -9   77, -10   77, -11
 *     then             2 from 9          2 from 11             keys + 1, ranks - 1
 *     then                      4 from 11                      keys + 1, ranks - 1
 *
 * Two neighbours are a run whatever their keys are.  A run says who is there; others of its colour
 * may belong between its members.
 */
#include "src/split_voters.h"

#include "mpi.h"

#include <stdlib.h>

int voters_of_votes(const struct vote *votes, int n, int base, struct voters *runs)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if (votes[i].color != MPI_UNDEFINED)
            runs[count++] = (struct voters){ votes[i].color, 1, votes[i].key, base + i, 0, 0 };
    return count;
}

static int voters_order(const void *a, const void *b)
{
    const struct voters *x = a, *y = b;
    if (x->color != y->color)
        return x->color < y->color ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Let a go on with b, if it does. */
static bool voters_join(struct voters *a, const struct voters *b)
{
    int64_t keys = b->key - (a->key + (int64_t)a->key_step * (a->n - 1));
    int64_t ranks = b->rank - (a->rank + (int64_t)a->rank_step * (a->n - 1));
    if (a->color != b->color || keys != (int32_t)keys)
        return false;
    if (a->n > 1 && (keys != a->key_step || ranks != a->rank_step))
        return false;
    if (b->n > 1 && (keys != b->key_step || ranks != b->rank_step))
        return false;
    a->key_step = (int32_t)keys;
    a->rank_step = (int32_t)ranks;
    a->n += b->n;
    return true;
}

int voters_merge(struct voters *runs, int n)
{
    int last = 0;
    if (n == 0)
        return 0;
    qsort(runs, (size_t)n, sizeof *runs, voters_order);
    for (int i = 1; i < n; i++)
        if (!voters_join(&runs[last], &runs[i]))
            runs[++last] = runs[i];
    return last + 1;
}
