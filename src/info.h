/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Info objects: ordered (key, value) pairs.
 */
#ifndef XMPI_INFO_H
#define XMPI_INFO_H

#include "runtime/object.h"

struct info_pair {
    char *key, *value;
};

struct info {
    struct object object; /* OBJECT_INFO */
    bool ours;            /* the library keeps it; the program has no handle to free */
    int n, capacity;
    struct info_pair *pairs;
};

struct info *info_new(void);
struct info *info_copy(const struct info *info); /* NULL gives an empty one */
void info_delete(struct info *info);
const char *info_get(const struct info *info, const char *key); /* NULL: not there */
int info_set(struct info *info, const char *key, const char *value);

/* Which memory may be given to communication (MPI 5.0, 11.4.3): the value of the key
 * mpi_memory_alloc_kinds of MPI_INFO_ENV, and of every session and communicator: what the info object
 * asks for, which may be NULL, else what was asked for on the command line of the launcher. */
#define MEMORY_KINDS_KEY "mpi_memory_alloc_kinds"
void memory_kinds(const struct info *info, char *text, size_t room);

/* Of what there is, on a machine with a device or without, what the list asks for; NULL: all of it. */
void memory_kinds_of(const char *asked, bool device, char *text, size_t room);

/* What MPI_INFO_ENV stands for: how this program was started.  Looked up when first asked for;
 * NULL when memory is out. */
struct info *info_env(void);

#endif
