/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What it takes to read the memory of another process of this machine.  Found out once per job and node, by whoever
 * makes the boot segment, as all ranks have to choose the same algorithms by it.
 */
#ifndef XMPI_READING_H
#define XMPI_READING_H

#include <stdint.h>

enum reading {
    READING_DEAR, /* several times what two copies of the same bytes take, or it is not allowed */
    READING_FAIR,
    READING_MAPPED /* not even a system call: there may be XPMEM (xpmem_may_be) */
};

/* By the values of XMPI_SHM_SINGLE_COPY and XMPI_LIBXPMEM, NULL where they are not set; else measured in 50 us. */
enum reading reading_here(const char *wish, const char *library);

/* The shortest times, in ns, of reading 32 KiB of our own memory as if it were another's, and of copying them
 * twice. */
struct reading_times {
    uint64_t read; /* UINT64_MAX: it is not allowed, or there is no memory for it */
    uint64_t copied_twice;
};
struct reading_times reading_measure(void);

enum reading reading_judge(struct reading_times times);

#endif
