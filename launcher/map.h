/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Placement: which ranks go to which host, and on which CPUs a rank may run there.  Pure
 * functions of hosts, topologies and wishes, so that every decision can be tested on machines
 * nobody here has.
 */
#ifndef XMPI_LAUNCHER_MAP_H
#define XMPI_LAUNCHER_MAP_H

#include "launcher/topo.h"
#include "runtime/bootseg.h"

#include <stdbool.h>

enum { PER_HOST_SLOTS = -1, RANKS_MOST = 1 << 20 /* of a job */ };

struct map_options {
    enum level by; /* LEVEL_UNSET: the default policy; LEVEL_SLOT: one core after the other */
    int per;       /* ppr:N: this many ranks on each object; 0: one in turn */
    int pe;        /* cores per rank; 0: not said; decided: by GPU, an equal share */
    enum level to; /* binding; LEVEL_UNSET, LEVEL_NONE */
    int per_host;  /* -ppn; 0: not said; PER_HOST_SLOTS: as many as fit */
};

struct host {
    const char *name;
    int slots;     /* places for ranks as the user said; 0: not said */
    int max_slots; /* it takes no more ranks than that; 0: any number */
    bool is_local;
    struct budget budget;
    struct topology shape; /* npus 0: nobody has looked */
    int taken;             /* ranks that other jobs of the same xmpirun have there */
    int own_ranks;         /* --node-rank: on it, as its own user says; 0: not said */
    int by_objects;        /* ppr:N:WHAT: ranks on it before the next one's turn; 0: not said */
};

struct placement {      /* of one rank on its host */
    struct cpuset cpus; /* empty: anywhere */
    struct boot_place place;
    int gpu; /* that it should use, in the host's topology; -1: any */
};

/* Host of each rank, by one rule for any number of them:
 *
 *     own_ranks                            so many on each host
 *     per_host, or one each (LEVEL_NODE)   so many on each host in turn
 *     by_objects                           what its objects take, on each host in turn
 *     slots were said                      host after host up to its slots, those of other jobs too
 *     they were not                        equal blocks, or host after host up to its cores where
 *                                          a host has too few for its block
 *
 * and what is left over goes round again; only max_slots are never exceeded.  How many ranks have
 * a host: fewer than nranks when all max_slots are taken. */
int map_hosts(const struct host *hosts, int nhosts, const struct map_options *options,
              int nranks, int *host_of);

/* Set budget.others of hosts that are one machine, for ranks dealt to them so. */
void map_others(struct host *hosts, int nhosts, int nranks, const int *host_of);

/* Ranks, here and of other hosts on the same CPUs, exceed what can run at once. */
bool map_is_crowded(const struct budget *budget, int nranks);

/* Turn wishes and circumstances into a definite by, pe and to.  `batch`: the CPUs were given to
 * this job by a batch system. */
struct map_options map_decide(const struct map_options *wish, const struct budget *budget,
                              int nranks, bool batch);

/* CPUs, place and GPU of each of the host's ranks.  `decided` comes from map_decide; by LEVEL_GPU the
 * topology has some. */
void map_cpus(const struct topology *topology, const struct map_options *decided, int nranks,
              struct placement *placements);

/* What all these CPUs (none: all there are) have in common. */
struct boot_place map_place(const struct topology *topology, const struct cpuset *cpus);

/* By LEVEL_GPU: the GPU of each rank and its CPUs near to it (map_gpu.c). */
void map_near_gpus(const struct topology *topology, const struct map_options *decided,
                   int nranks, struct placement *placements);

/* How ranks fit into the objects that they are dealt to.  Counted are the units of which a rank gets
 * pe, or with `count_threads` all hardware threads in them. */
struct map_fit {
    int fewest;      /* that an object with ranks has */
    int room, ranks; /* of the object that has the least for its ranks */
};
struct map_fit map_fit(const struct topology *topology, const struct map_options *decided,
                       int nranks, bool count_threads);
struct map_fit map_fit_gpus(const struct topology *topology, const struct map_options *decided,
                            int nranks, bool count_threads); /* by LEVEL_GPU */

/* Another object, of so much room for so many ranks. */
void map_fit_add(struct map_fit *fit, const struct map_options *decided, int room, int ranks);
static inline bool map_fits(const struct map_fit *fit, const struct map_options *decided)
{
    return (long)fit->ranks * (decided->pe ? decided->pe : 1) <= fit->room;
}

/* Otherwise: for each rank that is bound one near to its CPUs. */
void map_nearest_gpus(const struct topology *topology, int nranks,
                      struct placement *placements);

/* ---- for map_gpu.c ---- */

struct unit {
    int first, npus; /* pus[first .. first + npus), neighbours in the table */
};

/* Cut the machine at a level: neighbours with the same object form one unit.  How many; there is room
 * for npus. */
int map_units(const struct topology *topology, enum level level, struct unit *units);

/* Add the CPUs of the unit, widened to `level`. */
void map_widen(const struct topology *topology, const struct unit *unit, enum level level,
               struct cpuset *cpus);

/* "core", "numa", ... and back; LEVEL_UNSET for no such word. */
const char *level_name(enum level level);
enum level level_parse(const char *word, size_t bytes);

#endif
