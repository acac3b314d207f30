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
#include "pml/proto.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/lock.h"

#include <stdlib.h>

enum { PAGE = 256 };

struct peer ***peer_pages[ENGINES];
static struct peer *all;

static const struct link *const links[] = { &link_self, &link_shm, &link_ofi };
enum { NLINKS = sizeof links / sizeof links[0] };

static int engines = 1;
_Static_assert((int)BOOT_RINGS <= (int)ENGINES, "who has a ring is an engine");

void pml_engines(int wanted)
{
    int most = boot.nlocal < boot.size ? 1 : bootseg_rings(boot.segment->nlocal);
    int many = wanted < most ? wanted : most;
    if (many <= engines)
        return;
    engines = many;
    engines_open(many);
    solo_is_on = true;
}

/* Those of collectives, whose contexts are odd, need everything anyway. */
int pml_engine_of(uint64_t context)
{
    return context % 2 == 1 ? 0 : (int)(context / 2 % (uint64_t)engines);
}

static size_t npages(void)
{
    return (size_t)boot.size / PAGE + 1;
}

/* A text, and a word for each of many ranks; with malloc's head whole pages, so that nothing else lies otherwise in
 * its cache lines. */
enum { SPARE_BYTES = (32 << 10) - 16 };
static void *spare;

void pml_spare_fill(void)
{
    spare = spare ? spare : malloc(SPARE_BYTES);
}

bool pml_spare_drop(void)
{
    bool was_there = spare != NULL;
    free(spare);
    spare = NULL;
    return was_there;
}

int peers_open(void)
{
    struct peer ***pages = calloc(ENGINES * npages(), sizeof *pages);
    if (!pages)
        return fail(MPI_ERR_NO_MEM, "no memory for the table of %d processes", boot.size);
    for (int engine = 0; engine < ENGINES; engine++)
        peer_pages[engine] = pages + (size_t)engine * npages();
    all = NULL;
    return 0;
}

int channel_peer_other(struct channel *channel, int rank, struct peer **peer)
{
    int error = peer_in(channel->engine, ranks_world(channel->peers, rank), peer);
    if (error)
        return error;
    *channel_known(channel, rank) = (struct peer_known){ rank + 1, *peer };
    return 0;
}

void peers_close(void)
{
    while (all) {
        struct peer *gone = all;
        all = gone->next;
        free(gone);
    }
    for (size_t page = 0; page < ENGINES * npages(); page++)
        free(peer_pages[0][page]);
    free(peer_pages[0]);
    peer_pages[0] = NULL;
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

static struct peer **slot_of(int engine, int world)
{
    struct peer ***page = &peer_pages[engine][world / PAGE];
    if (!*page)
        *page = calloc(PAGE, sizeof **page);
    return *page ? &(*page)[world % PAGE] : NULL;
}

static int no_memory(int world)
{
    return fail(MPI_ERR_NO_MEM, "no memory to talk to rank %d", world);
}

/* The one that the first engine has. */
static int peer_share(struct peer **slot, int world, struct peer **peer)
{
    if (!slot)
        return no_memory(world);
    int error = peer_of(world, peer);
    if (!error)
        *slot = *peer;
    return error;
}

static int peer_try(int engine, int world, struct peer **peer)
{
    const struct link *link = link_choose(world);
    if (!link)
        return fail(MPI_ERR_OTHER, "rank %d cannot be reached: the network link is not open",
                    world);
    struct peer **slot = slot_of(engine, world);
    if (engine > 0 && link != &link_shm)
        return peer_share(slot, world, peer);
    struct peer *made = slot ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return no_memory(world);
    made->world = world;
    made->engine = engine;
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

/* Those who have no memory to hear a message would not hear why they have none. */
int peer_make(int engine, int world, struct peer **peer)
{
    int error = peer_try(engine, world, peer);
    return error == MPI_ERR_NO_MEM && pml_spare_drop() ? peer_try(engine, world, peer) : error;
}
