/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Handles of streams, for entry points.  The stream itself is in src/task.h.
 */
#ifndef XMPI_STREAM_H
#define XMPI_STREAM_H

#include "mpix.h"

struct entry;
struct stream;

MPIX_Stream stream_handle(const struct stream *stream);
struct stream *check_stream_or_null(struct entry *e, MPIX_Stream handle, const char *name);
struct stream *check_stream_at(struct entry *e, const MPIX_Stream *handle, const char *name);

/* Of src/checks.h, which brings more than these need. */
void bad_handle(struct entry *e, int class, const char *name, const void *handle,
                const char *what);
void bad_pointer(struct entry *e, const char *name);

#endif
