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
 *
 * What time is left is divided among the collectives that are left, and that of each among its sizes.  A
 * size takes a few rounds at least; where that is more than its share, every second or third is measured,
 * and so on, and what is under way when the time is over is dropped: a row that not all have competed for would say nothing.
 */
#include "tools/tune.h"

#include "coll/forced.h"
#include "coll/tiny.h"
#include "coll/tuning.h"
#include "runtime/amount.h"
#include "mpi.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES = 64, /* allreduce has the most: 17 algorithms in three ways each, and tiny */
    ROUNDS = 101,
    LEAST_ROUNDS = 3,
    SHOWN = 4,
    SMALLEST = 16 /* bytes */
};
_Static_assert((int)SHOWN <= (int)TUNING_MOST, "who reads the file takes so many in a row");

struct candidate {
    char name[64];
    MPI_Comm comm;
    int nsamples;
    double sample[ROUNDS], us;
    bool lacks; /* the shared slots that it works by: it could not compete */
};

/* Instead of seconds: it cannot; it could, if its communicator had got shared slots. */
static const double cannot = -1, lacks_slots = -2;

static struct {
    enum collective what;
    struct candidate candidate[CANDIDATES];
    int n, ranks, rank;
    char *in, *out;
    int *counts, *displs; /* of a call of the size at hand */
    double end;           /* of the time for this collective, by rank 0's clock */
    double least,
        chance; /* seconds that the last size took at least; what is saved up for the next */
    int left, measured; /* its sizes to come; its rows written */
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
    case COLL_ALLGATHERV:
        return MPI_Allgatherv(tune.in, bytes, MPI_BYTE, tune.out, tune.counts, tune.displs,
                              MPI_BYTE, comm);
    case COLL_ALLTOALL:
        return MPI_Alltoall(tune.in, bytes, MPI_BYTE, tune.out, bytes, MPI_BYTE, comm);
    case COLL_REDUCE:
        return MPI_Reduce(tune.in, tune.out, bytes / 4, MPI_FLOAT, MPI_SUM, 0, comm);
    case COLL_ALLREDUCE:
        return MPI_Allreduce(tune.in, tune.out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    case COLL_REDUCE_SCATTER:
        return MPI_Reduce_scatter(tune.in, tune.out, tune.counts, MPI_FLOAT, MPI_SUM, comm);
    case COLL_REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(tune.in, tune.out, block / 4, MPI_FLOAT, MPI_SUM, comm);
    case COLL_SCAN:
        return MPI_Scan(tune.in, tune.out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    case COLL_EXSCAN:
        return MPI_Exscan(tune.in, tune.out, bytes / 4, MPI_FLOAT, MPI_SUM, comm);
    default:
        return MPI_ERR_ARG; /* not reached: tune_rank_main asks tune_measures */
    }
}

bool tune_measures(enum collective what)
{
    return is_amount_known(what);
}

/* Blocks of those that have lists of them are alike. */
static void lists_fill(int bytes)
{
    bool reduces = tune.what == COLL_REDUCE_SCATTER;
    for (int i = 0; i < tune.ranks; i++) {
        tune.counts[i] = reduces ? bytes / tune.ranks / 4 : bytes;
        tune.displs[i] = i * tune.counts[i];
    }
}

/* Buffers are TUNE_MOST_BYTES; some collectives need a block for each rank. */
static bool fits(int bytes)
{
    bool blocks = tune.what >= COLL_GATHER && tune.what <= COLL_ALLTOALLW;
    return (long long)bytes * (blocks ? tune.ranks : 1) <= TUNE_MOST_BYTES;
}

/* ---- candidates ---- */

static void candidate_open(struct candidate *c)
{
    char text[128];
    MPI_Info info;
    snprintf(text, sizeof text, "%s=%s", collective_name(tune.what), c->name);
    MPI_Info_create(&info);
    MPI_Info_set(info, "xmpi_coll", text);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &c->comm);
    MPI_Comm_set_errhandler(c->comm, MPI_ERRORS_RETURN);
    MPI_Info_free(&info);
}

static void candidate_add(const char *algorithm, int pieces)
{
    struct candidate *c = &tune.candidate[tune.n];
    assert(tune.n < CANDIDATES);
    snprintf(c->name, sizeof c->name, pieces > 1 ? "%s:pieces=%d" : "%s", algorithm, pieces);
    candidate_open(c);
    tune.n++;
}

static void candidates_open(void)
{
    tune.n = 0;
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->what == tune.what && !a->inter) {
            candidate_add(a->name, 1);
            for (int pieces = 4; a->pipelines && pieces <= 16; pieces *= 4)
                candidate_add(a->name, pieces);
        }
}

/* Shared slots are free when the last rank has given them back, and only then has the next collective a fair
 * choice of them. */
