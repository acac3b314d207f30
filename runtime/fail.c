/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of the last failure, one per thread.  Failing is cold: nothing here is tuned.
 */
#include "runtime/fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_CHARS = 400 };

static _Thread_local char text[TEXT_CHARS];

int fail(int class, const char *format, ...)
{
    /* Built aside: an argument may be fail_text() itself, when a caller adds to it. */
    char fresh[TEXT_CHARS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fresh, sizeof fresh, format, arguments);
    va_end(arguments);
    memcpy(text, fresh, sizeof text);
    return class;
}

const char *fail_text(void)
{
    return text;
}

void fail_clear(void)
{
    text[0] = '\0';
}
