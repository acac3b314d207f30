/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Everybody sends to everybody, from 8 bytes to 32 KiB, and a long message to the next one; then
 * rank 0 says how much of the job's shared memory is in use, and whether any of it has a name:
 *
 *     memory: 33 MiB shared, 0 names
 *
 * usage: memory [refuse]      refuse: the kernel lets nobody read the memory of others
 */
#include <mpi.h>

#include <dirent.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LONG_ONE = 1 << 20 };

static void need(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "not true: %s\n", what);
    exit(1);
}

static void refuse(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "a filter");
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

static int names(void)
{
    int found = 0;
    DIR *files = opendir("/dev/shm");
    for (struct dirent *file; files && (file = readdir(files));)
        found += strstr(file->d_name, "xmpi") != NULL;
    if (files)
        closedir(files);
    return found;
}

static void everybody(int bytes, int rank, int size)
{
    char *in = malloc((size_t)bytes * (size_t)size), *out = malloc((size_t)bytes);
    MPI_Request *requests = malloc((size_t)size * 2 * sizeof(MPI_Request));
    need(in && out && requests, "memory");
    memset(out, rank + 1, (size_t)bytes);
    for (int i = 0; i < size; i++)
        MPI_Irecv(in + (size_t)i * (size_t)bytes, bytes, MPI_CHAR, i, 0, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < size; i++)
        MPI_Isend(out, bytes, MPI_CHAR, (rank + i) % size, 0, MPI_COMM_WORLD,
                  &requests[size + i]);
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; i++) {
        const char *part = in + (size_t)i * (size_t)bytes;
        need(part[0] == (char)(i + 1) && part[bytes - 1] == (char)(i + 1), "data");
    }
    free(in);
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
    if (argc > 1)
        refuse();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int bytes = 8; bytes <= 32768; bytes *= 16)
        everybody(bytes, rank, size);
    if (size <= 8)
        next(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("memory: %ld MiB shared, %d names\n", shared_mib(), names());
    MPI_Finalize();
    return 0;
}
