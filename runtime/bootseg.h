/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The boot segment: one anonymous shared memory file per node and job, made by the launcher
 * (or by the first rank under a foreign launcher, or privately by a singleton) and mapped by
 * every rank.  It starts as zeros, is sparse, has no name anywhere, and vanishes with its last
 * user.  It holds who is who, doorbells, and one area per local rank for the shared-memory link
 * and the flag collectives.  A zeroed area is a valid empty one: nobody waits for anybody in
 * MPI_Init.
 *
 *     header | rank records (nlocal) | node-of-rank table | process sets | others (world_size, in
 *     jobs of several nodes) | flight recorders (nlocal) | area of local rank 0 | area 1 | ...
 *
 * Shared by library and launcher; versioned, and refused on mismatch.
 */
#ifndef XMPI_BOOTSEG_H
#define XMPI_BOOTSEG_H

#include "runtime/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOT_MAGIC   0x746f6f6269706d78ull /* "xmpiboot" */
#define BOOT_ENV     "XMPI_BOOT"           /* <launcher pid>:<fd>:<job id>:<local rank> */
#define BOOT_JOB_ENV "XMPI_JOB"            /* the job id */
#define BOOT_GPU_ENV "XMPI_GPU"            /* the GPU of this rank: its place on PCI */
enum {
    BOOT_VERSION = 14,
    BOOT_JOB_CHARS = 48,
    BOOT_TEXT_CHARS = 400,
    BOOT_NODE_CHARS = 56,
    BOOT_CONTACT_BYTES = 320,
    BOOT_PLACE_CHARS = 320,
    BOOT_POOL_BYTES = 1 << 20, /* per rank: everything but the rings */
    BOOT_FEW_RANKS = 32,
    BOOT_MOST_RANKS = 16384, /* per node */
    BOOT_SLOT_BYTES = 64,
    BOOT_LEAST_SLOTS = 64, /* of a ring */
    BOOT_RING_BYTES = 256, /* what a ring has besides its slots */
    BOOT_RINGS = 4 /* of an ordered pair of few ranks: one for each engine of the sender */
};

/* How many slots the ring of an ordered pair has where so many ranks share the segment: a power of two.
 * Rings of few ranks come to little beside what each rank has for itself. */
static inline uint32_t bootseg_slots(int nlocal)
{
    return nlocal <= BOOT_FEW_RANKS ? 2 * BOOT_LEAST_SLOTS : BOOT_LEAST_SLOTS;
}

static inline int bootseg_rings(int nlocal)
{
    return nlocal <= BOOT_FEW_RANKS ? BOOT_RINGS : 1;
}

static inline size_t bootseg_ring_bytes(int nlocal)
{
    return (size_t)bootseg_slots(nlocal) * BOOT_SLOT_BYTES + BOOT_RING_BYTES;
}

static inline size_t bootseg_pair_bytes(int nlocal)
{
    return (size_t)bootseg_rings(nlocal) * bootseg_ring_bytes(nlocal);
}

enum boot_state { /* of a rank, as it says itself */
                  BOOT_STARTED =
                      0, /* the launcher started it; it may not be an MPI program at all */
                  BOOT_INITED = 1,    /* between MPI_Init and MPI_Finalize, or in a session */
                  BOOT_FINALIZED = 2, /* takes no message any more */
                  BOOT_RESTING = 3,   /* its last session is over; it may begin another one */
};

enum boot_dead {
    BOOT_DEAD = 1 << 16,         /* how is not known */
    BOOT_DEAD_STATUS = 1 << 17,  /* the lower 16 bits are its wait status */
    BOOT_DEAD_MEMORY = 1 << 18,  /* the kernel killed it to get memory */
    BOOT_DEAD_OUTSIDE = 1 << 19, /* it has not come to MPI; the launcher deals with that */
    BOOT_DEAD_SESSION = 1 << 20  /* it was in MPI by a session alone */
};

struct boot_place { /* where a rank may run; -1 unknown or more than one */
    int16_t package, numa, l3, core;
};

struct boot_contact {       /* what processes of other nodes need to reach this one */
    _Atomic uint32_t named; /* 1: `node` is valid; used where XMPI_NODE is set */
    _Atomic uint32_t bytes; /* of `card`, 0: not published yet */
    _Atomic uint32_t asked; /* 1: somebody wants `card` */
    char node[BOOT_NODE_CHARS];
    char card[BOOT_CONTACT_BYTES]; /* the network link's, see pml/ofi/card.h */
};

/* One per rank of the job; those of other nodes are filled in by the launcher. */
struct boot_other {
    _Atomic uint32_t dead;  /* enum boot_dead */
    _Atomic uint32_t bytes; /* of `card`, 0: not known yet */
    _Atomic uint32_t left;  /* 1: it has left MPI, and has no card, or has ended */
    char card[BOOT_CONTACT_BYTES];
};

struct boot_rank { /* one per local rank, its own cache lines */
    struct doorbell bell;
    int32_t world_rank, appnum;
    _Atomic int32_t pid;    /* claimed by this process in MPI_Init; 0 = nobody yet */
    _Atomic uint32_t state; /* enum boot_state */
    _Atomic uint32_t dead;  /* the process is gone: enum boot_dead */
    struct boot_place place;
    uint32_t namespace; /* of pids: pid is a number of this one; 0 = unknown */
    char card[84];      /* what a link wants its peers to know; words in it may be atomic */
    _Atomic uint32_t sessions; /* open ones, where nothing else holds it in MPI */
    _Atomic uint32_t silent;   /* of which uses of MPI it has begun all messages, see boot.h */
    _Atomic uint32_t gpu;      /* which GPU its data were last seen on (gpu_turns.c), or 0 */
    struct boot_contact contact;
} __attribute__((aligned(64)));

