/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Libraries that are opened when they are needed: their functions, by a table of names and of the
 * pointers to fill in.  Those whose symbols have versions use dlvsym (pml/ofi/load.c).
 */
#ifndef XMPI_SYMBOLS_H
#define XMPI_SYMBOLS_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct symbol {
    const char *name;
    void *at; /* a pointer to a function */
};

/* NULL, or the first name that the library lacks. */
static inline const char *symbols_find(void *library, const struct symbol *symbols, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (!found)
            return symbols[i].name;
        memcpy(symbols[i].at, &found, sizeof found);
    }
    return NULL;
}

#endif
