/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A boot segment made by the first rank of a node, where no launcher of ours has made one.  An
 * anonymous file: others map it through /proc as long as its maker has it open (boot_map).
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "runtime/boot_way.h"
#include "runtime/fail.h"
#include "runtime/hw.h"
#include "runtime/param.h"
#include "runtime/reading.h"

#include "mpi.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void describe(struct boot_header *segment, const struct boot_shape *shape)
{
    bootseg_format(segment, shape->job, shape->nlocal, shape->size, shape->psets);
    segment->node = shape->node;
    segment->nnodes = shape->nnodes;
    segment->universe = shape->universe;
    segment->cpus = hw_usable_cpus();
    segment->crowded = shape->nlocal > segment->cpus;
    segment->reading = reading_here(param_string(SHM_SINGLE_COPY), param_string(LIBXPMEM));
    for (int i = 0; i < shape->nlocal; i++)
        bootseg_rank(segment, i)->world_rank = shape->peers[i];
}

struct boot_header *boot_make(const struct boot_shape *shape, int *fd)
{
    size_t bytes = bootseg_bytes(shape->nlocal, shape->size, shape->psets);
    struct boot_header *segment = MAP_FAILED;
    *fd = memfd_create("xmpi", MFD_CLOEXEC);
    if (*fd >= 0 && ftruncate(*fd, (off_t)bytes) == 0)
        segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (segment == MAP_FAILED) {
        fail(MPI_ERR_OTHER, "cannot make a shared segment of %zu bytes for %d ranks: %s", bytes,
             shape->nlocal, strerror(errno));
        return NULL;
    }
    describe(segment, shape);
    return segment;
}
