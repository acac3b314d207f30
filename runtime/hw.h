/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the machine offers, as far as the library needs to know.
 */
#ifndef XMPI_HW_H
#define XMPI_HW_H

#include <stddef.h>
#include <stdint.h>

/* CPUs that the ranks of this node may use together: the affinity mask, or the parent's where
 * that is wider (a rank that was bound to its core by a launcher), cut down to the CPU quota of
 * the control group.  At least 1. */
int hw_usable_cpus(void);

/* The number of the only CPU (hardware thread) that this process may run on; -1: there are
 * several. */
int hw_only_cpu(void);

/* Where this process runs, by its affinity mask: the number of the package, NUMA node, L3 cache
 * and core that all its CPUs are in.  Numbers are unique on the node; -1: several, or unknown. */
struct hw_place {
    int package, numa, l3, core;
};
struct hw_place hw_place(void);

/* The same for n CPUs of a machine that is described below `folder` (/sys/devices/system). */
struct hw_place hw_place_of(const char *folder, const int *cpus, int n);

/* What this machine is, for people: "AMD EPYC 7763 64-Core Processor, 2 CPUs, x86_64"; and a number
 * that machines of the same kind share. */
void hw_machine(char *text, size_t room);
uint32_t hw_machine_number(void);

#endif
