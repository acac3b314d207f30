/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_far.h.  Keys and values travel as libpmix packs them; a question has a number, by which its
 * answer finds the upcall that waits for it.
 */
#include "launcher/pmix_far.h"

#include "launcher/job.h"
#include "launcher/pmix_lib.h"
#include "launcher/pmix_meet.h"
#include "launcher/pmix_names.h"
#include "launcher/post.h"

#include <stdlib.h>

struct asked { /* an upcall that waits for an answer */
    struct asked *next;
    struct upcall *upcall;
    int64_t number;
    int world; /* MODEX: whose data; else -1 */
};

struct asker { /* who waits for what we work on */
    int host;
    int64_t number;
    struct asker *next; /* of all that wait for data of ranks here */
    int world;          /* whose */
    bool answered;
};

static struct {
    bool serves;
    const char *nspace;
    struct job *job;
    struct asked *asked;
    struct asker *askers;
    int64_t number;
} far;

/* ---- keys and values ---- */

static bool pack_items(struct pack *text, const void *items, size_t n, pmix_data_type_t type)
{
    pmix_data_buffer_t buffer = { 0 };
    pmix_status_t status =
        n ? pmix_lib.Data_pack(NULL, &buffer, (void *)items, (int32_t)n, type) : PMIX_SUCCESS;
    pack_number(text, (int64_t)n);
    pack_bytes(text, buffer.base_ptr, buffer.bytes_used);
    free(buffer.base_ptr);
    return status == PMIX_SUCCESS;
}

/* malloced, *n of them; each has a value of its own.  NULL: the library here does not understand
 * that of the other host. */
static void *unpack_items(struct unpack *text, size_t *n, size_t size, pmix_data_type_t type)
{
    size_t bytes;
    int32_t count = unpack_int(text, 0, 1 << 20);
    const char *packed = unpack_bytes(text, &bytes);
    char *items = calloc((size_t)count + 1, size), *copy = malloc(bytes + 1);
    if (!items || !copy)
        abort();
    memcpy(copy, packed, bytes);
    pmix_data_buffer_t buffer = { .base_ptr = copy,
                                  .pack_ptr = copy + bytes,
                                  .unpack_ptr = copy,
                                  .bytes_allocated = bytes,
                                  .bytes_used = bytes };
    bool good = !text->bad;
    if (count && good)
        good = pmix_lib.Data_unpack(NULL, &buffer, items, &count, type) == PMIX_SUCCESS;
    free(copy);
    *n = good ? (size_t)count : 0;
    if (good)
        return items;
    free(items);
    return NULL;
}

static void free_info(pmix_info_t *info, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pmix_lib.Value_destruct(&info[i].value);
    free(info);
}

/* ---- questions ---- */

static int64_t wait_for_answer(struct upcall *u, int world)
{
    struct asked *asked = malloc(sizeof *asked);
    if (!asked)
        abort();
    *asked = (struct asked){ far.asked, u, ++far.number, world };
    far.asked = asked;
    return far.number;
}

/* NULL: not any more. */
static struct upcall *asked_with(int64_t number)
{
    struct asked **at = &far.asked;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    struct asked *found = *at;
    struct upcall *u = found ? found->upcall : NULL;
    if (found)
        *at = found->next;
    free(found);
    return u;
}

/* ---- direct modex ---- */

static void ask_for_data(struct job *job, struct upcall *u)
{
    struct pack text = { 0 };
    if (u->from.rank >= (pmix_rank_t)job->plan->world) {
        upcall_answer(u, PMIX_ERR_NOT_FOUND);
        return;
    }
    int world = (int)u->from.rank;
    int host = post_of_node(job, job->plan->node_of[world]);
    pack_number(&text, wait_for_answer(u, world));
    pack_number(&text, world);
    post_send(job, host, POST_PMIX_GET, &text);
    pack_free(&text);
}

static void answer_data(struct job *job, const struct asker *asker, pmix_status_t status,
                        const char *data, size_t bytes)
{
    struct pack text = { 0 };
    pack_number(&text, asker->number);
    pack_number(&text, status);
    pack_bytes(&text, data, bytes);
    post_send(job, asker->host, POST_PMIX_GOT, &text);
    pack_free(&text);
}

/* On the library's thread. */
static void data_ready(pmix_status_t status, char *data, size_t bytes, void *asker)
{
    upcall_enqueue_data(status, data, bytes, asker);
}

static void got_get(struct job *job, int from, struct unpack *text)
{
    struct asker *asker = malloc(sizeof *asker);
    if (!asker)
        abort();
    *asker = (struct asker){ .host = from, .number = unpack_number(text) };
    int world = asker->world = unpack_int(text, 0, job->plan->world - 1);
    pmix_status_t status = PMIX_ERR_NOT_FOUND;
    if (!text->bad && far.serves && job->plan->node_of[world] == job->plan->node) {
        pmix_proc_t proc = proc_named(far.nspace, world);
        status = pmix_lib.server_dmodex_request(&proc, data_ready, asker);
        if (status == PMIX_SUCCESS) {
            asker->next = far.askers;
            far.askers = asker;
            if (job->ranks[job_number(job, world)].ended)
                upcall_enqueue_over(&proc);
            return;
        }
    }
    if (!text->bad)
        answer_data(job, asker, status, NULL, 0);
    free(asker);
}

