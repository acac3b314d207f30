/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program can ask about its surroundings, and memory for communication (MPI 5.0, 9.1 and
 * 9.2).
 */
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/environment.h"
#include "src/attr.h"
#include "src/error.h"
#include "src/info.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int xmpi_get_processor_name(text_out_t name, int_out_t *resultlen)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    if (gethostname(host, sizeof host - 1))
        return fail(MPI_ERR_OTHER, "the system does not tell its name: %s", strerror(errno));
    *resultlen = (int)strlen(host);
    memcpy(name, host, strlen(host) + 1);
    return MPI_SUCCESS;
}

/* ---- memory ---- */

enum { ALIGNMENT = 64 };

/* The hint mpi_minimum_memory_alignment: a power of two, in bytes. */
static size_t alignment_wanted(const struct info *info)
{
    const char *text = info_get(info, "mpi_minimum_memory_alignment");
    unsigned long wanted = text ? strtoul(text, NULL, 10) : 0;
    bool usable = wanted > ALIGNMENT && (wanted & (wanted - 1)) == 0;
    return usable ? wanted : ALIGNMENT;
}

/* What was given out, by address: MPI_Free_mem must not look behind a pointer before it knows it. */
enum { CHAINS = 256 };
static struct given {
    struct given *next;
    void *memory;
} * given[CHAINS];

static struct given **given_chain(const void *memory)
{
    return &given[((uintptr_t)memory / ALIGNMENT * 0x9e3779b97f4a7c15u) >> 56];
}

int xmpi_alloc_mem(size_arg_t size, info_t info, pointer_out_t baseptr)
{
    struct given *new = malloc(sizeof *new);
    void *memory;
    if (!new || posix_memalign(&memory, alignment_wanted(info), size > 0 ? (size_t)size : 1)) {
        free(new);
        return fail(MPI_ERR_NO_MEM, "the system has no %lld bytes to give", (long long)size);
    }
    struct given **chain = given_chain(memory);
    *new = (struct given){ *chain, memory };
    *chain = new;
    memcpy(baseptr, &memory, sizeof memory);
    return MPI_SUCCESS;
}

int xmpi_free_mem(void *base)
{
    struct given **at = given_chain(base);
    while (*at && (*at)->memory != base)
        at = &(*at)->next;
    struct given *old = *at;
    if (!old && base)
        return fail(MPI_ERR_BASE,
                    "argument base is %p, which is not from MPI_Alloc_mem, or was freed before",
                    base);
    if (old)
        *at = old->next;
    free(old);
    free(base);
    return MPI_SUCCESS;
}

/* ---- the predefined attributes ---- */

int attribute_predefined(int keyval, void **value, int *flag)
{
    static int tag_ub = INT_MAX, io = MPI_ANY_SOURCE, host = MPI_PROC_NULL;
    static int wtime_is_global, appnum, last_used, universe;
    *flag = 1;
    switch (keyval) {
    case MPI_TAG_UB:
        *value = &tag_ub;
        return MPI_SUCCESS;
    case MPI_IO: /* every process can do input and output */
        *value = &io;
        return MPI_SUCCESS;
    case MPI_HOST:
        *value = &host;
        return MPI_SUCCESS;
    case MPI_WTIME_IS_GLOBAL: /* the clock of the node */
        wtime_is_global = boot.nnodes == 1;
        *value = &wtime_is_global;
        return MPI_SUCCESS;
    case MPI_LASTUSEDCODE:
        last_used = error_last_used();
        *value = &last_used;
        return MPI_SUCCESS;
    case MPI_APPNUM:
        appnum = boot.appnum;
        *flag = appnum >= 0;
        *value = &appnum;
        return MPI_SUCCESS;
    case MPI_UNIVERSE_SIZE:
        universe = boot.universe;
        *flag = universe > 0;
        *value = &universe;
        return MPI_SUCCESS;
    }
    return fail(MPI_ERR_KEYVAL, "keyval %d is none of the predefined ones", keyval);
}
