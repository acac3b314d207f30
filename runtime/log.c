/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines on stderr.  A line is built in a buffer on the stack and leaves in one write, so lines
 * of many ranks on one terminal do not mix; longer ones are cut.
 */
#include "runtime/log.h"
#include "runtime/param.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_CHARS = 1024 };

static int shown_rank = -1;

static void say_line(const char *format, va_list arguments)
{
    char line[LINE_CHARS];
    int used = shown_rank < 0 ? snprintf(line, sizeof line, "xmpi: ")
                              : snprintf(line, sizeof line, "xmpi[%d]: ", shown_rank);
    int text = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    if (text < 0)
        return;
    size_t length = strlen(line);
    line[length++] = '\n';
    /* A closed or full stderr is the user's choice; there is nobody left to tell. */
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_line(format, arguments);
    va_end(arguments);
}

void log_line(const char *format, ...)
{
    if (param_number(LOG) < 1)
        return;
    va_list arguments;
    va_start(arguments, format);
    say_line(format, arguments);
    va_end(arguments);
}

void log_rank(int world_rank)
{
    shown_rank = world_rank;
}

int log_rank_shown(void)
{
    return shown_rank;
}
