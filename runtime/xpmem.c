/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening libxpmem.  The library opens its device with the first call, so that we look whether the device
 * may be opened before it is loaded.
 */
#include "runtime/xpmem.h"

#include "runtime/log.h"
#include "runtime/param_text.h"
#include "runtime/symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { WHY_CHARS = 200 };

static struct xpmem xpmem;
static const struct symbol symbols[] = {
    { "xpmem_make", &xpmem.make },       { "xpmem_get", &xpmem.get },
    { "xpmem_release", &xpmem.release }, { "xpmem_attach", &xpmem.attach },
    { "xpmem_detach", &xpmem.detach },
};

/* NULL: it is open. */
static const char *library_open(void)
{
    static char why[WHY_CHARS];
    const char *name = param_string(LIBXPMEM);
    if (!name && access("/dev/xpmem", R_OK | W_OK) != 0) {
        if (errno == ENOENT)
            return "there is no /dev/xpmem (a kernel module)";
        snprintf(why, sizeof why, "/dev/xpmem may not be opened: %s", strerror(errno));
        return why;
    }
    void *library = dlopen(name ? name : "libxpmem.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(why, sizeof why, "%s", dlerror());
        return why;
    }
    const char *missing = symbols_find(library, symbols, sizeof symbols / sizeof symbols[0]);
    if (missing) {
        snprintf(why, sizeof why, "%s has no %s", name ? name : "libxpmem.so.0", missing);
        dlclose(library);
        return why;
    }
    return NULL;
}

const struct xpmem *xpmem_open(const char **why)
{
    static bool tried;
    static const char *because;
    if (!tried)
        because = library_open();
    const char *given = param_string(LIBXPMEM), *then;
    if (!tried && because && given && !param_text_wrong(PARAM_ID_LIBXPMEM, given, &then) &&
        param_tells_here())
        say("XMPI_LIBXPMEM=%s cannot be used: %s; unset it for the system's own", given,
            because);
    tried = true;
    if (because)
        *why = because;
    return because ? NULL : &xpmem;
}
