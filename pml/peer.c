/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who is where, and over which link.  A table of pages of 256 peers, both made when first
 * needed: 8 bytes per 256 ranks of the job, 2 KiB per touched page, 150 bytes per peer talked to.
 *
 * The links are asked in order: a rank reaches itself over "self", others of its node over
 * "shm", those of other nodes over "ofi".  A peer keeps its link for life, so messages to it stay in order.
 */
#include "pml/peer.h"

#include "mpi.h"
#include "pml/failure.h"
#include "runtime/boot.h"
#include "runtime/fail.h"

#include <stdlib.h>

enum { PAGE = 256 };

struct peer ***peer_pages;
static struct peer *all;

static const struct link *const links[] = { &link_self, &link_shm, &link_ofi };
enum { NLINKS = sizeof links / sizeof links[0] };

int peers_open(void)
{
    peer_pages = calloc((size_t)boot.size / PAGE + 1, sizeof *peer_pages);
    if (!peer_pages)
        return fail(MPI_ERR_NO_MEM, "no memory for the table of %d processes", boot.size);
    all = NULL;
    return 0;
}

void peers_close(void)
{
    while (all) {
        struct peer *gone = all;
        all = gone->next;
        free(gone);
    }
    for (int page = 0; page <= boot.size / PAGE; page++)
        free(peer_pages[page]);
    free(peer_pages);
    peer_pages = NULL;
}

struct peer *peers_first(void)
{
    return all;
}

static const struct link *link_choose(int world)
{
    for (int i = 0; i < NLINKS; i++)
        if (links[i]->reaches(world))
            return links[i];
    return NULL;
}

static struct peer **slot_of(int world)
{
    struct peer ***page = &peer_pages[world / PAGE];
    if (!*page)
        *page = calloc(PAGE, sizeof **page);
    return *page ? &(*page)[world % PAGE] : NULL;
}

int peer_make(int world, struct peer **peer)
{
    const struct link *link = link_choose(world);
    if (!link)
        return fail(MPI_ERR_OTHER, "rank %d cannot be reached: the network link is not open",
                    world);
    struct peer **slot = slot_of(world);
    struct peer *made = slot ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return fail(MPI_ERR_NO_MEM, "no memory to talk to rank %d", world);
    made->world = world;
    made->link = link;
    int error = link->connect(made);
    if (error) {
        free(made);
        return error;
    }
    if (failure_is(world)) {
        made->lost = true;
        made->link = &link_lost;
    }
    made->next = all;
    *slot = *peer = all = made;
    return 0;
}
