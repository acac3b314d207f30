/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of the last failure, one per thread, and the last few that were put aside for those who
 * will ask.  Failing is cold: nothing here is tuned.
 */
#include "runtime/fail.h"

#include "mpi.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char text[FAIL_CHARS];

int fail(int class, const char *format, ...)
{
    /* Built aside: an argument may be fail_text() itself, when a caller adds to it. */
    char fresh[FAIL_CHARS];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fresh, sizeof fresh, format, arguments);
    va_end(arguments);
    memcpy(text, fresh, sizeof text);
    return class;
}

int fail_null_array(const char *argument, long long n, const void *array)
{
    if (array || n <= 0)
        return 0;
    return fail(MPI_ERR_ARG, "argument %s is NULL, but has to hold %lld elements", argument, n);
}

int fail_null(int class, const char *argument)
{
    return fail(class, "argument %s is NULL; pass the address of a variable", argument);
}

const char *fail_text(void)
{
    return text;
}

void fail_clear(void)
{
    text[0] = '\0';
}

/* ---- put aside ---- */

static struct {
    const void *whose;
    char text[FAIL_CHARS];
} kept[FAIL_KEPT];
static int next_kept;

static int kept_find(const void *whose)
{
    for (int i = 0; i < FAIL_KEPT; i++)
        if (kept[i].whose == whose)
            return i;
    return -1;
}

int fail_keep(const void *whose, int error)
{
    int i = kept_find(whose);
    if (i < 0) {
        i = next_kept;
        next_kept = (next_kept + 1) % FAIL_KEPT;
    }
    kept[i].whose = whose;
    memcpy(kept[i].text, text, sizeof text);
    return error;
}

bool fail_recall(const void *whose)
{
    int i = kept_find(whose);
    if (i < 0 || !kept[i].text[0])
        return false;
    memcpy(text, kept[i].text, sizeof text);
    return true;
}
