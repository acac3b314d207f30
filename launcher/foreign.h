/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Executable files that the kernel does not run (ENOEXEC).
 */
#ifndef XMPI_LAUNCHER_FOREIGN_H
#define XMPI_LAUNCHER_FOREIGN_H

/* Why it does not run this one, as in "cannot run FILE: why", until the next call.  NULL: the file is a text
 * without #!, which a shell may read. */
const char *foreign_why(const char *path);

#endif
