/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a program file tells about itself without being run.
 */
#ifndef XMPI_LAUNCHER_ELF_H
#define XMPI_LAUNCHER_ELF_H

#include <stdbool.h>

/* May a process started from this file talk to a PMIx server, itself or by running another
 * program?  False only when that is certain: the program uses xmpi (it boots by other means), or
 * it has the C library alone and calls neither what opens libraries nor what runs programs.
 * Takes some ten microseconds; true for scripts and for everything that is not understood. */
bool elf_may_use_pmix(const char *path);

#endif
