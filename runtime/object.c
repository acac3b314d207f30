/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory behind handles.  One range of addresses is reserved when the first object is made
 * and opened for reading and writing from the left, as needed:
 *
 *     object_base                    fresh            object_end            reserved end
 *     | objects and free objects     | untouched, open | no access ........ |
 *
 * Nothing is ever unmapped, so a stale handle always points at readable memory: its kind says
 * OBJECT_FREE, or that of the object that took its place.  Free objects wait in one list per
 * size.  Making and deleting costs some ten nanoseconds, opening more of the range a system call
 * per megabyte and more.  The caller holds the engine lock where all calls take it; where only
 * some do (runtime/lock.h), it is taken here.
 */
#include "runtime/object.h"
#include "runtime/lock.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

char *object_base, *object_end;

static char *fresh, *reserved_end;

enum {
    SMALL_GRAINS = 64,     /* up to here one list for every multiple of the grain */
    MOST_GRAINS = 1 << 24, /* beyond: one for every power of two, 1 GiB at most */
    SIZES = SMALL_GRAINS + 1 + 18,
    STEP_BYTES = 1 << 20,
    STEP_MOST = 64 << 20
};
static const size_t RESERVE_MOST = (size_t)4 << 30, RESERVE_LEAST = (size_t)8 << 20;

struct free_object {
    struct object object;
    struct free_object *next;
};
static struct free_object *free_lists[SIZES];

static size_t grains_of(size_t size)
{
    size_t grains = (size + OBJECT_GRAIN - 1) / OBJECT_GRAIN;
    if (grains <= SMALL_GRAINS)
        return grains ? grains : 1;
    size_t power = SMALL_GRAINS;
    while (power < grains)
        power *= 2;
    return power;
}

static size_t list_of(size_t grains)
{
    if (grains <= SMALL_GRAINS)
        return grains;
    return SMALL_GRAINS + (size_t)__builtin_ctzll(grains / SMALL_GRAINS);
}

/* Address space may be limited (ulimit -v): take what there is. */
static bool range_reserve(void)
{
    for (size_t bytes = RESERVE_MOST; bytes >= RESERVE_LEAST; bytes /= 2) {
        void *range =
            mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (range == MAP_FAILED)
            continue;
        fresh = range;
        reserved_end = fresh + bytes;
        __atomic_store_n(&object_base, fresh, __ATOMIC_RELAXED);
        __atomic_store_n(&object_end, fresh, __ATOMIC_RELAXED);
        return true;
    }
    return false;
}

/* Open the range for at least `bytes` behind `fresh`; steps double so that calls are few. */
static bool range_open(size_t bytes)
{
    if (!object_base && !range_reserve())
        return false;
    size_t missing = bytes - (size_t)(object_end - fresh);
    size_t step = (size_t)(object_end - object_base);
    if (step < STEP_BYTES)
        step = STEP_BYTES;
    if (step > STEP_MOST)
        step = STEP_MOST;
    if (step < missing)
        step = (missing + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
    size_t left = (size_t)(reserved_end - object_end);
    if (step > left)
        step = left;
    if (step < missing || mprotect(object_end, step, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n(&object_end, object_end + step, __ATOMIC_RELAXED);
    return true;
}

static struct object *object_carve(size_t bytes)
{
    if ((size_t)(object_end - fresh) < bytes && !range_open(bytes))
        return NULL;
    struct object *object = (struct object *)fresh;
    fresh += bytes;
    return object;
}

/* A used one of this size, or a new one. */
static struct object *object_take(size_t grains)
{
    struct free_object **list = &free_lists[list_of(grains)];
    struct object *object = (struct object *)*list;
    if (!object)
        return object_carve(grains * OBJECT_GRAIN);
    *list = (*list)->next;
    return object;
}

void *object_new(enum object_kind kind, size_t size)
{
    assert(kind != OBJECT_FREE && size >= sizeof(struct object));
    size_t grains = grains_of(size);
    if (grains > MOST_GRAINS)
        return NULL;
    bool guarded = engine_guard();
    struct object *object = object_take(grains);
    engine_unguard(guarded);
    if (!object)
        return NULL;
    memset(object, 0, size);
    object->kind = kind;
    object->refs = 1;
    object->grains = (uint32_t)grains;
    return object;
}

void object_delete(void *memory)
{
    struct free_object *gone = memory;
    assert((char *)memory >= object_base && (char *)memory < object_end);
    assert(gone->object.kind != OBJECT_FREE);
    bool guarded = engine_guard();
    struct free_object **list = &free_lists[list_of(gone->object.grains)];
    gone->object.kind = OBJECT_FREE;
    gone->next = *list;
    *list = gone;
    engine_unguard(guarded);
}

const void *object_next(const void *after, enum object_kind kind)
{
    const char *at = after ? after : object_base;
    if (after)
        at += (size_t)((const struct object *)after)->grains * OBJECT_GRAIN;
    while (at < fresh && ((const struct object *)at)->kind != kind)
        at += (size_t)((const struct object *)at)->grains * OBJECT_GRAIN;
    return at < fresh ? at : NULL;
}

int object_id(const void *object)
{
    return (int)(((const char *)object - object_base) / OBJECT_GRAIN) + OBJECT_FIRST_ID;
}

void *object_from_id(int id, enum object_kind kind)
{
    if (id < OBJECT_FIRST_ID || !object_base)
        return NULL;
    char *object = object_base + (size_t)(id - OBJECT_FIRST_ID) * OBJECT_GRAIN;
    return object_is(object, kind) ? object : NULL;
}
