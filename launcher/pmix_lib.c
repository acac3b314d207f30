/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening libpmix.
 */
#include "launcher/pmix_lib.h"

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
#define ROW(name) { "PMIx_" #name, (void **)&pmix_lib.name },
    static const struct {
        const char *name;
        void **at;
    } functions[] = { PMIX_LIB_FUNCTIONS(ROW) };
#undef ROW
    static char why[256];
    if (handle)
        return NULL;
    handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        snprintf(why, sizeof why, "%s (Debian: libpmix2)", dlerror());
        return why;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        *functions[i].at = pmix_lib_symbol(functions[i].name);
        if (!*functions[i].at) {
            snprintf(why, sizeof why, LIBRARY " has no function %s: version 4.2 is needed",
                     functions[i].name);
            dlclose(handle);
            handle = NULL;
            return why;
        }
    }
    return NULL;
}
