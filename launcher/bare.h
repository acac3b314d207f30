/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a process that was forked from one with threads may still do: system calls and nothing
 * else.  Reading a directory, and waiting a little.
 */
#ifndef XMPI_LAUNCHER_BARE_H
#define XMPI_LAUNCHER_BARE_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct directory_entry { /* of getdents64 */
    uint64_t inode;
    int64_t next;
    unsigned short bytes; /* the next one begins so far behind this one */
    unsigned char type;
    char name[];
};

/* As many entries as fit; `entries` is aligned to 8.  The bytes read, 0 at the end, -1 and errno. */
static inline long directory_read(int directory, char *entries, unsigned size)
{
    return syscall(SYS_getdents64, directory, entries, size);
}

/* 0 <= ms < 1000 */
static inline void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

#endif