/* The library has found it.  It may have been too late. */
static void found_data(struct job *job, struct upcall *u)
{
    struct asker *asker = u->asker, **at = &far.askers;
    while (*at != asker)
        at = &(*at)->next;
    *at = asker->next;
    if (!asker->answered)
        answer_data(job, asker, u->status, u->blob, u->nblob);
    free(asker);
    upcall_drop(u);
}

/* The rank has ended, and the library has given out what it had: it would wait for the rest. */
static void found_no_data(struct job *job, struct upcall *u)
{
    for (struct asker *asker = far.askers; asker; asker = asker->next) {
        if (asker->answered || asker->world != (int)u->from.rank)
            continue;
        answer_data(job, asker, PMIX_ERR_NOT_FOUND, NULL, 0);
        asker->answered = true;
    }
    upcall_drop(u);
}

bool far_is_asked(void)
{
    for (const struct asker *asker = far.askers; asker; asker = asker->next)
        if (!asker->answered)
            return true;
    return false;
}

static void end_questions_about(int world)
{
    pmix_proc_t proc = proc_named(far.nspace, world);
    for (struct asker *asker = far.askers; asker; asker = asker->next)
        if (asker->world == world) {
            upcall_enqueue_over(&proc);
            return;
        }
}

/* All ranks of that host have ended. */
static void get_too_late(struct job *job, int from, struct unpack *text)
{
    struct asker asker = { .host = from, .number = unpack_number(text) };
    if (!text->bad)
        answer_data(job, &asker, PMIX_ERR_NOT_FOUND, NULL, 0);
}

static void got_data(struct job *job, int from, struct unpack *text)
{
    size_t bytes;
    (void)job, (void)from;
    int64_t number = unpack_number(text), status = unpack_number(text);
    const char *data = unpack_bytes(text, &bytes);
    struct upcall *u = text->bad ? NULL : asked_with(number);
    if (!u)
        return;
    u->blob = malloc(bytes + 1);
    if (!u->blob)
        abort();
    memcpy(u->blob, data, bytes);
    u->nblob = bytes;
    upcall_answer(u, (pmix_status_t)status);
}

void far_ended(struct job *job, int world)
{
    if (job->host == POST_ROOT)
        meet_ended(job, world);
    for (struct asked *asked = far.asked, *next; asked; asked = next) {
        next = asked->next;
        if (asked->world == world)
            upcall_answer(asked_with(asked->number), PMIX_ERR_NOT_FOUND);
    }
}

/* ---- events ---- */

static bool leaves_the_host(int range)
{
    return range != PMIX_RANGE_LOCAL && range != PMIX_RANGE_PROC_LOCAL &&
           range != PMIX_RANGE_RM;
}

static void pass_event_on(struct job *job, struct upcall *u)
{
    struct pack text = { 0 };
    pack_number(&text, u->code);
    pack_number(&text, u->range);
    pack_number(&text, u->from.rank);
    pack_number(&text, (int64_t)u->ninfo);
    pack_bytes(&text, u->blob, u->nblob);
    if (leaves_the_host(u->range))
        post_send(job, POST_ALL, POST_PMIX_EVENT, &text);
    pack_free(&text);
    upcall_drop(u);
}

struct event { /* lives until the library has passed it on */
    pmix_info_t *info;
    size_t ninfo;
};

static void event_sent(pmix_status_t status, void *data)
{
    struct event *event = data;
    (void)status;
    free_info(event->info, event->ninfo);
    free(event);
}

static void got_event(struct job *job, int from, struct unpack *text)
{
    (void)from;
    int code = unpack_int(text, INT32_MIN, INT32_MAX), range = unpack_int(text, 0, 255);
    int world = unpack_int(text, 0, job->plan->world - 1);
    if (text->bad || !far.serves || !job->nranks)
        return;
    struct event *event = malloc(sizeof *event);
    if (!event)
        abort();
    pmix_proc_t source = proc_named(far.nspace, world);
    event->info = unpack_items(text, &event->ninfo, sizeof *event->info, PMIX_INFO);
    pmix_status_t status = PMIX_ERR_UNPACK_FAILURE;
    if (event->info)
        status = pmix_lib.Notify_event(code, &source, (pmix_data_range_t)range, event->info,
                                       event->ninfo, event_sent, event);
    if (status != PMIX_SUCCESS)
        event_sent(status, event);
}

/* ---- names ---- */

static void ask_for_names(struct job *job, struct upcall *u)
{
    struct pack text = { 0 };
    int64_t number = wait_for_answer(u, -1);
    pack_number(&text, number);
    pack_number(&text, u->kind);
    pack_number(&text, u->from.rank);
    pack_number(&text, u->keys != NULL);
    pack_texts(&text, u->keys);
    if (pack_items(&text, u->info, u->ninfo, PMIX_INFO))
        post_send(job, POST_ROOT, POST_PMIX_NAMES, &text);
    else
        upcall_answer(asked_with(number), PMIX_ERR_NOT_SUPPORTED);
    pack_free(&text);
}

