/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a datatype costs that is made, committed and freed, every constructor with n blocks, and
 * what it costs to pack one element of it: one process, no message.  One line per case, its name, n
 * and the least of many batches in ns, so that a busy machine does not count; bench/datatypes.py runs
 * it with several libraries in turns.
 *
 *     blocks of indexed types   2 elements each, gaps that grow, so that no rule describes them
 *     struct                    n members, int, double and char in turn, as a compiler lays them out
 *     records                   n blocks of a type that is a struct itself
 */
#include <mpi.h>

#include <stdio.h>
#include <time.h>

enum { MOST = 1024, BATCHES = 60, BATCH_NS = 100000 };

static int lengths[MOST], places[MOST];
static MPI_Aint offsets[MOST], members[MOST];
static MPI_Datatype kinds[MOST], record;

static void arrays_fill(void)
{
    const MPI_Datatype kind[3] = { MPI_INT, MPI_DOUBLE, MPI_CHAR };
    const int member[3] = { 0, 8, 16 };
    for (int i = 0; i < MOST; i++) {
        lengths[i] = 1 + i % 2;
        places[i] = 3 * i + i * i / 64;
        offsets[i] = 8 * (MPI_Aint)places[i];
        kinds[i] = kind[i % 3];
        members[i] = 24 * (i / 3) + member[i % 3];
    }
    MPI_Type_create_struct(3, (int[]){ 1, 1, 1 }, members, kinds, &record);
}

static void contiguous(int n, MPI_Datatype *type)
{
    MPI_Type_contiguous(n, MPI_DOUBLE, type);
}
static void vector(int n, MPI_Datatype *type)
{
    MPI_Type_vector(n, 2, 5, MPI_DOUBLE, type);
}
static void hvector(int n, MPI_Datatype *type)
{
    MPI_Type_create_hvector(n, 1, 40, MPI_DOUBLE, type);
}
static void indexed(int n, MPI_Datatype *type)
{
    MPI_Type_indexed(n, lengths, places, MPI_DOUBLE, type);
}
static void hindexed(int n, MPI_Datatype *type)
{
    MPI_Type_create_hindexed(n, lengths, offsets, MPI_DOUBLE, type);
}
static void indexed_block(int n, MPI_Datatype *type)
{
    MPI_Type_create_indexed_block(n, 2, places, MPI_DOUBLE, type);
}
static void structure(int n, MPI_Datatype *type)
{
    MPI_Type_create_struct(n, lengths, members, kinds, type);
}
static void records(int n, MPI_Datatype *type)
{
    MPI_Type_indexed(n, lengths, places, record, type);
}
static void subarray(int n, MPI_Datatype *type)
{
    MPI_Type_create_subarray(3, (int[]){ n + 2, n + 2, n + 2 }, (int[]){ n, n, n },
                             (int[]){ 1, 1, 1 }, MPI_ORDER_C, MPI_DOUBLE, type);
}
static void resized(int n, MPI_Datatype *type)
{
    MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * n, type);
}

typedef void make_fn(int n, MPI_Datatype *type);

struct work {
    make_fn *make;
    int n;
    MPI_Datatype type; /* to be packed */
};

static void make_turns(struct work *w, int count)
{
    for (int i = 0; i < count; i++) {
        w->make(w->n, &w->type);
        MPI_Type_commit(&w->type);
        MPI_Type_free(&w->type);
    }
}

static void pack_turns(struct work *w, int count)
{
    static char from[1 << 23], packed[1 << 20];
    for (int i = 0; i < count; i++) {
        int position = 0;
        MPI_Pack(from, 1, w->type, packed, sizeof packed, &position, MPI_COMM_SELF);
    }
}

typedef void turns_fn(struct work *w, int count);

static double turns_ns(turns_fn *turns, struct work *w, int count)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    turns(w, count);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

static double least_ns(turns_fn *turns, struct work *w)
{
    turns(w, 10);
    int count = 1 + (int)(BATCH_NS * 10 / turns_ns(turns, w, 10));
    double least = 1e30;
    for (int i = 0; i < BATCHES; i++) {
        double each = turns_ns(turns, w, count) / count;
        least = each < least ? each : least;
    }
    return least;
}

static void measure(const char *name, make_fn *make, int n)
{
    struct work w = { make, n, MPI_DATATYPE_NULL };
    printf("%s %d %.1f\n", name, n, least_ns(make_turns, &w));
    make(n, &w.type);
    MPI_Type_commit(&w.type);
    printf("%s_pack %d %.1f\n", name, n, least_ns(pack_turns, &w));
    MPI_Type_free(&w.type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    arrays_fill();
    measure("contiguous", contiguous, 4);
    measure("resized", resized, 4);
    measure("subarray", subarray, 8);
    for (int n = 4; n <= MOST; n *= 4) {
        measure("vector", vector, n);
        measure("hvector", hvector, n);
        measure("indexed", indexed, n);
        measure("hindexed", hindexed, n);
        measure("indexed_block", indexed_block, n);
        measure("struct", structure, n);
        measure("records", records, n);
    }
    MPI_Type_free(&record);
    MPI_Finalize();
    return 0;
}
