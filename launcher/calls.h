/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The signals by which somebody wants a launcher to end, or to say what its ranks wait for.
 */
#ifndef XMPI_LAUNCHER_CALLS_H
#define XMPI_LAUNCHER_CALLS_H

#include <signal.h>
#include <stdbool.h>

enum { CALLS = 4 };
static const int calls[CALLS] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static inline bool is_call(int signal)
{
    for (int i = 0; i < CALLS; i++)
        if (calls[i] == signal)
            return true;
    return false;
}

#endif
