/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The form of the boot segment.  Whoever makes one (launcher, first rank, singleton) maps
 * bootseg_bytes of zeros and formats them; only the pages of the header, the rank records and
 * a longer table are touched, the areas stay holes in the file until somebody uses them.
 *
 *     0          header
 *     ...        rank records, nlocal of them
 *     ...        node of each world rank, int32 each; all zero, and untouched, on one node
 *     ...        process sets, a text
 *     ...        in jobs of several nodes: what is known of each other rank (struct boot_other), and a
 *                bit for each
 *     page       flight recorders, nlocal of them (runtime/record.h)
 *     page       area of local rank 0: room for its pool and its nlocal rings
 *     ...        area of local rank 1
 *
 * Used by library and launcher: libc only.
 */
#include "runtime/bootseg.h"
#include "runtime/record.h"
#include "runtime/text_hash.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PAGE = 4096 };

static uint64_t align(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

struct shape {
    uint64_t ranks, nodes, psets, others, asked, records, area, area_bytes, bytes;
};

static struct shape shape_of(int nlocal, int world_size, uint64_t psets_bytes)
{
    struct shape s;
    uint64_t n = (uint64_t)nlocal;
    s.ranks = align(sizeof(struct boot_header), 64);
    s.nodes = s.ranks + n * sizeof(struct boot_rank);
    s.psets = s.nodes + (uint64_t)world_size * sizeof(int32_t);
    s.others = align(s.psets + psets_bytes, 64);
    uint64_t others = world_size > nlocal ? (uint64_t)world_size : 0;
    s.asked = align(s.others + others * sizeof(struct boot_other), 64);
    s.records = align(s.asked + (others + 63) / 64 * sizeof(uint64_t), PAGE);
    s.area = align(s.records + n * sizeof(struct record_area), PAGE);
    s.area_bytes = align(BOOT_POOL_BYTES + n * bootseg_pair_bytes(nlocal), PAGE);
    s.bytes = s.area + n * s.area_bytes;
    return s;
}

static uint64_t text_bytes(const char *psets)
{
    return psets ? strlen(psets) + 1 : 1;
}

size_t bootseg_bytes(int nlocal, int world_size, const char *psets)
{
    return shape_of(nlocal, world_size, text_bytes(psets)).bytes;
}

/* Names that others give may be long, and differ at the end: a number stands for what is cut off. */
static void job_write(char text[BOOT_JOB_CHARS], const char *job)
{
    enum { NUMBER = sizeof "-01234567" };
    if (snprintf(text, BOOT_JOB_CHARS, "%s", job) >= BOOT_JOB_CHARS)
        snprintf(text + BOOT_JOB_CHARS - NUMBER, NUMBER, "-%08x", text_hash(job));
}

void bootseg_format(struct boot_header *segment, const char *job, int nlocal, int world_size,
                    const char *psets)
{
    struct shape s = shape_of(nlocal, world_size, text_bytes(psets));
    segment->version = BOOT_VERSION;
    segment->header_bytes = sizeof *segment;
    segment->bytes = s.bytes;
    job_write(segment->job, job);
    segment->world_size = segment->universe = world_size;
    segment->nlocal = segment->cpus = nlocal;
    segment->nnodes = 1;
    segment->ranks_offset = s.ranks;
    segment->nodes_offset = s.nodes;
    segment->psets_offset = s.psets;
    segment->psets_bytes = text_bytes(psets);
    segment->others_offset = s.others;
    segment->asked_offset = s.asked;
    segment->records_offset = s.records;
    segment->record_bytes = sizeof(struct record_area);
    segment->area_offset = s.area;
    segment->area_bytes = s.area_bytes;
    for (int i = 0; i < nlocal; i++) {
        struct boot_rank *record = bootseg_rank(segment, i);
        record->world_rank = i;
        record->place = (struct boot_place){ -1, -1, -1, -1 };
    }
    if (psets)
        memcpy(bootseg_psets(segment), psets, segment->psets_bytes);
    segment->magic = BOOT_MAGIC; /* last: a half-made segment is none */
}

static bool shape_is_right(const struct boot_header *segment)
{
    if (segment->nlocal < 0 || segment->world_size < segment->nlocal)
        return false;
    if (segment->psets_bytes < 1 || segment->psets_bytes > segment->bytes)
        return false;
    struct shape s = shape_of(segment->nlocal, segment->world_size, segment->psets_bytes);
    return segment->ranks_offset == s.ranks && segment->nodes_offset == s.nodes &&
           segment->psets_offset == s.psets && segment->others_offset == s.others &&
           segment->asked_offset == s.asked && segment->records_offset == s.records &&
           segment->record_bytes == sizeof(struct record_area) &&
           segment->area_offset == s.area && segment->area_bytes == s.area_bytes &&
           segment->bytes == s.bytes;
}

const char *bootseg_check(const struct boot_header *segment, size_t mapped, const char *job)
{
    static char text[160];
    char name[BOOT_JOB_CHARS];
    if (job)
        job_write(name, job);
    if (mapped < sizeof *segment || segment->magic != BOOT_MAGIC)
        return "not a boot segment";
    if (segment->version != BOOT_VERSION || segment->header_bytes != sizeof *segment) {
        snprintf(text, sizeof text,
                 "made by another version of xmpirun (boot segment version %u with %u bytes of "
                 "header, this library has %d with %zu)",
                 segment->version, segment->header_bytes, BOOT_VERSION, sizeof *segment);
        return text;
    }
    if (segment->bytes > mapped || !shape_is_right(segment))
        return "damaged: its parts do not fit its size";
    if (job && strncmp(segment->job, name, sizeof name) != 0) {
        snprintf(text, sizeof text, "the segment of another job (%.*s)",
                 (int)sizeof segment->job, segment->job);
        return text;
    }
    return NULL;
}

uint32_t boot_pid_namespace(void)
{
    struct stat file;
    return stat("/proc/self/ns/pid", &file) == 0 ? (uint32_t)file.st_ino : 0;
}

void boot_wake_all(struct boot_header *segment)
{
    for (int i = 0; i < segment->nlocal; i++)
        doorbell_wake(&bootseg_rank(segment, i)->bell);
}

bool boot_announce(struct boot_header *segment, int local, uint32_t dead)
{
    uint32_t alive = 0;
    if (dead &&
        !atomic_compare_exchange_strong(&bootseg_rank(segment, local)->dead, &alive, dead))
        return false;
    if (dead) /* it wakes nobody any more */
        atomic_store(&bootseg_rank(segment, local)->bell.lends, LENDS_NOT);
    atomic_fetch_add(&segment->dead_epoch, 1);
    boot_wake_all(segment);
    return true;
}

void boot_announce_other(struct boot_header *segment, int world, uint32_t dead)
{
    atomic_store(&bootseg_other(segment, world)->dead, dead);
    atomic_fetch_add(&segment->dead_epoch, 1);
    boot_wake_all(segment);
}

void boot_card_other(struct boot_header *segment, int world, const void *card, size_t bytes)
{
    struct boot_other *other = bootseg_other(segment, world);
    if (bytes) {
        memcpy(other->card, card, bytes);
        atomic_store_explicit(&other->bytes, (uint32_t)bytes, memory_order_release);
    }
    atomic_store(&other->left, bytes == 0);
}

void boot_wake_published(struct boot_header *segment)
{
    for (int i = 0; i < segment->nlocal; i++) {
        struct boot_rank *record = bootseg_rank(segment, i);
        if (atomic_load(&record->contact.bytes))
            doorbell_wake(&record->bell);
    }
}

void boot_ask_rank(struct boot_header *segment, int local)
{
    struct boot_rank *record = bootseg_rank(segment, local);
    if (!atomic_exchange(&record->contact.asked, 1))
        doorbell_wake(&record->bell);
}
