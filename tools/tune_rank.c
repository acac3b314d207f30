/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One rank of `xmpi tune`.  Every algorithm that can perform a collective gets a communicator of its
 * own with the info key xmpi_coll, so what is measured is what programs call.  For each size the
 * candidates take turns:
 *
 *     round 1   ring  doubling  circulant ...     a batch of calls each, the slowest rank counts
 *     round 2   ring  doubling  circulant ...
 *     ...                                         until the time for this size is spent
 *
 * so a disturbance hits all of them, and medians over the rounds are compared.  Sizes grow by 4;
 * a row serves from half of its size to twice of it.
 */
#include "tools/tune.h"

#include "coll/forced.h"
#include "runtime/amount.h"
#include "mpi.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES = 64, /* allreduce has the most: 17 algorithms in three ways each, and tiny */
    ROUNDS = 101,
    LEAST_ROUNDS = 5,
    SHOWN = 4
};

struct candidate {
    char name[64];
    MPI_Comm comm;
    int nsamples;
    double sample[ROUNDS], us;
};

static struct {
    enum collective what;
    struct candidate candidate[CANDIDATES];
    int n, ranks, rank;
    char *in, *out;
} tune;

/* `bytes` as coll/rules.c counts them. */
static int call(MPI_Comm comm, int bytes)
{
    int block = bytes / tune.ranks;
    switch (tune.what) {
    case COLL_BARRIER:
        return MPI_Barrier(comm);
    case COLL_BCAST:
        return MPI_Bcast(tune.in, bytes, MPI_BYTE, 0, comm);
    case COLL_GATHER:
        return MPI_Gather(tune.in, bytes, MPI_BYTE, tune.out, bytes, MPI_BYTE, 0, comm);
    case COLL_SCATTER:
        return MPI_Scatter(tune.in, bytes, MPI_BYTE, tune.out, bytes, MPI_BYTE, 0, comm);
    case COLL_ALLGATHER:
        return MPI_Allgather(tune.in, bytes, MPI_BYTE, tune.out, bytes, MPI_BYTE, comm);
    case COLL_ALLTOALL:
        return MPI_Alltoall(tune.in, bytes, MPI_BYTE, tune.out, bytes, MPI_BYTE, comm);
    case COLL_REDUCE:
        return MPI_Reduce(tune.in, tune.out, bytes / 4, MPI_FLOAT, MPI_SUM, 0, comm);
    case COLL_ALLREDUCE:
        return MPI_Allreduce(tune.in, tune.out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    case COLL_REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(tune.in, tune.out, block / 4, MPI_FLOAT, MPI_SUM, comm);
    case COLL_SCAN:
        return MPI_Scan(tune.in, tune.out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    case COLL_EXSCAN:
        return MPI_Exscan(tune.in, tune.out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    default:
        return MPI_ERR_ARG; /* not reached: tune_rank_main asks is_measured */
    }
}

static bool is_measured(enum collective what)
{
    return is_amount_known(what) && what != COLL_ALLGATHERV && what != COLL_REDUCE_SCATTER;
}

/* Buffers are TUNE_MOST_BYTES; some collectives need a block for each rank. */
static bool fits(int bytes)
{
    bool blocks = tune.what >= COLL_GATHER && tune.what <= COLL_ALLTOALLW;
    return (long long)bytes * (blocks ? tune.ranks : 1) <= TUNE_MOST_BYTES;
}

/* ---- candidates ---- */

static void candidate_add(const char *algorithm, int pieces)
{
    struct candidate *c = &tune.candidate[tune.n];
    char text[128];
    MPI_Info info;
    assert(tune.n < CANDIDATES);
    snprintf(c->name, sizeof c->name, pieces > 1 ? "%s:pieces=%d" : "%s", algorithm, pieces);
    snprintf(text, sizeof text, "%s=%s", collective_name(tune.what), c->name);
    MPI_Info_create(&info);
    MPI_Info_set(info, "xmpi_coll", text);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &c->comm);
    MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
    MPI_Info_free(&info);
    tune.n++;
}

static void candidates_open(void)
{
    tune.n = 0;
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == tune.what && !a->inter) {
            candidate_add(a->name, 1);
            for (int pieces = 4; a->cut && pieces <= 16; pieces *= 4)
                candidate_add(a->name, pieces);
        }
}

static void candidates_close(void)
{
    for (int i = 0; i < tune.n; i++)
        MPI_Comm_free(&tune.candidate[i].comm);
}

/* ---- one size ---- */

/* Seconds per call of a batch, of the slowest rank; the same on all.  < 0: it cannot. */
static double batch(struct candidate *c, int bytes, int calls)
{
    double mine = -1, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    int rc = MPI_SUCCESS;
    for (int i = 0; i < calls && rc == MPI_SUCCESS; i++)
        rc = call(c->comm, bytes);
    if (rc == MPI_SUCCESS)
        mine = (MPI_Wtime() - begin) / calls;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_time(const void *a, const void *b)
{
    return by_value(&((const struct candidate *)a)->us, &((const struct candidate *)b)->us);
}

/* A batch of about half a millisecond. */
static int calls_for(struct candidate *c, int bytes)
{
    double once = batch(c, bytes, 1); /* the first call makes the plan */
    if (once >= 0)
        once = batch(c, bytes, 4);
    if (once < 0)
        return 0;
    int calls = once > 0 ? (int)(0.5e-3 / once) : 1000;
    return calls < 2 ? 2 : calls > 1000 ? 1000 : calls;
}

/* Rank 0's clock decides for all. */
static bool time_is_left(double until)
{
    int more = MPI_Wtime() < until;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

static void size_measure(int bytes, double seconds)
{
    int calls[CANDIDATES];
    double until = MPI_Wtime() + seconds;
    for (int i = 0; i < tune.n; i++) {
        calls[i] = calls_for(&tune.candidate[i], bytes);
        tune.candidate[i].nsamples = 0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (round >= LEAST_ROUNDS && !time_is_left(until))
            break;
        for (int i = 0; i < tune.n; i++) {
            struct candidate *c = &tune.candidate[i];
            if (calls[i])
                c->sample[c->nsamples++] = batch(c, bytes, calls[i]);
        }
    }
    for (int i = 0; i < tune.n; i++) {
        struct candidate *c = &tune.candidate[i];
        qsort(c->sample, (size_t)c->nsamples, sizeof *c->sample, by_value);
        c->us = c->nsamples ? 1e6 * c->sample[c->nsamples / 2] : 1e30;
    }
}

/* From half of the size on, up to twice of it. */
static void row_print(int bytes, bool first)
{
    struct candidate order[CANDIDATES];
    memcpy(order, tune.candidate, sizeof order);
    qsort(order, (size_t)tune.n, sizeof *order, by_time);
    printf("%s nodes=1 ranks=%d", collective_name(tune.what), tune.ranks);
    if (tune.what != COLL_BARRIER)
        printf(" bytes=%d..%d", first ? 0 : bytes / 2, 2 * bytes - 1);
    for (int i = 0; i < tune.n && i < SHOWN && order[i].nsamples; i++)
        printf("%s %s %.2fus", i ? "," : " :", order[i].name, order[i].us);
    printf("\n");
    fflush(stdout);
}

static void collective_measure(long long most, double seconds)
{
    enum { SMALLEST = 16 };
    bool barrier = tune.what == COLL_BARRIER;
    int sizes = 0;
    for (long long bytes = SMALLEST; bytes <= most && fits((int)bytes); bytes *= 4)
        sizes++;
    if (barrier || sizes == 0)
        sizes = 1;
    candidates_open();
    int bytes = SMALLEST;
    for (int i = 0; i < sizes; i++, bytes *= 4) {
        size_measure(bytes, seconds / sizes);
        if (tune.rank == 0)
            row_print(bytes, i == 0);
    }
    candidates_close();
}

int tune_rank_main(int argc, char **argv)
{
    size_t most;
    if (argc != 4 || !amount_read(argv[2], &most))
        return 2;
    char *list = argv[1];
    int count = 1, done = 0;
    for (const char *c = list; *c; c++)
        count += *c == ',';
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &tune.ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &tune.rank);
    tune.in = calloc(1, TUNE_MOST_BYTES);
    tune.out = calloc(1, TUNE_MOST_BYTES);
    if (!tune.in || !tune.out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (char *name; (name = strsep(&list, ","));) {
        int what = collective_find(name);
        if (what < 0 || !is_measured((enum collective)what)) {
            if (tune.rank == 0)
                fprintf(stderr, "xmpi tune: %s cannot be measured\n", name);
            MPI_Finalize();
            return 2;
        }
        if (tune.rank == 0)
            fprintf(stderr, "xmpi tune: %d ranks, %s (%d of %d)\n", tune.ranks, name, ++done,
                    count);
        tune.what = (enum collective)what;
        collective_measure((long long)most, atof(argv[3]) / count);
    }
    free(tune.in);
    free(tune.out);
    MPI_Finalize();
    return 0;
}
