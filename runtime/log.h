/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One line per event on stderr: "xmpi[rank]: text".
 */
#ifndef XMPI_LOG_H
#define XMPI_LOG_H

/* Say something the user must see (a warning, a notice).  One write(2) per line. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Debug output, shown with XMPI_LOG=1. */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Rank shown in front of each line; -1 (the start value) shows none. */
void log_rank(int world_rank);
int log_rank_shown(void);

#endif
