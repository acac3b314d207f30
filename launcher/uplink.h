/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpid: runs the share of one host of a job, for the xmpirun it calls.
 */
#ifndef XMPI_LAUNCHER_UPLINK_H
#define XMPI_LAUNCHER_UPLINK_H

#include <stdint.h>

/* Call xmpirun at one of these addresses ("10.0.0.1:4711,[fd00::1]:4711"), say hello as host
 * `number`, and do what it says.  The exit code of xmpid. */
int uplink_run(const char *addresses, int number, const uint8_t *secret);

#endif
