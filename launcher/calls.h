/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The signals by which somebody wants a launcher to end, or to say what its ranks wait for.
 */
#ifndef XMPI_LAUNCHER_CALLS_H
#define XMPI_LAUNCHER_CALLS_H

#include <signal.h>

enum { CALLS = 4 };
static const int calls[CALLS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

#endif
