/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Starting the PMIx library as a server, cheaply.
 */
#ifndef XMPI_LAUNCHER_PMIX_START_H
#define XMPI_LAUNCHER_PMIX_START_H

#include <pmix_server.h>

/* `scratch`: a private directory.  Where the module lets tools in, a file in it says where we are.
 * NULL, or why there is no server.  It ends with the process: PMIx_server_finalize of 4.2 may wait for
 * itself when clients were killed. */
const char *pmix_server_start(const char *nspace, const char *host, const char *scratch,
                              pmix_server_module_t *module);

#endif
