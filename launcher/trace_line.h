/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The time line of a job as JSON, from what its ranks have written.
 */
#ifndef XMPI_LAUNCHER_TRACE_LINE_H
#define XMPI_LAUNCHER_TRACE_LINE_H

#include <stdint.h>
#include <stdio.h>

struct job;

/* With which every time line begins. */
#define TRACE_LINE_BEGIN "{\"displayTimeUnit\":\"ns\",\"metadata\":{\"clocks\":["

/* `bytes`: the ranks' windows (runtime/trace.h), `size` of them. */
void trace_line_write(const struct job *job, const char *bytes, uint64_t size, FILE *to);

#endif
