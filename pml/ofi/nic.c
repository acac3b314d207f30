/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Opening endpoints: reliable datagrams (no connections of our own), messages without tags (our
 * matcher is the same for all links), receive buffers for many messages, reading of remote
 * memory.  Providers are told all we can cope with and their answer says what they need.
 *
 *     fi_getinfo -> ranked (select.c) -> fabric -> domain -> address table, completions, endpoint
 *
 * Costs with TCP: 0.1 s for the first fi_getinfo, 0.1 ms and 0.1 MB for the rest.
 *
 * "net" and "tcp" before libfabric 1.18 end a read twice, and give its memory back twice, when the
 * peer connects anew while the answer to the read is on its way; after that operations are lost.  So
 * there another endpoint does the reading, one that nobody connects to:
 *
 *     ep       packets, both ways; answers to those who read     connected by either side
 *     reader   reads, and their answers                          connected by us alone
 */
#include "pml/ofi/nic.h"

#include "pml/ofi/select.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/gpu.h"
#include "runtime/log.h"
#include "runtime/param.h"
#include "runtime/system_text.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct nic nics[NIC_MOST];
int nnics;

static int nic_failed(const struct nic *nic, const char *what, int error)
{
    char host[64];
    system_host(host, sizeof host);
    return fail(MPI_ERR_OTHER, "rank %d on %s: provider %s, interface %s: %s: %s", boot.rank,
                host, nic->info->fabric_attr->prov_name, nic->name, what,
                fabric.strerror(error < 0 ? -error : error));
}

/* ---- asking ---- */

void hints_fill(struct fi_info *hints)
{
    hints->caps =
        FI_MSG | FI_RMA | FI_READ | FI_REMOTE_READ | FI_SEND | FI_RECV | FI_MULTI_RECV;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->av_type = FI_AV_TABLE;
}

struct fi_info *nics_ask(void)
{
    struct fi_info *hints = fabric.dupinfo(NULL), *list = NULL;
    if (!hints) {
        fail(MPI_ERR_NO_MEM, "no memory to ask libfabric for its providers");
        return NULL;
    }
    hints_fill(hints);
    int error = fabric.getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &list);
    fabric.freeinfo(hints);
    if (error == 0)
        return list;
    uint32_t version = fabric.version();
    fail(MPI_ERR_OTHER, "rank %d: libfabric %u.%u offers no provider that can be used: %s",
         boot.rank, FI_MAJOR(version), FI_MINOR(version), fabric.strerror(-error));
    return NULL;
}

/* As many as have room, none of them in part. */
static void infos_describe(const struct fi_info *list, char *text, size_t room)
{
    static const char more[] = " ...";
    size_t used = 0;
    text[0] = '\0';
    for (; list; list = list->next) {
        char address[SELECT_TEXT], one[160];
        snprintf(one, sizeof one, "%s:%s(%s)", list->fabric_attr->prov_name,
                 list->domain_attr->name, info_address(list, address));
        if (strstr(text, one))
            continue;
        if (used + 1 + strlen(one) + sizeof more > room) {
            snprintf(text + used, room - used, "%s", more);
            return;
        }
        used += (size_t)snprintf(text + used, room - used, "%s%s", used ? " " : "", one);
    }
}

/* In a job it matters where that is, and what else there would be. */
static int choice_failed(const struct fi_info *list, int error)
{
    enum {
        LEAST = 40,
        ROOM = 340
    }; /* of the 400 characters that fail() keeps, without our own */
    char there[ROOM], host[64];
    system_host(host, sizeof host);
    size_t said = strlen(fail_text()) + strlen(host);
    infos_describe(list, there, said + LEAST < ROOM ? ROOM - said : LEAST);
    return fail(error, "rank %d on %s: %s; there are: %s", boot.rank, host, fail_text(), there);
}

/* ---- one nic ---- */

static int nic_open_tables(struct nic *nic)
{
    struct fi_av_attr av = { .type = FI_AV_TABLE, .count = 64 };
    struct fi_cq_attr cq = { .size = NIC_CQ_ENTRIES,
                             .format = FI_CQ_FORMAT_DATA,
                             .wait_obj = FI_WAIT_NONE };
    int error = fi_av_open(nic->domain, &av, &nic->av, NULL);
    if (error)
        return nic_failed(nic, "fi_av_open", error);
    error = fi_cq_open(nic->domain, &cq, &nic->cq, NULL);
    return error ? nic_failed(nic, "fi_cq_open", error) : 0;
}

