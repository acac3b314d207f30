/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Published names, in the terms of PMIx.  In what a client sends, keys that start with "pmix."
 * are directions (range, persistence, wait, timeout, who asks), all others are data:
 *
 *     {"port" = "...", "pmix.range" = namespace, "pmix.euid" = 0}
 *
 * Without directions data is for the session and lives as long.  The ranges RM (for the launcher
 * alone) and CUSTOM (a list of processes) are refused, not widened.  A lookup that waits is kept
 * until a later publish completes it or its time is up.  Values are copied by the library, which
 * knows their types.
 */
#include "launcher/pmix_names.h"

#include "launcher/kvs.h"
#include "launcher/pmix_lib.h"
#include "runtime/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting { /* a lookup */
    struct waiting *next;
    struct upcall *upcall;
    size_t least;      /* values it waits for */
    uint64_t deadline; /* clock_ns; 0: none */
};

struct directions {
    enum kvs_range range;
    enum kvs_life life;
    bool waits;
    size_t least;    /* values to wait for */
    int seconds;     /* 0: for ever */
    bool impossible; /* a range that is not offered */
};

static void value_free(void *value)
{
    pmix_lib.Value_destruct(value);
    free(value);
}

static struct kvs names = { .value_free = value_free };
static struct waiting *waiters;
static const struct plan *plan;
static void (*somebody_waits)(void);

void names_open(const struct plan *of_job, void (*waits)(void))
{
    plan = of_job;
    somebody_waits = waits;
}

const char *names_host(const struct plan *here)
{
    return here->node_names && here->node >= 0 ? here->node_names[here->node]
                                               : here->hosts[0].name;
}

/* ---- reading ---- */

static bool is_data(const pmix_info_t *info)
{
    return strncmp(info->key, "pmix.", 5) != 0;
}

/* Hosts are the same where they are called the same, in whatever job. */
static int node_named(const char *host)
{
    static struct strings seen;
    int node = 0;
    while (node < seen.n && strcmp(seen.text[node], host) != 0)
        node++;
    if (node == seen.n)
        strings_add(&seen, strdup(host));
    return node;
}

static struct kvs_process process_named(const pmix_proc_t *proc)
{
    struct kvs_process process = { .rank = proc->rank };
    snprintf(process.job, sizeof process.job, "%s", proc->nspace);
    return process;
}

/* Of a client of this server, or of who has asked another launcher. */
static struct kvs_process process_of(const struct upcall *u)
{
    struct kvs_process process = process_named(&u->from);
    process.node = node_named(u->host ? u->host : names_host(plan));
    return process;
}

static long number_in(const pmix_value_t *value)
{
    switch (value->type) {
    case PMIX_UINT8:
    case PMIX_BYTE:
        return value->data.uint8;
    case PMIX_DATA_RANGE:
        return value->data.range;
    case PMIX_PERSIST:
        return value->data.persist;
    case PMIX_INT:
    case PMIX_INT32:
        return value->data.int32;
    case PMIX_UINT:
    case PMIX_UINT32:
        return value->data.uint32;
    case PMIX_SIZE:
        return (long)value->data.size;
    default:
        return 0;
    }
}

static void read_range(struct directions *directions, long range)
{
    switch (range) {
    case PMIX_RANGE_PROC_LOCAL:
        directions->range = KVS_PROCESS;
        break;
    case PMIX_RANGE_LOCAL:
        directions->range = KVS_NODE;
        break;
    case PMIX_RANGE_NAMESPACE:
        directions->range = KVS_JOB;
        break;
    case PMIX_RANGE_UNDEF:
    case PMIX_RANGE_SESSION:
    case PMIX_RANGE_GLOBAL:
        directions->range = KVS_SESSION;
        break;
    default:
        directions->impossible = true;
    }
}

