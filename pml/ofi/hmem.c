/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Networks that reach memory of devices (FI_HMEM): an endpoint that was chosen is asked for again with that
 * capability, so what it can do does not change which one is chosen.  It costs another fi_getinfo, and
 * libfabric itself then opens CUDA; so only where there is a driver of a GPU.
 *
 * Memory that is registered has the same conditions as memory that is shared within a node
 * (runtime/gpu_share.h): one allocation, that later copies within the device wait for; and no stream of the
 * program may wait for us, as its kernels behind that would not see what a network has written.
 * Whatever is refused goes by way of pinned memory, as without FI_HMEM.
 *
 * A provider that copied by CUDA itself, instead of having the network card do it, might wait for a stream
 * that waits for us.  So endpoints are told to let the card do all, and to call nothing of CUDA's; one that
 * answers that it cannot do that is used without FI_HMEM, and one that does not know the question is
 * believed.
 *
 * Memory is registered anew for each message.  To keep that, as cards take a while for it, would be worth
 * little more than a guess here: no card that reaches a GPU was at hand.  Tested with a provider that pretends
 * (test/device/fabric), not on a GPU.
 */
#include "pml/ofi/nic.h"

#include "runtime/gpu.h"
#include "runtime/gpu_share.h"
#include "runtime/log.h"
#include "runtime/param.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const struct fi_info *a, const struct fi_info *b)
{
    return strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name) == 0 &&
           strcmp(a->domain_attr->name, b->domain_attr->name) == 0 &&
           a->addr_format == b->addr_format && a->src_addrlen == b->src_addrlen &&
           (!a->src_addr || memcmp(a->src_addr, b->src_addr, a->src_addrlen) == 0);
}

static struct fi_info *infos_ask(const struct fi_info *wanted)
{
    struct fi_info *hints = fabric.dupinfo(NULL), *list = NULL;
    if (!hints)
        return NULL;
    hints_fill(hints);
    hints->caps |= FI_HMEM;
    hints->domain_attr->mr_mode |= FI_MR_HMEM;
    hints->fabric_attr->prov_name = strdup(wanted->fabric_attr->prov_name);
    if (fabric.getinfo(FI_VERSION(1, 15), NULL, NULL, 0, hints, &list) != 0)
        list = NULL;
    fabric.freeinfo(hints);
    return list;
}

struct fi_info *hmem_info(const struct fi_info *info)
{
    if (param_number(OFI_HMEM) == 0 || !gpu_is_here())
        return NULL;
    struct fi_info *list = infos_ask(info), *found = list, *copy = NULL;
    while (found && !is_same(found, info))
        found = found->next;
    if (found && found->caps & FI_HMEM)
        copy = fabric.dupinfo(found);
    if (list)
        fabric.freeinfo(list);
    log_line("network: provider %s %s", info->fabric_attr->prov_name,
             copy ? "moves data on devices itself (FI_HMEM)"
                  : "does not reach devices (FI_HMEM); their data go by way of pinned memory");
    return copy;
}

/* Of libfabric 1.18; headers may be older. */
enum { OPT_CUDA_API_PERMITTED = FI_OPT_FI_HMEM_P2P + 2 };

/* ofi_rxm over cards answers for packets that it copies, which are none of ours: what is on a device is
 * read. */
static bool answers_for_packets(const struct fi_info *info)
{
    return strcmp(info->fabric_attr->prov_name, "verbs;ofi_rxm") == 0;
}

int hmem_insist(struct fid_ep *ep, const struct fi_info *info)
{
    int required = FI_HMEM_P2P_REQUIRED, error = 0;
    bool permitted = false;
    if (fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &required, sizeof required) ==
        -FI_EOPNOTSUPP)
        return -FI_EOPNOTSUPP;
    if (fabric.version() >= FI_VERSION(1, 18) && !answers_for_packets(info))
        error = fi_setopt(&ep->fid, FI_OPT_ENDPOINT, OPT_CUDA_API_PERMITTED, &permitted,
                          sizeof permitted);
    return error == -FI_EOPNOTSUPP ? error : 0;
}

bool hmem_name(const void *memory, size_t bytes, struct fi_mr_attr *attr)
{
    struct gpu_share share;
    int device = gpu_may_stall() && !gpu_share(memory, bytes, &share) ? gpu_number(memory) : -1;
    attr->iface = FI_HMEM_CUDA;
    attr->device.cuda = device;
    return device >= 0;
}