/* ofi_rxm cuts what exceeds its own buffers, or fetches it later: pieces of packets of several peers
 * are then on their way into one receive buffer at the same time, and it gives the buffer back before
 * the last of them is there.  Shorter packets come whole. */
static size_t most_packet(const struct nic *nic, size_t most)
{
    size_t limit = 16384, bytes = sizeof limit;
    if (!strstr(nic->info->fabric_attr->prov_name, "ofi_rxm"))
        return most;
    if (fi_getopt(&nic->ep->fid, FI_OPT_ENDPOINT, FI_OPT_BUFFERED_LIMIT, &limit, &bytes) != 0)
        limit = 16384; /* its default */
    return limit < most ? limit : most;
}

static int endpoint_open(struct nic *nic, size_t least_receive, struct fid_ep **ep)
{
    int error = fi_endpoint(nic->domain, nic->info, ep, NULL);
    if (error)
        return nic_failed(nic, "fi_endpoint", error);
    error = fi_ep_bind(*ep, &nic->av->fid, 0);
    if (!error)
        error = fi_ep_bind(*ep, &nic->cq->fid, FI_TRANSMIT | FI_RECV);
    if (!error)
        error = fi_setopt(&(*ep)->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least_receive,
                          sizeof least_receive);
    if (error)
        return nic_failed(nic, "fi_ep_bind", error);
    if (nic->info->caps & FI_HMEM && (error = hmem_insist(*ep, nic->info)) != 0)
        return nic_failed(nic, "what is on devices would go by way of CUDA: fi_setopt", error);
    error = fi_enable(*ep);
    return error ? nic_failed(nic, "fi_enable", error) : 0;
}

static bool reads_end_twice(const struct nic *nic)
{
    const char *provider = nic->info->fabric_attr->prov_name;
    return (strcmp(provider, "net") == 0 || strncmp(provider, "tcp", 3) == 0) &&
           fabric.version() < FI_VERSION(1, 18);
}

static int nic_open_endpoints(struct nic *nic, size_t least_receive)
{
    int error = endpoint_open(nic, least_receive, &nic->ep);
    if (error)
        return error;
    nic->reader = nic->ep;
    if (reads_end_twice(nic))
        error = endpoint_open(nic, least_receive, &nic->reader);
    if (error)
        return error;
    nic->most_packet = most_packet(nic, least_receive);
    if (nic->most_packet < NIC_LEAST_PACKET)
        return nic_failed(nic, "its buffers are too short for a packet", FI_EMSGSIZE);
    nic->address_bytes = sizeof nic->address;
    error = fi_getname(&nic->ep->fid, nic->address, &nic->address_bytes);
    return error ? nic_failed(nic, "fi_getname", error) : 0;
}

static void nic_name(struct nic *nic)
{
    char address[SELECT_TEXT];
    snprintf(nic->name, sizeof nic->name, "%.20s%s%.26s", nic->info->domain_attr->name,
             info_address(nic->info, address)[0] ? " " : "", address);
}

/* `info` becomes the nic's. */
static int nic_open(struct nic *nic, struct fi_info *info, size_t least_receive)
{
    *nic = (struct nic){ .info = info, .next_key = 1 };
    if (!info)
        return fail(MPI_ERR_NO_MEM, "no memory for a network endpoint");
    nic_name(nic);
    if (info->ep_attr->max_msg_size < least_receive)
        return nic_failed(nic, "its longest message is too short for a packet", FI_EMSGSIZE);
    nic->inject = info->tx_attr->inject_size;
    nic->most_posted = (int)(info->tx_attr->size < NIC_CQ_ENTRIES / 2 ? info->tx_attr->size
                                                                      : NIC_CQ_ENTRIES / 2);
    int error = fabric.fabric(nic->info->fabric_attr, &nic->fabric, NULL);
    if (error)
        return nic_failed(nic, "fi_fabric", error);
    error = fi_domain(nic->fabric, nic->info, &nic->domain, NULL);
    if (error)
        return nic_failed(nic, "fi_domain", error);
    error = nic_open_tables(nic);
    return error ? error : nic_open_endpoints(nic, least_receive);
}

