/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who am I, who else is there, and how do we give up.  Four ways to find out, tried in order:
 *   launcher    the inherited boot segment (XMPI_BOOT); no server, no messages, no waiting
 *   pmix        a PMIx server (Slurm, prterun): libpmix is opened, node leaders share a segment
 *   store       RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT (torchrun): rank 0 keeps a meeting place
 *   singleton   none of these: one rank, a private segment of the same form
 */
#ifndef XMPI_BOOT_H
#define XMPI_BOOT_H

#include "runtime/bootseg.h"

#include <stdbool.h>

struct boot {
    int rank, size;         /* in MPI_COMM_WORLD */
    int local_rank, nlocal; /* on this node */
    int first;              /* record in the segment of local rank 0, see boot_nodes.c */
    int node, nnodes;
    int appnum, universe; /* -1 where unknown */
    bool crowded;         /* more ranks than CPUs here */
    int reading;          /* enum reading, of the memory of other ranks here: all know alike */
    const char *how;      /* "launcher", "pmix", "store", "singleton" */
    struct boot_header *segment;
};
extern struct boot boot;

/* Find out.  MPI_ERR_OTHER with a text when the environment says we are part of a job but the
 * job cannot be joined: never a silent singleton. */
int boot_open(void);
void boot_close(void);

/* Tell the launcher and the other ranks how far we are. */
void boot_reached(enum boot_state state);

/* Silence.  A process uses MPI once or, with sessions, several times.  Who leaves, and has begun all
 * messages that it sends, says so (boot_fall_silent) by a word: how many uses are over, and whether the
 * world model is (boot_leaves_world, before).  Where sessions go on after the world model, of that alone
 * (boot_world_falls_silent).  Whoever waits for such words listens, and is woken.
 * boot_hears: those of a process that has a record here (boot_neighbour), all bits if it is gone;
 * false: it has none.  What is awaited is a use, as our own are counted, or WORLD_USE; so who had
 * more uses than we had, in sessions of which we were no part, may be taken for silent too early.
 *
 * Processes of other hosts are told by messages (pml/ofi), and who has left MPI answers none.  So one that has
 * a card is silent, to those with whom it exchanged nothing before it left, not before it ends. */
enum { WORLD_USE = 0 };
void boot_leaves_world(void);
void boot_fall_silent(void);
void boot_world_falls_silent(void);
void boot_listen(bool yes);
uint32_t boot_use(void);     /* the number of this use, from 1 */
uint32_t boot_silence(void); /* our word */
bool boot_hears(int world, uint32_t *silence);
static inline bool silence_covers(uint32_t silence, uint32_t use)
{
    return use == WORLD_USE ? silence & 1 : silence >> 1 >= use;
}

/* End the whole job with this exit code.  The launcher prints the text once. */
void boot_abort(int code, const char *text) __attribute__((noreturn));

/* Local rank of a world rank, or -1 when it lives on another node. */
int boot_local(int world);

/* The flight recorder of a world rank whose record is in the segment of this process, even where it counts as
 * another node; else NULL. */
struct record_area *boot_recorder(int world);

/* A number for the node of any process of the job, below boot.nnodes; -1: not known. */
int boot_node(int world);

/* Cards.  Where processes can be asked for theirs, each publishes its own when it is; elsewhere all
 * must be published before anybody needs them. */
bool boot_can_ask(void);
void boot_ask(int world);
bool boot_left(
    int world); /* has left MPI, perhaps for good, and has published none; or has ended */

/* Tell all processes of the job how the network reaches this one: at most BOOT_CONTACT_BYTES, once.
 * boot_contact: what another process published, its length in *bytes; 0: nothing yet.  It may ask
 * a server and take a while; MPI_ERR_OTHER with a text when there is nobody to ask. */
int boot_publish(const void *card, size_t bytes);
int boot_contact(int world, void *card, size_t *bytes);

/* What the launcher says of the end of a process on another node (enum boot_dead); 0: nothing. */
uint32_t boot_other_dead(int world);

/* Is there somebody who tells when this process dies, wherever it is? */
bool boot_tells_death(int world);

/* The record of a process that shares the segment but perhaps not the node; NULL: none does. */
struct boot_rank *boot_neighbour(int world);

static inline struct boot_rank *boot_record(int local)
{
    return bootseg_rank(boot.segment, boot.first + local);
}

/* Somebody has asked for our card. */
static inline bool boot_asked(void)
{
    return atomic_load_explicit(&boot_record(boot.local_rank)->contact.asked,
                                memory_order_relaxed);
}

static inline char *boot_area(int local)
{
    return bootseg_area(boot.segment, boot.first + local);
}

#endif
