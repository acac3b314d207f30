/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Kinds of memory that may be given to communication (MPI 5.0, 11.4.3).  A program, or who starts it
 * (xmpirun --memory-alloc-kinds), asks for a list of kinds, each with restrictors behind it:
 *
 *     asked     system,cuda:device:pinned,rocm      of what is here   answered   mpi,system,cuda:device
 *     asked     nothing                                               all that there is
 *
 * "mpi" and "system" are always there; what nobody knows is left out.
 */
#include "src/info.h"

#include "mpi.h"
#include "runtime/gpu.h"
#include "runtime/param.h"

#include <stdio.h>
#include <string.h>

/* In the order of the answer. */
static const struct kind {
    const char *name;
    bool always, device; /* answered unasked; there where there is a device */
} kinds[] = {
    { "mpi", true, false },
    { "system", true, false },
    { "mpi:alloc_mem", false, false },
    { "cuda", false, true },
    { "cuda:device", false, true },
    { "cuda:host", false, true },
    { "cuda:managed", false, true },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool is_word(const char *word, size_t n, const char *text)
{
    return strlen(text) == n && strncmp(word, text, n) == 0;
}

/* Does this item of a list, "cuda:device:host", ask for it? */
static bool item_asks(const char *item, size_t n, const char *kind)
{
    size_t name = strcspn(kind, ":"), first = strcspn(item, ":,");
    if (first != name || strncmp(item, kind, name) != 0)
        return false;
    if (!kind[name])
        return first == n;
    for (size_t at = first; at < n; at += 1 + strcspn(item + at + 1, ":,"))
        if (is_word(item + at + 1, strcspn(item + at + 1, ":,"), kind + name + 1))
            return true;
    return false;
}

static bool list_asks(const char *list, const char *kind)
{
    while (*list) {
        list += strspn(list, ", ");
        size_t n = strcspn(list, ",");
        if (item_asks(list, n, kind))
            return true;
        list += n;
    }
    return false;
}

void memory_kinds_of(const char *asked, bool device, char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < KINDS; i++) {
        bool wanted = !asked || kinds[i].always || list_asks(asked, kinds[i].name);
        if (!wanted || (kinds[i].device && !device) || used >= room)
            continue;
        int n = snprintf(text + used, room - used, "%s%s", used ? "," : "", kinds[i].name);
        used += (size_t)n;
    }
}

void memory_kinds(const struct info *info, char *text, size_t room)
{
    params_read(); /* a session asks before it has begun */
    const char *asked = info_get(info, MEMORY_KINDS_KEY);
    memory_kinds_of(asked ? asked : param_string(MEMORY_ALLOC_KINDS), gpu_is_here(), text,
                    room);
}
