/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of the ways to boot applies, and what they share.  The environment decides, in
 * this order: XMPI_BOOT (our launcher), PMIX_NAMESPACE (a PMIx server), RANK, WORLD_SIZE, MASTER_ADDR
 * and MASTER_PORT (torchrun and its kind), none of these (a singleton).
 * A way that was chosen must work: a rank that cannot join its job says so and fails, it does
 * not become a singleton.  Launchers that tell ranks apart in variables of their own but give no
 * PMIx are pointed out once, by their first rank.
 */
#include "runtime/boot_way.h"
#include "runtime/fail.h"
#include "runtime/log.h"
#include "runtime/param.h"

#include "mpi.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct boot boot = { .size = 1, .nlocal = 1, .nnodes = 1, .appnum = -1, .universe = -1 };

static const struct boot_way *way;

/* ---- launchers that are not for us ---- */

static const struct foreign {
    const char *size, *rank; /* variables */
    const char *launcher, *remedy;
} foreigners[] = {
    { "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun", "srun --mpi=pmix" },
    { "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun", "xmpirun" },
    { "PMI_SIZE", "PMI_RANK", "a PMI launcher (hydra?)", "xmpirun" },
    { "PALS_SIZE", "PALS_RANKID", "PALS", "mpiexec --pmi=pmix" },
    { "WORLD_SIZE", "LOCAL_RANK", "a launcher without MASTER_ADDR and MASTER_PORT", "xmpirun" },
    { "SLURM_NTASKS", "SLURM_PROCID", "Slurm", "srun --mpi=pmix" },
};

static int variable_number(const char *name)
{
    const char *text = getenv(name);
    return text ? atoi(text) : -1;
}

static void foreign_notice(void)
{
    for (size_t i = 0; i < sizeof foreigners / sizeof foreigners[0]; i++) {
        const struct foreign *f = &foreigners[i];
        int size = variable_number(f->size), rank = variable_number(f->rank);
        if (size <= 1 || rank < 0)
            continue;
        if (rank == 0)
            say("%s started %d processes but offers no PMIx: each runs as a job of one rank; "
                "start with %s to have one job",
                f->launcher, size, f->remedy);
        return;
    }
}

/* ---- opening and closing ---- */

static bool variable_is_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text;
}

/* By somebody else than xmpirun, whose ranks have these variables, too, and keep XMPI_JOB when they
 * start a program without XMPI_BOOT. */
static bool store_is_offered(void)
{
    return variable_is_set("RANK") && variable_is_set("MASTER_ADDR") &&
           variable_is_set("MASTER_PORT") && variable_number("WORLD_SIZE") > 1 &&
           !variable_is_set(BOOT_JOB_ENV);
}

static const struct boot_way *way_choose(void)
{
    if (variable_is_set(BOOT_ENV))
        return &boot_shm;
    if (variable_is_set("PMIX_NAMESPACE"))
        return &boot_pmix;
    if (store_is_offered())
        return &boot_store;
    if (!variable_is_set(BOOT_JOB_ENV))
        foreign_notice();
    return &boot_one;
}

int boot_open(void)
{
    const struct boot_way *chosen = way_choose();
    int error = chosen->open();
    if (error)
        return error;
    way = chosen;
    boot.how = way->name;
    log_rank(boot.rank);
    return MPI_SUCCESS;
}

void boot_close(void)
{
    if (!way)
        return;
    way->close();
    way = NULL;
    boot.segment = NULL;
}

/* Nobody who needs its card is going to get one. */
static bool has_left(const struct boot_rank *record)
{
    return bootseg_has_left(record) && !atomic_load(&record->contact.bytes);
}

static uint32_t uses;           /* begun */
static bool silent, world_over; /* of the last one */

void boot_leaves_world(void)
{
    world_over = true;
}

uint32_t boot_use(void)
{
    return uses;
}

uint32_t boot_silence(void)
{
    return atomic_load_explicit(&boot_record(boot.local_rank)->silent, memory_order_relaxed);
}

static void wake_listeners(void)
{
    if (atomic_load(&boot.segment->listeners))
        boot_wake_all(boot.segment);
}

void boot_fall_silent(void)
{
    if (silent)
        return;
    silent = true;
    atomic_store(&boot_record(boot.local_rank)->silent, 2 * uses + world_over);
    wake_listeners();
}

void boot_world_falls_silent(void)
{
    atomic_fetch_or(&boot_record(boot.local_rank)->silent, 1);
    wake_listeners();
}

void boot_listen(bool yes)
{
    atomic_fetch_add(&boot.segment->listeners, yes ? 1 : -1);
}

bool boot_hears(int world, uint32_t *silence)
{
    const struct boot_rank *record = boot_neighbour(world);
    if (!record)
        return false;
    bool gone = atomic_load(&record->dead) || atomic_load(&record->state) == BOOT_FINALIZED;
    *silence = gone ? UINT32_MAX : atomic_load(&record->silent);
    return true;
}

void boot_reached(enum boot_state state)
{
    struct boot_rank *record = boot_record(boot.local_rank);
    if (state == BOOT_INITED) {
        uses++;
        silent = false;
    }
    atomic_store(&record->state, state);
    if (state != BOOT_INITED) {
        boot_fall_silent();
        wake_listeners(); /* it may have been silent before */
    }
    if (has_left(record) && boot_asked() && way && way->leave)
        way->leave();
}

void boot_abort(int code, const char *text)
{
    int status = code & 255 ? code & 255 : 1;
    (way ? way : &boot_one)->abort(status, text);
    /* What a program printed is worth most just before it dies.  Another thread may hold stdout
     * for ever; then it is lost. */
    if (ftrylockfile(stdout) == 0)
        fflush_unlocked(stdout);
    _exit(status);
}

