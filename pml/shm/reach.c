/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of another process of this node: by system calls (cma.c), or mapped here (runtime/mapped.h)
 * where there is XPMEM.  Where both work, by what is measured to be faster (means.h); what the one does not
 * reach, the other may.
 *
 * Nothing of XPMEM is touched before there is something to reach: who is about to tell others an address
 * of its own (reach_share) puts a name for its memory on its card, and who reads finds it there.  The name is
 * the kernel's, and all who share the segment that the card lies in have the same kernel.
 */
#include "pml/shm/lane.h"

#include "runtime/boot.h"
#include "runtime/clock.h"
#include "runtime/log.h"
#include "runtime/mapped.h"
#include "runtime/means.h"
#include "runtime/param.h"

#include <string.h>

static bool may_map, always_map; /* by the program's wish */
static bool is_shared;           /* our card has the name, or there is none */
static const enum means BY_CALL = MEANS_FIRST, BY_MAP = MEANS_SECOND;
static const char *const names[MEANS] = { "by system calls", "mapped" };
static struct means_table reads, writes;

static struct card *card_of(int local)
{
    return (struct card *)boot_record(local)->card;
}

void reach_open(void)
{
    const char *wish = param_string(SHM_SINGLE_COPY);
    if (wish && strcmp(wish, "none") == 0)
        return;
    cma_open(card_of(boot.local_rank));
    may_map = !wish || strcmp(wish, "cma") != 0;
    always_map = wish && strcmp(wish, "xpmem") == 0;
    is_shared = false;
    memset(&reads, 0, sizeof reads);
    memset(&writes, 0, sizeof writes);
}

void reach_close(void)
{
    cma_close();
    if (may_map) { /* also where only others have told us theirs */
        means_log(&reads, "reads of others' memory", names);
        means_log(&writes, "writes into others' memory", names);
        mapped_close();
    }
    may_map = false;
}

static void name_share(void)
{
    if (is_shared || !may_map)
        return;
    is_shared = true;
    const char *why = NULL;
    int64_t name = mapped_share(&why);
    atomic_store_explicit(&card_of(boot.local_rank)->memory, name, memory_order_release);
    if (name == 0 && always_map)
        say("XMPI_SHM_SINGLE_COPY=xpmem: no memory is mapped: %s; it is read by system calls",
            why);
    else if (name == 0)
        log_line("no memory is mapped: %s", why);
}

void reach_share(const void *memory, size_t bytes)
{
    name_share();
    if (!always_map)
        cma_share(memory, bytes);
}

/* ---- the peer's ---- */

static struct mapped *memory_of(int local, int64_t name)
{
    const char *why = NULL;
    struct mapped *memory = mapped_get(name, &why);
    if (memory)
        log_line("the memory of rank %d can be mapped", boot_record(local)->world_rank);
    else
        log_line("the memory of rank %d cannot be mapped: %s", boot_record(local)->world_rank,
                 why);
    return memory;
}

static struct mapped *lane_memory(struct lane *lane)
{
    if (lane->memory || lane->unmapped || !may_map)
        return lane->memory;
    int64_t name = atomic_load_explicit(&card_of(lane->local)->memory, memory_order_acquire);
    if (name == 0) /* it has told nobody an address so far, or has no XPMEM */
        return NULL;
    lane->memory = memory_of(lane->local, name);
    lane->unmapped = !lane->memory;
    return lane->memory;
}

bool reach_reads(struct peer *peer)
{
    const struct mapped *memory = lane_memory(peer->lane);
    return (memory && mapped_is_good(memory)) || cma_reads(peer);
}

/* ---- copies ---- */

static size_t copy_by(enum means means, struct peer *peer, void *mine, uint64_t theirs,
                      size_t bytes, bool write)
{
    if (means == BY_CALL)
        return write ? cma_write(peer, theirs, mine, bytes)
                     : cma_read(peer, mine, theirs, bytes);
    struct mapped *memory = ((struct lane *)peer->lane)->memory;
    size_t done = write ? mapped_write(memory, theirs, mine, bytes)
                        : mapped_read(memory, mine, theirs, bytes);
    pml_counters.bytes_mapped += done;
    return done;
}

static enum means means_for(struct means_table *table, struct peer *peer, size_t bytes)
{
    if (always_map || !cma_reads(peer))
        return BY_MAP;
    return means_take(table, bytes);
}

static size_t copy(struct peer *peer, void *mine, uint64_t theirs, size_t bytes, bool write)
{
    if (__builtin_expect(!lane_memory(peer->lane), 1))
        return copy_by(BY_CALL, peer, mine, theirs, bytes, write);
    struct means_table *table = write ? &writes : &reads;
    enum means means = means_for(table, peer, bytes);
    uint64_t began = cpu_ticks();
    size_t done = copy_by(means, peer, mine, theirs, bytes, write);
    if (__builtin_expect(done < bytes, 0))
        return done + copy_by(BY_CALL + BY_MAP - means, peer, (char *)mine + done,
                              theirs + done, bytes - done, write);
    means_took(table, means, bytes, cpu_ticks() - began);
    return done;
}

size_t reach_read(struct peer *peer, void *to, uint64_t from, size_t bytes)
{
    return copy(peer, to, from, bytes, false);
}

size_t reach_write(struct peer *peer, uint64_t to, const void *from, size_t bytes)
{
    return copy(peer, (void *)from, to, bytes, true);
}

const char *reach_view(struct peer *peer, uint64_t from, size_t bytes)
{
    struct mapped *memory = lane_memory(peer->lane);
    if (__builtin_expect(!memory, 1))
        return NULL;
    if (means_for(&reads, peer, bytes) != BY_MAP ||
        (!always_map && cma_reads(peer) && !means_known(&reads, bytes)))
        return NULL;
    const char *at = mapped_at(memory, from, bytes);
    pml_counters.bytes_mapped += at ? bytes : 0;
    return at;
}
