/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A libfabric whose providers reach memory of the pretended devices (fake.h): the real one, at
 * FAKE_FABRIC, which sees the twin of each address in memory of the host.
 *
 *     fi_getinfo      FI_HMEM is offered to who asks for it
 *     fi_mr_regattr   memory of a device, with its number, is registered by its twin
 *     fi_read         to memory of a device, which has to be registered, of an endpoint that was told not
 *                     to have CUDA copy
 *
 * FAKE_HMEM=none: it is not offered.  =refuse: such memory cannot be registered.  =fails: it can, and no
 * read works.  =broken: it is offered, and no domain can be opened.  =stages: CUDA has to copy.
 * =unasked: so it has, and it is offered to everybody.
 */
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define VERSIONED(name, version)                                                               \
    __asm__(".symver fake_" #name ",fi_" #name "@@" version);                                  \
    EXPORT __typeof__(fi_##name) fake_##name
VERSIONED(getinfo, SYMVER);
VERSIONED(dupinfo, SYMVER);
VERSIONED(freeinfo, "FABRIC_1.3");
VERSIONED(fabric, "FABRIC_1.1");
VERSIONED(version, "FABRIC_1.0");
VERSIONED(strerror, "FABRIC_1.0");
EXPORT size_t fake_fabric_moved(void); /* for tests: bytes that this process has read */

static size_t moved;

size_t fake_fabric_moved(void)
{
    return moved;
}

static void *real(const char *name, const char *version)
{
    void *library = dlopen(getenv("FAKE_FABRIC"), RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlvsym(library, name, version) : NULL;
    if (!found)
        abort();
    return found;
}
#define REAL(name, version) ((__typeof__(fi_##name) *)real("fi_" #name, version))

static bool does(const char *what)
{
    const char *wish = getenv("FAKE_HMEM");
    return wish && strcmp(wish, what) == 0;
}

static bool is_device(const void *at)
{
    return (uintptr_t)at & FAKE_DEVICE;
}

/* ---- reading ---- */

static struct fi_ops_ep ep_ops;
static struct fi_ops_rma rma;
static struct fi_ops_mr mr;
static struct fi_ops_fabric fabric_ops;
static struct fi_ops_domain domain_ops;
static bool told_not_to_copy;
static __typeof__(ep_ops.setopt) real_setopt;
static __typeof__(rma.read) real_read;
static __typeof__(mr.regattr) real_regattr;
static __typeof__(fabric_ops.domain) real_domain;
static __typeof__(domain_ops.endpoint) real_endpoint;

static int fake_setopt(fid_t fid, int level, int option, const void *value, size_t bytes)
{
    if (level != FI_OPT_ENDPOINT || option != FI_OPT_FI_HMEM_P2P)
        return real_setopt(fid, level, option, value, bytes);
    told_not_to_copy = *(const int *)value == FI_HMEM_P2P_REQUIRED;
    return told_not_to_copy && (does("stages") || does("unasked")) ? -FI_EOPNOTSUPP : 0;
}

static ssize_t fake_read(struct fid_ep *ep, void *to, size_t bytes, void *desc, fi_addr_t peer,
                         uint64_t from, uint64_t key, void *context)
{
    if (does("fails"))
        return -FI_EIO;
    if (is_device(to) && (!desc || !told_not_to_copy))
        return -FI_EINVAL;
    to = is_device(to) ? fake_host(to) : to;
    from = from & FAKE_DEVICE ? (uintptr_t)fake_host((void *)(uintptr_t)from) : from;
    ssize_t rc = real_read(ep, to, bytes, desc, peer, from, key, context);
    moved += rc == 0 ? bytes : 0;
    return rc;
}

/* ---- registering ---- */

static int fake_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
                        struct fid_mr **made)
{
    const void *at = attr->mr_iov[0].iov_base;
    if (attr->iface == FI_HMEM_SYSTEM && !is_device(at))
        return real_regattr(fid, attr, flags, made);
    int device = (uintptr_t)at >> FAKE_DEVICE_SHIFT & (FAKE_DEVICES - 1);
    if (attr->iface != FI_HMEM_CUDA || !is_device(at) || attr->device.cuda != device ||
        attr->iov_count != 1 || does("refuse"))
        return -FI_EINVAL;
    struct iovec twin = { fake_host(at), attr->mr_iov[0].iov_len };
    struct fi_mr_attr plain = *attr;
    plain.mr_iov = &twin;
    plain.iface = FI_HMEM_SYSTEM;
    plain.device.reserved = 0;
    return real_regattr(fid, &plain, flags, made);
}

/* ---- opening: what we return has our functions, what the provider gets asks for nothing new ---- */

static struct fi_info *without(const struct fi_info *info)
{
    struct fi_info *copy = info ? REAL(dupinfo, SYMVER)(info) : NULL;
    if (!copy)
        return NULL;
    copy->caps &= ~FI_HMEM;
    copy->domain_attr->mr_mode &= ~FI_MR_HMEM;
    return copy;
}

/* Providers open others for themselves, for connections. */
static int fake_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
                         void *context)
{
    if (info->ep_attr->type != FI_EP_RDM)
        return real_endpoint(domain, info, ep, context);
    struct fi_info *plain = without(info);
    int rc = real_endpoint(domain, plain, ep, context);
    fake_freeinfo(plain);
    if (rc)
        return rc;
    rma = *(*ep)->rma;
    real_read = rma.read;
    rma.read = fake_read;
    (*ep)->rma = &rma;
    ep_ops = *(*ep)->ops;
    real_setopt = ep_ops.setopt;
    ep_ops.setopt = fake_setopt;
    (*ep)->ops = &ep_ops;
    return 0;
}

static int fake_domain(struct fid_fabric *fabric, struct fi_info *info,
                       struct fid_domain **domain, void *context)
{
    if (info->caps & FI_HMEM && does("broken"))
        return -FI_ENOSYS;
    struct fi_info *plain = without(info);
    int rc = real_domain(fabric, plain, domain, context);
    fake_freeinfo(plain);
    if (rc)
        return rc;
    domain_ops = *(*domain)->ops;
    real_endpoint = domain_ops.endpoint;
    domain_ops.endpoint = fake_endpoint;
    (*domain)->ops = &domain_ops;
    mr = *(*domain)->mr;
    real_regattr = mr.regattr;
    mr.regattr = fake_regattr;
    (*domain)->mr = &mr;
    return 0;
}

int fake_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    int rc = REAL(fabric, "FABRIC_1.1")(attr, fabric, context);
    if (rc)
        return rc;
    fabric_ops = *(*fabric)->ops;
    real_domain = fabric_ops.domain;
    fabric_ops.domain = fake_domain;
    (*fabric)->ops = &fabric_ops;
    return 0;
}

int fake_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                 const struct fi_info *hints, struct fi_info **info)
{
    bool asked = hints && hints->caps & FI_HMEM;
    if (asked && does("none"))
        return -FI_ENODATA;
    struct fi_info *plain = without(hints);
    int rc = REAL(getinfo, SYMVER)(version, node, service, flags, plain, info);
    if (plain)
        fake_freeinfo(plain);
    for (struct fi_info *one = *info; rc == 0 && one; one = one->next) {
        one->caps |= asked || does("unasked") ? FI_HMEM : 0;
        one->domain_attr->mr_mode |= asked ? FI_MR_HMEM : 0;
    }
    return rc;
}

struct fi_info *fake_dupinfo(const struct fi_info *info)
{
    return REAL(dupinfo, SYMVER)(info);
}

void fake_freeinfo(struct fi_info *info)
{
    REAL(freeinfo, "FABRIC_1.3")(info);
}

uint32_t fake_version(void)
{
    return REAL(version, "FABRIC_1.0")();
}

const char *fake_strerror(int error)
{
    return REAL(strerror, "FABRIC_1.0")(error);
}
