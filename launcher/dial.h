/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calling xmpirun from another host.
 */
#ifndef XMPI_LAUNCHER_DIAL_H
#define XMPI_LAUNCHER_DIAL_H

#include "launcher/wire.h"

/* Try the addresses ("10.0.0.1:4711,[fd00::1]:4711") one after the other until an xmpi launcher
 * answers; then frames may be sent.  0, or 1 after a complaint that says how each address failed. */
int dial(struct wire *wire, const struct wire_user *user, const char *addresses, int number,
         const uint8_t *secret);

/* Node 0 of a job whose nodes the user starts, again and again for so many seconds; after some of
 * them the user is told what is waited for. */
int dial_patiently(struct wire *wire, const struct wire_user *user, const char *addresses,
                   int number, const uint8_t *secret, int seconds);

#endif
