/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What PMIx clients ask that another launcher answers: an upcall has a number while it waits, which
 * travels with the question and its answer (mail.h).  Keys and values travel as libpmix packs them.
 */
#ifndef XMPI_LAUNCHER_PMIX_QUESTION_H
#define XMPI_LAUNCHER_PMIX_QUESTION_H

#include "launcher/pack.h"
#include "launcher/pmix_upcall.h"

/* The number of a question.  `whose`: whose data is asked for; NULL: nobody's. */
int64_t question_add(struct upcall *upcall, const pmix_proc_t *whose);

/* It has an answer: the upcall; NULL: not any more. */
struct upcall *question_take(int64_t number);

/* Upcalls that ask for data of this process (PMIX_RANK_WILDCARD: of this job), one by one; NULL: no more. */
struct upcall *question_about(const pmix_proc_t *whose);

/* ---- keys and values ---- */

/* False: the library cannot pack them. */
bool items_pack(struct pack *text, const void *items, size_t n, pmix_data_type_t type);

/* malloced, *n of them; each has a value of its own.  NULL: the library here does not understand
 * that of the other host. */
void *items_unpack(struct unpack *text, size_t *n, size_t size, pmix_data_type_t type);

void items_free(pmix_info_t *items, size_t n);

void proc_pack(struct pack *text, const pmix_proc_t *proc);
pmix_proc_t proc_unpack(struct unpack *text);

#endif
