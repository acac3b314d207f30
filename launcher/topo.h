/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The machine as ranks see it: the CPUs this process may use, and what they share.
 */
#ifndef XMPI_LAUNCHER_TOPO_H
#define XMPI_LAUNCHER_TOPO_H

#include "launcher/cpuset.h"

#include <stdbool.h>
#include <stdint.h>

enum level { /* from small to large */
             LEVEL_UNSET,
             LEVEL_NONE,
             LEVEL_SLOT,
             LEVEL_HWTHREAD,
             LEVEL_CORE,
             LEVEL_L3,
             LEVEL_NUMA,
             LEVEL_PACKAGE,
             LEVEL_GPU, /* the CPUs near to one */
             LEVEL_NODE,
};

struct pu {  /* a hardware thread; in the order of the machine, neighbours share the most */
    int cpu; /* its number in the operating system */
    int core, l3, numa, package; /* logical, from 0; -1: there is no such thing */
};

enum { GPU_BUS_CHARS = 24, GPU_UUID_CHARS = 48 };

struct gpu {                   /* of NVIDIA */
    char bus[GPU_BUS_CHARS];   /* its place on PCI, "0000:1b:00.0": what CUDA calls it, too */
    char uuid[GPU_UUID_CHARS]; /* "GPU-8f6d..", as its driver has it; "" unknown */
    struct cpuset near;        /* those of our CPUs to which it is nearest; never empty */
};

struct topology {
    int npus, ncores, nl3, nnuma, npackages;
    struct pu *pus;
    int ngpus;         /* 0 where nobody has looked, too */
    bool unnamed_gpus; /* the user names GPUs by UUIDs, which are not known */
    struct gpu *gpus;  /* in the order of PCI */
};

/* What may be used, without looking at the topology. */
struct budget {
    struct cpuset allowed;
    int pus, cores; /* in `allowed` */
    double quota;   /* CPUs' worth of time per second by cgroup; 0: no limit */
    int slots;      /* min(cores, quota rounded up), at least 1 */
    uint64_t
        cpus; /* the same for hosts that are one machine and may use the same CPUs of it, as
                     * containers and network namespaces do; 0: not known, or there is a quota */
    int others; /* ranks that other hosts of the job, or other jobs of xmpirun, have on these CPUs */
};

/* Of a machine that is not here: all of it may be used. */
void budget_of(struct budget *budget, const struct topology *topology, bool count_threads);

/* All but `others`.  Cheap: one system call and a few small files. */
void budget_read(struct budget *budget, bool count_threads);

/* The topology of this machine by hwloc, restricted to `allowed`, with the GPUs that its driver shows
 * (gpus.h).  -1 when hwloc is not installed or fails (then *why is a text); 0 otherwise. */
int topology_load(struct topology *topology, const struct cpuset *allowed, const char **why);

/* The same from a description in hwloc's synthetic form ("package:2 core:4 pu:2"), for tests
 * and --dry-run elsewhere.  `allowed` NULL: everything. */
int topology_synthetic(struct topology *topology, const char *description,
                       const struct cpuset *allowed, const char **why);

/* The same from a file in hwloc's XML, as lstopo writes it, with its GPUs. */
int topology_recorded(struct topology *topology, const char *path, const char **why);

/* Add a GPU, with all CPUs near to it, ours or not; none: all are. */
void topology_add_gpu(struct topology *topology, const struct gpu *gpu);

void topology_free(struct topology *topology);

#endif
