/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMIx tools, as debuggers and monitors are: they connect to the server of xmpirun (--tools) and ask
 * what runs where.  Ranks may ask as well.
 */
#ifndef XMPI_LAUNCHER_PMIX_TOOLS_H
#define XMPI_LAUNCHER_PMIX_TOOLS_H

#include "launcher/job.h"

#include <pmix_server.h>

/* Does this launcher's server let tools in? */
bool tools_are_served(const struct job *job);

/* Listen to other hosts; before their ranks start. */
void tools_open(void);

/* For pmix_server_module_t: a tool has connected.  On the library's thread. */
void tools_connected(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t done,
                     void *data);

/* The ranks of this host have been started; `where`: the server's directory.  Says how tools find
 * the job. */
void tools_started(struct job *job, const char *where);

/* One of them has ended. */
void tools_rank_gone(struct job *job, int number, int wait_status);

/* One of another host has ended badly, perhaps with its host; if not, that says more. */
void tools_other_gone(struct job *job, int world);

/* The answer to a question about processes of the job `nspace`; false: it is not known here. */
bool tools_answer(const struct job *job, const pmix_query_t *query, const char *key,
                  const char *nspace, pmix_value_t *value);

#endif
