/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening libpmix.
 */
#include "launcher/pmix_lib.h"

#include "runtime/symbols.h"

#include <dlfcn.h>
#include <stdio.h>

#define LIBRARY "libpmix.so.2"

struct pmix_lib pmix_lib;
static void *handle;

void *pmix_lib_symbol(const char *name)
{
    return dlsym(handle, name);
}

const char *pmix_lib_open(void)
{
#define ROW(name) { "PMIx_" #name, &pmix_lib.name },
    static const struct symbol functions[] = { PMIX_LIB_FUNCTIONS(ROW) };
#undef ROW
    static char why[256];
    if (handle)
        return NULL;
    handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(why, sizeof why, "%s (Debian: libpmix2)", dlerror());
        return why;
    }
    const char *missing =
        symbols_find(handle, functions, sizeof functions / sizeof functions[0]);
    if (!missing)
        return NULL;
    snprintf(why, sizeof why, LIBRARY " has no function %s: version 4.2 is needed", missing);
    dlclose(handle);
    handle = NULL;
    return why;
}
