/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpi info: what this xmpi is and what it finds here.
 */
#ifndef XMPI_TOOLS_INFO_H
#define XMPI_TOOLS_INFO_H

/* argv[0] is "info".  Returns the exit code. */
int info_main(int argc, char **argv);

/* Parts of it (networks.c, limits.c). */
struct report;
void info_networks(struct report *r);
void info_limits(struct report *r);

#endif
