/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A line for who waits, by an alarm: nothing that computes need know of it, and what is soon over says
 * nothing.
 */
#include "tools/plan.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_S = 2 };

static char line[400];

static void on_alarm(int signal)
{
    (void)signal;
    int error = errno;
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written; /* or nobody listens */
    errno = error;
}

void patience(const char *format, ...)
{
    struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGALRM, &action, NULL) == 0)
        alarm(PATIENCE_S);
}
