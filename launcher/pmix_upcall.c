/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The queue of upcalls, and the way back.  A lock guards the queue; it is held for a few
 * instructions.  Answers go back through the library's own thread, because the library puts them
 * into the client's send queue without a lock.  The only public way to run something there is
 * the callback of an asynchronous call, so answers ride on one that does nothing: forgetting a
 * client of a job that does not exist.
 *
 * What one host can answer by itself is not queued at all when all ranks are here: a fence is complete
 * when the library asks, connected processes of one job need nothing from us, and events were
 * already given to the clients.
 */
#include "launcher/pmix_upcall.h"

#include "launcher/pmix_lib.h"
#include "runtime/bootseg.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    struct upcall *first, **end;
    int bell;
    const char *nspace;
    bool spread;
    struct joining *joining;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .bell = -1 };

static struct upcall *record(enum upcall_kind kind, const pmix_proc_t *from, void *data)
{
    struct upcall *u = calloc(1, sizeof *u);
    if (!u)
        abort();
    u->kind = kind;
    u->from = *from;
    u->data = data;
    return u;
}

static pmix_status_t enqueue(struct upcall *u)
{
    pthread_mutex_lock(&queue.lock);
    *queue.end = u;
    queue.end = &u->next;
    pthread_mutex_unlock(&queue.lock);
    uint64_t one = 1;
    while (write(queue.bell, &one, sizeof one) < 0 && errno == EINTR)
        ;
    return PMIX_SUCCESS;
}

struct upcall *upcalls_take(void)
{
    uint64_t count;
    while (read(queue.bell, &count, sizeof count) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&queue.lock);
    struct upcall *first = queue.first;
    queue.first = NULL;
    queue.end = &queue.first;
    pthread_mutex_unlock(&queue.lock);
    return first;
}

/* ---- called by the library, on its thread ---- */

/* Its first PMIx_Init, or one after PMIx_Finalize, perhaps in another program of the same rank.  Who called
 * MPI_Init before has a record that is MPI's. */
static bool mark_joined(struct boot_rank *record)
{
    uint32_t started = BOOT_STARTED, finalized = BOOT_FINALIZED;
    if (atomic_compare_exchange_strong(&record->state, &started, BOOT_INITED))
        return true;
    return !atomic_load(&record->pid) &&
           atomic_compare_exchange_strong(&record->state, &finalized, BOOT_INITED);
}

/* Did it join? */
static bool note_joining(const pmix_proc_t *proc)
{
    bool joined = false;
    pthread_mutex_lock(&queue.lock);
    struct joining *of_job = queue.joining;
    while (of_job && strcmp(of_job->nspace, proc->nspace) != 0)
        of_job = of_job->next;
    struct boot_rank *record = of_job ? of_job->record(of_job->owner, proc->rank) : NULL;
    if (record)
        joined = mark_joined(record);
    pthread_mutex_unlock(&queue.lock);
    return joined;
}

static pmix_status_t client_connected(const pmix_proc_t *proc, void *object, pmix_info_t *info,
                                      size_t ninfo, pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)info, (void)ninfo, (void)done, (void)data;
    struct upcall *u = record(UPCALL_CONNECTED, proc, NULL);
    u->code = note_joining(proc);
    enqueue(u);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *object,
                                      pmix_op_cbfunc_t done, void *data)
{
    (void)object;
    struct upcall *u = record(UPCALL_FINALIZED, proc, data);
    u->op = done;
    return enqueue(u);
}

/* Without the newline that many end with: it goes into a line of ours. */
static char *copy_of(const char *text)
{
    size_t chars = strlen(text);
    while (chars && text[chars - 1] == '\n')
        chars--;
    return strndup(text, chars);
}

static pmix_status_t abort_job(const pmix_proc_t *proc, void *object, int status,
                               const char *text, pmix_proc_t *procs, size_t nprocs,
                               pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)procs, (void)nprocs;
    struct upcall *u = record(UPCALL_ABORT, proc, data);
    u->code = status;
    u->text = text ? copy_of(text) : NULL; /* the library does not keep it */
    u->op = done;
    return enqueue(u);
}

static pmix_status_t publish(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                             pmix_op_cbfunc_t done, void *data)
{
    struct upcall *u = record(UPCALL_PUBLISH, proc, data);
    u->info = info;
    u->ninfo = ninfo;
    u->op = done;
    return enqueue(u);
}

static pmix_status_t lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t *info,
                            size_t ninfo, pmix_lookup_cbfunc_t done, void *data)
{
    struct upcall *u = record(UPCALL_LOOKUP, proc, data);
    u->keys = keys;
    u->info = info;
    u->ninfo = ninfo;
    u->lookup = done;
    return enqueue(u);
}

static pmix_status_t unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t *info,
                               size_t ninfo, pmix_op_cbfunc_t done, void *data)
{
    struct upcall *u = record(UPCALL_UNPUBLISH, proc, data);
    u->keys = keys;
    u->info = info;
    u->ninfo = ninfo;
    u->op = done;
    return enqueue(u);
}

