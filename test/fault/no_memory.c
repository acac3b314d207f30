/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rank 1 may have no more memory while the others go on: its collective fails with MPI_ERR_NO_MEM, that of the
 * others with an error that says so, and neither they nor rank 1 wait for what does not come.  Other communicators
 * are not concerned.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NUMBERS = 1 << 20 };
enum form { BLOCKING, NONBLOCKING, ROOTED, FORMS };

static int rank;

static void need(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "rank %d: not true: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static rlim_t bytes_mapped(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    need(file && fscanf(file, "%lu", &pages) == 1, "/proc/self/statm can be read");
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit(rlim_t bytes)
{
    struct rlimit now;
    getrlimit(RLIMIT_AS, &now);
    now.rlim_cur = bytes;
    need(setrlimit(RLIMIT_AS, &now) == 0, "memory can be limited");
}

static int reduce(enum form form, const double *in, double *out, MPI_Comm comm)
{
    MPI_Request request;
    if (form == BLOCKING)
        return MPI_Allreduce(in, out, NUMBERS, MPI_DOUBLE, MPI_SUM, comm);
    if (form == ROOTED)
        return MPI_Reduce(in, out, NUMBERS, MPI_DOUBLE, MPI_SUM, 1, comm);
    int error = MPI_Iallreduce(in, out, NUMBERS, MPI_DOUBLE, MPI_SUM, comm, &request);
    return error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void fail_in(enum form form, const double *in, double *out, MPI_Comm comm)
{
    int class, length;
    char text[MPI_MAX_ERROR_STRING];
    if (rank == 1)
        limit(bytes_mapped());
    int error = reduce(form, in, out, comm);
    if (rank == 1)
        limit(RLIM_INFINITY);
    MPI_Error_class(error, &class);
    MPI_Error_string(error, text, &length);
    need(error != MPI_SUCCESS || (form == ROOTED && rank != 1), "it fails");
    need(rank != 1 || class == MPI_ERR_NO_MEM, "rank 1 has no memory");
    need(rank == 1 || error == MPI_SUCCESS ||
             strstr(text, "rank 1 could not do its part of MPI_"),
         "the others hear of it");
    need(rank == 1 || error == MPI_SUCCESS || strstr(text, "out of memory"), "and why");
}

/* What a root does not receive others may have sent long ago: they hear of it with the next one. */
static void fail_next(MPI_Comm comm)
{
    int one = 1, all = 0;
    need(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS, "it is over");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *in = calloc(NUMBERS, sizeof *in), *out = calloc(NUMBERS, sizeof *out);
    for (int form = 0; form < FORMS; form++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Barrier(comm);
        fail_in((enum form)form, in, out, comm);
        fail_next(comm);
        MPI_Comm_free(&comm);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
