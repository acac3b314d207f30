/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The PMIx library, opened when a job needs it and never linked: loading it costs 1 ms, and
 * jobs of xmpi programs do not use it.
 */
#ifndef XMPI_LAUNCHER_PMIX_LIB_H
#define XMPI_LAUNCHER_PMIX_LIB_H

#include <pmix.h>
#include <pmix_server.h>

#define PMIX_LIB_FUNCTIONS(row)                                                                \
    row(server_init) row(server_register_nspace) row(server_define_process_set)                \
        row(server_register_client) row(server_deregister_client) row(server_setup_fork)       \
            row(generate_regex) row(generate_ppn) row(Register_event_handler)                  \
                row(Notify_event) row(Error_string) row(Info_load) row(Value_xfer)             \
                    row(Value_destruct) row(Data_pack) row(Data_unpack)                        \
                        row(server_dmodex_request)

#define PMIX_LIB_MEMBER(name) __typeof__(PMIx_##name) *name;
struct pmix_lib { /* PMIx_server_init is pmix_lib.server_init, and so on */
    PMIX_LIB_FUNCTIONS(PMIX_LIB_MEMBER)
};
#undef PMIX_LIB_MEMBER
extern struct pmix_lib pmix_lib;

/* NULL, or why it cannot be used. */
const char *pmix_lib_open(void);

/* A function of the library, or of one that it uses; NULL: there is none. */
void *pmix_lib_symbol(const char *name);

#endif
