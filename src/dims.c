/* SPDX-License-Identifier: BSD-3-Clause
 *
 * MPI_Dims_create: n processes as a grid whose sides are as equal as n allows, largest first
 * (MPI 5.0, 8.5.2).
 *
 * "As close to each other as possible" is taken at its word: among all ways to write n as a
 * product of k sides, the one with the smallest difference between the largest and the smallest;
 * among those, the smallest sum; among those, the largest sides in front.  The search tries
 * divisors of n for the largest side, then for the next one, and leaves as soon as the sides must
 * differ by more than in the best grid so far.  Divisors are few (1344 at most for an int), so it is instant.
 */
#include "src/dims.h"

#include "mpi.h"
#include "runtime/fail.h"
#include "src/api/topology.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct search {
    int *divisors, ndivisors; /* of n, ascending */
    int *sides, *best;        /* k each */
    int k;
    int64_t spread, sum; /* of best: largest - smallest side; INT_MAX: none yet */
};

/* The largest r with r^k <= n. */
static int root_floor(int n, int k)
{
    int low = 1, high = n;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        int64_t power = 1;
        for (int i = 0; i < k && power <= n; i++)
            power *= middle;
        if (power <= n)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* All sides are chosen: are they the best so far?  Candidates come smallest sides in front first,
 * so the later of two equals is wanted. */
static void consider(struct search *s)
{
    int64_t spread = s->sides[0] - s->sides[s->k - 1], sum = 0;
    for (int i = 0; i < s->k; i++)
        sum += s->sides[i];
    if (spread > s->spread || (spread == s->spread && sum > s->sum))
        return;
    s->spread = spread;
    s->sum = sum;
    memcpy(s->best, s->sides, (size_t)s->k * sizeof *s->best);
}

/* Choose sides at, at + 1, ... with product n, none larger than the one before. */
static void search_sides(struct search *s, int at, int n)
{
    int limit = at > 0 ? s->sides[at - 1] : n, left = s->k - at - 1;
    if (left == 0) {
        s->sides[at] = n;
        if (n <= limit)
            consider(s);
        return;
    }
    for (int i = 0; i < s->ndivisors && s->divisors[i] <= limit; i++) {
        int side = s->divisors[i];
        if (n % side != 0 || side < root_floor(n, left + 1))
            continue;
        s->sides[at] = side;
        /* The smallest side is at most the root of what remains; that only shrinks from here. */
        if (s->sides[0] - root_floor(n / side, left) > s->spread)
            return;
        search_sides(s, at + 1, n / side);
    }
}

static int int_order(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static int divisors_find(int n, int *divisors)
{
    int count = 0;
    for (int d = 1; (int64_t)d * d <= n; d++)
        if (n % d == 0) {
            divisors[count++] = d;
            if (d != n / d)
                divisors[count++] = n / d;
        }
    qsort(divisors, (size_t)count, sizeof *divisors, int_order);
    return count;
}

int dims_balance(int n, int k, int *sides)
{
    int most = 0;
    for (int d = 1; (int64_t)d * d <= n; d++)
        most += 2 * (n % d == 0);
    int *memory = malloc(((size_t)most + 2 * (size_t)k) * sizeof *memory);
    if (!memory)
        return fail(MPI_ERR_NO_MEM, "no memory to balance %d dimensions", k);
    struct search s = { .divisors = memory, .k = k, .spread = INT_MAX };
    s.sides = memory + most;
    s.best = s.sides + k;
    s.ndivisors = divisors_find(n, s.divisors);
    search_sides(&s, 0, n);
    memcpy(sides, s.best, (size_t)k * sizeof *sides);
    free(memory);
    return MPI_SUCCESS;
}

int xmpi_dims_create(int nnodes, length_t ndims, int dims[])
{
    int64_t fixed = 1;
    int open = 0;
    if (nnodes < 1)
        return fail(MPI_ERR_ARG, "argument nnodes is %d, it must be 1 or more", nnodes);
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0)
            return fail(MPI_ERR_DIMS, "argument dims[%d] is %d, it must be 0 (choose) or more",
                        i, dims[i]);
        open += dims[i] == 0;
        fixed *= dims[i] > 0 && fixed <= nnodes ? dims[i] : 1;
    }
    if (nnodes % fixed != 0 || (open == 0 && ndims > 0 && fixed != nnodes))
        return fail(MPI_ERR_DIMS,
                    "argument nnodes is %d, which the given dims (product %lld) do not %s",
                    nnodes, (long long)fixed, open ? "divide" : "make");
    if (open == 0)
        return MPI_SUCCESS;
    int *sides = malloc((size_t)open * sizeof *sides);
    int rc = sides ? dims_balance((int)(nnodes / fixed), open, sides)
                   : fail(MPI_ERR_NO_MEM, "no memory for %d dimensions", open);
    for (int i = 0, j = 0; i < ndims && !rc; i++)
        if (dims[i] == 0)
            dims[i] = sides[j++];
    free(sides);
    return rc;
}
