/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What PMIx_Spawn was called with, as a wish.
 */
#ifndef XMPI_LAUNCHER_PMIX_WISH_H
#define XMPI_LAUNCHER_PMIX_WISH_H

#include "launcher/pmix_upcall.h"

struct wish;

/* Its texts stay the upcall's.  PMIX_SUCCESS, or why it cannot be, after a complaint that names it. */
pmix_status_t wish_from_pmix(const struct upcall *upcall, struct wish *wish);

/* For the caller: why its launcher has ended before ranks ran, which it has explained. */
pmix_status_t wish_failure(int wait_status);

#endif
