/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Algorithms in the XML of MSCCL, for xmpi plan import: of a fixed number of GPUs, each with thread
 * blocks that work side by side, each a list of steps.
 */
#ifndef XMPI_TOOLS_MSCCL_H
#define XMPI_TOOLS_MSCCL_H

#include <stdbool.h>

enum msccl_buffer { MSCCL_IN, MSCCL_OUT, MSCCL_SCRATCH, MSCCL_BUFFERS };

/* r and s stand for receive and send; c writes what came, r in the middle reduces it. */
enum msccl_type {
    MSCCL_NOP,
    MSCCL_SEND,  /* s: src */
    MSCCL_RECV,  /* r: into dst */
    MSCCL_RCS,   /* into dst, and on */
    MSCCL_RRS,   /* with src, and on; kept nowhere */
    MSCCL_RRC,   /* with src, into dst */
    MSCCL_RRCS,  /* with src, into dst, and on */
    MSCCL_COPY,  /* cpy: dst = src */
    MSCCL_REDUCE /* re: dst = dst op src */
};

struct msccl_place {
    enum msccl_buffer buffer;
    int chunk;
};

struct msccl_step {
    enum msccl_type type;
    struct msccl_place src, dst;
    int n; /* chunks */
    int block,
        of_step; /* waits for this step of that thread block of its GPU; block -1: none */
    int line;
};

struct msccl_block {
    int gpu, id, to, from, channel; /* peers, -1: none */
    int first, n;                   /* its steps */
    int at;                         /* for who performs them: how many are over */
};

struct msccl {
    char name[40], what[24];
    int gpus, chunks, line;  /* of the <algo> */
    int used[MSCCL_BUFFERS]; /* chunks of each buffer that some step names, at most */
    struct msccl_block *block;
    int nblocks;
    struct msccl_step *step;
    int nsteps;
    char wrong[200]; /* "" = all is well; with the line */
};

/* Read it; false: `wrong` says why.  To be closed either way. */
bool msccl_read(struct msccl *algorithm, const char *path);
void msccl_close(struct msccl *algorithm);

#endif
