/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A card: what a process publishes so that others can reach it over the network, and understand
 * it.
 */
#ifndef XMPI_OFI_CARD_H
#define XMPI_OFI_CARD_H

#include "pml/ofi/nic.h"

enum { CARD_VERSION = 1, CARD_HOST_CHARS = 32, CARD_IFACE_CHARS = 24 };

struct card {
    uint32_t version; /* of this structure and of the packets */
    uint32_t library; /* fi_version() */
    uint16_t nnics, address_bytes;
    char provider[NIC_PROVIDER_CHARS];
    char host[CARD_HOST_CHARS];
    char iface[CARD_IFACE_CHARS]; /* of the first nic */
    unsigned char address[NIC_MOST][NIC_ADDRESS_BYTES];
};

void card_fill(struct card *card);

/* The number of a job, which its packets bear. */
uint16_t card_job(const char *job);

/* NULL, or why the processes with these cards cannot talk: a sentence without a full stop. */
const char *card_differs(const struct card *mine, const struct card *theirs, int rank);

/* "10.0.0.1 port 1234" of a nic, or the provider's name for addresses that are none of the Internet. */
const char *card_place(const struct card *card, int nic);

#endif
