/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The ways to boot, for boot.c alone.  `open` fills in `boot` and says what is wrong
 * otherwise; `close` gives back what it took; `abort` ends the job.
 */
#ifndef XMPI_BOOT_WAY_H
#define XMPI_BOOT_WAY_H

#include "runtime/boot.h"

struct boot_way {
    const char *name;
    int (*open)(void);
    void (*close)(void);
    void (*abort)(int code, const char *text);
    /* boot_publish and boot_contact for processes of other segments; NULL: there is nobody to
     * tell. */
    int (*publish)(const void *card, size_t bytes);
    int (*contact)(int world, void *card, size_t *bytes);
    /* boot_ask for processes of other segments, and boot_left; `leave`: this process leaves MPI, was
     * asked and has published nothing.  NULL: nobody can be asked. */
    void (*ask)(int world);
    bool (*left)(int world);
    void (*leave)(void);
    /* boot_other_dead; NULL: deaths are told of in another way. */
    uint32_t (*dead)(int world);
};

extern const struct boot_way boot_shm, boot_pmix, boot_store, boot_one;

/* Fill `boot` from a mapped segment and take this local rank's record for the process.
 * MPI_ERR_OTHER when another process has it. */
int boot_join(struct boot_header *segment, int local_rank);

/* Which ranks of the segment count as one node, see boot_nodes.c; fills in `boot`. */
int boot_divide(void);

struct boot_shape { /* of a job, for the first rank of a node that makes the segment itself */
    const char *job, *psets; /* psets NULL: none */
    int size, nlocal, node, nnodes, universe;
    const int *peers; /* world ranks of this node, ascending */
};

/* Make and format a segment, open as *fd; on several nodes the caller fills in bootseg_nodes.  NULL
 * after fail. */
struct boot_header *boot_make(const struct boot_shape *shape, int *fd);

/* Map the segment of `job` that process `pid` of this node has open as `fd`; NULL, and *why in
 * words, when that cannot be. */
struct boot_header *boot_map(int pid, int fd, const char *job, const char **why);

#endif
