/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Booting alone: one rank, one private mapping of the same form as a launcher's segment, so
 * that nothing above needs to know.  One system call.
 */
#include "runtime/boot_way.h"
#include "runtime/fail.h"
#include "runtime/log.h"

#include "mpi.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

static int one_open(void)
{
    size_t bytes = bootseg_bytes(1, 1, NULL);
    struct boot_header *segment = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (segment == MAP_FAILED)
        return fail(MPI_ERR_OTHER, "cannot get %zu bytes of memory to start: %s", bytes,
                    strerror(errno));
    bootseg_format(segment, "alone", 1, 1, NULL);
    segment->universe = 0;
    int error = boot_join(segment, 0);
    boot.appnum = -1;
    return error;
}

static void one_close(void)
{
    munmap(boot.segment, boot.segment->bytes);
}

static void one_abort(int code, const char *text)
{
    (void)code;
    if (text && *text)
        say("%s", text);
}

const struct boot_way boot_one = {
    .name = "singleton", .open = one_open, .close = one_close, .abort = one_abort
};
