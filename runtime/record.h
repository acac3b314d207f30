/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The flight recorder: what a rank has done last, and what it waits for, in memory that others
 * can read while the rank is stuck (its record area in the boot segment).
 *
 *     record_area   names     texts of the MPI functions that the events mention
 *                   waits     one slot per wait under way that has left the spin phase
 *                   left      communicators that the rank has left; last: what was said on the last of them
 *                   ring      the last 4096 events: messages and collectives, as they began
 *
 * An event costs four stores into a line that comes next anyway, and now and then the counter of
 * the CPU: no lock, no call of the system.  A wait costs nothing until it stops spinning; then it
 * is told in full (record_wait_tell) by whoever began it, through a function in struct wait.
 *
 * The owner writes under the engine lock.  Readers never write: a wait has a version that is odd
 * while it changes (record_wait_read); of the ring they take what is not the oldest.
 *
 * Not here: who waits for whom (launcher/blame.c), and time lines (runtime/trace.c).
 */
#ifndef XMPI_RECORD_H
#define XMPI_RECORD_H

#include "runtime/progress.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RECORD_EVENTS = 4096,
    RECORD_NAMES = 256, /* functions that events can mention */
    RECORD_NAME_CHARS = 40,
    RECORD_COMM_CHARS = 32,
    RECORD_WAITS = 4, /* at the same time, by threads; more are not told */
    RECORD_ITEMS = 6, /* things that one wait waits for; more are counted */
    RECORD_MOVES = 8, /* processes with whom the network still moves something; likewise */
};

struct record_event {
    uint64_t ticks;      /* cpu_ticks when it began, or one that few events before it began */
    uint64_t context;    /* of the channel: a communicator's, or + 1 for its collectives */
    int32_t peer, tag;   /* of a collective: root or -1, and its number */
    uint64_t bytes_name; /* bytes << 8 | index of the name */
};

enum record_kind {
    RECORD_OTHER, /* something else: `peer` may still say who has to act */
    RECORD_SEND,  /* until peer receives */
    RECORD_RECV,  /* until peer sends */
    RECORD_PROBE, /* likewise */
    RECORD_PART,  /* until peer takes part in the collective */
    RECORD_READY, /* until this rank makes a partition for peer ready; `bytes` is its number */
};

struct record_item { /* one thing that is waited for */
    uint64_t context, bytes;
    int32_t kind;        /* enum record_kind */
    int32_t peer, world; /* in the communicator and in the job; -1: any */
    int32_t tag;         /* -2: any, as in MPI */
    uint32_t number;     /* of the collective on `context` that it belongs to; 0: of none */
    int32_t
        of_world; /* of a communicator that MPI_Finalize ends; else of a session's, or of none */
    char comm[RECORD_COMM_CHARS];
};

/* A message that is here but was not asked for, and looks as if it was meant. */
struct record_near {
    int32_t found;       /* 1 + the item that was asked for; 0: nothing like that */
    int32_t source, tag; /* of the message */
    uint64_t bytes;
    char comm[RECORD_COMM_CHARS];
};

struct record_collective {        /* the collective that the wait belongs to */
    char name[RECORD_NAME_CHARS]; /* "" = none */
    char comm[RECORD_COMM_CHARS];
    uint64_t context;
    uint32_t number; /* of the collectives on this communicator, from 1 */
    int32_t root;    /* -1: it has none */
    int32_t size;    /* of the communicator */
    int32_t way; /* by which algorithm: ranks that choose alike have the same; 0: not known */
    uint64_t bytes; /* of the longest message in it, so far as this rank knows */
};

struct record_wait {
    _Atomic uint32_t version; /* odd: being written */
    uint32_t serial;          /* of the wait: 0 = the slot is free */
    uint32_t moves;           /* grows whenever something moves while it goes on */
    uint64_t since;           /* clock_ns */
    uint64_t caller;          /* where the user's call returns to, in the process */
    char call[RECORD_NAME_CHARS];
    int32_t nitems; /* may exceed RECORD_ITEMS */
    int32_t any;    /* one of them is enough */
    int32_t
        sleeps; /* tests: the program sleeps between them, so it may wait for other things as well */
    uint64_t
        polled; /* tests that find nothing (polling.h): clock_ns of the last one; 0: a real wait */
    uint64_t changed; /* clock_ns when they last asked for something new */
    uint64_t head;    /* events ever written, when they began */
    struct record_item items[RECORD_ITEMS];
    struct record_collective collective;
    struct record_near near;
};

/* A communicator that a rank has left, for those who still wait there (coll/last.c), and of the last few of them
 * what the rank has said in the last collectives there.  Each is written with the context last. */
enum { RECORD_LEFT = 64, RECORD_LAST = 8, RECORD_SAID = 32, RECORD_MET_BYTES = 48 };

struct record_left {
    _Atomic uint64_t context;
    uint32_t calls; /* collectives begun on it */
    int16_t freed;  /* the communicator was; else the rank has called MPI_Finalize */
    int16_t losses; /* it knew of some, so it may have left early */
};

struct record_last {
    _Atomic uint64_t context;
    uint64_t said[RECORD_SAID];
    char met[RECORD_MET_BYTES]; /* why it was given up, a struct mismatch; zeros: it was not */
};

