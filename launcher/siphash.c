/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SipHash-2-4: two rounds for each word of the text, four at the end.
 */
#include "launcher/siphash.h"

#include <string.h>

struct state {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--)
        word = word << 8 | bytes[i];
    return word;
}

static void rounds(struct state *s, int n)
{
    while (n--) {
        s->v0 += s->v1;
        s->v1 = rotate(s->v1, 13) ^ s->v0;
        s->v0 = rotate(s->v0, 32);
        s->v2 += s->v3;
        s->v3 = rotate(s->v3, 16) ^ s->v2;
        s->v0 += s->v3;
        s->v3 = rotate(s->v3, 21) ^ s->v0;
        s->v2 += s->v1;
        s->v1 = rotate(s->v1, 17) ^ s->v2;
        s->v2 = rotate(s->v2, 32);
    }
}

static void absorb(struct state *s, uint64_t word)
{
    s->v3 ^= word;
    rounds(s, 2);
    s->v0 ^= word;
}

static struct state state_of(const uint8_t *key)
{
    uint64_t k0 = word_at(key), k1 = word_at(key + 8);
    return (struct state){ k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du,
                           k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u };
}

static void absorb_text(struct state *s, const uint8_t *text, size_t bytes)
{
    uint8_t last[8] = { 0 };
    size_t whole = bytes / 8 * 8;
    for (size_t i = 0; i < whole; i += 8)
        absorb(s, word_at(text + i));
    if (bytes > whole)
        memcpy(last, text + whole, bytes - whole);
    last[7] = (uint8_t)bytes;
    absorb(s, word_at(last));
}

static uint64_t word_of(const struct state *s)
{
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

uint64_t siphash(const uint8_t key[KEY_BYTES], const void *text, size_t bytes)
{
    struct state s = state_of(key);
    absorb_text(&s, text, bytes);
    s.v2 ^= 0xff;
    rounds(&s, 4);
    return word_of(&s);
}

static void word_put(uint8_t *bytes, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

void siphash_key(const uint8_t key[KEY_BYTES], const void *text, size_t bytes,
                 uint8_t made[KEY_BYTES])
{
    struct state s = state_of(key);
    s.v1 ^= 0xee;
    absorb_text(&s, text, bytes);
    s.v2 ^= 0xee;
    rounds(&s, 4);
    word_put(made, word_of(&s));
    s.v1 ^= 0xdd;
    rounds(&s, 4);
    word_put(made + 8, word_of(&s));
}
