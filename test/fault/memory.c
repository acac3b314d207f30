/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everybody sends to everybody, from 8 bytes to 32 KiB, and a long message to the next one; then
 * rank 0 says how much memory of the job is in use, shared and private of all ranks together, and
 * whether any of it has a name:
 *
 *     memory: 33 MiB shared, 20 MiB private, 0 names
 */
#include <mpi.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG_ONE = 1 << 20 };

static void need(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "not true: %s\n", what);
    exit(1);
}

/* Of the launcher's shared memory without a name. */
static long shared_mib(void)
{
    char folder[64], path[400], target[256];
    long long blocks = 0;
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)getppid());
    DIR *files = opendir(folder);
    need(files != NULL, "the launcher's files can be listed");
    for (struct dirent *file; (file = readdir(files));) {
        struct stat facts;
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n > 0 && (target[n] = 0, strstr(target, "memfd:")) && stat(path, &facts) == 0)
            blocks += facts.st_blocks;
    }
    closedir(files);
    return (long)(blocks / 2048);
}

/* Of this job; other jobs may be running. */
static int names(void)
{
    int found = 0;
    char mine[32];
    snprintf(mine, sizeof mine, "xmpi-%d-", (int)getppid());
    DIR *files = opendir("/dev/shm");
    for (struct dirent *file; files && (file = readdir(files));)
        found += strstr(file->d_name, mine) != NULL;
    if (files)
        closedir(files);
    return found;
}

/* What this process has written into memory of its own, in KiB. */
static long private_kib(void)
{
    char line[512];
    unsigned long from, to;
    long kib, all = 0;
    int own = 0;
    FILE *file = fopen("/proc/self/smaps", "r");
    need(file != NULL, "/proc/self/smaps can be read");
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            own = !strstr(line, "memfd:");
        else if (own && sscanf(line, "Private_Dirty: %ld", &kib) == 1)
            all += kib;
    }
    fclose(file);
    return all;
}

static void everybody(int bytes, int rank, int size)
{
    size_t all = (size_t)bytes * (size_t)size;
    char *in = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *out = malloc((size_t)bytes);
    MPI_Request *requests = malloc((size_t)size * 2 * sizeof(MPI_Request));
    need(in != MAP_FAILED && out && requests, "memory");
    memset(out, rank + 1, (size_t)bytes);
    for (int i = 0; i < size; i++)
        MPI_Irecv(in + (size_t)i * (size_t)bytes, bytes, MPI_CHAR, i, 0, MPI_COMM_WORLD,
                  &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD); /* nothing comes before its receive, which would be kept */
    for (int i = 0; i < size; i++)
        MPI_Isend(out, bytes, MPI_CHAR, (rank + i) % size, 0, MPI_COMM_WORLD,
                  &requests[size + i]);
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; i++) {
        const char *part = in + (size_t)i * (size_t)bytes;
        need(part[0] == (char)(i + 1) && part[bytes - 1] == (char)(i + 1), "data");
    }
    munmap(in, all); /* not counted as private; free() would keep it */
    free(out);
    free(requests);
}

static void next(int rank, int size)
{
    char *in = malloc(LONG_ONE), *out = malloc(LONG_ONE);
    need(in && out, "memory");
    for (int round = 0; round < 40; round++) {
        memset(out, rank + round, LONG_ONE);
        MPI_Sendrecv(out, LONG_ONE, MPI_CHAR, (rank + 1) % size, 1, in, LONG_ONE, MPI_CHAR,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int left = (rank + size - 1) % size;
        need(in[0] == (char)(left + round) && memcmp(in, in + 1, LONG_ONE - 1) == 0, "data");
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int bytes = 8; bytes <= 32768; bytes *= 16)
        everybody(bytes, rank, size);
    if (size <= 8)
        next(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    long mine = private_kib(), all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("memory: %ld MiB shared, %ld MiB private, %d names\n", shared_mib(), all >> 10,
               names());
    MPI_Finalize();
    return 0;
}
