/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of published names: a plain array.  Names are few (a port name, an address of a
 * server), so a walk over all of them is the cheapest index; a hundred lookups in a thousand
 * names cost less than one message to the launcher.
 *
 *     asker ---- sees ----> entry      when it is within the entry's range of the publisher,
 *                                      and the publisher within the lookup's range of it
 */
#include "launcher/kvs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_same(const struct kvs_process *a, const struct kvs_process *b)
{
    return a->rank == b->rank && strcmp(a->job, b->job) == 0;
}

/* Symmetric, and for each range transitive: ranges part processes into classes. */
static bool are_within(const struct kvs_process *a, const struct kvs_process *b,
                       enum kvs_range range)
{
    switch (range) {
    case KVS_PROCESS:
        return is_same(a, b);
    case KVS_NODE:
        return a->node == b->node;
    case KVS_JOB:
        return strcmp(a->job, b->job) == 0;
    default:
        return true;
    }
}

static void remove_at(struct kvs *kvs, size_t at)
{
    if (kvs->value_free)
        kvs->value_free(kvs->entries[at]->value);
    free(kvs->entries[at]);
    kvs->n--;
    memmove(kvs->entries + at, kvs->entries + at + 1, (kvs->n - at) * sizeof *kvs->entries);
}

static struct kvs_entry *append(struct kvs *kvs)
{
    if (kvs->n == kvs->room) {
        kvs->room = kvs->room ? 2 * kvs->room : 16;
        kvs->entries = realloc(kvs->entries, kvs->room * sizeof *kvs->entries);
        if (!kvs->entries)
            abort();
    }
    struct kvs_entry *entry = malloc(sizeof *entry);
    if (!entry)
        abort();
    return kvs->entries[kvs->n++] = entry;
}

bool kvs_publish(struct kvs *kvs, const struct kvs_process *publisher, const char *key,
                 enum kvs_range range, enum kvs_life life, void *value)
{
    for (size_t i = 0; i < kvs->n; i++) {
        const struct kvs_entry *e = kvs->entries[i];
        if (e->range == range && strcmp(e->key, key) == 0 &&
            are_within(&e->publisher, publisher, range))
            return false;
    }
    struct kvs_entry *entry = append(kvs);
    snprintf(entry->key, sizeof entry->key, "%s", key);
    entry->publisher = *publisher;
    entry->range = range;
    entry->life = life;
    entry->value = value;
    return true;
}

void kvs_rollback(struct kvs *kvs, size_t n)
{
    while (kvs->n > n)
        remove_at(kvs, kvs->n - 1);
}

const struct kvs_entry *kvs_find(const struct kvs *kvs, const struct kvs_process *asker,
                                 const char *key, enum kvs_range range)
{
    const struct kvs_entry *found = NULL;
    for (size_t i = 0; i < kvs->n; i++) {
        const struct kvs_entry *e = kvs->entries[i];
        if (strcmp(e->key, key) == 0 && are_within(asker, &e->publisher, e->range) &&
            are_within(asker, &e->publisher, range) && (!found || e->range < found->range))
            found = e;
    }
    return found;
}

void kvs_was_read(struct kvs *kvs, const struct kvs_entry *entry)
{
    if (entry->life != KVS_FIRST_READ)
        return;
    size_t at = 0;
    while (kvs->entries[at] != entry)
        at++;
    remove_at(kvs, at);
}

int kvs_unpublish(struct kvs *kvs, const struct kvs_process *publisher, const char *key,
                  enum kvs_range range)
{
    int removed = 0;
    for (size_t i = kvs->n; i-- > 0;) {
        const struct kvs_entry *e = kvs->entries[i];
        if (e->range <= range && is_same(&e->publisher, publisher) &&
            (!key || strcmp(e->key, key) == 0)) {
            remove_at(kvs, i);
            removed++;
        }
    }
    return removed;
}

void kvs_ended(struct kvs *kvs, const struct kvs_process *publisher, enum kvs_life life)
{
    for (size_t i = kvs->n; i-- > 0;)
        if (kvs->entries[i]->life == life && is_same(&kvs->entries[i]->publisher, publisher))
            remove_at(kvs, i);
}

void kvs_clear(struct kvs *kvs)
{
    kvs_rollback(kvs, 0);
    free(kvs->entries);
    kvs->entries = NULL;
    kvs->room = 0;
}
