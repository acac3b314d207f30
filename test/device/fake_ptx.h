/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kernels of the pretended devices: text of PTX, as the library gives it to a driver, taken apart
 * (fake_ptx.c) and performed thread by thread (fake_ptx_run.c).  So tests without a GPU run the text
 * that a GPU gets.  As much of the language as the library's kernels use; anything else is refused.
 */
#ifndef FAKE_PTX_H
#define FAKE_PTX_H

#include "fake_inside.h"

enum { PTX_PARAMETERS = 8, PTX_REGISTERS = 512, PTX_OPERANDS = 4 };

/* Numbers: u, s, b of 8 to 64 bits, f of 32 and 64, a predicate of 1. */
struct ptx_type {
    char kind;
    unsigned bits;
};

struct ptx_operand {
    enum { PTX_NONE, PTX_REGISTER, PTX_NUMBER, PTX_SPECIAL, PTX_PARAMETER } what;
    unsigned index;  /* of the register or parameter */
    unsigned bits;   /* of the register */
    uint64_t number; /* also: what is added to an address; which special register */
};
enum ptx_special { PTX_BLOCK, PTX_BLOCKS, PTX_THREAD, PTX_THREADS };

struct ptx_step {
    char name[12]; /* add, setp, ld */
    char how[12];  /* lt, global, rn: the first of what comes between; or empty */
    struct ptx_type type, source; /* source: of cvt */
    struct ptx_operand operand[PTX_OPERANDS];
    int n;
    bool pair; /* ld, st: of two values */
    int guard; /* register, or -1 */
    bool guard_not;
    char label[24];  /* of a branch */
    unsigned target; /* its step */
    int code;        /* for fake_ptx_run.c */
};

struct ptx_kernel {
    char name[64];
    unsigned parameters, nsteps;
    bool loaded;
    struct ptx_step *steps;
};

/* Fill in step->code.  False: there is no such instruction. */
bool ptx_code(struct ptx_step *step);

struct ptx_launch {
    const struct ptx_kernel *kernel;
    unsigned blocks, threads;
    uint64_t arguments[PTX_PARAMETERS];
};

/* Perform all threads.  ILLEGAL_ADDRESS, MISALIGNED_ADDRESS. */
cuda_result ptx_run(const struct ptx_launch *launch);

#endif
