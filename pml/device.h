/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Long messages that a process of the same node reads from a device itself.
 */
#ifndef XMPI_DEVICE_H
#define XMPI_DEVICE_H

#include "pml/recv.h"
#include "runtime/gpu_share.h"

/* May a message of so many bytes from `at`, or NULL, be read by this peer? */
bool device_offers(const struct peer *peer, const char *at, size_t bytes);

/* A message was matched whose payload is a struct gpu_share: read it, from device_flush, and complete
 * the receive.  False: it cannot be read, and has to be asked for. */
bool device_begin(struct recv *recv, struct peer *peer, uint32_t sender, const char *payload);

/* A receive from this peer that is being read, taken out; NULL: none. */
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

void device_close(void);

#endif