static enum kvs_life life_of(long persistence)
{
    switch (persistence) {
    case PMIX_PERSIST_FIRST_READ:
        return KVS_FIRST_READ;
    case PMIX_PERSIST_PROC:
        return KVS_WITH_PROCESS;
    case PMIX_PERSIST_APP:
        return KVS_WITH_PROGRAM;
    default:
        return KVS_WITH_SESSION;
    }
}

static struct directions directions_of(const struct upcall *u)
{
    struct directions d = { .range = KVS_SESSION, .life = KVS_WITH_SESSION };
    for (size_t i = 0; i < u->ninfo; i++) {
        long number = number_in(&u->info[i].value);
        if (info_is(&u->info[i], PMIX_RANGE))
            read_range(&d, number);
        else if (info_is(&u->info[i], PMIX_PERSISTENCE))
            d.life = life_of(number);
        else if (info_is(&u->info[i], PMIX_TIMEOUT))
            d.seconds = (int)number;
        else if (info_is(&u->info[i], PMIX_WAIT)) {
            d.waits = true;
            d.least = number > 0 ? (size_t)number : 0;
        }
    }
    return d;
}

/* ---- lookup ---- */

static size_t count_keys(char **keys)
{
    size_t n = 0;
    while (keys && keys[n])
        n++;
    return n;
}

static size_t count_found(const struct upcall *u, enum kvs_range range)
{
    struct kvs_process asker = process_of(u);
    size_t found = 0;
    for (size_t i = 0; i < count_keys(u->keys); i++)
        found += kvs_find(&names, &asker, u->keys[i], range) != NULL;
    return found;
}

static void hand_out(struct upcall *u, const struct kvs_entry *entry)
{
    pmix_pdata_t *to = &u->found[u->nfound++];
    snprintf(to->proc.nspace, sizeof to->proc.nspace, "%s", entry->publisher.job);
    to->proc.rank = entry->publisher.rank;
    snprintf(to->key, sizeof to->key, "%s", entry->key);
    pmix_lib.Value_xfer(&to->value, entry->value);
    kvs_was_read(&names, entry);
}

/* Answer with whatever is there.  The library passes data on only with PMIX_SUCCESS; clients
 * find the keys that were not there unset. */
static void answer_now(struct upcall *u, enum kvs_range range, pmix_status_t otherwise)
{
    struct kvs_process asker = process_of(u);
    size_t nkeys = count_keys(u->keys);
    u->found = calloc(nkeys + 1, sizeof *u->found);
    if (!u->found)
        abort();
    for (size_t i = 0; i < nkeys; i++) {
        const struct kvs_entry *entry = kvs_find(&names, &asker, u->keys[i], range);
        if (entry)
            hand_out(u, entry);
    }
    upcall_answer(u, u->nfound ? PMIX_SUCCESS : otherwise);
}

static void wait_for_more(struct upcall *u, const struct directions *directions, size_t least)
{
    struct waiting *waiting = malloc(sizeof *waiting), **end = &waiters;
    if (!waiting)
        abort();
    uint64_t limit = (uint64_t)directions->seconds * 1000000000u;
    *waiting = (struct waiting){ .upcall = u,
                                 .least = least,
                                 .deadline = directions->seconds > 0 ? clock_ns() + limit : 0 };
    while (*end)
        end = &(*end)->next;
    *end = waiting;
    somebody_waits();
}

static void lookup(struct upcall *u)
{
    struct directions directions = directions_of(u);
    size_t keys = count_keys(u->keys); /* nobody can find more */
    size_t least = directions.least && directions.least < keys ? directions.least : keys;
    if (directions.impossible)
        upcall_answer(u, PMIX_ERR_NOT_SUPPORTED);
    else if (directions.waits && count_found(u, directions.range) < least)
        wait_for_more(u, &directions, least);
    else
        answer_now(u, directions.range, PMIX_ERR_NOT_FOUND);
}

