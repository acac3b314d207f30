/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Windows: an owner's addresses are mapped in pieces of WINDOW_BYTES that begin at multiples of it, each when
 * it is first needed.  A window is address space only; pages come when they are touched (a fault
 * each, 4 KiB), and what the owner maps there later is seen as well (xpmem.h).  So windows are kept, the
 * WINDOWS that were used last; the others are given back, since what was touched stays pinned.
 *
 * A window that could not be mapped, or where memory was gone, is kept as well, as one that is not to be
 * tried: until its place is needed.
 */
#include "runtime/mapped.h"

#include "runtime/guard.h"
#include "runtime/log.h"
#include "runtime/xpmem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOWS = 512,
    BUCKETS = 1024, /* a power of two */
    NONE = -1,
    MOST_REFUSALS = 8,      /* in a row: then an owner is given up */
    PIECE_BYTES = 256 << 10 /* longer copies the C library makes past the caches */
};
#define WINDOW_BYTES ((uint64_t)16 << 20)

struct mapped {
    struct mapped *next;
    int64_t permit;
    int refusals;
};

static struct window {
    struct mapped *of; /* NULL: free */
    uint64_t number;   /* addresses from number * WINDOW_BYTES on */
    char *at;          /* NULL: refused */
    bool gone;         /* memory was gone there */
    uint64_t used;     /* greater: later */
    int next;          /* in its bucket */
} windows[WINDOWS];
static int buckets[BUCKETS], nwindows;
static uint64_t uses;

static const struct xpmem *xpmem;
static struct mapped *all;
static int64_t shared; /* our name, as long as we live: others may keep what they have mapped */

/* ---- names ---- */

static bool is_open(const char **why)
{
    if (xpmem)
        return true;
    xpmem = xpmem_open(why);
    for (int b = 0; b < BUCKETS; b++)
        buckets[b] = NONE;
    nwindows = 0;
    return xpmem != NULL;
}

int64_t mapped_share(const char **why)
{
    if (shared > 0 || !is_open(why))
        return shared;
    errno = 0;
    shared = xpmem->make(NULL, XPMEM_WHOLE, XPMEM_BY_MODE, (void *)XPMEM_OWNER);
    if (shared > 0)
        return shared;
    shared = 0;
    *why = errno ? strerror(errno) : "xpmem_make fails";
    return 0;
}

struct mapped *mapped_get(int64_t name, const char **why)
{
    if (!is_open(why))
        return NULL;
    errno = 0;
    int64_t permit = xpmem->get(name, XPMEM_READ_WRITE, XPMEM_BY_MODE, NULL);
    struct mapped *new = permit > 0 ? malloc(sizeof *new) : NULL;
    if (!new) {
        *why = permit > 0 ? "no memory" : errno ? strerror(errno) : "xpmem_get fails";
        if (permit > 0)
            xpmem->release(permit);
        return NULL;
    }
    guard_open();
    *new = (struct mapped){ .next = all, .permit = permit };
    return all = new;
}

bool mapped_is_good(const struct mapped *mapped)
{
    return mapped->refusals < MOST_REFUSALS;
}

/* ---- windows ---- */

static int *bucket_of(const struct mapped *of, uint64_t number)
{
    uint64_t hash = (number ^ (uint64_t)of->permit << 20) * 0x9e3779b97f4a7c15u;
    return &buckets[hash >> 32 & (BUCKETS - 1)];
}

static void window_close(struct window *w)
{
    int *at = bucket_of(w->of, w->number);
    while (*at != w - windows)
        at = &windows[*at].next;
    *at = w->next;
    if (w->at)
        xpmem->detach(w->at);
    w->of = NULL;
}

/* One that is free, or the one that was not used for longest. */
static struct window *window_room(void)
{
    if (nwindows < WINDOWS)
        return &windows[nwindows++];
    struct window *oldest = windows;
    for (struct window *w = windows; w < windows + WINDOWS; w++)
        if (w->used < oldest->used)
            oldest = w;
    window_close(oldest);
    return oldest;
}

static char *window_map(struct mapped *of, uint64_t number)
{
    struct xpmem_addr addr = { of->permit, (off_t)(number * WINDOW_BYTES) };
    errno = 0;
    void *at = xpmem->attach(addr, WINDOW_BYTES, NULL);
    if (at && at != (void *)-1) {
        of->refusals = 0;
        return at;
    }
    of->refusals++;
    log_line("xpmem: %llu MiB at %#llx of another process cannot be mapped (%s)%s",
             (unsigned long long)WINDOW_BYTES >> 20,
             (unsigned long long)(number * WINDOW_BYTES), errno ? strerror(errno) : "refused",
             of->refusals < MOST_REFUSALS ? "" : "; it is not tried any more");
    return NULL;
}

/* NULL: there is none, and none is tried. */
static struct window *window_of(struct mapped *of, uint64_t number)
{
    int *bucket = bucket_of(of, number);
    for (int i = *bucket; i != NONE; i = windows[i].next)
        if (windows[i].of == of && windows[i].number == number) {
            windows[i].used = ++uses;
            return &windows[i];
        }
    if (!mapped_is_good(of))
        return NULL;
    struct window *new = window_room();
    *new = (struct window){ .of = of, .number = number, .used = ++uses, .next = *bucket };
    *bucket = (int)(new - windows);
    new->at = window_map(of, number);
    return new;
}

char *mapped_at(struct mapped *mapped, uint64_t address, size_t bytes)
{
    uint64_t skip = address % WINDOW_BYTES;
    if (bytes > WINDOW_BYTES - skip)
        return NULL;
    const struct window *w = window_of(mapped, address / WINDOW_BYTES);
    return w && w->at && !w->gone ? w->at + skip : NULL;
}

/* ---- copies ---- */

struct copy {
    char *to;
    const char *from;
    size_t bytes;
};

static void copy_now(void *what)
{
    const struct copy *copy = what;
    memcpy(copy->to, copy->from, copy->bytes);
}

static size_t mapped_copy(struct mapped *mapped, char *mine, uint64_t theirs, size_t bytes,
                          bool write)
{
    size_t done = 0, piece;
    for (; done < bytes; done += piece) {
        uint64_t at = theirs + done, room = WINDOW_BYTES - at % WINDOW_BYTES;
        piece = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
        piece = piece < room ? piece : room;
        char *there = mapped_at(mapped, at, piece), *here = mine + done;
        struct copy copy = { write ? there : here, write ? here : there, piece };
        if (!there)
            break;
        if (!guarded(copy_now, &copy)) {
            window_of(mapped, at / WINDOW_BYTES)->gone = true;
            log_line("xpmem: memory of another process at %#llx is gone, or cannot be mapped",
                     (unsigned long long)at);
            break;
        }
    }
    return done;
}

size_t mapped_read(struct mapped *from, void *to, uint64_t address, size_t bytes)
{
    return mapped_copy(from, to, address, bytes, false);
}

size_t mapped_write(struct mapped *to, uint64_t address, const void *from, size_t bytes)
{
    return mapped_copy(to, (char *)from, address, bytes, true);
}

/* ---- the end ---- */

void mapped_close(void)
{
    for (struct window *w = windows; w < windows + nwindows; w++)
        if (w->of)
            window_close(w);
    nwindows = 0;
    while (all) {
        struct mapped *gone = all;
        all = gone->next;
        xpmem->release(gone->permit);
        free(gone);
    }
    guard_close();
}
