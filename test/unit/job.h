/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several ranks without a launcher, for unit tests: a boot segment in anonymous shared memory,
 * one forked process per rank, `boot` filled in by hand, the pml open around the body.
 */
#ifndef XMPI_JOB_H
#define XMPI_JOB_H

#include "pml/pml.h"
#include "pml/shm/area.h"
#include "runtime/boot.h"
#include "runtime/param.h"
#include "runtime/progress.h"
#include "runtime/reading.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void job_body(int rank, int size);

static bool job_apart; /* each rank is a node of its own */

static inline struct boot_header *job_segment(int n)
{
    size_t bytes = bootseg_bytes(n, n, NULL);
    struct boot_header *segment =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (segment == MAP_FAILED)
        abort();
    bootseg_format(segment, "test", n, n, NULL);
    return segment;
}

static inline void job_rank(struct boot_header *segment, int rank, int n, job_body *body)
{
    boot = (struct boot){ .rank = rank,
                          .size = n,
                          .local_rank = job_apart ? 0 : rank,
                          .nlocal = job_apart ? 1 : n,
                          .first = job_apart ? rank : 0,
                          .node = job_apart ? rank : 0,
                          .nnodes = job_apart ? n : 1,
                          .appnum = -1,
                          .universe = -1,
                          .crowded = n > sysconf(_SC_NPROCESSORS_ONLN),
                          .reading = READING_FAIR,
                          .how = "test",
                          .segment = segment };
    progress_open(&boot_record(boot.local_rank)->bell, boot.crowded);
    if (pml_open() != 0)
        _exit(10);
    body(rank, n);
    if (pml_close() != 0)
        _exit(11);
    boot_reached(BOOT_FINALIZED);
    fflush(NULL);
    _exit(0);
}

/* Run body on n ranks; true when all ended well.  A rank that dies is reported dead to the others,
 * as the launcher would. */
static inline bool job_run(int n, job_body *body)
{
    fflush(NULL);
    params_read();
    struct boot_header *segment = job_segment(n);
    pid_t *pids = calloc((size_t)n, sizeof *pids);
    for (int rank = 0; rank < n; rank++) {
        pids[rank] = fork();
        if (pids[rank] == 0)
            job_rank(segment, rank, n, body);
    }
    bool good = true;
    for (int left = n; left > 0; left--) {
        int status;
        pid_t pid = wait(&status);
        for (int rank = 0; rank < n; rank++)
            if (pids[rank] == pid) {
                atomic_store(&bootseg_rank(segment, rank)->dead, 1);
                pids[rank] = 0;
            }
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            good = false;
        /* The others would wait for ever. */
        for (int rank = 0; !good && rank < n; rank++)
            if (pids[rank])
                kill(pids[rank], SIGKILL);
    }
    free(pids);
    munmap(segment, bootseg_bytes(n, n, NULL));
    return good;
}

/* A channel over all ranks. */
static inline struct channel *job_world(int rank, int n)
{
    static struct channel world;
    struct ranks *all = ranks_range(n, 0, 1);
    if (channel_open(&world, 4, rank, all) != 0)
        abort();
    ranks_drop(all);
    return &world;
}

/* Between the ranks, past the pml: in a part of the area of rank 0 that nobody uses here. */
static inline _Atomic int *job_word(void)
{
    return (_Atomic int *)(boot_area(0) + AREA_TINY_OFFSET);
}

static inline struct buffer job_bytes(void *base, size_t bytes)
{
    return (struct buffer){ base, bytes, &layout_bytes, HERE };
}

#endif
