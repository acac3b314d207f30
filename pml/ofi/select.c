/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranking.  fi_getinfo lists what a machine has in an order that depends on its version and
 * includes addresses nobody can use, so the list is ranked here:
 *
 *     provider    fabrics before TCP; TCP without a layer in between ("net" in 1.17, "tcp" with
 *                 FI_EP_RDM since 1.18) before tcp;ofi_rxm, which takes 70 MB per process
 *     address     IPv4, IPv6, loopback, link-local; loopback first where all ranks are here
 *
 * Never chosen by themselves: sockets (we have better), datagram providers and their helpers, layers for
 * testing.  Never: shm.
 */
#include "pml/ofi/select.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

static const struct {
    const char *name;
    uint32_t since, before; /* versions in which it is good */
} ranking[] = {
    { "cxi", 0, UINT32_MAX },
    { "psm3", 0, UINT32_MAX },
    { "opx", 0, UINT32_MAX },
    { "psm2", 0, UINT32_MAX },
    { "efa", 0, UINT32_MAX },
    { "verbs;ofi_rxm", 0, UINT32_MAX },
    { "tcp", FI_VERSION(1, 18), UINT32_MAX },
    { "net", 0, FI_VERSION(1, 18) },
    { "tcp;ofi_rxm", 0, UINT32_MAX },
};
enum { NRANKING = sizeof ranking / sizeof ranking[0] };

int provider_rank(const char *name, uint32_t version)
{
    for (int i = 0; i < NRANKING; i++)
        if (strcmp(ranking[i].name, name) == 0 && version >= ranking[i].since &&
            version < ranking[i].before)
            return i;
    return -1;
}

/* Its endpoints (1.17) fall over when they are given options. */
bool provider_is_local(const char *name)
{
    return strcmp(name, "shm") == 0;
}

bool provider_is_of_tcp(const char *name)
{
    return strncmp(name, "tcp", 3) == 0 || strcmp(name, "net") == 0 ||
           strcmp(name, "sockets") == 0;
}

bool provider_is_of_kernel(const char *name)
{
    return provider_is_of_tcp(name) || strncmp(name, "udp", 3) == 0;
}

bool address_is_loopback(const char *text)
{
    return strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0;
}

/* Named in full, or as what lies below a layer: "tcp" is "tcp;ofi_rxm" as well. */
static bool provider_is(const char *name, const struct wish *wish)
{
    size_t n = wish->provider ? strlen(wish->provider) : 0;
    return !wish->provider || (strncmp(name, wish->provider, n) == 0 &&
                               (name[n] == '\0' || (name[n] == ';' && !wish->exact)));
}

const char *info_address(const struct fi_info *info, char text[SELECT_TEXT])
{
    const struct sockaddr *address = info->src_addr;
    text[0] = '\0';
    if (address && info->addr_format == FI_SOCKADDR_IN)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, SELECT_TEXT);
    if (address && info->addr_format == FI_SOCKADDR_IN6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text,
                  SELECT_TEXT);
    return text;
}

/* 0 is best. */
static int address_rank(const struct fi_info *info, bool alone)
{
    char text[SELECT_TEXT];
    info_address(info, text);
    bool loopback = address_is_loopback(text);
    bool link_local = strncmp(text, "fe80:", 5) == 0 || strncmp(text, "169.254.", 8) == 0;
    int rank = strchr(text, ':') ? 1 : 0;
    if (loopback != alone && text[0])
        rank += 2;
    return link_local ? rank + 8 : rank;
}

static bool iface_is(const struct fi_info *info, const char *wish)
{
    char text[SELECT_TEXT];
    return strcmp(info->domain_attr->name, wish) == 0 ||
           strcmp(info_address(info, text), wish) == 0;
}

/* Smaller is better; -1: does not fit. */
static int info_rank(const struct fi_info *info, const struct wish *wish, uint32_t version)
{
    enum { ADDRESS_RANKS = 16 };
    const char *name = info->fabric_attr->prov_name;
    int rank = provider_rank(name, version);
    if (provider_is_local(name) || !provider_is(name, wish))
        return -1;
    if (wish->iface && !iface_is(info, wish->iface))
        return -1;
    if (rank < 0 && !wish->provider)
        return -1;
    if (rank < 0)
        rank = NRANKING;
    return rank * ADDRESS_RANKS + address_rank(info, wish->alone);
}

const struct fi_info *info_select(const struct fi_info *list, const struct wish *wish,
                                  uint32_t version)
{
    const struct fi_info *best = NULL;
    int least = -1;
    for (const struct fi_info *info = list; info; info = info->next) {
        int rank = info_rank(info, wish, version);
        if (rank >= 0 && (!best || rank < least)) {
            best = info;
            least = rank;
        }
    }
    return best;
}

const char *info_why_not(const struct fi_info *info, const struct fi_info *best,
                         const struct wish *wish, uint32_t version)
{
    const char *name = info->fabric_attr->prov_name;
    if (provider_is_local(name))
        return "for one node alone, where xmpi has a shared memory of its own";
    if (!provider_is(name, wish))
        return "XMPI_OFI_PROVIDER names another provider";
    if (wish->iface && !iface_is(info, wish->iface))
        return "another interface is asked for";
    int rank = provider_rank(name, version);
    if (rank < 0 && !wish->provider)
        return "a provider only for those who ask for it (XMPI_OFI_PROVIDER)";
    if (best && strcmp(name, best->fabric_attr->prov_name) != 0)
        return "its provider ranks lower";
    return "its address ranks lower: IPv4 before IPv6, loopback and link-local last";
}
