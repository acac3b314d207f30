/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi status: what the ranks of jobs that run are doing.
 */
#ifndef XMPI_TOOLS_STATUS_H
#define XMPI_TOOLS_STATUS_H

/* argv[0] is "status".  Returns the exit code. */
int status_main(int argc, char **argv);

#endif