struct record_area; /* runtime/record.h */

struct boot_header {
    uint64_t magic;
    uint32_t version, header_bytes;
    uint64_t bytes; /* of the whole segment */
    char job[BOOT_JOB_CHARS];
    int32_t world_size, nlocal, node, nnodes;
    int32_t cpus;    /* CPUs this job may use on this node (affinity mask, cgroup quota) */
    int32_t crowded; /* ranks exceed cpus: wait politely */
    int32_t
        reading; /* enum reading (runtime/reading.h), as whoever made the segment found it */
    int32_t
        launcher_pid; /* wants SIGURG: after an abort, from an MPI process below a wrapper */
    int32_t universe; /* MPI_UNIVERSE_SIZE */
    uint64_t ranks_offset, nodes_offset, others_offset, asked_offset, records_offset,
        area_offset;
    uint64_t record_bytes, area_bytes;  /* per local rank */
    uint64_t psets_offset, psets_bytes; /* a text (runtime/psets.h) with its NUL */

    struct doorbell launcher __attribute__((aligned(64)));
    _Atomic uint32_t
        dead_epoch;             /* grows with every death, and with those who leave after one */
    _Atomic uint32_t listeners; /* processes that leave when others have fallen silent */

    /* MPI_Abort: the first writer wins (0 -> 1), fills in, then stores 2. */
    _Atomic uint32_t abort_state;
    int32_t abort_rank, abort_code;
    char abort_text[BOOT_TEXT_CHARS];
    int32_t trace_fd;    /* of the launcher: what ranks write traces into, 0 = no traces */
    uint64_t trace_used; /* bytes of it that are given out */
    char abort_place[BOOT_PLACE_CHARS]; /* of the call that failed, see record_place */
} __attribute__((aligned(64)));

/* What a segment for nlocal ranks of a job of world_size needs, in bytes; psets NULL: none. */
size_t bootseg_bytes(int nlocal, int world_size, const char *psets);

/* Fill in header and offsets of a zeroed mapping.  Ranks' records get world_rank = i; the caller
 * corrects what differs. */
void bootseg_format(struct boot_header *segment, const char *job, int nlocal, int world_size,
                    const char *psets);

/* 0, or what is wrong with this mapping ("not a boot segment", "version 2, this is 1", ...). */
const char *bootseg_check(const struct boot_header *segment, size_t mapped, const char *job);

/* Which numbering of processes ours belongs to, so that others know whether our pid means us there;
 * 0: nobody can tell. */
uint32_t boot_pid_namespace(void);

/* Tell all ranks of the node that this one has died (or, `dead` 0, that something of that kind has
 * changed), wherever they wait.  False: it was known. */
bool boot_announce(struct boot_header *segment, int local, uint32_t dead);

/* Whoever sleeps on this node looks again. */
void boot_wake_all(struct boot_header *segment);

/* The launcher's news of ranks on other nodes: one has died; how the network reaches one, no bytes:
 * not at all, or not any more, it has left MPI (to be followed by boot_wake_published, once for many). */
void boot_announce_other(struct boot_header *segment, int world, uint32_t dead);
void boot_card_other(struct boot_header *segment, int world, const void *card, size_t bytes);

/* Whoever has published a card looks again: it may want those of others. */
void boot_wake_published(struct boot_header *segment);

/* Let this rank of the node know that its card is wanted. */
void boot_ask_rank(struct boot_header *segment, int local);

static inline int32_t *bootseg_nodes(struct boot_header *segment)
{
    return (int32_t *)((char *)segment + segment->nodes_offset);
}

/* Only in jobs of several nodes. */
static inline struct boot_other *bootseg_other(struct boot_header *segment, int world)
{
    return (struct boot_other *)((char *)segment + segment->others_offset) + world;
}

/* Likewise.  A bit per rank of the job: some rank here wants its card. */
static inline _Atomic uint64_t *bootseg_asked(struct boot_header *segment)
{
    return (_Atomic uint64_t *)((char *)segment + segment->asked_offset);
}

static inline struct boot_rank *bootseg_rank(struct boot_header *segment, int local)
{
    return (struct boot_rank *)((char *)segment + segment->ranks_offset) + local;
}

/* Has it left MPI, for what it can know?  Who has had sessions alone may be back for another one; but one that it
 * was in is over (`session`). */
static inline bool bootseg_has_left_it(const struct boot_rank *record, bool session)
{
    uint32_t state = atomic_load(&record->state);
    return state == BOOT_FINALIZED ||
           (state == BOOT_RESTING && (session || atomic_load(&record->silent) & 1));
}

static inline bool bootseg_has_left(const struct boot_rank *record)
{
    return bootseg_has_left_it(record, false);
}

static inline char *bootseg_psets(struct boot_header *segment)
{
    return (char *)segment + segment->psets_offset;
}

static inline struct record_area *bootseg_record(struct boot_header *segment, int local)
{
    return (struct record_area *)((char *)segment + segment->records_offset +
                                  (size_t)local * segment->record_bytes);
}

static inline char *bootseg_area(struct boot_header *segment, int local)
{
    return (char *)segment + segment->area_offset + (size_t)local * segment->area_bytes;
}

#endif
