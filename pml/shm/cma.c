/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading and writing the memory of another process of this node: cross memory attach,
 * process_vm_readv and process_vm_writev.
 *
 * Whether we may is up to the kernel: same user, no yama restriction (lifted here where a process
 * can), no seccomp filter, the same pid namespace.  So it is tried, once per peer: each process puts its pid,
 * the address of a word and the word's value on its card in the boot segment; who reads the
 * same value at that address of that process has reached the right one.  A pid that means another
 * process here (namespaces) is found out in this way too.
 *
 * Costs 0.6 us per call, and the copy, during which the peer may do what it likes.
 */
#define _GNU_SOURCE
#include "pml/shm/lane.h"

#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/huge.h"
#include "runtime/log.h"
#include "runtime/system_text.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

static uint64_t word;

/* yama's scope 1: only descendants may attach unless a process allows it. */
static void yama_allow(void)
{
    char scope[4];
    system_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    if (*scope == '1')
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

void cma_open(struct card *ours)
{
    yama_allow();
    word = (clock_ns() ^ (uintptr_t)&word) * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid();
    *ours = (struct card){ .word = word, .address = (uintptr_t)&word, .pid = getpid() };
    huge_open(boot.crowded);
}

void cma_close(void)
{
    huge_close();
}

void cma_share(const void *memory, size_t bytes)
{
    huge_reached(memory, bytes);
}

typedef ssize_t attach(pid_t pid, const struct iovec *here, unsigned long n,
                       const struct iovec *there, unsigned long m, unsigned long flags);

/* As many bytes as can be reached. */
static size_t cma_copy(attach *copy, int pid, void *mine, uint64_t theirs, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        struct iovec here = { (char *)mine + done, bytes - done };
        struct iovec there = { (void *)(uintptr_t)(theirs + done), bytes - done };
        ssize_t copied = copy(pid, &here, 1, &there, 1, 0);
        if (copied <= 0)
            break;
        done += (size_t)copied;
    }
    return done;
}

static bool lane_probe(const struct lane *lane)
{
    struct card card;
    uint64_t seen = 0;
    memcpy(&card, boot_record(lane->local)->card, sizeof card);
    if (card.address == 0)
        return false;
    errno = 0;
    bool good =
        cma_copy(process_vm_readv, card.pid, &seen, card.address, sizeof seen) == sizeof seen &&
        seen == card.word;
    if (!good)
        log_line("the memory of rank %d cannot be read by system calls (%s)",
                 boot_record(lane->local)->world_rank,
                 errno ? strerror(errno) : "another process");
    return good;
}

bool cma_reads(struct peer *peer)
{
    struct lane *lane = peer->lane;
    if (__builtin_expect(lane->cma == CMA_UNKNOWN, 0))
        lane->cma = lane_probe(lane) ? CMA_YES : CMA_NO;
    return lane->cma == CMA_YES;
}

static size_t lane_copy(struct lane *lane, attach *copy, void *mine, uint64_t theirs,
                        size_t bytes)
{
    struct card card;
    memcpy(&card, boot_record(lane->local)->card, sizeof card);
    errno = 0;
    size_t done = cma_copy(copy, card.pid, mine, theirs, bytes);
    /* EFAULT: this piece of memory (a mapped device, perhaps), and not the peer.  ESRCH: it has died,
     * and others have not. */
    if (__builtin_expect(done < bytes && errno != EFAULT && errno != ESRCH, 0))
        lane->cma = CMA_NO;
    return done;
}

size_t cma_read(struct peer *peer, void *to, uint64_t from, size_t bytes)
{
    return cma_reads(peer) ? lane_copy(peer->lane, process_vm_readv, to, from, bytes) : 0;
}

size_t cma_write(struct peer *peer, uint64_t to, const void *from, size_t bytes)
{
    return cma_reads(peer) ? lane_copy(peer->lane, process_vm_writev, (void *)from, to, bytes)
                           : 0;
}
