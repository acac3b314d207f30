/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bodies of what is marked `solo` in src/api, for a thread that has one engine alone
 * (runtime/lock.h).
 */
#ifndef XMPI_SRC_SOLO_H
#define XMPI_SRC_SOLO_H

#include "src/api/p2p.h"

__typeof__(xmpi_send) xmpi_send_solo;
__typeof__(xmpi_recv) xmpi_recv_solo;
__typeof__(xmpi_isend) xmpi_isend_solo;
__typeof__(xmpi_irecv) xmpi_irecv_solo;
__typeof__(xmpi_wait) xmpi_wait_solo;
__typeof__(xmpi_waitall) xmpi_waitall_solo;
__typeof__(xmpi_test) xmpi_test_solo;
__typeof__(xmpi_testall) xmpi_testall_solo;

#endif
