/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long messages that a process of the same node reads from a device itself.
 */
#ifndef XMPI_DEVICE_H
#define XMPI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

struct peer;
struct recv;

/* Can so many bytes at `at`, or NULL, be read by another process of the node?  device_begin reads. */
bool device_offers(const char *at, size_t bytes);

/* What its RTS says: *length bytes that stay until the next call. */
void *device_name(const char *at, size_t bytes, size_t *length);

/* A receive from this peer that is being read; NULL: none.  take: taken out. */
struct recv *device_read_of(const struct peer *peer);
struct recv *device_take(const struct peer *peer);

/* Nothing is read from this peer any more. */
void device_forget(const struct peer *peer);

/* For progress: some of what is to be read; the number of pieces. */
int device_read_some(void);
extern struct recv *device_reads;
static inline int device_flush(void)
{
    return __builtin_expect(device_reads != NULL, 0) ? device_read_some() : 0;
}

/* Messages of data at `near` will begin while the driver may not be asked for what makes it wait for the
 * device: have a stage, and map what could not be mapped before (pml/stage.c). */
void device_prepare(const void *near);

void device_close(void);

#endif
