/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the machine offers, as far as the library needs to know when it starts.
 */
#ifndef XMPI_HW_H
#define XMPI_HW_H

/* CPUs that the ranks of this node may use together: the affinity mask, or the parent's where
 * that is wider (a rank that was bound to its core by a launcher), cut down to the CPU quota of
 * the control group.  At least 1. */
int hw_usable_cpus(void);

/* The number of the only CPU (hardware thread) that this process may run on; -1: there are
 * several. */
int hw_only_cpu(void);

#endif
