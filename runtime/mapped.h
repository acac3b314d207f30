/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of other processes of this node, mapped here: loads and stores in place of system calls.
 * By XPMEM (xpmem.h), where there is that.
 *
 *     owner      mapped_share: a name for all of its memory
 *     others     mapped_get by name; mapped_copy by the owner's addresses, or mapped_at to work there
 *
 * All of it under the engine lock.
 */
#ifndef XMPI_MAPPED_H
#define XMPI_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name for the memory of this process, for others of the same user; made once.  0: there is none, and
 * *why is a clause. */
int64_t mapped_share(const char **why);

/* The memory of the process that has this name.  NULL: it cannot be mapped, and *why is a clause. */
struct mapped;
struct mapped *mapped_get(int64_t name, const char **why);

/* Is it worth asking?  False: too much was refused. */
bool mapped_is_good(const struct mapped *mapped);

/* Copy to or from memory of its owner.  Fewer bytes: the rest cannot be reached, or not now. */
size_t mapped_read(struct mapped *from, void *to, uint64_t address, size_t bytes);
size_t mapped_write(struct mapped *to, uint64_t address, const void *from, size_t bytes);

/* Where the owner's bytes lie here, until the one after the next call of mapped_at; NULL: not in one
 * piece, or not at all.  To be touched guarded (guard.h) only. */
char *mapped_at(struct mapped *mapped, uint64_t address, size_t bytes);

/* Nothing of others is mapped any more. */
void mapped_close(void);

#endif
