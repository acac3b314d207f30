/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Upcalls: what the PMIx library asks of its host, as records in a queue.
 *
 *     client --- socket --- libpmix's thread ---- queue, eventfd ----> launcher's thread
 *        ^                    |        ^                                    |
 *        `------ answer ------'        `--------- upcall_answer ------------'
 *
 * The library calls from a thread of its own, and a call back into it from there would wait for
 * itself.  So an upcall only becomes a record here; the launcher's one thread works on it and
 * answers.  Keys and values belong to the library and live until the answer.
 */
#ifndef XMPI_LAUNCHER_PMIX_UPCALL_H
#define XMPI_LAUNCHER_PMIX_UPCALL_H

#include <pmix_server.h>
#include <stdbool.h>
#include <string.h>

struct boot_rank;

enum upcall_kind {
    UPCALL_CONNECTED, /* code: its record says so, see upcalls_watch_joining; no answer */
    UPCALL_FINALIZED,
    UPCALL_LOST, /* the connection of a client that has not finalized; no answer */
    UPCALL_ABORT,
    UPCALL_PUBLISH,
    UPCALL_LOOKUP,
    UPCALL_UNPUBLISH,
    UPCALL_GROUP,
    UPCALL_QUERY,
    UPCALL_SPAWN,
    /* of jobs on several hosts, or of several jobs */
    UPCALL_CONNECT,
    UPCALL_DISCONNECT,
    UPCALL_FENCE,
    UPCALL_MODEX,       /* from: whose data */
    UPCALL_MODEX_READY, /* data that upcall_enqueue_data was given; no answer */
    UPCALL_MODEX_OVER,  /* see upcall_enqueue_over; no answer */
    UPCALL_EVENT,       /* `blob`: its ninfo items, packed; no answer */
};

struct upcall {
    struct upcall *next;
    enum upcall_kind kind;
    pmix_proc_t from;
    int code;  /* ABORT: what the job shall end with; EVENT */
    int range; /* EVENT */
    char *
        text; /* ABORT: why; GROUP: its name; SPAWN: the answer, a job's; malloced, may be NULL */
    char **keys; /* LOOKUP, UNPUBLISH; NULL: all */
    const pmix_info_t *info;
    size_t ninfo;
    const pmix_query_t *queries; /* QUERY */
    size_t nqueries;
    const pmix_app_t *apps; /* SPAWN */
    size_t napps;
    pmix_proc_t *procs; /* GROUP, FENCE, CONNECT, DISCONNECT: who takes part; malloced */
    size_t nprocs;
    void *asker; /* MODEX_READY, or a question of another host: the caller's */
    char *host;  /* .. and its name; malloced, NULL: this one */

    /* the answer */
    pmix_status_t status;
    pmix_pdata_t *found; /* LOOKUP; malloced, with values of their own */
    size_t nfound;
    pmix_info_t *given; /* GROUP, QUERY: what is told; malloced, with values of its own */
    size_t ngiven;
    char *
        blob; /* FENCE: what ranks here gave, and what all gave; MODEX, MODEX_READY; malloced */
    size_t nblob;
    void (*answered)(struct upcall *upcall); /* instead of the library, when set */
    pmix_op_cbfunc_t op;
    pmix_lookup_cbfunc_t lookup;
    pmix_info_cbfunc_t group;
    pmix_modex_cbfunc_t modex;
    pmix_spawn_cbfunc_t spawned;
    void *data;
};

/* The name of a rank of a job. */
static inline pmix_proc_t proc_named(const char *nspace, int world)
{
    pmix_proc_t proc = { .rank = (pmix_rank_t)world };
    memcpy(proc.nspace, nspace, strnlen(nspace, sizeof proc.nspace - 1));
    return proc;
}

static inline bool info_is(const pmix_info_t *info, const char *key)
{
    return strncmp(info->key, key, sizeof info->key) == 0;
}

/* The functions to hand to PMIx_server_init (but tool_connected), and a descriptor that can be read
 * when there are records.  -1 with errno: there are no descriptors left.  `spread`: the job is on several hosts. */
int upcalls_open(const char *nspace, bool spread, pmix_server_module_t *module);

/* Ask for UPCALL_LOST; after PMIx_server_init. */
pmix_status_t upcalls_watch_losses(void);

/* Clients of a job: when one joins, it is written down in its record before it goes on, so who looks there
 * when it ends does not come too early. */
struct joining {
    struct joining *next;
    const char *nspace;
    struct boot_rank *(*record)(void *owner, pmix_rank_t rank); /* NULL: there is none */
    void *owner;
};
void upcalls_watch_joining(struct joining *joining);
void upcalls_forget_joining(struct joining *joining);

/* All records so far, oldest first. */
struct upcall *upcalls_take(void);

/* Send the answer and forget the record.  For the kinds without answer it only forgets. */
void upcall_answer(struct upcall *upcall, pmix_status_t status);

/* On the library's thread: put a copy of what PMIx_server_dmodex_request has found into the queue. */
void upcall_enqueue_data(pmix_status_t status, const char *data, size_t bytes, void *asker);

/* Put UPCALL_MODEX_OVER with this `from` into the queue, behind whatever the library has begun to say
 * about what it was asked before. */
void upcall_enqueue_over(const pmix_proc_t *from);

/* Forget it without an answer: the client is gone. */
void upcall_drop(struct upcall *upcall);

#endif
