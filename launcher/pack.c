/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See pack.h.  Memory that is out ends the launcher: nothing sensible can be done without.
 */
#include "launcher/pack.h"

#include <stdlib.h>
#include <string.h>

void pack_raw(struct pack *pack, const void *bytes, size_t n)
{
    if (pack->n + n > pack->room) {
        pack->room = 2 * (pack->n + n) + 256;
        pack->bytes = realloc(pack->bytes, pack->room);
        if (!pack->bytes)
            abort();
    }
    if (n)
        memcpy(pack->bytes + pack->n, bytes, n);
    pack->n += n;
}

void pack_number(struct pack *pack, int64_t number)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)number >> 8 * i);
    pack_raw(pack, bytes, sizeof bytes);
}

void pack_bytes(struct pack *pack, const void *bytes, size_t n)
{
    pack_number(pack, (int64_t)n);
    pack_raw(pack, bytes, n);
    pack_raw(pack, "", 1);
}

void pack_text(struct pack *pack, const char *text)
{
    pack_bytes(pack, text ? text : "", text ? strlen(text) : 0);
}

void pack_texts(struct pack *pack, char *const *texts)
{
    int n = 0;
    while (texts && texts[n])
        n++;
    pack_number(pack, n);
    for (int i = 0; i < n; i++)
        pack_text(pack, texts[i]);
}

void pack_free(struct pack *pack)
{
    free(pack->bytes);
    *pack = (struct pack){ 0 };
}

void bytes_let_go(char *bytes, size_t *n, size_t *done)
{
    size_t waits = *n - *done;
    if (*done < waits)
        return;
    if (waits && *done)
        memmove(bytes, bytes + *done, waits);
    *n = waits;
    *done = 0;
}

/* ---- reading ---- */

static size_t left(const struct unpack *from)
{
    return from->bad ? 0 : (size_t)(from->end - from->at);
}

void pack_rest(struct pack *pack, const struct unpack *from)
{
    pack_raw(pack, from->at, left(from));
}

int64_t unpack_number(struct unpack *from)
{
    uint64_t number = 0;
    if (left(from) < 8) {
        from->bad = true;
        return 0;
    }
    for (int i = 7; i >= 0; i--)
        number = number << 8 | (unsigned char)from->at[i];
    from->at += 8;
    return (int64_t)number;
}

int unpack_int(struct unpack *from, int least, int most)
{
    int64_t number = unpack_number(from);
    if (number >= least && number <= most)
        return (int)number;
    from->bad = true;
    return least;
}

const char *unpack_bytes(struct unpack *from, size_t *n)
{
    uint64_t bytes = (uint64_t)unpack_number(from);
    if (bytes >= left(from) || from->at[bytes] != 0) {
        from->bad = true;
        *n = 0;
        return "";
    }
    const char *text = from->at;
    from->at += bytes + 1;
    *n = bytes;
    return text;
}

const char *unpack_text(struct unpack *from)
{
    size_t n;
    const char *text = unpack_bytes(from, &n);
    if (strlen(text) != n)
        from->bad = true;
    return text;
}

char **unpack_texts(struct unpack *from, int *n)
{
    *n = unpack_int(from, 0, (int)(left(from) / 9 > 1u << 30 ? 1u << 30 : left(from) / 9));
    char **texts = calloc((size_t)*n + 1, sizeof *texts);
    if (!texts)
        abort();
    for (int i = 0; i < *n; i++)
        texts[i] = (char *)unpack_text(from);
    return texts;
}
