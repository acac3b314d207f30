/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random messages between all pairs, every byte checked: short and long, from any source and from
 * one, early and late, synchronous, with gaps, and bursts that exceed what may be sent unasked.
 *     traffic [rounds [seconds [file]]]     at least so many rounds, and for so long; the file is made
 *                                           when all have talked to each other
 */
#include "test/conform/check.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PER_ROUND = 24, MOST = 1 << 20 };

static unsigned random_state;
static unsigned draw(unsigned below)
{
    random_state = random_state * 1103515245u + 12345u;
    return (random_state >> 8) % below;
}

/* Lengths on both sides of every limit; the same on all ranks for the same arguments. */
static int length_of(int round, int from, int to, int i)
{
    static const int lengths[] = { 0,    1,     8,     56,    64,    65,     300,    4000, 8192,
                                   8200, 30000, 65535, 65536, 65537, 100000, 300000, MOST };
    return lengths[(unsigned)(round * 7 + from * 5 + to * 3 + i * 11) %
                   (sizeof lengths / sizeof lengths[0])];
}

static void fill(unsigned char *p, int n, int seed)
{
    for (int i = 0; i < n; i++)
        p[i] = (unsigned char)(seed * 37 + i * 7 + (i >> 8));
}

static int is_filled(const unsigned char *p, int n, int seed)
{
    for (int i = 0; i < n; i++)
        if (p[i] != (unsigned char)(seed * 37 + i * 7 + (i >> 8)))
            return 0;
    return 1;
}

static void file_make(const char *name)
{
    FILE *file = fopen(name, "w");
    if (file)
        fclose(file);
}

static unsigned char *out[PER_ROUND], *in[PER_ROUND];

/* Everybody sends PER_ROUND messages to one other and receives as many; tags count. */
static void round_of(int round, int rank, int n)
{
    int shift = 1 + round % (n - 1), to = (rank + shift) % n, from = (rank + n - shift) % n;
    MPI_Request requests[2 * PER_ROUND];
    MPI_Datatype pairs; /* every other byte */
    for (int i = 0; i < PER_ROUND; i++) {
        int bytes = length_of(round, rank, to, i);
        fill(out[i], bytes, round + rank + i);
        if (i % 5 == 1)
            MPI_Issend(out[i], bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Isend(out[i], bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[i]);
    }
    if (draw(4) == 0)
        usleep(draw(3000));
    for (int k = 0; k < PER_ROUND; k++) {
        int i = round % 2 ? PER_ROUND - 1 - k : k;
        int bytes = length_of(round, from, rank, i);
        memset(in[i], 0, (size_t)bytes * 2);
        MPI_Type_vector(bytes, 1, 2, MPI_BYTE, &pairs);
        MPI_Type_commit(&pairs);
        if (i % 7 == 3)
            MPI_Irecv(in[i], 1, pairs, from, i, MPI_COMM_WORLD, &requests[PER_ROUND + i]);
        else
            MPI_Irecv(in[i], bytes, MPI_BYTE, draw(3) ? from : MPI_ANY_SOURCE, i,
                      MPI_COMM_WORLD, &requests[PER_ROUND + i]);
        MPI_Type_free(&pairs);
    }
    MPI_Waitall(2 * PER_ROUND, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PER_ROUND; i++) {
        int bytes = length_of(round, from, rank, i);
        for (int k = 0; i % 7 == 3 && k < bytes; k++)
            in[i][k] = in[i][2 * k];
        CHECK(is_filled(in[i], bytes, round + from + i));
    }
    MPI_Barrier(MPI_COMM_WORLD); /* a receive from any source is for this round's message */
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 20, seconds = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    int rank = world_rank(), n = world_size(), again = 1;
    time_t end = time(NULL) + seconds;
    random_state = (unsigned)rank + 1;
    for (int i = 0; i < PER_ROUND; i++) {
        out[i] = malloc(MOST);
        in[i] = malloc(2 * MOST);
    }
    for (int round = 0; n > 1 && again; round++) {
        round_of(round, rank, n);
        again = round + 1 < rounds || time(NULL) < end;
        if (argc > 3 && rank == 0 && round == n)
            file_make(argv[3]);
        MPI_Bcast(&again, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < PER_ROUND; i++) {
        free(out[i]);
        free(in[i]);
    }
    return check_done();
}
