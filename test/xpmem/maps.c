/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long messages and collectives by memory that is mapped, with a library that pretends (fake_xpmem.c):
 * right whatever it refuses, and mapped when it does not.
 *
 *     maps CASE WANTED     CASE     messages, one-way, collectives, again, windows, dies-sending, dies-reducing
 *                          WANTED   mapped: some bytes must have been; unmapped: none may; any
 */
#define _GNU_SOURCE
#include "../counted.h"

#include <mpix.h>

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t sizes[] = { 9000, 65536, 300001, 1 << 20, 5000003 };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* ---- data ---- */

static unsigned char *filled(size_t bytes, int seed)
{
    unsigned char *at = malloc(bytes);
    CHECK(at);
    for (size_t i = 0; i < bytes; i++)
        at[i] = byte_of(i, seed);
    return at;
}

static void check_filled(const unsigned char *at, size_t bytes, int seed)
{
    for (size_t i = 0; i < bytes; i++)
        CHECK(at[i] == byte_of(i, seed));
}

/* ---- messages ---- */

static void pass(size_t bytes, int seed)
{
    unsigned char *out = filled(bytes, seed + me), *in = malloc(bytes);
    int to = (me + 1) % n, from = (me + n - 1) % n;
    MPI_Request r[2];
    memset(in, 0, bytes);
    MPI_Irecv(in, (int)bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, (int)bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    check_filled(in, bytes, seed + from);
    free(in);
    free(out);
}

/* Into memory with gaps, from an odd place, and shorter than the room. */
static void pass_strided(void)
{
    enum { ROWS = 3000, ROW = 41, STEP = 64 };
    unsigned char *out = filled((size_t)ROWS * ROW + 3, me);
    unsigned char *in = calloc(ROWS, STEP);
    MPI_Datatype rows;
    MPI_Type_vector(ROWS, ROW, STEP, MPI_BYTE, &rows);
    MPI_Type_commit(&rows);
    MPI_Sendrecv(out + 3, ROWS * ROW, MPI_BYTE, (me + 1) % n, 2, in, 1, rows, (me + n - 1) % n,
                 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < (size_t)ROWS * ROW; i++)
        CHECK(in[i / ROW * STEP + i % ROW] == byte_of(i + 3, (me + n - 1) % n));
    MPI_Type_free(&rows);
    free(in);
    free(out);
}

static void messages(void)
{
    for (int round = 0; round < 6; round++)
        for (int s = 0; s < SIZES; s++)
            pass(sizes[s], round);
    for (int i = 0; i < 300; i++)
        pass(20000 + (size_t)i * 100, i);
    pass_strided();
}

/* Who only receives has told nobody an address. */
static void one_way(void)
{
    unsigned char *data = filled(sizes[3], 1);
    if (me == 0)
        MPI_Send(data, (int)sizes[3], MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (me == 1) {
        memset(data, 0, sizes[3]);
        MPI_Recv(data, (int)sizes[3], MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check_filled(data, sizes[3], 1);
    }
    free(data);
}

/* The same addresses hold other data, in other pages, again and again. */
static void again(void)
{
    for (int i = 0; i < 200; i++)
        pass(150000, i);
}

/* ---- more windows than are kept ---- */

enum {
    KEPT = 512,
    PLACES = 700,
    BLOCKS = 2,
    WINDOW = 16 << 20,
    SLICE = 20000,
    ASIDE = 1 << 20
};

static unsigned char *block[BLOCKS]; /* of addresses; memory only where it is used */

/* One per window: what is sent; ASIDE bytes further on, what is received. */
static unsigned char *place(int k)
{
    return block[k % BLOCKS] + (size_t)(k / BLOCKS) * WINDOW;
}

static void pass_place(int k, int seed)
{
    int to = (me + 1) % n, from = (me + n - 1) % n;
    unsigned char *out = place(k), *in = out + ASIDE;
    for (size_t i = 0; i < SLICE; i++)
        out[i] = byte_of(i, seed + me);
    memset(in, 0, SLICE);
    MPI_Sendrecv(out, SLICE, MPI_BYTE, to, k, in, SLICE, MPI_BYTE, from, k, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check_filled(in, SLICE, seed + from);
}

static void *of_the_library(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    CHECK(found);
    return found;
}

/* The first place is used between all others, so its window is never the one that is given back; theirs
 * always have been when they are needed again. */
static void windows(bool always)
{
    unsigned *attachments = of_the_library("fake_xpmem_attachments");
    unsigned *most = of_the_library("fake_xpmem_most_attached");
    for (int b = 0; b < BLOCKS; b++)
        CHECK((block[b] = malloc((size_t)WINDOW * (PLACES / BLOCKS + 1))));
    for (int round = 0; round < 3; round++) {
        unsigned before = *attachments;
        for (int k = 1; k < PLACES; k++) {
            pass_place(k, 100 * round + k);
            pass_place(0, 100 * round + k + 50);
        }
        CHECK(*most <= KEPT);
        CHECK(!always || *most == KEPT);
        CHECK(!always || round == 0 || *attachments - before == PLACES - 1);
    }
    for (int b = 0; b < BLOCKS; b++)
        free(block[b]);
}

/* ---- collectives ---- */

/* Out of place and in place, of what reductions gives in. */
static void prefixes(const double *in, double *out, size_t count)
{
    double below = me * (me - 1) / 2.0;
    MPI_Scan(in, out, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < count; i++)
        CHECK(out[i] == below + me + (me + 1) * (double)(i % 1000));
    memcpy(out, in, count * sizeof *out);
    MPI_Exscan(MPI_IN_PLACE, out, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < count && me > 0; i++)
        CHECK(out[i] == below + me * (double)(i % 1000));
}

static void reductions(size_t count, int root)
{
    double *in = malloc(count * sizeof *in), *out = malloc(count * sizeof *out);
    double all = n * (n - 1) / 2.0;
    for (size_t i = 0; i < count; i++)
        in[i] = me + (double)(i % 1000);
    MPI_Allreduce(in, out, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < count; i++)
        CHECK(out[i] == all + n * (double)(i % 1000));
    memset(out, 0, count * sizeof *out);
    MPI_Reduce(in, out, (int)count, MPI_DOUBLE, MPI_MAX, root, MPI_COMM_WORLD);
    for (size_t i = 0; i < count && me == root; i++)
        CHECK(out[i] == n - 1 + (double)(i % 1000));
    MPI_Reduce_scatter_block(in, out, (int)(count / (size_t)n), MPI_DOUBLE, MPI_SUM,
                             MPI_COMM_WORLD);
    for (size_t i = 0; i < count / (size_t)n; i++)
        CHECK(out[i] == all + n * (double)((i + count / (size_t)n * (size_t)me) % 1000));
    prefixes(in, out, count);
    MPI_Allreduce(MPI_IN_PLACE, in, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (size_t i = 0; i < count; i++)
        CHECK(in[i] == all + n * (double)(i % 1000));
    free(in);
    free(out);
}

static void blocks(size_t bytes, int root)
{
    unsigned char *mine = filled(bytes * (size_t)n, me), *in = malloc(bytes * (size_t)n);
    int count = (int)bytes;
    memset(in, 0, bytes * (size_t)n);
    MPI_Allgather(mine, count, MPI_BYTE, in, count, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < n; r++)
        check_filled(in + bytes * (size_t)r, bytes, r);
    memset(in, 0, bytes * (size_t)n);
    MPI_Alltoall(mine, count, MPI_BYTE, in, count, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < n; r++)
        for (size_t i = 0; i < bytes; i++)
            CHECK(in[bytes * (size_t)r + i] == byte_of(bytes * (size_t)me + i, r));
    memset(in, 0, bytes * (size_t)n);
    MPI_Gather(mine, count, MPI_BYTE, in, count, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int r = 0; r < n && me == root; r++)
        check_filled(in + bytes * (size_t)r, bytes, r);
    MPI_Scatter(mine, count, MPI_BYTE, in, count, MPI_BYTE, root, MPI_COMM_WORLD);
    for (size_t i = 0; i < bytes; i++)
        CHECK(in[i] == byte_of(bytes * (size_t)me + i, root));
    MPI_Bcast(mine, count, MPI_BYTE, root, MPI_COMM_WORLD);
    check_filled(mine, bytes, root);
    free(mine);
    free(in);
}

static void collectives(void)
{
    for (int round = 0; round < 5; round++)
        for (int s = 0; s < SIZES; s++) {
            reductions(sizes[s] / sizeof(double), round % n);
            blocks(sizes[s] / 2, round % n);
        }
    for (int i = 0; i < 50; i++)
        reductions(30000, 0);
}

/* ---- a rank dies, and its memory with it ---- */

static void die(void)
{
    void (*now)(void), *found = of_the_library("fake_xpmem_die");
    memcpy(&now, &found, sizeof now);
    now();
}

static void come_back(int error)
{
    int class;
    MPI_Error_class(error, &class);
    printf(class == MPIX_ERR_PROC_FAILED ? "back %d\n" : "bad %d: no such error\n", me);
    fflush(stdout);
    MPI_Finalize();
    exit(0);
}

/* Rank 1 goes while others read from it. */
static void dies(int reducing)
{
    enum { BYTES = 32 << 20 };
    int error = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    double *in = malloc(BYTES), *out = malloc(BYTES);
    for (int i = 0; i < BYTES / 8; i++)
        in[i] = out[i] = 1;
    if (me == 1 && fork() == 0) { /* not from here: we are in MPI */
        usleep(200000);
        die();
    }
    while (!error && reducing)
        error = MPI_Allreduce(in, out, BYTES / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    while (!error && me == 1)
        error = MPI_Send(in, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    while (!error && me == 0)
        error = MPI_Recv(out, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!error) /* a third waits for the one that is lost */
        error = MPI_Recv(out, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    come_back(error);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *wanted = argc > 2 ? argv[2] : "any";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    counter_open("xmpi_bytes_mapped", MPI_T_PVAR_CLASS_AGGREGATE);
    if (strcmp(what, "messages") == 0)
        messages();
    else if (strcmp(what, "one-way") == 0)
        one_way();
    else if (strcmp(what, "again") == 0)
        again();
    else if (strcmp(what, "windows") == 0)
        windows(strcmp(wanted, "mapped") == 0);
    else if (strcmp(what, "collectives") == 0)
        collectives();
    else if (strcmp(what, "dies-sending") == 0 || strcmp(what, "dies-reducing") == 0)
        dies(what[5] == 'r');
    else
        CHECK(!"a case");
    unsigned long long mapped = counted();
    CHECK(strcmp(wanted, "mapped") != 0 || mapped > 0);
    CHECK(strcmp(wanted, "unmapped") != 0 || mapped == 0);
    counter_close();
    MPI_Finalize();
    return 0;
}
