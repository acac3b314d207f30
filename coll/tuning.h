/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tuning file: choices that were measured.  Text, to be read and edited by people:
 *
 *     xmpi-tuning 1
 *     machine 5c1f20ab AMD EPYC 7763 64-Core Processor, 2 CPUs
 *     allreduce nodes=1 ranks=2 bytes=..48 : tiny 0.11us, doubling 0.31us
 *     allreduce nodes=1 ranks=2 bytes=49..8191 : doubling 0.52us, circulant:pieces=2 0.60us
 *
 * A row: a collective, conditions (nodes, ranks, bytes as coll/rules.c counts them: N, N..M, N..,
 * ..M; the word noncommutative), a colon, and algorithms with the times that were measured, best
 * first.  The first row that fits and has an algorithm that can perform the call decides; of its
 * algorithms, the first that can.  # begins a comment.
 *
 *     device NVIDIA A100-SXM4-40GB : CUDA_IPC=16384, CUDA_REDUCE=65536, CUDA_PACK=8
 *
 * is about data on GPUs: knobs (runtime/params.def) where the first GPU of the machine has this name, or
 * `any`.  The first such row is obeyed from the start of the program on, unless the environment says otherwise.
 */
#ifndef XMPI_TUNING_H
#define XMPI_TUNING_H

#include "coll/forced.h"
#include "coll/choose.h"

#include <stdio.h>

enum { TUNING_MOST = 8 }; /* algorithms in a row */

struct tuned {
    struct forced use;
    double us; /* measured; < 0: the file does not say */
};

struct tuning_row {
    enum collective what;
    bool noncommutative;
    struct reach nodes, ranks, bytes; /* `to` is SIZE_MAX where the file says nothing */
    struct tuned use[TUNING_MOST];
    int nuse, line;
};

enum { TUNING_SETTINGS = 8, TUNING_WORD = 32 };

struct tuning_device {
    char model[64];
    struct {
        char name[TUNING_WORD], value[TUNING_WORD];
    } set[TUNING_SETTINGS];
    int nset, line;
};

struct tuning {
    char *path;
    char machine[16]; /* the number of the machine it was measured on, "" = not said */
    struct tuning_row *row;
    int nrows;
    struct tuning_device *device;
    int ndevices;
};

/* Read a file.  MPI_ERR_OTHER with file:line and the reason when a row cannot be understood or can
 * never apply. */
int tuning_read(const char *path, struct tuning **tuning);
void tuning_free(struct tuning *tuning);

/* Where the file of this machine is for this user: PATH_MAX bytes; "" without a home. */
void tuning_default_path(char *path, size_t room);

/* The first row that decides a question; NULL: none does.  *use: which of its algorithms. */
const struct tuning_row *tuning_find(const struct tuning *tuning,
                                     const struct question *question, const struct tuned **use);

/* The file in force for this question (XMPI_TUNING, else the default; NULL: none). */
int tuning_in_force(const struct question *question, const struct tuning **tuning);

/* What the file in force says.  MPI_ERR_OTHER when XMPI_TUNING names one that cannot be read. */
int tuning_choose(const struct question *question, struct choice *choice, bool *found);

/* Forget what was read, for tests. */
void tuning_forget(void);

#endif
