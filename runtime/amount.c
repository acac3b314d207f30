/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading amounts of bytes: the one place for knobs, tuning files and command lines.
 */
#include "runtime/amount.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static const char *digits_read(const char *text, size_t *number)
{
    const size_t most = PTRDIFF_MAX;
    const char *at = text;
    for (*number = 0; *at >= '0' && *at <= '9'; at++) {
        size_t digit = (size_t)(*at - '0');
        if (*number > (most - digit) / 10)
            return NULL;
        *number = *number * 10 + digit;
    }
    return at > text ? at : NULL;
}

const char *amount_begin(const char *text, size_t *bytes)
{
    static const char units[] = "kmgt";
    const char *at = digits_read(text, bytes);
    if (!at)
        return NULL;
    const char *unit = *at ? strchr(units, *at | 0x20) : NULL;
    if (unit) {
        int shift = 10 * (int)(unit - units + 1);
        if (*bytes > (size_t)PTRDIFF_MAX >> shift)
            return NULL;
        *bytes <<= shift;
        at++;
    }
    if (unit && strncasecmp(at, "ib", 2) == 0)
        return at + 2;
    return at + (*at == 'b' || *at == 'B');
}

bool amount_read(const char *text, size_t *bytes)
{
    const char *end = amount_begin(text, bytes);
    return end && *end == '\0';
}
