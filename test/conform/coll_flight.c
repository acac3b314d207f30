/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nonblocking collectives of much and little data, more at a time than there are tracks (coll/later.c), on two
 * communicators that ranks begin in different orders, and that are completed backwards or one by one.
 */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

enum { KINDS = 6, EACH = 3, CALLS = KINDS * EACH, LONG = 40000, SHORT = 5 };

struct flight {
    int kind, n;
    int *in, *out;
};
static int rank, size;

static int value(int from, int call, int i)
{
    return from * 7919 + call * 131 + i;
}

static void begin(struct flight *f, int call, MPI_Comm comm, MPI_Request *request)
{
    f->kind = call % KINDS;
    f->n = call % 5 == 4 ? SHORT : LONG + call;
    size_t all = (size_t)f->n * (size_t)size;
    f->in = malloc(all * sizeof(int));
    f->out = malloc(all * sizeof(int));
    for (size_t i = 0; i < all; i++) {
        f->in[i] = value(rank, call, (int)i);
        f->out[i] = f->kind == 1 ? f->in[i] : -1;
    }
    int root = call % size;
    switch (f->kind) {
    case 0:
        MPI_Iallreduce(f->in, f->out, f->n, MPI_INT, MPI_SUM, comm, request);
        break;
    case 1:
        MPI_Iallreduce(MPI_IN_PLACE, f->out, f->n, MPI_INT, MPI_SUM, comm, request);
        break;
    case 2:
        MPI_Ireduce(f->in, f->out, f->n, MPI_INT, MPI_SUM, root, comm, request);
        break;
    case 3:
        MPI_Igather(f->in, f->n, MPI_INT, f->out, f->n, MPI_INT, root, comm, request);
        break;
    case 4:
        MPI_Ialltoall(f->in, f->n, MPI_INT, f->out, f->n, MPI_INT, comm, request);
        break;
    default:
        MPI_Ireduce_scatter_block(f->in, f->out, f->n, MPI_INT, MPI_SUM, comm, request);
    }
}

/* What element i of block b is when all is over. */
static int expected(const struct flight *f, int call, int b, int i)
{
    int sum = 0;
    if (f->kind == 3)
        return value(b, call, i);
    if (f->kind == 4)
        return value(b, call, rank * f->n + i);
    for (int r = 0; r < size; r++)
        sum += value(r, call, f->kind == 5 ? rank * f->n + i : i);
    return sum;
}

static void end(struct flight *f, int call)
{
    bool here = (f->kind != 2 && f->kind != 3) || rank == call % size;
    int blocks = !here ? 0 : f->kind == 3 || f->kind == 4 ? size : 1, wrong = 0;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < f->n; i++)
            wrong += f->out[b * f->n + i] != expected(f, call, b, i);
    CHECK(wrong == 0);
    free(f->in);
    free(f->out);
}

static void fly(MPI_Comm *comms, int way)
{
    struct flight flights[2 * CALLS];
    MPI_Request requests[2 * CALLS];
    for (int i = 0; i < CALLS; i++)
        for (int k = 0; k < 2;
             k++) { /* the communicators in another order on each second rank */
            int c = (k + rank + i) % 2, at = c * CALLS + i;
            begin(&flights[at], i, comms[c], &requests[at]);
        }
    for (int i = 2 * CALLS - 1; i >= 0 && way == 0; i--)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int left = 2 * CALLS, at, done; left > 0 && way == 1; left -= done) {
        MPI_Testany(2 * CALLS, requests, &at, &done, MPI_STATUS_IGNORE);
        done = done && at != MPI_UNDEFINED;
    }
    if (way == 2)
        MPI_Waitall(2 * CALLS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * CALLS; i++)
        end(&flights[i], i % CALLS);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[2] = { MPI_COMM_WORLD };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    for (int way = 0; way < 3; way++)
        fly(comms, way);
    MPI_Comm_free(&comms[1]);
    return check_done();
}
