/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A hash table of peers with open addressing; nobody is ever taken out.
 */
#include "coll/talks.h"

#include <stdlib.h>

enum { LEAST = 16 };

static struct talk *find(const struct talks *talks, int peer)
{
    uint32_t mask = talks->size - 1, i = (uint32_t)peer * 0x9e3779b1u & mask;
    while (talks->talk[i].peer != peer + 1 && talks->talk[i].peer != 0)
        i = (i + 1) & mask;
    return &talks->talk[i];
}

static bool grow(struct talks *talks)
{
    struct talks more = { .size = talks->size ? 2 * talks->size : LEAST,
                          .peers = talks->peers };
    more.talk = calloc(more.size, sizeof *more.talk);
    if (!more.talk)
        return false;
    for (uint32_t i = 0; i < talks->size; i++)
        if (talks->talk[i].peer)
            *find(&more, talks->talk[i].peer - 1) = talks->talk[i];
    free(talks->talk);
    *talks = more;
    return true;
}

struct talk *talk_with(struct talks *talks, int peer)
{
    if (2 * (talks->peers + 1) > talks->size && !grow(talks))
        return NULL;
    struct talk *talk = find(talks, peer);
    talks->peers += talk->peer == 0;
    talk->peer = peer + 1;
    return talk;
}

void talks_close(struct talks *talks)
{
    free(talks->talk);
    *talks = (struct talks){ .talk = NULL };
}