struct record_area {
    uint64_t head;   /* events ever written */
    uint64_t caller; /* where the call of the last one returns to, in the process */
    uint64_t ticks_open, ns_open; /* cpu_ticks and clock_ns at the same moment */
    uint32_t serial;              /* of the last wait told */
    int32_t multiple;             /* several threads may call at once */
    int32_t helpers;              /* threads of ours, which send nothing by themselves */
    int32_t undelivered; /* processes to or from whom the network still moves something, */
    int32_t moves_with[RECORD_MOVES]; /* and the first of them, as world ranks */
    struct record_wait waits[RECORD_WAITS];
    char names[RECORD_NAMES][RECORD_NAME_CHARS];
    struct record_left left[RECORD_LEFT];
    struct record_last last[RECORD_LAST];
    uint32_t lefts; /* ever written */
    struct record_event ring[RECORD_EVENTS] __attribute__((aligned(64)));
} __attribute__((aligned(64)));

/* ---- the owner's side ---- */

extern struct record_area *record_area __attribute__((visibility("hidden")));

/* Write into this area, which is zeros, from now on; NULL: into a private one. */
void record_open(struct record_area *area);

/* Index of a function's name, a constant, in the table of the area. */
uint32_t record_name(const char *function);

/* The call that is under way begins to do this. */
void record_event(uint64_t context, int peer, int tag, uint64_t bytes);

/* What events are written with.  Names are found by their address, which is a constant of the library: a
 * table of pointers that is private, and their texts at the same index in the area.  Where events follow
 * each other closely, a few share one look at the clock. */
struct record_pen {
    uint64_t stamp;
    int row; /* events to come that share it */
    const char *keys[RECORD_NAMES];
};
extern struct record_pen record_pen __attribute__((visibility("hidden")));
#define RECORD_INLINE static inline __attribute__((always_inline))

RECORD_INLINE uint32_t record_name_hash(const char *function)
{
    uintptr_t p = (uintptr_t)function;
    return (uint32_t)(p ^ p >> 8) % RECORD_NAMES;
}

/* For who cannot spare a call: the name with which record_event_next may write the next event, or 0: it is
 * for record_event. */
RECORD_INLINE uint32_t record_ready(void)
{
    const char *function = record_now.function;
    uint32_t name = record_name_hash(function);
    return record_pen.keys[name] == function && record_pen.row > 0 ? name : 0;
}

RECORD_INLINE void record_event_write(uint32_t name, uint64_t context, int peer, int tag,
                                      uint64_t bytes)
{
    struct record_area *area = record_area;
    struct record_event *event = &area->ring[area->head % RECORD_EVENTS];
    event->ticks = record_pen.stamp;
    event->context = context;
    event->peer = peer;
    event->tag = tag;
    event->bytes_name = bytes << 8 | name;
    area->caller = (uint64_t)(uintptr_t)record_now.caller;
    area->head++;
}

RECORD_INLINE void record_event_next(uint32_t name, uint64_t context, int peer, int tag,
                                     uint64_t bytes)
{
    record_pen.row--;
    record_event_write(name, context, peer, tag, bytes);
}

/* The same for one who has engine k alone.  Knows the recorder the function?  Else the first event has
 * to be written by one who has all. */
bool record_is_known(const char *function);
void record_event_solo(int k, uint64_t context, int peer, int tag, uint64_t bytes);

/* By one who has all: its last events are for others to see now. */
void record_bring(int k);

/* Tell of a wait; *slot is 0 or what an earlier telling of the same wait left there. */
void record_wait_tell(int *slot, const struct record_call *call, record_teller *tell,
                      const void *what);
void record_wait_over(int slot);
void record_wait_moves(int slot);

/* Tests that find nothing since then, told like a wait; what else they ask for (tell = NULL: too much); that
 * there was one now, and whether the program sleeps in between. */
void record_tests_tell(int *slot, uint64_t since, record_teller *tell, const void *what);
void record_tests_add(int slot, record_teller *tell, const void *what);
void record_tests_go_on(int slot, uint64_t now);
void record_tests_sleep(int slot, bool sleeps);

/* Room for one more item, cleared; NULL: they are only counted from here on. */
struct record_item *record_item_new(struct record_wait *wait);

/* The same of messages in a context, whose communicator it names. */
struct record_item *record_item_in(struct record_wait *wait, enum record_kind kind,
                                   uint64_t context);

/* The name of the communicator with this context; set by who knows.  True: MPI_Finalize ends it.
 * record_name_comm: fit for a line of a report. */
extern bool (*record_comm_name)(uint64_t context, char *name, size_t room);
void record_name_comm(uint64_t context, char name[RECORD_COMM_CHARS]);

/* "file+0x1234" of an address in this process, as addr2line wants it; "" when unknown. */
void record_place(const void *address, char *text, size_t room);

/* ---- the readers' side ---- */

/* A copy of a wait that does not change meanwhile; false: the slot is free, or its owner died
 * while it wrote. */
bool record_wait_read(const struct record_wait *wait, struct record_wait *copy);

/* Event number n (from 0) of those ever written; false when it is gone already or to come. */
bool record_event_read(const struct record_area *area, uint64_t n, struct record_event *copy);

/* How the owner has left the communicator whose channel has this context; NULL: it is there, or left many
 * others since then. */
const struct record_left *record_left_read(const struct record_area *area, uint64_t context);

/* Likewise what it has said there. */
const struct record_last *record_last_read(const struct record_area *area, uint64_t context);

/* The time of an event on clock_ns, for a reader on the same node. */
uint64_t record_event_ns(const struct record_area *area, const struct record_event *event);

#endif