static struct upcall *record_of_many(enum upcall_kind kind, const pmix_proc_t *procs,
                                     size_t nprocs, void *data)
{
    struct upcall *u = record(kind, &procs[0], data);
    u->procs = malloc(nprocs * sizeof *u->procs);
    if (!u->procs)
        abort();
    memcpy(u->procs, procs, nprocs * sizeof *u->procs);
    u->nprocs = nprocs;
    return u;
}

static pmix_status_t group(pmix_group_operation_t operation, char *name,
                           const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                           size_t ninfo, pmix_info_cbfunc_t done, void *data)
{
    if (operation != PMIX_GROUP_CONSTRUCT || !nprocs)
        return PMIX_OPERATION_SUCCEEDED;
    struct upcall *u = record_of_many(UPCALL_GROUP, procs, nprocs, data);
    u->text = name ? strdup(name) : NULL;
    u->info = info;
    u->ninfo = ninfo;
    u->group = done;
    return enqueue(u);
}

static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                           pmix_info_cbfunc_t done, void *data)
{
    struct upcall *u = record(UPCALL_QUERY, proc, data);
    u->queries = queries;
    u->nqueries = nqueries;
    u->group = done;
    return enqueue(u);
}

static pmix_status_t spawn(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                           const pmix_app_t *apps, size_t napps, pmix_spawn_cbfunc_t done,
                           void *data)
{
    struct upcall *u = record(UPCALL_SPAWN, proc, data);
    u->info = info;
    u->ninfo = ninfo;
    u->apps = apps;
    u->napps = napps;
    u->spawned = done;
    return enqueue(u);
}

/* All processes are of the first job here, and so on this host unless that is on several. */
static bool are_here(const pmix_proc_t *procs, size_t nprocs)
{
    bool of_one_job = true;
    for (size_t i = 0; i < nprocs; i++)
        of_one_job &= strcmp(procs[i].nspace, queue.nspace) == 0;
    return of_one_job && !queue.spread;
}

static pmix_status_t fence(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                           size_t ninfo, char *blob, size_t bytes, pmix_modex_cbfunc_t done,
                           void *data)
{
    (void)info, (void)ninfo;
    if (are_here(procs, nprocs) || !nprocs) {
        done(PMIX_SUCCESS, blob, bytes, data, free, blob); /* ours is the only contribution */
        return PMIX_SUCCESS;
    }
    struct upcall *u = record_of_many(UPCALL_FENCE, procs, nprocs, data);
    u->blob = blob;
    u->nblob = bytes;
    u->modex = done;
    return enqueue(u);
}

static pmix_status_t direct_modex(const pmix_proc_t *proc, const pmix_info_t *info,
                                  size_t ninfo, pmix_modex_cbfunc_t done, void *data)
{
    (void)info, (void)ninfo;
    if (are_here(proc, 1))
        return PMIX_ERR_NOT_FOUND; /* the library knows all ranks of this host: this is none */
    struct upcall *u = record(UPCALL_MODEX, proc, data);
    u->modex = done;
    return enqueue(u);
}

void upcall_enqueue_data(pmix_status_t status, const char *data, size_t bytes, void *asker)
{
    static const pmix_proc_t nobody;
    struct upcall *u = record(UPCALL_MODEX_READY, &nobody, NULL);
    u->asker = asker;
    u->status = status;
    u->blob = malloc(bytes + 1);
    if (!u->blob)
        abort();
    if (bytes)
        memcpy(u->blob, data, bytes);
    u->nblob = bytes;
    enqueue(u);
}

static pmix_status_t come_together(enum upcall_kind kind, const pmix_proc_t *procs,
                                   size_t nprocs, pmix_op_cbfunc_t done, void *data)
{
    if (are_here(procs, nprocs) || !nprocs)
        return PMIX_OPERATION_SUCCEEDED;
    struct upcall *u = record_of_many(kind, procs, nprocs, data);
    u->op = done;
    return enqueue(u);
}

static pmix_status_t connect_all(const pmix_proc_t *procs, size_t nprocs,
                                 const pmix_info_t *info, size_t ninfo, pmix_op_cbfunc_t done,
                                 void *data)
{
    (void)info, (void)ninfo;
    return come_together(UPCALL_CONNECT, procs, nprocs, done, data);
}

static pmix_status_t disconnect_all(const pmix_proc_t *procs, size_t nprocs,
                                    const pmix_info_t *info, size_t ninfo,
                                    pmix_op_cbfunc_t done, void *data)
{
    (void)info, (void)ninfo;
    return come_together(UPCALL_DISCONNECT, procs, nprocs, done, data);
}