/* xmpirun: an upcall of another host has its answer. */
static void names_answered(struct upcall *u)
{
    struct pack text = { 0 };
    struct asker *asker = u->asker;
    struct pack found = { 0 };
    bool good = pack_items(&found, u->found, u->nfound, PMIX_PDATA);
    pack_number(&text, asker->number);
    pack_number(&text, good ? u->status : PMIX_ERR_PACK_FAILURE);
    if (good)
        pack_raw(&text, found.bytes, found.n);
    else
        pack_items(&text, NULL, 0, PMIX_PDATA);
    post_send(far.job, asker->host, POST_PMIX_NAMED, &text);
    pack_free(&text);
    pack_free(&found);
    free_info((pmix_info_t *)u->info, u->ninfo);
    for (char **key = u->keys; key && *key; key++)
        free(*key);
    free(u->keys);
    free(asker);
}

static char **copy_texts(char **texts, int n)
{
    char **copy = calloc((size_t)n + 1, sizeof *copy);
    for (int i = 0; copy && i < n; i++)
        copy[i] = strdup(texts[i]);
    return copy;
}

static void work_on_names(struct upcall *u)
{
    if (!far.serves)
        upcall_answer(u, PMIX_ERR_NOT_SUPPORTED);
    else if (!u->info)
        upcall_answer(u, PMIX_ERR_UNPACK_FAILURE);
    else if (u->kind == UPCALL_PUBLISH)
        names_publish(u);
    else if (u->kind == UPCALL_LOOKUP)
        names_lookup(u);
    else
        names_unpublish(u);
}

static void got_names(struct job *job, int from, struct unpack *text)
{
    int nkeys;
    struct asker *asker = malloc(sizeof *asker);
    struct upcall *u = calloc(1, sizeof *u);
    if (!asker || !u)
        abort();
    *asker = (struct asker){ .host = from, .number = unpack_number(text) };
    u->kind = (enum upcall_kind)unpack_int(text, UPCALL_PUBLISH, UPCALL_UNPUBLISH);
    u->from = proc_named(far.nspace, unpack_int(text, 0, job->plan->world - 1));
    bool has_keys = unpack_int(text, 0, 1);
    char **keys = unpack_texts(text, &nkeys);
    u->keys = has_keys ? copy_texts(keys, nkeys) : NULL;
    free(keys);
    if (far.serves)
        u->info = unpack_items(text, &u->ninfo, sizeof *u->info, PMIX_INFO);
    u->asker = asker;
    u->answered = names_answered;
    far.job = job;
    work_on_names(u);
}

static void got_named(struct job *job, int from, struct unpack *text)
{
    (void)job, (void)from;
    int64_t number = unpack_number(text), status = unpack_number(text);
    struct upcall *u = text->bad ? NULL : asked_with(number);
    if (!u)
        return;
    u->found = unpack_items(text, &u->nfound, sizeof *u->found, PMIX_PDATA);
    upcall_answer(u, u->found ? (pmix_status_t)status : PMIX_ERR_UNPACK_FAILURE);
}

bool far_has_names(const struct job *job)
{
    return job->others && job->host != POST_ROOT;
}

void far_here_ended(struct job *job, int world, bool named)
{
    struct pack text = { 0 };
    if (job->others && job->host == POST_ROOT)
        meet_ended(job, world);
    end_questions_about(world);
    if (!named)
        return;
    pack_number(&text, world);
    post_send(job, POST_ROOT, POST_PMIX_GONE, &text);
    pack_free(&text);
}

static void got_gone(struct job *job, int from, struct unpack *text)
{
    (void)from;
    pmix_proc_t proc = proc_named(far.nspace, unpack_int(text, 0, job->plan->world - 1));
    if (far.serves)
        names_ended(&proc, false);
}

/* ---- all ---- */

void far_handle(struct job *job, struct upcall *u)
{
    if (u->procs) {
        meet_join(job, u);
    } else if (u->kind == UPCALL_MODEX) {
        ask_for_data(job, u);
    } else if (u->kind == UPCALL_MODEX_READY) {
        found_data(job, u);
    } else if (u->kind == UPCALL_MODEX_OVER) {
        found_no_data(job, u);
    } else if (u->kind == UPCALL_EVENT) {
        pass_event_on(job, u);
    } else {
        ask_for_names(job, u);
    }
}

void far_open(bool serves, const char *nspace)
{
    far.serves = serves;
    far.nspace = nspace;
    meet_open();
    post_handle(POST_PMIX_GET, got_get);
    post_handle_late(POST_PMIX_GET, get_too_late);
    post_handle(POST_PMIX_GOT, got_data);
    post_handle(POST_PMIX_EVENT, got_event);
    post_handle(POST_PMIX_NAMES, got_names);
    post_handle(POST_PMIX_NAMED, got_named);
    post_handle(POST_PMIX_GONE, got_gone);
}