static void candidates_close(void)
{
    for (int i = 0; i < tune.n; i++)
        MPI_Comm_free(&tune.candidate[i].comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* With slots, now that nobody else draws any. */
static void candidate_again(struct candidate *c)
{
    MPI_Comm_free(&c->comm);
    MPI_Barrier(MPI_COMM_WORLD);
    candidate_open(c);
}

/* ---- one size ---- */

/* Why a call failed: for want of slots, where MPI_COMM_WORLD has some? */
static double failure(int error)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(error, text, &length);
    return tiny_world() && strstr(text, TINY_NO_SLOTS) ? lacks_slots : cannot;
}

/* Seconds per call of a batch, of the slowest rank; the same on all.  < 0: none, and why. */
static double batch(struct candidate *c, int bytes, int calls)
{
    double mine, slowest;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    int rc = MPI_SUCCESS;
    for (int i = 0; i < calls && rc == MPI_SUCCESS; i++)
        rc = call(c->comm, bytes);
    mine = rc == MPI_SUCCESS ? (MPI_Wtime() - begin) / calls : failure(rc);
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
    if (once == lacks_slots) {
        candidate_again(c);
        once = batch(c, bytes, 1);
    }
    c->lacks = once == lacks_slots;
    if (c->lacks && tune.rank == 0)
        fprintf(stderr, "xmpi tune: %d ranks, %s: no shared slots for %s, which is left out\n",
                tune.ranks, collective_name(tune.what), c->name);
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

/* One batch of each; a measurement that is not finished is none. */
static bool round_measure(int bytes, const int calls[])
{
    for (int i = 0; i < tune.n; i++) {
        struct candidate *c = &tune.candidate[i];
        if (!time_is_left(tune.end))
            return false;
        if (calls[i])
            c->sample[c->nsamples++] = batch(c, bytes, calls[i]);
    }
    return true;
}

static bool size_measure(int bytes, double seconds)
{
    int calls[CANDIDATES];
    double begin = MPI_Wtime();
    lists_fill(bytes);
    for (int i = 0; i < tune.n; i++) {
        if (!time_is_left(tune.end))
            return false;
        calls[i] = calls_for(&tune.candidate[i], bytes);
        tune.candidate[i].nsamples = 0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (round == LEAST_ROUNDS)
            tune.least = MPI_Wtime() - begin;
        if (round >= LEAST_ROUNDS && !time_is_left(begin + seconds))
            break;
        if (!round_measure(bytes, calls) && round < LEAST_ROUNDS)
            return false;
    }
    for (int i = 0; i < tune.n; i++) {
        struct candidate *c = &tune.candidate[i];
        qsort(c->sample, (size_t)c->nsamples, sizeof *c->sample, by_value);
        c->us = c->nsamples ? 1e6 * c->sample[c->nsamples / 2] : 1e30;
    }
    return true;
}

/* Is it the turn of the next size?  Of more than there is time for some are, evenly spread. */
static bool has_turn(void)
{
    double now = MPI_Wtime(), share = (tune.end - now) / tune.left;
    tune.chance += share >= tune.least ? 1 : share > 0 ? share / tune.least : 0;
    int turn = share > 0 && (tune.measured == 0 || tune.chance >= 1);
    MPI_Bcast(&turn, 1, MPI_INT, 0, MPI_COMM_WORLD);
    tune.chance -= turn;
    return turn;
}

/* Those that could not compete: nobody shall take the row for a defeat of theirs. */
static void absent_print(void)
{
    for (int i = 0; i < tune.n; i++)
        if (tune.candidate[i].lacks)
            printf("  # not measured, for want of shared slots: %s", tune.candidate[i].name);
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
    absent_print();
    printf("\n");
    fflush(stdout);
}

static int sizes_of(enum collective what, long long most)
{
    int sizes = 0;
    tune.what = what;
    for (long long bytes = SMALLEST; bytes <= most && fits((int)bytes); bytes *= 4)
        sizes++;
    return what == COLL_BARRIER || sizes == 0 ? 1 : sizes;
}

static void collective_measure(enum collective what, long long most, double seconds)
{
    int sizes = sizes_of(what, most), bytes = SMALLEST, dropped = 0;
    tune.end = MPI_Wtime() + seconds;
    tune.left = sizes;
    tune.measured = 0;
    tune.least = tune.chance = 0;
    candidates_open();
    for (int i = 0; i < sizes; i++, bytes *= 4, tune.left--) {
        bool measured = has_turn() && size_measure(bytes, (tune.end - MPI_Wtime()) / tune.left);
        tune.measured += measured;
        dropped += !measured;
        if (measured && tune.rank == 0)
            row_print(bytes, i == 0);
    }
    candidates_close();
    if (dropped && tune.rank == 0)
        fprintf(stderr,
                "xmpi tune: %d ranks, %s: no time for %d of %d sizes, which are left out; a "
                "longer --seconds measures them\n",
                tune.ranks, collective_name(what), dropped, sizes);
}

/* False: one of the list cannot be measured, and it has been said. */
static bool list_check(const char *names)
{
    char *list = strdup(names), *rest = list;
    bool good = list != NULL;
    for (char *name; good && (name = strsep(&rest, ","));) {
        int what = collective_find(name);
        good = what >= 0 && tune_measures((enum collective)what);
        if (!good && tune.rank == 0)
            fprintf(stderr, "xmpi tune: %s cannot be measured\n", name);
    }
    free(list);
    return good;
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
    tune.counts = calloc((size_t)tune.ranks, sizeof *tune.counts);
    tune.displs = calloc((size_t)tune.ranks, sizeof *tune.displs);
    if (!tune.in || !tune.out || !tune.counts || !tune.displs)
        MPI_Abort(MPI_COMM_WORLD, 1);
    double end = MPI_Wtime() + atof(argv[3]);
    bool good = list_check(list);
    for (char *name; good && (name = strsep(&list, ",")); done++) {
        if (tune.rank == 0)
            fprintf(stderr, "xmpi tune: %d ranks, %s (%d of %d)\n", tune.ranks, name, done + 1,
                    count);
        collective_measure((enum collective)collective_find(name), (long long)most,
                           (end - MPI_Wtime()) / (count - done));
    }
    free(tune.in);
    free(tune.out);
    free(tune.counts);
    free(tune.displs);
    MPI_Finalize();
    return good ? 0 : 2;
}
