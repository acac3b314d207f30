/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What this machine allows, found out by trying.
 */
#ifndef XMPI_PROBE_H
#define XMPI_PROBE_H

#include <stdbool.h>
#include <stddef.h>

enum { PROBE_CHARS = 256 };

/* Can processes share anonymous memory (memfd_create and a shared mapping)?  `why` gets the
 * reason when not. */
bool probe_shared_memory(char why[PROBE_CHARS]);

/* Can a rank read the memory of another rank (process_vm_readv between siblings)?  `why` gets the
 * reason when not. */
bool probe_cross_memory(char why[PROBE_CHARS]);

/* Can memory of other ranks be mapped (XPMEM)?  Tried with memory of our own. */
bool probe_mapped_memory(char why[PROBE_CHARS]);

/* Open a library that xmpi uses when it needs it, and ask it for its version.  False: it is not
 * there; `text` is the version and where it lies, or why not. */
bool probe_pmix(char text[PROBE_CHARS]);
bool probe_hwloc(char text[PROBE_CHARS]);
bool probe_libfabric(char text[PROBE_CHARS]);

/* The CPUs that this process may run on, as "0-3,8". */
void probe_cpus(char *text, size_t room);

#endif
