/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of the kernels, and of a single one: a driver compiles what it is given when it gets
 * it, a kernel in some milliseconds, all of them in a second.
 *
 *     .version ... .target ...               head, of all
 *     .visible .entry sum_float( ... ) { ... }
 *     .visible .entry prod_float( ...
 *
 * It is written by tools/kernels.sh, and compared with its sources by test/device.sh.
 */
#include "runtime/gpu_reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
#include "runtime/reduce_device.inc"
    ;

char *gpu_kernel_text(const char *name)
{
    char entry[80];
    snprintf(entry, sizeof entry, ".visible .entry %s(", name);
    const char *head_end = strstr(text, ".visible"), *begin = strstr(text, entry);
    const char *end = begin ? strstr(begin, "\n}\n") : NULL;
    if (!end)
        return NULL;
    size_t head = (size_t)(head_end - text), body = (size_t)(end - begin) + strlen("\n}\n");
    char *one = malloc(head + body + 1);
    if (!one)
        return NULL;
    memcpy(one, text, head);
    memcpy(one + head, begin, body);
    one[head + body] = '\0';
    return one;
}