/* ---- joining a segment ---- */

static bool process_lives(int pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

static int claim_refused(const struct boot_rank *record, int holder)
{
    int rank = record->world_rank;
    if (holder == getppid())
        return fail(
            MPI_ERR_OTHER,
            "this process was started by rank %d of the job (pid %d), which is an MPI "
            "process itself; unset XMPI_BOOT in its environment to let it run on its own",
            rank, holder);
    if (process_lives(holder))
        return fail(MPI_ERR_OTHER,
                    "rank %d of this job is already running as pid %d; start each MPI program "
                    "with an xmpirun of its own, or unset XMPI_BOOT",
                    rank, holder);
    return fail(MPI_ERR_OTHER,
                "rank %d of this job has already run an MPI program (pid %d, gone); start each "
                "MPI program with an xmpirun of its own, or unset XMPI_BOOT",
                rank, holder);
}

/* The record is free, or ours (the library was closed and is opened again), or belongs to a
 * process that died before it became an MPI process. */
static int claim(struct boot_rank *record)
{
    int32_t holder = 0, me = getpid();
    while (!atomic_compare_exchange_strong(&record->pid, &holder, me)) {
        if (holder == me)
            return MPI_SUCCESS;
        if (atomic_load(&record->state) != BOOT_STARTED || process_lives(holder))
            return claim_refused(record, holder);
    }
    return MPI_SUCCESS;
}

static bool is_crowded(const struct boot_header *segment)
{
    const char *text = param_string(CROWDED) ? param_string(CROWDED) : "auto";
    bool yes = strcmp(text, "yes") == 0;
    if (yes || strcmp(text, "no") == 0)
        return yes;
    return segment->crowded;
}

int boot_join(struct boot_header *segment, int local_rank)
{
    struct boot_rank *record = bootseg_rank(segment, local_rank);
    int error = claim(record);
    if (error)
        return error;
    record->namespace = boot_pid_namespace();
    boot = (struct boot){
        .rank = record->world_rank,
        .size = segment->world_size,
        .local_rank = local_rank,
        .nlocal = segment->nlocal,
        .node = segment->node,
        .nnodes = segment->nnodes,
        .appnum = record->appnum,
        .universe = segment->universe > 0 ? segment->universe : -1,
        .crowded = is_crowded(segment),
        .reading = segment->reading,
        .segment = segment,
    };
    return boot_divide();
}

static bool record_is(int index, int world)
{
    return index >= 0 && index < boot.segment->nlocal &&
           bootseg_rank(boot.segment, index)->world_rank == world;
}

/* Index in the segment, or -1. */
static int segment_index(int world)
{
    /* Ranks are dealt out node by node as a rule. */
    int guess = world - bootseg_rank(boot.segment, 0)->world_rank;
    if (record_is(guess, world))
        return guess;
    for (int i = 0; i < boot.segment->nlocal; i++)
        if (record_is(i, world))
            return i;
    return -1;
}

int boot_local(int world)
{
    int local = segment_index(world) - boot.first;
    return local >= 0 && local < boot.nlocal ? local : -1;
}

struct record_area *boot_recorder(int world)
{
    int index = segment_index(world);
    return index < 0 ? NULL : bootseg_record(boot.segment, index);
}

int boot_node(int world)
{
    if (boot.nnodes == 1)
        return 0;
    if (boot.nnodes == boot.size)
        return world;
    int node = __atomic_load_n(&bootseg_nodes(boot.segment)[world], __ATOMIC_RELAXED);
    return node < boot.nnodes ? node : -1;
}

/* ---- how the network reaches a process ---- */

struct boot_rank *boot_neighbour(int world)
{
    int index = segment_index(world);
    return index < 0 ? NULL : bootseg_rank(boot.segment, index);
}

uint32_t boot_other_dead(int world)
{
    bool is_other = boot.size > boot.segment->nlocal && segment_index(world) < 0;
    return is_other && way && way->dead ? way->dead(world) : 0;
}

bool boot_tells_death(int world)
{
    return segment_index(world) >= 0 || (way && way->dead);
}

static bool is_one_segment(void)
{
    return boot.size == boot.segment->nlocal;
}

bool boot_can_ask(void)
{
    return is_one_segment() || (way && way->ask);
}

void boot_ask(int world)
{
    int index = segment_index(world);
    if (index >= 0)
        boot_ask_rank(boot.segment, index);
    else if (way && way->ask)
        way->ask(world);
}

bool boot_left(int world)
{
    const struct boot_rank *record = boot_neighbour(world);
    return record ? has_left(record) : way && way->left && way->left(world);
}

int boot_publish(const void *card, size_t bytes)
{
    struct boot_contact *mine = &boot_record(boot.local_rank)->contact;
    assert(bytes <= sizeof mine->card);
    memcpy(mine->card, card, bytes);
    atomic_store_explicit(&mine->bytes, (uint32_t)bytes, memory_order_release);
    boot_wake_published(boot.segment);
    return is_one_segment() || !way->publish ? MPI_SUCCESS : way->publish(card, bytes);
}

int boot_contact(int world, void *card, size_t *bytes)
{
    const struct boot_rank *record = boot_neighbour(world);
    if (!record && way->contact)
        return way->contact(world, card, bytes);
    if (!record)
        return fail(MPI_ERR_OTHER,
                    "rank %d is on another node, and this launcher tells nobody's address",
                    world);
    *bytes = atomic_load_explicit(&record->contact.bytes, memory_order_acquire);
    memcpy(card, record->contact.card, *bytes);
    return MPI_SUCCESS;
}
