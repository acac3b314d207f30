/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi explain: which algorithm a collective would take, and why.
 */
#ifndef XMPI_TOOLS_EXPLAIN_H
#define XMPI_TOOLS_EXPLAIN_H

/* argv[0] is "explain".  Returns the exit code. */
int explain_main(int argc, char **argv);

#endif
