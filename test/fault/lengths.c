/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Collectives in which only the two ends of a block know how long it is, and do not agree: what rank 1 sends to
 * rank 0 is shorter, or longer, than what rank 0 has room for.  Rank 0 has to get an error that says both lengths;
 * nobody may wait for ever.  The same with lengths that agree has to work, and with `pass` (XMPI_SHORT_BLOCKS=1)
 * what is shorter, too.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 40, MOST_RANKS = 16, MOST = 1 << 16 };

static int me, size, failures, passes;
static double *in, *out; /* room for 2 * MOST of all ranks */

/* What this rank says of blocks to and from the others. */
static int sends[MOST_RANKS], recvs[MOST_RANKS], displs[MOST_RANKS], bytes[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];

enum what {
    GATHERV,
    SCATTERV,
    ALLTOALLV,
    ALLTOALLW,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALLV,
    KINDS
};
static const char *const names[KINDS] = {
    "gatherv", "scatterv", "alltoallv", "alltoallw", "neighbor_allgatherv", "neighbor_alltoallv"
};

#define FORMS(mode, name, Name, ...)                                                           \
    (mode == 0   ? MPI_##Name(__VA_ARGS__, comm)                                               \
     : mode == 1 ? MPI_I##name(__VA_ARGS__, comm, request)                                     \
                 : MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request))

/* The root of a gatherv is rank 0, which receives; that of a scatterv is rank 1, which sends. */
static int begin(enum what what, int mode, MPI_Comm comm, MPI_Request *request)
{
    MPI_Datatype t = MPI_DOUBLE;
    switch (what) {
    case GATHERV:
        return FORMS(mode, gatherv, Gatherv, in, sends[0], t, out, recvs, displs, t, 0);
    case SCATTERV:
        return FORMS(mode, scatterv, Scatterv, in, sends, displs, t, out, recvs[1], t, 1);
    case ALLTOALLV:
        return FORMS(mode, alltoallv, Alltoallv, in, sends, displs, t, out, recvs, displs, t);
    case ALLTOALLW:
        return FORMS(mode, alltoallw, Alltoallw, in, sends, bytes, types, out, recvs, bytes,
                     types);
    case NEIGHBOR_ALLGATHERV:
        return FORMS(mode, neighbor_allgatherv, Neighbor_allgatherv, in, sends[0], t, out,
                     recvs, displs, t);
    default:
        return FORMS(mode, neighbor_alltoallv, Neighbor_alltoallv, in, sends, displs, t, out,
                     recvs, displs, t);
    }
}

static int perform(enum what what, int mode, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = begin(what, mode, comm, &request);
    if (rc == MPI_SUCCESS && mode == 2)
        rc = MPI_Start(&request);
    if (rc == MPI_SUCCESS && mode > 0)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
    return rc;
}

/* Everybody is a neighbour of everybody, in the order of ranks. */
static MPI_Comm all_neighbours(void)
{
    int all[MOST_RANKS];
    MPI_Comm comm;
    for (int r = 0; r < size; r++)
        all[r] = r;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, size, all, MPI_UNWEIGHTED, size, all,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static void wrong(enum what what, int mode, int n, int said, const char *why, const char *text)
{
    printf("rank %d of %d: %s, form %d, %d for %d: %s: %s\n", me, size, names[what], mode, said,
           n, why, text);
    fflush(stdout);
    failures++;
}

/* All blocks are of n numbers, but rank 1 sends `said`, of a gather to everybody, else to rank 0. */
static void try(enum what what, int mode, int n, int said)
{
    char text[MPI_MAX_ERROR_STRING] = "", theirs[32], ours[32];
    int length;
    MPI_Comm comm = all_neighbours();
    for (int r = 0; r < size; r++) {
        sends[r] = recvs[r] = n;
        displs[r] = 2 * r * MOST;
        bytes[r] = displs[r] * (int)sizeof *in;
        types[r] = MPI_DOUBLE;
    }
    if (me == 1)
        sends[0] = said;
    alarm(PATIENCE);
    int rc = perform(what, mode, comm);
    alarm(0);
    if (rc != MPI_SUCCESS)
        MPI_Error_string(rc, text, &length);
    snprintf(theirs, sizeof theirs, "%zu bytes", (size_t)said * sizeof *in);
    snprintf(ours, sizeof ours, "%zu", (size_t)n * sizeof *in);
    bool good = n == said || (passes && said < n);
    if (good && rc != MPI_SUCCESS)
        wrong(what, mode, n, said, "an error", text);
    if (!good && me == 0 && !(strstr(text, theirs) && strstr(text, ours)))
        wrong(what, mode, n, said, "not both lengths", text);
    if (strstr(text, "MPI_Probe"))
        wrong(what, mode, n, said, "advice for messages of the program", text);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

/* What a rank gives to all is shorter than what it says to all that it gives: behind it nothing of its memory goes to
 * others, however they come by their blocks. */
static void give_half(int n, bool listed)
{
    size_t strange = 0;
    for (int r = 0; r < size; r++) {
        recvs[r] = 2 * n;
        displs[r] = 2 * r * n;
    }
    for (int i = 0; i < 2 * n; i++)
        in[i] = i < n ? me + 1 : -1;
    memset(out, 0, 2 * (size_t)n * (size_t)size * sizeof *out);
    alarm(PATIENCE);
    if (listed)
        MPI_Allgatherv(in, n, MPI_DOUBLE, out, recvs, displs, MPI_DOUBLE, MPI_COMM_WORLD);
    else
        MPI_Allgather(in, n, MPI_DOUBLE, out, 2 * n, MPI_DOUBLE, MPI_COMM_WORLD);
    alarm(0);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < 2 * n; i++)
            strange += i < n ? out[2 * r * n + i] != r + 1 : out[2 * r * n + i] == -1;
    failures += strange > 0;
    if (strange > 0)
        printf("allgather%s of %d: %zu numbers that nobody gave\n", listed ? "v" : "", n,
               strange);
}

int main(int argc, char **argv)
{
    static const int lengths[] = { 2, 6, 40, 512, 4096, MOST };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    passes = argc > 1 && strcmp(argv[1], "pass") == 0;
    in = calloc(2 * (size_t)MOST * (size_t)size, sizeof *in);
    out = calloc(2 * (size_t)MOST * (size_t)size, sizeof *out);
    for (int what = 0; what < KINDS; what++)
        for (int mode = 0; mode < 3; mode++)
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
                try(what, mode, lengths[i], lengths[i]);
                try(what, mode, lengths[i], lengths[i] / 2);
                try(what, mode, lengths[i], lengths[i] / 2 * 3);
            }
    for (size_t i = 0; passes && i < 2 * sizeof lengths / sizeof *lengths; i++)
        give_half(lengths[i / 2], i % 2);
    MPI_Finalize();
    return failures > 0;
}
