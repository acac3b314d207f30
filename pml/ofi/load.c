/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening libfabric.  Its structures grow from version to version and the symbols are versioned
 * accordingly, so the versions that the headers of this build belong to are asked for by name; a
 * plain dlsym would return the newest, whose structures are others.
 *
 * A library that libfabric is linked with (libpsm_infinipath) catches SIGSEGV, SIGTERM, SIGINT and
 * others from its opening on, over the program's own handlers.  Signals stay as the program has them.
 */
#include "config.h" /* _GNU_SOURCE, for dlvsym */
#include "pml/ofi/fabric.h"

#include "mpi.h"
#include "runtime/fail.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#define LIBRARY "libfabric.so.1"

struct fabric_library fabric;

static const struct {
    const char *name, *version;
    void *at;
} symbols[] = {
    { "fi_getinfo", XMPI_FABRIC_SYMVER, &fabric.getinfo },
    { "fi_dupinfo", XMPI_FABRIC_SYMVER, &fabric.dupinfo },
    { "fi_freeinfo", "FABRIC_1.3", &fabric.freeinfo },
    { "fi_fabric", "FABRIC_1.1", &fabric.fabric },
    { "fi_version", "FABRIC_1.0", &fabric.version },
    { "fi_strerror", "FABRIC_1.0", &fabric.strerror },
};

static void *open_without_handlers(void)
{
    enum { N = 32 }; /* the standard signals, from 1 */
    struct sigaction before[N], now;
    for (int s = 1; s < N; s++)
        sigaction(s, NULL, &before[s]);
    void *opened = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    for (int s = 1; s < N; s++)
        if (sigaction(s, NULL, &now) == 0 && now.sa_handler != before[s].sa_handler)
            sigaction(s, &before[s], NULL);
    return opened;
}

int fabric_load(void)
{
    static void *library;
    if (library)
        return 0;
    library = open_without_handlers();
    if (!library)
        return fail(MPI_ERR_OTHER,
                    "messages over the network need libfabric, and it cannot be opened: %s "
                    "(Debian: libfabric1)",
                    dlerror());
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlvsym(library, symbols[i].name, symbols[i].version);
        if (!symbol) {
            dlclose(library);
            library = NULL;
            return fail(MPI_ERR_OTHER,
                        LIBRARY " has no %s of version %s: it is older than the libfabric "
                                "this library was built with",
                        symbols[i].name, symbols[i].version);
        }
        memcpy(symbols[i].at, &symbol, sizeof symbol);
    }
    return 0;
}
