/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The link to other nodes in builds without libfabric: it says so when it is needed.
 */
#include "pml/peer.h"
#include "pml/survey.h"

#include "mpi.h"
#include "runtime/fail.h"

static int absent_open(void)
{
    return fail(MPI_ERR_OTHER,
                "messages over the network need libfabric, and this library was built without: "
                "configure found no headers (Debian: libfabric-dev)");
}

int networks_survey(void (*tell)(void *to, const struct network *network), void *to)
{
    (void)tell;
    (void)to;
    return absent_open();
}

static void absent_close(void)
{
}

static bool absent_reaches(int world)
{
    (void)world;
    return false;
}

const struct link link_ofi = {
    .name = "ofi", .open = absent_open, .close = absent_close, .reaches = absent_reaches
};
