/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Published names: what ranks publish for each other under a key, who may see it, and how long
 * it stays.  Values are opaque.  Pure: no system calls, no PMIx.
 */
#ifndef XMPI_LAUNCHER_KVS_H
#define XMPI_LAUNCHER_KVS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KVS_JOB_CHARS = 256, KVS_KEY_CHARS = 512 };

struct kvs_process {
    char job[KVS_JOB_CHARS];
    uint32_t rank;
    int node;
};

/* From narrow to wide.  All jobs that this launcher runs form one session. */
enum kvs_range { KVS_PROCESS, KVS_NODE, KVS_JOB, KVS_SESSION, KVS_NRANGES };

enum kvs_life {
    KVS_FIRST_READ, /* gone with the first lookup */
    KVS_WITH_PROCESS,
    KVS_WITH_PROGRAM,
    KVS_WITH_SESSION,
};

struct kvs_entry {
    char key[KVS_KEY_CHARS];
    struct kvs_process publisher;
    enum kvs_range range;
    enum kvs_life life;
    void *value;
};

struct kvs {
    struct kvs_entry **entries; /* in order of publication */
    size_t n, room;
    void (*value_free)(void *value);
};

/* Takes the value over and returns true; returns false, and leaves the value with the caller,
 * when the key is taken: no two entries of one range may be visible to the same process. */
bool kvs_publish(struct kvs *kvs, const struct kvs_process *publisher, const char *key,
                 enum kvs_range range, enum kvs_life life, void *value);

/* Take back what was published since the table had n entries; nothing was removed since. */
void kvs_rollback(struct kvs *kvs, size_t n);

/* The entry that `asker` sees under this key among those published by processes within `range`
 * of it; the narrowest when there are several; NULL: none. */
const struct kvs_entry *kvs_find(const struct kvs *kvs, const struct kvs_process *asker,
                                 const char *key, enum kvs_range range);

/* To be called when what kvs_find returned has been handed out: it may live no longer. */
void kvs_was_read(struct kvs *kvs, const struct kvs_entry *entry);

/* Remove what `publisher` published in this range or a narrower one, under the key or under any
 * (NULL).  The number of entries removed. */
int kvs_unpublish(struct kvs *kvs, const struct kvs_process *publisher, const char *key,
                  enum kvs_range range);

/* The process (its whole program) has ended: remove what lived no longer than that. */
void kvs_ended(struct kvs *kvs, const struct kvs_process *publisher, enum kvs_life life);

void kvs_clear(struct kvs *kvs);

#endif
