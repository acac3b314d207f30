/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For hosts.sh: ranks of several hosts say who they are, talk to each other, and some end badly.
 */
#include <mpi.h>

#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void say_begun(void)
{
    const char *name = getenv("BEGUN");
    FILE *file = name ? fopen(name, "a") : NULL;
    if (!file)
        return;
    fprintf(file, "%d\n", rank);
    fclose(file);
}

/* The first messages to a process on another host may be on their way only while the sender is in
 * MPI. */
static void stay_in_mpi(double seconds)
{
    int any = 0;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end; usleep(1000))
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
}

/* Rank 2 dies; the others hear of it. */
static void survive(void)
{
    int nothing = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 2) {
        for (int i = 1; i < size; i++) /* all have left the collective call */
            MPI_Recv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        stay_in_mpi(1);
        raise(SIGKILL);
    }
    MPI_Send(&nothing, 1, MPI_INT, 2, 2, MPI_COMM_WORLD);
    if (MPI_Recv(&nothing, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        printf("rank 2 is gone\n");
    MPI_Finalize();
    exit(0);
}

/* A second of traffic, then a good end. */
static void work(void)
{
    for (int i = 0; i < 300; i++) {
        int one = 1, all = 0;
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (all != size)
            exit(98);
        usleep(3000);
    }
    MPI_Finalize();
    exit(0);
}

/* All leave MPI but the last one, who waits for the first. */
static int part(void)
{
    int nothing;
    if (rank == size - 1)
        MPI_Recv(&nothing, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int sum = 0, here;
    MPI_Comm host;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2)
        return 99;
    say_begun();
    if (strcmp(how, "survive") == 0)
        survive();
    if (strcmp(how, "work") == 0)
        work();
    if (strcmp(how, "part") == 0)
        return part();
    if (rank == 2 && strcmp(how, "exit") == 0)
        return 3;
    if (rank == 2 && strcmp(how, "killed") == 0)
        raise(SIGKILL);
    if (rank == 2 && strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (*how)
        MPI_Recv(&sum, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &here);
    MPI_Comm_free(&host);
    printf("rank %d of %d, %d here\n", rank, size, here);
    MPI_Finalize();
    return 0;
}
