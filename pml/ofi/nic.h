/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A nic: one libfabric endpoint with all that it needs.  Packets use the first one; long
 * messages are divided among all (XMPI_OFI_NICS).
 */
#ifndef XMPI_OFI_NIC_H
#define XMPI_OFI_NIC_H

#include "pml/ofi/fabric.h"
#include "runtime/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NIC_MOST = 4,
    NIC_ADDRESS_BYTES = 32,
    NIC_PROVIDER_CHARS = 24,
    NIC_NAME_CHARS = 48,
    NIC_CQ_ENTRIES = 4096,
    NIC_LEAST_PACKET = 128 /* a head, and where a long message lies */
};

struct nic {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep, *reader; /* long messages are read through this one, see nic.c */
    char name[NIC_NAME_CHARS];  /* "eth0 10.0.0.1" */
    unsigned char address[NIC_ADDRESS_BYTES];
    size_t address_bytes;
    size_t inject;      /* longest packet that needs no completion */
    size_t most_packet; /* longest that arrives as a whole, see nic.c */
    int posted, most_posted;
    uint64_t next_key;
    uint64_t bytes_sent, bytes_read; /* packets; long messages */
};

struct wish; /* pml/ofi/select.h */

/* What we need and can cope with, for fi_getinfo. */
void hints_fill(struct fi_info *hints);

/* All that libfabric offers for us; for fabric.freeinfo.  NULL with a text: nothing. */
struct fi_info *nics_ask(void);

/* Choose from these: one for each name in XMPI_OFI_NICS, all with the provider of the first, or the
 * best for the wish.  MPI_ERR_OTHER with a text: one cannot be had; *n are chosen before it. */
int nics_choose(const struct fi_info *list, const struct wish *wish,
                const struct fi_info *chosen[NIC_MOST], int *n);

extern struct nic nics[NIC_MOST];
extern int nnics;

/* Open the nics that the environment asks for, or the best one.  `least_receive` is the room a
 * receive buffer needs to take another packet.  MPI error class; nothing stays open then. */
int nics_open(size_t least_receive);
void nics_stop(void);  /* nothing is written into receive buffers any more */
void nics_close(void); /* after nics_stop, and after all memory was deregistered */
void nics_log(void);

/* Memory that the nic moves itself must be registered with some. */
static inline bool nic_needs_local(const struct nic *nic)
{
    return nic->info->domain_attr->mr_mode & FI_MR_LOCAL;
}

/* Register memory of the host or of a device; *mr is NULL where that is not needed.  MPI error class. */
int nic_register(struct nic *nic, const void *memory, size_t bytes, uint64_t access,
                 enum where where, struct fid_mr **mr);

/* Can all nics move data on devices? */
bool nics_reach_devices(void);

/* ---- hmem.c ---- */

/* The same endpoint as this one, that reaches devices as well; for fabric.freeinfo.  NULL: there is none,
 * or nobody wants it. */
struct fi_info *hmem_info(const struct fi_info *info);

/* Before it is enabled: data on devices are not to go by way of CUDA.  0, or what libfabric says. */
int hmem_insist(struct fid_ep *ep, const struct fi_info *info);

/* Name memory of a device for libfabric.  False: it cannot be registered now. */
bool hmem_name(const void *memory, size_t bytes, struct fi_mr_attr *attr);

#endif