static pmix_status_t register_events(pmix_status_t *codes, size_t ncodes,
                                     const pmix_info_t *info, size_t ninfo,
                                     pmix_op_cbfunc_t done, void *data)
{
    (void)codes, (void)ncodes, (void)info, (void)ninfo, (void)done, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t deregister_events(pmix_status_t *codes, size_t ncodes,
                                       pmix_op_cbfunc_t done, void *data)
{
    (void)codes, (void)ncodes, (void)done, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t notify_event(pmix_status_t code, const pmix_proc_t *source,
                                  pmix_data_range_t range, pmix_info_t *info, size_t ninfo,
                                  pmix_op_cbfunc_t done, void *data)
{
    (void)done, (void)data;
    if (!queue.spread || strcmp(source->nspace, queue.nspace) != 0)
        return PMIX_OPERATION_SUCCEEDED;
    pmix_data_buffer_t packed = { 0 };
    if (ninfo &&
        pmix_lib.Data_pack(NULL, &packed, info, (int32_t)ninfo, PMIX_INFO) != PMIX_SUCCESS)
        return PMIX_OPERATION_SUCCEEDED; /* nobody else understands it */
    struct upcall *u = record(UPCALL_EVENT, source, NULL);
    u->code = code;
    u->range = range;
    u->ninfo = ninfo;
    u->blob = packed.base_ptr;
    u->nblob = packed.bytes_used;
    enqueue(u);
    return PMIX_OPERATION_SUCCEEDED; /* an answer that comes later is not survived by 4.2.2 */
}

static void connection_lost(size_t id, pmix_status_t status, const pmix_proc_t *source,
                            pmix_info_t *info, size_t ninfo, pmix_info_t *results,
                            size_t nresults, pmix_event_notification_cbfunc_fn_t done,
                            void *data)
{
    (void)id, (void)status, (void)info, (void)ninfo, (void)results, (void)nresults;
    enqueue(record(UPCALL_LOST, source, NULL));
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* ---- called by the launcher ---- */

void upcalls_watch_joining(struct joining *joining)
{
    pthread_mutex_lock(&queue.lock);
    joining->next = queue.joining;
    queue.joining = joining;
    pthread_mutex_unlock(&queue.lock);
}

void upcalls_forget_joining(struct joining *joining)
{
    pthread_mutex_lock(&queue.lock);
    struct joining **at = &queue.joining;
    while (*at && *at != joining)
        at = &(*at)->next;
    if (*at)
        *at = joining->next;
    pthread_mutex_unlock(&queue.lock);
}

int upcalls_open(const char *nspace, bool spread, pmix_server_module_t *module)
{
    *module = (pmix_server_module_t){ .client_connected2 = client_connected,
                                      .client_finalized = client_finalized,
                                      .abort = abort_job,
                                      .fence_nb = fence,
                                      .direct_modex = direct_modex,
                                      .publish = publish,
                                      .lookup = lookup,
                                      .unpublish = unpublish,
                                      .spawn = spawn,
                                      .connect = connect_all,
                                      .disconnect = disconnect_all,
                                      .register_events = register_events,
                                      .deregister_events = deregister_events,
                                      .notify_event = notify_event,
                                      .group = group,
                                      .query = query };
    queue.nspace = nspace;
    queue.spread = spread;
    queue.end = &queue.first;
    queue.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return queue.bell;
}

pmix_status_t upcalls_watch_losses(void)
{
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    return pmix_lib.Register_event_handler(&code, 1, NULL, 0, connection_lost, NULL, NULL);
}

void upcall_drop(struct upcall *u)
{
    for (size_t i = 0; i < u->nfound; i++)
        pmix_lib.Value_destruct(&u->found[i].value);
    free(u->found);
    for (size_t i = 0; i < u->ngiven; i++)
        pmix_lib.Value_destruct(&u->given[i].value);
    free(u->given);
    free(u->blob);
    free(u->procs);
    free(u->text);
    free(u->host);
    free(u);
}

static void drop(void *upcall)
{
    upcall_drop(upcall);
}

/* On the library's thread again. */
static void deliver(pmix_status_t status, void *data)
{
    (void)status;
    struct upcall *u = data;
    if (u->group) {
        u->group(u->status, u->given, u->ngiven, u->data, drop, u);
        return;
    }
    if (u->modex) {
        u->modex(u->status, u->blob, u->nblob, u->data, drop, u);
        return;
    }
    if (u->spawned)
        u->spawned(u->status, u->text ? u->text : "", u->data);
    else if (u->lookup)
        u->lookup(u->status, u->found, u->nfound, u->data);
    else
        u->op(u->status, u->data);
    upcall_drop(u);
}

/* On the library's thread. */
static void is_over(pmix_status_t status, void *upcall)
{
    (void)status;
    enqueue(upcall);
}

void upcall_enqueue_over(const pmix_proc_t *from)
{
    static const pmix_proc_t nobody;
    pmix_lib.server_deregister_client(&nobody, is_over, record(UPCALL_MODEX_OVER, from, NULL));
}

void upcall_answer(struct upcall *u, pmix_status_t status)
{
    static const pmix_proc_t nobody;
    u->status = status;
    if (u->answered)
        u->answered(u);
    if (u->op || u->lookup || u->group || u->modex || u->spawned)
        pmix_lib.server_deregister_client(&nobody, deliver, u);
    else
        upcall_drop(u);
}
