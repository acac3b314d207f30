/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Cards are compared when two processes first talk.  Providers of one name speak different
 * languages in different versions of libfabric, and what they do then is to wait for ever; so
 * versions must agree, and whoever differs is named.
 */
#include "pml/ofi/card.h"

#include "runtime/bootseg.h"
#include "runtime/system_text.h"
#include "runtime/text_hash.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(struct card) <= BOOT_CONTACT_BYTES,
               "there is room for it where it is published");

void card_fill(struct card *card)
{
    *card = (struct card){ .version = CARD_VERSION,
                           .library = fabric.version(),
                           .nnics = (uint16_t)nnics,
                           .address_bytes = (uint16_t)nics[0].address_bytes };
    snprintf(card->provider, sizeof card->provider, "%s", nics[0].info->fabric_attr->prov_name);
    snprintf(card->iface, sizeof card->iface, "%.23s", nics[0].name);
    system_host(card->host, sizeof card->host);
    for (int i = 0; i < nnics; i++)
        memcpy(card->address[i], nics[i].address, sizeof card->address[i]);
}

uint16_t card_job(const char *job)
{
    uint32_t hash = text_hash(job);
    return (uint16_t)(hash ^ hash >> 16);
}

const char *card_differs(const struct card *mine, const struct card *theirs, int rank)
{
    static char text[400];
    if (theirs->version != mine->version) {
        snprintf(text, sizeof text, "rank %d was built with another version of xmpi", rank);
        return text;
    }
    bool speak_alike =
        theirs->library == mine->library && strcmp(theirs->provider, mine->provider) == 0;
    if (speak_alike && theirs->address_bytes == mine->address_bytes)
        return NULL;
    if (speak_alike) {
        snprintf(
            text, sizeof text,
            "rank %d on %s has an address of another kind (%s) than this rank on %s (%s), as "
            "of IPv4 "
            "and IPv6: XMPI_OFI_IFACE can name an interface, or an address, of the same kind",
            rank, theirs->host, theirs->iface, mine->host, mine->iface);
        return text;
    }
    snprintf(text, sizeof text,
             "rank %d on %s uses libfabric %u.%u with provider %s (%s), this rank on %s uses "
             "libfabric %u.%u with provider %s (%s): all nodes need the same libfabric, and "
             "XMPI_OFI_PROVIDER can name a provider that all have",
             rank, theirs->host, FI_MAJOR(theirs->library), FI_MINOR(theirs->library),
             theirs->provider, theirs->iface, mine->host, FI_MAJOR(mine->library),
             FI_MINOR(mine->library), mine->provider, mine->iface);
    return text;
}

const char *card_place(const struct card *card, int nic)
{
    static char text[INET6_ADDRSTRLEN + 24];
    char address[INET6_ADDRSTRLEN] = "";
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    memcpy(&in, card->address[nic], sizeof in);
    memcpy(&in6, card->address[nic], sizeof in6);
    if (card->address_bytes == sizeof in && in.sin_family == AF_INET) {
        inet_ntop(AF_INET, &in.sin_addr, address, sizeof address);
        snprintf(text, sizeof text, "%s port %d", address, ntohs(in.sin_port));
    } else if (card->address_bytes == sizeof in6 && in6.sin6_family == AF_INET6) {
        inet_ntop(AF_INET6, &in6.sin6_addr, address, sizeof address);
        snprintf(text, sizeof text, "%s port %d", address, ntohs(in6.sin6_port));
    } else {
        snprintf(text, sizeof text, "%.23s", card->provider);
    }
    return text;
}
