/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reductions of pairs with padding, short ones and again and again: the results are right, the padding between them
 * stays as it was, and memory ends where the data of the last pair end.
 */
#include "check.h"

#include <stddef.h>

enum { MOST = 90, ROUNDS = 8, WAS = 0x5d };

static int rank, size;

/* Ranks agree often, so the lowest of them counts. */
static int value_of(int from, int i, int round)
{
    return (from * 7 + i * 3 + round) % 5 - 2;
}

/* The rank in [0, ranks) whose value is the largest. */
static int largest(int ranks, int i, int round)
{
    int best = 0;
    for (int r = 1; r < ranks; r++)
        if (value_of(r, i, round) > value_of(best, i, round))
            best = r;
    return best;
}

#define KIND(name, type)                                                                       \
    struct name {                                                                              \
        type value;                                                                            \
        int index;                                                                             \
    };                                                                                         \
    static void name##_put(char *at, int from, int i, int round)                               \
    {                                                                                          \
        type value = (type)value_of(from, i, round);                                           \
        int index = from + i;                                                                  \
        memcpy(at + offsetof(struct name, value), &value, sizeof value);                       \
        memcpy(at + offsetof(struct name, index), &index, sizeof index);                       \
    }

KIND(real, double)
KIND(whole, long)
KIND(little, short)

static const struct kind {
    size_t size, index; /* bytes of the struct; where the index is */
    void (*put)(char *at, int from, int i, int round);
} kinds[] = {
    { sizeof(struct real), offsetof(struct real, index), real_put },
    { sizeof(struct whole), offsetof(struct whole, index), whole_put },
    { sizeof(struct little), offsetof(struct little, index), little_put },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static size_t length(const struct kind *k, int n)
{
    return (size_t)(n - 1) * k->size + k->index + sizeof(int);
}

/* The contribution of `from`, or of the best of so many ranks, amid bytes that are WAS. */
static void fill(char *to, const struct kind *k, int n, int round, int ranks, int from)
{
    memset(to, WAS, length(k, n));
    for (int i = 0; i < n; i++)
        k->put(to + (size_t)i * k->size, ranks ? largest(ranks, i, round) : from, i, round);
}

enum form { ALL, ONE, SCAN, EXSCAN, ALL_IN_PLACE, SCAN_IN_PLACE, LATER, FORMS };

static void reduce(enum form form, const void *in, void *out, int n, MPI_Datatype type)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request request;
    switch (form) {
    case ALL:
        MPI_Allreduce(in, out, n, type, MPI_MAXLOC, comm);
        break;
    case ONE:
        MPI_Reduce(in, out, n, type, MPI_MAXLOC, size - 1, comm);
        break;
    case SCAN:
        MPI_Scan(in, out, n, type, MPI_MAXLOC, comm);
        break;
    case EXSCAN:
        MPI_Exscan(in, out, n, type, MPI_MAXLOC, comm);
        break;
    case ALL_IN_PLACE:
        MPI_Allreduce(MPI_IN_PLACE, out, n, type, MPI_MAXLOC, comm);
        break;
    case SCAN_IN_PLACE:
        MPI_Scan(MPI_IN_PLACE, out, n, type, MPI_MAXLOC, comm);
        break;
    case LATER:
    case FORMS:
        MPI_Iallreduce(in, out, n, type, MPI_MAXLOC, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Of how many ranks this one has the result; 0: none. */
static int ranks_in(enum form form)
{
    if (form == SCAN || form == SCAN_IN_PLACE)
        return rank + 1;
    if (form == EXSCAN)
        return rank;
    return form == ONE && rank != size - 1 ? 0 : size;
}

static void try(enum form form, const struct kind *k, MPI_Datatype type, int n, int round)
{
    size_t bytes = length(k, n);
    char *in = malloc(bytes), *out = malloc(bytes), *wanted = malloc(bytes);
    fill(in, k, n, round, 0, rank);
    memset(out, WAS, bytes);
    if (form == ALL_IN_PLACE || form == SCAN_IN_PLACE)
        memcpy(out, in, bytes);
    reduce(form, in, out, n, type);
    if (ranks_in(form) > 0) {
        fill(wanted, k, n, round, ranks_in(form), 0);
        CHECK(memcmp(out, wanted, bytes) == 0);
    }
    free(in);
    free(out);
    free(wanted);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = world_rank();
    size = world_size();
    const MPI_Datatype types[KINDS] = { MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT };
    for (int form = 0; form < FORMS; form++)
        for (int k = 0; k < KINDS; k++)
            for (int n = 1; n <= MOST; n += n < 8 ? 1 : 27)
                for (int round = 0; round < ROUNDS; round++)
                    try((enum form)form, &kinds[k], types[k], n, round);
    return check_done();
}