static void fid_close(struct fid *fid)
{
    if (fid)
        fi_close(fid);
}
#define CLOSE(object) fid_close((object) ? &(object)->fid : NULL)

static void endpoint_close(struct fid_ep **ep)
{
    if (*ep && fi_close(&(*ep)->fid) == 0)
        *ep = NULL;
}

static void nic_stop(struct nic *nic)
{
    bool one = nic->reader == nic->ep;
    endpoint_close(&nic->ep);
    if (one)
        nic->reader = nic->ep;
    else
        endpoint_close(&nic->reader);
}

void nics_stop(void)
{
    for (int i = 0; i < nnics; i++)
        nic_stop(&nics[i]);
}

static void nic_close(struct nic *nic)
{
    nic_stop(nic);
    CLOSE(nic->cq);
    CLOSE(nic->av);
    CLOSE(nic->domain);
    CLOSE(nic->fabric);
    if (nic->info)
        fabric.freeinfo(nic->info);
    *nic = (struct nic){ 0 };
}

int nic_register(struct nic *nic, const void *memory, size_t bytes, uint64_t access,
                 enum where where, struct fid_mr **mr)
{
    struct iovec one = { (void *)memory, bytes };
    struct fi_mr_attr attr = { .mr_iov = &one, .iov_count = 1, .access = access };
    *mr = NULL;
    if (where == AWAY && !hmem_name(memory, bytes, &attr))
        return fail(MPI_ERR_OTHER, "memory of a device that cannot be registered now");
    if (where == HERE && access != FI_REMOTE_READ && !nic_needs_local(nic))
        return 0;
    attr.requested_key = nic->next_key++;
    int error = where == AWAY ? fi_mr_regattr(nic->domain, &attr, 0, mr)
                              : fi_mr_reg(nic->domain, memory, bytes, access, 0,
                                          attr.requested_key, 0, mr, NULL);
    if (!error && nic->info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        error = fi_mr_bind(*mr, &nic->ep->fid, 0);
        if (!error)
            error = fi_mr_enable(*mr);
        if (error) {
            fi_close(&(*mr)->fid);
            *mr = NULL;
        }
    }
    return error ? nic_failed(nic, "fi_mr_reg", error) : 0;
}

/* ---- all ---- */

static int nic_choose(const struct fi_info *list, const struct wish *wish,
                      const struct fi_info *chosen[NIC_MOST], int *n)
{
    const struct fi_info *info = info_select(list, wish, fabric.version());
    if (!info && wish->provider && provider_is_local(wish->provider))
        return fail(
            MPI_ERR_OTHER,
            "XMPI_OFI_PROVIDER=%s is no network: ranks of one node have a shared memory of "
            "xmpi's own (XMPI_SHM=1)",
            wish->provider);
    if (!info)
        return fail(MPI_ERR_OTHER,
                    "no network with provider %s and interface %s (XMPI_OFI_PROVIDER, "
                    "XMPI_OFI_IFACE, XMPI_OFI_NICS)",
                    wish->provider ? wish->provider : "(any)",
                    wish->iface ? wish->iface : "(any)");
    chosen[(*n)++] = info;
    return 0;
}

int nics_choose(const struct fi_info *list, const struct wish *wish,
                const struct fi_info *chosen[NIC_MOST], int *n)
{
    const char *names = param_string(OFI_NICS);
    struct wish one = *wish;
    char name[NIC_NAME_CHARS];
    *n = 0;
    if (!names)
        return nic_choose(list, wish, chosen, n);
    one.iface = name;
    while (*names) {
        size_t length = strcspn(names, ",");
        if (length >= sizeof name || *n == NIC_MOST)
            return fail(MPI_ERR_OTHER, "XMPI_OFI_NICS=%s: at most %d names of %zu characters",
                        param_string(OFI_NICS), NIC_MOST, sizeof name - 1);
        if (length == 0 || (names[length] == ',' && names[length + 1] == '\0'))
            return fail(MPI_ERR_OTHER, "XMPI_OFI_NICS=%s: a name is missing at a comma",
                        param_string(OFI_NICS));
        memcpy(name, names, length);
        name[length] = '\0';
        int error = nic_choose(list, &one, chosen, n);
        if (error)
            return error;
        for (int i = 0; i < *n - 1; i++)
            if (chosen[i] == chosen[*n - 1])
                return fail(MPI_ERR_OTHER, "XMPI_OFI_NICS=%s: %s is there twice",
                            param_string(OFI_NICS), name);
        one.provider = chosen[0]->fabric_attr->prov_name;
        one.exact = true;
        names += length + (names[length] == ',');
    }
    return 0;
}

