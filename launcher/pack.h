/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers and texts in a row of bytes, for frames between launchers (wire.h).  Numbers are 8 bytes,
 * lowest first; a text is its length and its bytes, with a NUL that is not counted.
 *
 * Reading never goes beyond the end: what is not there reads as 0 or "", and `bad` says so; it
 * is enough to ask once, at the end.
 */
#ifndef XMPI_LAUNCHER_PACK_H
#define XMPI_LAUNCHER_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pack { /* zeros: empty */
    char *bytes;
    size_t n, room;
};

void pack_number(struct pack *pack, int64_t number);
void pack_text(struct pack *pack, const char *text); /* NULL as "" */
void pack_bytes(struct pack *pack, const void *bytes, size_t n);
void pack_texts(struct pack *pack, char *const *texts); /* up to NULL */
/* Bytes as they are, without their number. */
void pack_raw(struct pack *pack, const void *bytes, size_t n);
void pack_free(struct pack *pack);

/* Of `*n` bytes that are sent from the front: give up the first `*done` once they are the greater part.  Where
 * the other side never catches up entirely there would be no other time, and each byte is moved once at most
 * for one that goes. */
void bytes_let_go(char *bytes, size_t *n, size_t *done);

struct unpack {
    const char *at, *end;
    bool bad;
};

/* What has not been read yet, as it is. */
void pack_rest(struct pack *pack, const struct unpack *from);

int64_t unpack_number(struct unpack *from);
/* A number that must be in a range; `bad`, and `least`, when it is not. */
int unpack_int(struct unpack *from, int least, int most);
const char *unpack_text(struct unpack *from);             /* lies in the packed bytes */
const char *unpack_bytes(struct unpack *from, size_t *n); /* likewise */
char **unpack_texts(struct unpack *from, int *n); /* malloced list with a NULL at its end */

#endif
