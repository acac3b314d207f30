/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process sets that a PMIx server knows.
 */
#ifndef XMPI_PMIX_SETS_H
#define XMPI_PMIX_SETS_H

/* Their text (runtime/psets.h), malloced; members of other namespaces are left out.  NULL: the
 * server has none, or cannot be asked.  `library` is libpmix, which this process has joined. */
char *pmix_sets_ask(void *library, const char *nspace);

#endif
