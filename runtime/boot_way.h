/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The three ways to boot, for boot.c alone.  `open` fills in `boot` and says what is wrong
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
    /* boot_other_dead; NULL: deaths are told of in another way. */
    uint32_t (*dead)(int world);
};

extern const struct boot_way boot_shm, boot_pmix, boot_one;

/* Fill `boot` from a mapped segment and take this local rank's record for the process.
 * MPI_ERR_OTHER when another process has it. */
int boot_join(struct boot_header *segment, int local_rank);

/* Which ranks of the segment count as one node, see boot_nodes.c; fills in `boot`. */
int boot_divide(void);

/* Map the segment of `job` that process `pid` of this node has open as `fd`; NULL, and *why in
 * words, when that cannot be. */
struct boot_header *boot_map(int pid, int fd, const char *job, const char **why);

#endif
