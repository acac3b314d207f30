/* SPDX-License-Identifier: BSD-3-Clause
 *
 * libfabric, opened when it is first needed and never linked: its constructors take 0.2 s, and a
 * job on one node has no use for it.  Six functions are symbols of the library; all others are
 * inlines of its headers over tables that it returns.
 */
#ifndef XMPI_OFI_FABRIC_H
#define XMPI_OFI_FABRIC_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

struct fabric_library {
    __typeof__(fi_getinfo) *getinfo;
    __typeof__(fi_freeinfo) *freeinfo;
    __typeof__(fi_dupinfo) *dupinfo;
    __typeof__(fi_fabric) *fabric;
    __typeof__(fi_version) *version;
    __typeof__(fi_strerror) *strerror;
};
extern struct fabric_library fabric;

/* MPI error class, with a text that names the Debian package. */
int fabric_load(void);

#endif
