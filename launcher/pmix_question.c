/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pmix_question.h.
 */
#include "launcher/pmix_question.h"

#include "launcher/pmix_lib.h"

#include <stdlib.h>

struct asked { /* an upcall that waits for an answer */
    struct asked *next;
    struct upcall *upcall;
    int64_t number;
    pmix_proc_t whose; /* without a job: nobody's */
};

static struct asked *asked;
static int64_t numbers;

int64_t question_add(struct upcall *u, const pmix_proc_t *whose)
{
    struct asked *added = calloc(1, sizeof *added);
    if (!added)
        abort();
    *added = (struct asked){ .next = asked, .upcall = u, .number = ++numbers };
    if (whose)
        added->whose = *whose;
    asked = added;
    return numbers;
}

static struct upcall *take(struct asked **at)
{
    struct asked *found = *at;
    struct upcall *u = found ? found->upcall : NULL;
    if (found)
        *at = found->next;
    free(found);
    return u;
}

struct upcall *question_take(int64_t number)
{
    struct asked **at = &asked;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return take(at);
}

static bool is_about(const struct asked *question, const pmix_proc_t *whose)
{
    return strcmp(question->whose.nspace, whose->nspace) == 0 &&
           (question->whose.rank == whose->rank || whose->rank == PMIX_RANK_WILDCARD);
}

struct upcall *question_about(const pmix_proc_t *whose)
{
    struct asked **at = &asked;
    while (*at && !is_about(*at, whose))
        at = &(*at)->next;
    return take(at);
}

/* ---- keys and values ---- */

bool items_pack(struct pack *text, const void *items, size_t n, pmix_data_type_t type)
{
    pmix_data_buffer_t buffer = { 0 };
    pmix_status_t status =
        n ? pmix_lib.Data_pack(NULL, &buffer, (void *)items, (int32_t)n, type) : PMIX_SUCCESS;
    pack_number(text, (int64_t)n);
    pack_bytes(text, buffer.base_ptr, buffer.bytes_used);
    free(buffer.base_ptr);
    return status == PMIX_SUCCESS;
}

void *items_unpack(struct unpack *text, size_t *n, size_t size, pmix_data_type_t type)
{
    size_t bytes;
    int32_t count = unpack_int(text, 0, 1 << 20);
    const char *packed = unpack_bytes(text, &bytes);
    text->bad |= (size_t)count > bytes; /* each has a byte or more */
    *n = 0;
    if (text->bad)
        return NULL;
    char *items = calloc((size_t)count + 1, size), *copy = malloc(bytes + 1);
    if (!items || !copy)
        abort();
    memcpy(copy, packed, bytes);
    pmix_data_buffer_t buffer = { .base_ptr = copy,
                                  .pack_ptr = copy + bytes,
                                  .unpack_ptr = copy,
                                  .bytes_allocated = bytes,
                                  .bytes_used = bytes };
    bool good = true;
    if (count)
        good = pmix_lib.Data_unpack(NULL, &buffer, items, &count, type) == PMIX_SUCCESS;
    free(copy);
    *n = good ? (size_t)count : 0;
    if (good)
        return items;
    free(items);
    return NULL;
}

void items_free(pmix_info_t *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pmix_lib.Value_destruct(&items[i].value);
    free(items);
}

void proc_pack(struct pack *text, const pmix_proc_t *proc)
{
    pack_text(text, proc->nspace);
    pack_number(text, proc->rank);
}

pmix_proc_t proc_unpack(struct unpack *text)
{
    pmix_proc_t proc = proc_named(unpack_text(text), 0);
    proc.rank = (pmix_rank_t)unpack_number(text);
    return proc;
}
