/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Entering and leaving the library: what every generated entry point calls.  Checks record the
 * first failure with the function's and the argument's name and do nothing once one is recorded.
 *
 *     enter    the engine lock, when threads may call at the same time; is the library up?
 *     leave    a predicted branch; leave_error finds the error handler and calls it.
 *
 * Functions that may be called at any time are always thread-safe, whatever the thread level,
 * and take the lock always.
 */
#ifndef XMPI_FACADE_H
#define XMPI_FACADE_H

#include "runtime/fail.h"
#include "runtime/lock.h"
#include "src/comm.h"

#define ALIAS(weak_name, strong_name)                                                          \
    extern __typeof__(strong_name) weak_name __attribute__((weak, alias(#strong_name)))

struct entry {
    const char *function; /* "MPI_Send" */
    int rc;               /* MPI_SUCCESS or the class of the first failure */
    bool locked;          /* the engine lock is to be given back */
};

enum library_state { LIBRARY_FRESH, LIBRARY_ACTIVE, LIBRARY_FINALIZED };
extern enum library_state library_state
    __attribute__((visibility("hidden"))); /* of the world model; sessions count separately */

/* The world model is not up.  0 when a session is, else MPI_ERR_OTHER. */
int enter_early(const char *function) __attribute__((cold));

/* MPI_T functions need MPI_T_init_thread, and nothing else. */
struct entry enter_tool(const char *function);
int leave_tool(struct entry *e);

/* Something failed: call the error handler of `owner`, a communicator, session, window or file.
 * NULL: nothing is at hand, so it is MPI_COMM_SELF's, or before initialisation and after
 * finalisation the initial one (MPI 5.0, 9.3).  Returns what the entry point returns. */
int leave_error(struct entry *e, void *owner) __attribute__((cold));

/* The end of a function that is not built. */
int leave_unbuilt(struct entry *e, void *owner) __attribute__((cold));

/* Said by a body that is about to fail for an object the entry point has not seen (MPI_Wait: the
 * communicator of the request): leave asks its error handler instead.  Holds a reference until
 * then.  NULL is nobody.  Of several in one call the first counts. */
void leave_blame(struct comm *comm) __attribute__((cold));

/* Take the engine of a communicator or of requests alone, if they can be worked with in that way. */
void enter_engine_of_comm(MPI_Comm handle);
void enter_engine_of_requests(int n, const MPI_Request *handles);

/* It had to wait for the lock: one more reason for the engines to part. */
void enter_clash(MPI_Comm handle) __attribute__((cold));

static inline struct entry enter_begin(const char *function, bool locked)
{
    struct entry e = { function, MPI_SUCCESS, locked };
    if (__builtin_expect(trace_on, 0))
        trace_enter();
    if (__builtin_expect(library_state != LIBRARY_ACTIVE, 0))
        e.rc = enter_early(function);
    return e;
}

ENTRY_INLINE struct entry enter_taken(const char *function, bool locked)
{
    record_enter(function, __builtin_return_address(0));
    return enter_begin(function, locked);
}

/* Take the engine, where threads may call at the same time.  Do they? */
static inline bool enter_many(void)
{
    bool many = threads_are_many();
    if (many)
        engine_take();
    return many;
}

/* The recorder knows already that the user is here. */
static inline struct entry enter_told(const char *function)
{
    return enter_begin(function, enter_many());
}

ENTRY_INLINE struct entry enter(const char *function)
{
    bool many = enter_many();
    return enter_taken(function, many);
}

/* A call that begins messages or looks for them, and needs all engines.  True: it had to wait for that. */
ENTRY_INLINE bool enter_lock(void)
{
    bool waited = engine_take();
    progress_spare();
    return waited;
}

/* The recorder knows already that the user is here. */
static inline struct entry enter_comm_told(const char *function, MPI_Comm comm)
{
    bool many = threads_are_many();
    if (many && engines_are_apart())
        enter_engine_of_comm(comm);
    else if (many && __builtin_expect(enter_lock(), 0))
        enter_clash(comm);
    return enter_begin(function, many);
}

ENTRY_INLINE struct entry enter_comm(const char *function, MPI_Comm comm)
{
    record_enter(function, __builtin_return_address(0));
    return enter_comm_told(function, comm);
}

ENTRY_INLINE struct entry enter_requests(const char *function, int n,
                                         const MPI_Request *handles)
{
    bool many = threads_are_many();
    if (many && engines_are_apart())
        enter_engine_of_requests(n, handles);
    else if (many)
        enter_lock();
    return enter_taken(function, many);
}

ENTRY_INLINE struct entry enter_request(const char *function, const MPI_Request *handle)
{
    return enter_requests(function, 1, handle);
}

/* For functions that may be called before initialisation and after finalisation. */
ENTRY_INLINE struct entry enter_anytime(const char *function)
{
    engine_take();
    record_enter(function, __builtin_return_address(0));
    return (struct entry){ function, MPI_SUCCESS, true };
}

/* A thread beside one that alone may communicate has the lock, too, but does not make progress. */
static inline void call_settle(const struct entry *e)
{
    if (threads_are_many() && progress_is_owed && (e->locked || engine_is_late())) {
        engine_join();
        progress_settle();
    }
}

static inline void leave_lock(const struct entry *e)
{
    call_settle(e);
    engine_leave();
}

static inline int leave(struct entry *e, void *owner)
{
    if (__builtin_expect(e->rc != MPI_SUCCESS, 0))
        return leave_error(e, owner);
    if (__builtin_expect(trace_on, 0))
        trace_leave(e->function);
    if (__builtin_expect(e->locked, 0) || threads_are_many()) /* it may have begun meanwhile */
        leave_lock(e);
    return MPI_SUCCESS;
}

/* A result that has to fit into an int. */
static inline int narrow(int64_t value)
{
    return value == (int)value ? (int)value : MPI_UNDEFINED;
}

#endif
