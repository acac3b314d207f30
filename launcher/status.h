/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The state of a running job, read from its boot segment: what each rank does or waits for, from
 * which line of the program, and why nothing moves.  The ranks take no part in it and may be
 * stuck, stopped or dead; nothing is written into the segment.
 *
 *     status_read      segment -> struct situation, one per rank
 *     blame_find       situations -> who is stuck, and the causes as sentences (blame.c)
 *     status_print     both as a text
 *     place_of         an address in a rank -> file.c:12 (function) (place.c)
 */
#ifndef XMPI_LAUNCHER_STATUS_H
#define XMPI_LAUNCHER_STATUS_H

#include "runtime/bootseg.h"
#include "runtime/record.h"

#include <stdio.h>
#include <sys/types.h>

enum { STATUS_PLACE_CHARS = 120 };

enum standing {
    STANDING_UNKNOWN, /* its host has not answered */
    STANDING_ABSENT,  /* has not called MPI_Init */
    STANDING_OUTSIDE, /* computes, or waits for so short a time that it spins */
    STANDING_WAITING,
    STANDING_RESTING, /* its last session is over; it may begin another one */
    STANDING_FINAL,   /* has finalized */
    STANDING_GONE,    /* has ended, without finalizing */
};

struct situation {
    enum standing standing;
    int rank;     /* in the job */
    pid_t pid;    /* 0: not known */
    int nwaits;   /* of its threads */
    char state;   /* of the process, as in /proc/PID/stat */
    bool stopped; /* by a signal */
    bool
        world_over; /* resting: it has called MPI_Finalize, and all of MPI_COMM_WORLD is over */
    bool moving;    /* something has moved since the last look, see status_compare */
    bool threads_free; /* others of its threads do not wait, and may call MPI as well */
    int undelivered;   /* as in struct record_area */
    int32_t moves_with[RECORD_MOVES];
    bool far;                /* of another host: `places` says where it is */
    uint64_t moves;          /* grows with whatever it does */
    struct record_wait wait; /* the longest of them */
    double seconds;          /* since it began; outside: since the last event, < 0: none */
    double least_seconds;    /* since the youngest of several began, or tests asked for more */
    struct record_event last;
    char last_call[RECORD_NAME_CHARS];
    uint64_t last_caller;
    char places[RECORD_WAITS][STATUS_PLACE_CHARS]; /* of its waits, or of its last call */
    struct record_wait more[RECORD_WAITS - 1];     /* the other waits, nwaits - 1 */
};

/* Of the ranks of this host, segment->nlocal; freed by the caller.  NULL: out of memory. */
struct situation *status_read(struct boot_header *segment);

/* A second look some time later: mark in `now` who has moved since `before`. */
void status_compare(struct situation *now, const struct situation *before, int n);

/* Two looks, a tenth of a second apart. */
struct situation *status_look(struct boot_header *segment);

/* The same in steps, for several jobs: status_read of each, one pause, a second look at each.  `before`, which
 * may be NULL, is freed. */
void status_pause(void);
struct situation *status_look_again(struct boot_header *segment, struct situation *before);

/* What a rank has written of itself, or another host has sent: texts end, and numbers that are places in the
 * wait are such. */
void status_tidy(struct record_wait *wait);

/* Fill in `places`. */
void status_look_up(struct situation *situation);

/* Does one of its threads wait only in that it tests again and again? */
bool status_tests(const struct situation *situation);

/* All ranks that are known, a line or two each, then the causes (`settled`: see blame_find). */
void status_print(FILE *to, const struct situation *ranks, int n, double settled);

/* For who asks: half a second is long. */
#define STATUS_SETTLED 0.5

enum { BLAME_TEXT_CHARS = 8000 };

struct blame {
    int nstuck; /* ranks that can never go on */
    int ntest;  /* those of them that test, and can if they do something else */
    char text[BLAME_TEXT_CHARS];
};

/* Pure: who waits for whom.  A wait younger than `settled` seconds may still end by itself. */
void blame_find(const struct situation *ranks, int n, double settled, struct blame *blame);

/* Where in process pid an address is: "file.c:12 (function)", "program+0x123", or "".  The text
 * stays until the next call. */
const char *place_of(pid_t pid, uint64_t address);

/* The same for "path+0x123", as record_place writes it. */
const char *place_named(const char *place);

#endif