static struct upcall *remove_waiting(struct waiting **at)
{
    struct waiting *gone = *at;
    struct upcall *u = gone->upcall;
    *at = gone->next;
    free(gone);
    return u;
}

static void wake(void)
{
    for (struct waiting **at = &waiters; *at;) {
        enum kvs_range range = directions_of((*at)->upcall).range;
        if (count_found((*at)->upcall, range) >= (*at)->least)
            answer_now(remove_waiting(at), range, PMIX_ERR_NOT_FOUND);
        else
            at = &(*at)->next;
    }
}

uint64_t names_deadline(void)
{
    uint64_t first = 0;
    for (const struct waiting *w = waiters; w; w = w->next)
        if (w->deadline && (!first || w->deadline < first))
            first = w->deadline;
    return first;
}

void names_tick(uint64_t now)
{
    for (struct waiting **at = &waiters; *at;) {
        if ((*at)->deadline && (*at)->deadline <= now) {
            struct upcall *u = remove_waiting(at);
            answer_now(u, directions_of(u).range, PMIX_ERR_TIMEOUT);
        } else {
            at = &(*at)->next;
        }
    }
}

/* ---- publish, unpublish ---- */

static pmix_status_t publish_one(const struct upcall *u, const struct directions *directions,
                                 const pmix_info_t *info)
{
    struct kvs_process publisher = process_of(u);
    pmix_value_t *value = calloc(1, sizeof *value);
    if (!value)
        abort();
    pmix_status_t status = pmix_lib.Value_xfer(value, (pmix_value_t *)&info->value);
    if (status == PMIX_SUCCESS &&
        !kvs_publish(&names, &publisher, info->key, directions->range, directions->life, value))
        status = PMIX_ERR_DUPLICATE_KEY;
    if (status != PMIX_SUCCESS)
        value_free(value);
    return status;
}

static void publish(struct upcall *u)
{
    struct directions directions = directions_of(u);
    pmix_status_t status = directions.impossible ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
    size_t before = names.n;
    for (size_t i = 0; i < u->ninfo && status == PMIX_SUCCESS; i++)
        if (is_data(&u->info[i]))
            status = publish_one(u, &directions, &u->info[i]);
    if (status != PMIX_SUCCESS)
        kvs_rollback(&names, before); /* all or nothing */
    upcall_answer(u, status);
    if (status == PMIX_SUCCESS)
        wake();
}

static void unpublish(struct upcall *u)
{
    struct directions directions = directions_of(u);
    struct kvs_process publisher = process_of(u);
    int removed = 0;
    if (!u->keys)
        removed = kvs_unpublish(&names, &publisher, NULL, directions.range);
    for (size_t i = 0; i < count_keys(u->keys); i++)
        removed += kvs_unpublish(&names, &publisher, u->keys[i], directions.range);
    upcall_answer(u, removed || !u->keys ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
}

bool names_handle(struct upcall *u)
{
    switch (u->kind) {
    case UPCALL_PUBLISH:
        publish(u);
        return true;
    case UPCALL_LOOKUP:
        lookup(u);
        return true;
    case UPCALL_UNPUBLISH:
        unpublish(u);
        return true;
    default:
        return false;
    }
}

/* ---- ends ---- */

void names_ended(const pmix_proc_t *process, bool whole_program)
{
    struct kvs_process ended = process_named(process);
    kvs_ended(&names, &ended, whole_program ? KVS_WITH_PROGRAM : KVS_WITH_PROCESS);
    for (struct waiting **at = &waiters; *at && !whole_program;) {
        const pmix_proc_t *from = &(*at)->upcall->from;
        if (from->rank == process->rank && strcmp(from->nspace, process->nspace) == 0)
            upcall_drop(remove_waiting(at));
        else
            at = &(*at)->next;
    }
}

void names_clear(void)
{
    while (waiters)
        upcall_drop(remove_waiting(&waiters));
    kvs_clear(&names);
}