/* Some providers say they reach devices though nobody has asked. */
static struct fi_info *without_devices(const struct fi_info *info)
{
    struct fi_info *copy = fabric.dupinfo(info);
    if (!copy)
        return NULL;
    copy->caps &= ~FI_HMEM;
    copy->tx_attr->caps &= ~FI_HMEM;
    copy->rx_attr->caps &= ~FI_HMEM;
    return copy;
}

static int nic_add(const struct fi_info *info, size_t least_receive)
{
    struct nic *nic = &nics[nnics++];
    /* asking opens CUDA, which may wait for a stream that waits for us */
    struct fi_info *better = gpu_may_stall() ? hmem_info(info) : NULL;
    int error = better ? nic_open(nic, better, least_receive) : 0;
    if (better && error) {
        log_line("%s; without FI_HMEM then", fail_text());
        nic_close(nic);
    }
    if (!better || error)
        error = nic_open(nic, without_devices(info), least_receive);
    if (!error)
        log_line("network: provider %s, interface %s, libfabric %u.%u",
                 info->fabric_attr->prov_name, nic->name, FI_MAJOR(fabric.version()),
                 FI_MINOR(fabric.version()));
    return error;
}

/* The kernel takes packets from one of the machine's addresses to another over its loopback interface. */
static bool loopback_is_down(void)
{
    struct ifaddrs *all = NULL;
    bool down = false;
    if (getifaddrs(&all) != 0)
        return false;
    for (const struct ifaddrs *one = all; one; one = one->ifa_next)
        if (one->ifa_flags & IFF_LOOPBACK)
            down = !(one->ifa_flags & IFF_UP);
    freeifaddrs(all);
    return down;
}

/* What would never get there is told now, not when the time-out is over. */
static int nics_check(const struct fi_info *info, const struct wish *wish)
{
    const char *provider = info->fabric_attr->prov_name;
    char address[SELECT_TEXT];
    info_address(info, address);
    bool here = wish->alone || address_is_loopback(address);
    if (!here || !provider_is_of_kernel(provider) || !loopback_is_down())
        return 0;
    return fail(MPI_ERR_OTHER,
                "with provider %s ranks of one machine reach each other over its loopback "
                "interface, which is down (ip link set lo up)",
                provider);
}

int nics_open(size_t least_receive)
{
    struct wish wish = { .provider = param_string(OFI_PROVIDER),
                         .iface = param_string(OFI_IFACE),
                         .alone = boot.size == boot.segment->nlocal && !param_string(NODE) };
    struct fi_info *list = nics_ask();
    if (!list)
        return MPI_ERR_OTHER;
    nnics = 0;
    const struct fi_info *chosen[NIC_MOST];
    int n, error = nics_choose(list, &wish, chosen, &n);
    if (!error)
        error = nics_check(chosen[0], &wish);
    if (error)
        error = choice_failed(list, error);
    for (int i = 0; i < n && !error; i++)
        error = nic_add(chosen[i], least_receive);
    fabric.freeinfo(list);
    if (error)
        nics_close();
    return error;
}

bool nics_reach_devices(void)
{
    for (int i = 0; i < nnics; i++)
        if (!(nics[i].info->caps & FI_HMEM))
            return false;
    return nnics > 0;
}

void nics_log(void)
{
    for (int i = 0; i < nnics; i++)
        log_line("network: %s: %llu bytes in packets sent, %llu bytes read", nics[i].name,
                 (unsigned long long)nics[i].bytes_sent,
                 (unsigned long long)nics[i].bytes_read);
}

void nics_close(void)
{
    while (nnics > 0)
        nic_close(&nics[--nnics]);
}
