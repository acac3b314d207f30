/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where daemons call: a listening socket, and callers who have not proven themselves yet.
 */
#ifndef XMPI_LAUNCHER_DOORSTEP_H
#define XMPI_LAUNCHER_DOORSTEP_H

#include "launcher/wire.h"

/* Listen on this port, or (0) one of our own, for so many hosts.  `adopt` gets callers that know the secret, before
 * their first frame is handed out, and makes itself their user; false: not wanted.  0, or an exit status after a
 * complaint. */
int doorstep_open(const uint8_t *secret, int port, int hosts,
                  bool (*adopt)(struct wire *wire, int number));

/* "10.0.0.1:4711,[fe80::1]:4711,...": where we can be reached, the loopback addresses last. */
const char *doorstep_addresses(void);

/* To be called now and then: it may rest after it had no open files left. */
void doorstep_wake(void);

/* Nobody else is expected: stop listening, send away who has not proven himself. */
void doorstep_shut(void);

#endif
