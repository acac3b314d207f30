/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Info objects (MPI 5.0, chapter 10).
 */
#ifndef XMPI_API_INFO_H
#define XMPI_API_INFO_H

#include "src/api/kinds.h"

/* A new, empty info object. */
anytime int xmpi_info_create(info_out_t *info);

/* An info object that tells how this process was started, like MPI_INFO_ENV. */
anytime int xmpi_info_create_env(int argc, char *argv[], info_out_t *info);

/* Set the value of a key. */
anytime int xmpi_info_set(info_live_t info, string_t key, string_t value);

/* Remove a key. */
anytime int xmpi_info_delete(info_live_t info, string_t key);

/* The value of a key.  On return buflen is the length needed, with the terminating zero. */
anytime int xmpi_info_get_string(info_live_t info, string_t key, int_out_t *buflen, char *value,
                                 flag_t *flag);

/* How many keys there are. */
anytime int xmpi_info_get_nkeys(info_live_t info, int_out_t *nkeys);

/* The n-th key, counted from 0 in order of setting. */
anytime int xmpi_info_get_nthkey(info_live_t info, int n, text_out_t key);

/* A copy. */
anytime int xmpi_info_dup(info_live_t info, info_out_t *newinfo);

/* Give an info object back. */
anytime int xmpi_info_free(info_free_t *info);

#endif
