/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The life of a request: made, done, waited for, given back; and the names under which peers
 * know it.
 *
 * Requests are objects (a program holds their addresses).  Two sizes are kept in lists of used
 * ones, last in first out: whole sends and receives, and the small ones for sends that were
 * over before they began, which is what most nonblocking sends of short messages are.
 *
 * A name is an index into a table of 20 bits and 12 bits that differ from use to use of the same
 * index, so a late or doubled answer finds nobody rather than somebody else.
 */
#include "pml/request.h"

#include "mpi.h"
#include "pml/failure.h"
#include "runtime/fail.h"
#include "runtime/gpu.h"

#include <assert.h>
#include <stdlib.h>

/* ---- memory ---- */

struct request_pool request_pools[ENGINES] = {
    { .engine = 0 }, { .engine = 1 }, { .engine = 2 }, { .engine = 3 }
};
_Static_assert(ENGINES == 4, "each pool knows its engine");

static inline void keep(struct request **list, struct request *request)
{
    request->object.kind = OBJECT_FREE;
    request->owner = *list;
    *list = request;
}

/* One more, as if it had been used before.  False: memory is out. */
static bool make(struct request_pool *pool, struct request **list, size_t bytes)
{
    struct request *request = object_new(OBJECT_REQUEST, bytes);
    if (!request)
        return false;
    request->engine = pool->engine;
    keep(list, request);
    return true;
}

bool requests_make(struct request_pool *pool)
{
    return make(pool, &pool->requests, REQUEST_BYTES);
}

bool requests_make_done(struct request_pool *pool)
{
    return make(pool, &pool->done, REQUEST_DONE_BYTES);
}

void request_free(struct request *request)
{
    struct request_pool *pool = &request_pools[request->engine];
    pool->out--;
    keep(&pool->requests, request);
}

static void done_release(struct request *request)
{
    keep(&request_pools[request->engine].done, request);
}

const struct request_ops request_done_ops = { .name = "send",
                                              .release = done_release,
                                              .in_engine = true };

/* ---- the end of a request ---- */

void request_complete(struct request *request)
{
    uint8_t orphan = request->orphan; /* on_done may release the request */
    request->done = 1;
    progress_completed();
    if (request->on_done)
        request->on_done(request);
    if (orphan) {
        orphan_receives -= orphan == ORPHAN_AWAITED;
        request->ops->release(request);
    }
}

int request_wait(struct request *request, struct result *result)
{
    request_await(request);
    int error = 0;
    if (request->ops->query)
        error = request->ops->query(request);
    if (result)
        *result = request->result;
    if (error == 0)
        error = request_failure(request);
    if (request->persistent)
        request->active = false;
    else
        request->ops->release(request);
    return error;
}

/* ---- names ---- */

enum { INDEX_BITS = 20, FIRST_NAMES = 64 };

struct name {
    void *request; /* NULL: free */
    uint32_t use;  /* upper bits of the name */
    uint32_t next; /* free ones: index of the next, 0 = last; index 0 is not used */
};
static struct name *names;
static uint32_t nnames, free_name;

static bool names_grow(void)
{
    uint32_t old = nnames ? nnames : 1, n = nnames ? 2 * nnames : FIRST_NAMES;
    if (n > 1u << INDEX_BITS)
        return false;
    struct name *grown = realloc(names, n * sizeof *grown);
    if (!grown)
        return false;
    for (uint32_t i = old; i < n; i++)
        grown[i] = (struct name){ .next = i + 1 < n ? i + 1 : 0 };
    grown[0] = (struct name){ 0 };
    names = grown;
    free_name = old;
    nnames = n;
    return true;
}

void request_check_moves(struct request *request)
{
    int error = gpu_check();
    if (error && !request->result.error)
        request->result.error = fail_keep(request, error);
}

uint32_t request_name(void *request)
{
    if (free_name == 0 && !names_grow())
        return 0;
    uint32_t i = free_name;
    free_name = names[i].next;
    names[i].request = request;
    names[i].use++;
    return names[i].use << INDEX_BITS | i;
}

static struct name *name_find(uint32_t name)
{
    uint32_t i = name & ((1u << INDEX_BITS) - 1);
    return i < nnames && names[i].use << INDEX_BITS == (name ^ i) ? &names[i] : NULL;
}

void *request_named(uint32_t name)
{
    struct name *found = name_find(name);
    return found ? found->request : NULL;
}

void request_unname(uint32_t name)
{
    struct name *found = name_find(name);
    assert(found && found->request);
    found->request = NULL;
    found->next = free_name;
    free_name = (uint32_t)(found - names);
}

void *request_next_named(uint32_t *at)
{
    while (++*at < nnames)
        if (names[*at].request)
            return names[*at].request;
    return NULL;
}

static void kept_delete(struct request **list)
{
    while (*list) {
        struct request *gone = *list;
        *list = gone->owner;
        gone->object.kind = OBJECT_REQUEST;
        object_delete(gone);
    }
}

void requests_close(void)
{
    for (int engine = 0; engine < ENGINES; engine++) {
        kept_delete(&request_pools[engine].requests);
        kept_delete(&request_pools[engine].done);
    }
    free(names);
    names = NULL;
    nnames = free_name = 0;
}
