/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a host is like, as far as jobs depend on it; and what to say about it.
 */
#ifndef XMPI_MACHINE_FACTS_H
#define XMPI_MACHINE_FACTS_H

#include "tools/finding.h"
#include "tools/probe.h"

struct fact { /* something that is there or not */
    bool there;
    char text[PROBE_CHARS]; /* which; or why not */
};

struct machine_facts {
    struct fact sharing;  /* ranks can share memory */
    struct fact reading;  /* ranks can read each other's memory */
    struct fact mapping;  /* and map it */
    bool xpmem;           /* there is the device for that */
    long long shm_bytes;  /* size of /dev/shm; -1: there is none */
    long long locked;     /* bytes that may be locked in memory; -1: no limit */
    long long open_files; /* the hard limit; -1: none */
    int cpus, online;     /* in the affinity mask; of the machine */
    double quota;         /* CPUs' worth of time that the control group allows; 0: no limit */
    char clock[32];       /* the kernel's clock source, "" unknown */
    double clock_ns;      /* that a reading takes */
    struct fact pmix, hwloc, fabric;
    struct fact network; /* that jobs on several nodes would use */
    bool pins;           /* it wants memory locked */
    int rdma;            /* devices of class infiniband */
    struct fact agent;   /* the program that starts other hosts, ssh as a rule */
    int gpus;            /* device files of NVIDIA's driver */
    struct fact gpu;     /* the driver answers */
    bool amd;            /* an AMD GPU's device file */
};

/* Look at this host.  `root` stands before the names of its files: "" but in tests. */
struct machine_facts machine_look(const char *root);

/* Say what the facts mean; `hosts`: the host is to be part of jobs on several. */
void machine_judge(const struct machine_facts *facts, bool hosts, struct findings *findings);

#endif
