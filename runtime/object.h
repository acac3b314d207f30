/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Objects: everything a user can hold a handle to starts with `struct object` and lives in one
 * reserved range of addresses.  A handle is the object's address, so turning a handle into an
 * object costs a range test and a kind test, both safe for any bit pattern a program may pass:
 * stale, freed and foreign handles give an error, not a crash.  The distance from the start of
 * the range is the integer form of a handle (MPI_Comm_toint), in both directions in O(1).
 */
#ifndef XMPI_OBJECT_H
#define XMPI_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum object_kind {
    OBJECT_FREE = 0,
    OBJECT_COMM = 0x436f6d6d,
    OBJECT_GROUP,
    OBJECT_TYPE,
    OBJECT_OP,
    OBJECT_REQUEST,
    OBJECT_MESSAGE,
    OBJECT_ERRHANDLER,
    OBJECT_INFO,
    OBJECT_SESSION,
    OBJECT_WIN,
    OBJECT_FILE,
    OBJECT_STREAM,
};

struct object {
    uint32_t kind; /* enum object_kind; OBJECT_FREE once deleted */
    int32_t refs;  /* the owner's handle and every internal user; see object_hold */
    uint32_t
        grains; /* its size in units of OBJECT_GRAIN; object_new writes it, leave it alone */
};

enum { OBJECT_GRAIN = 64, OBJECT_FIRST_ID = 4096 };

/* The part of the reserved range that is in use.  Read without a lock: relaxed atomics. */
extern char *object_base __attribute__((visibility("hidden")));
extern char *object_end __attribute__((visibility("hidden")));

/* A zeroed object of `size` bytes, refs 1, aligned to a cache line; NULL when memory is out. */
void *object_new(enum object_kind kind, size_t size);

/* Return the memory of an object made by object_new.  Its handles are stale from now on. */
void object_delete(void *object);

static inline void object_hold(void *object)
{
    ((struct object *)object)->refs++;
}

/* Drop one reference; true when it was the last and the caller must tear the object down. */
static inline bool object_drop(void *object)
{
    return --((struct object *)object)->refs == 0;
}

/* Is this bit pattern a live object of that kind?  Safe for anything. */
static inline bool object_is(const void *p, enum object_kind kind)
{
    return (const char *)p >= __atomic_load_n(&object_base, __ATOMIC_RELAXED) &&
           (const char *)p < __atomic_load_n(&object_end, __ATOMIC_RELAXED) &&
           (uintptr_t)p % OBJECT_GRAIN == 0 && ((const struct object *)p)->kind == kind;
}

/* The next live object of that kind in memory after this one, the first one after NULL; NULL: no more.  All engines
 * are the caller's. */
const void *object_next(const void *after, enum object_kind kind);

/* The integer form of a live object's handle (>= OBJECT_FIRST_ID), and back (NULL: no object). */
int object_id(const void *object);
void *object_from_id(int id, enum object_kind kind);

#endif
