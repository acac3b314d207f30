/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Packing by a device: each thread moves words of the packed form, neighbours neighbouring ones.
 * Where a word lies is looked up in a table (gpu_pack.c), which is the layout of one element:
 *
 *     packed byte   = element * size + rest
 *     node          n, length of every spot or 0, where the runs begin or 0, spots
 *     spot          its place in the element, bytes packed before it
 *     run           length of a piece, distance of pieces, node of a piece or 0
 *
 * Part of reduce_device.c, and so no part of the library itself.
 */
#include "runtime/reduce_device.h"

enum { NODE_SPOTS = 3, SPOT_WORDS = 2, RUN_WORDS = 3 };

/* The last spot at or before this byte. */
static inline size_t spot_find(const uint64_t *spots, size_t n, size_t packed)
{
    size_t low = 0;
    ROLLED while (n - low > 1)
    {
        size_t middle = low + (n - low) / 2;
        if (spots[SPOT_WORDS * middle + 1] <= packed)
            low = middle;
        else
            n = middle;
    }
    return low;
}

/* Where a packed byte of an element lies, from the element's origin. */
static inline size_t place_of(const uint64_t *table, size_t packed)
{
    const uint64_t *node = table;
    size_t place = 0;
    for (;;) {
        size_t n = node[0], each = node[1], runs = node[2];
        const uint64_t *spots = node + NODE_SPOTS;
        size_t k = each ? packed / each : spot_find(spots, n, packed);
        place += spots[SPOT_WORDS * k];
        packed -= spots[SPOT_WORDS * k + 1];
        if (!runs)
            return place + packed;
        const uint64_t *run = table + runs + RUN_WORDS * k;
        size_t piece = packed / run[0];
        place += piece * run[1];
        packed -= piece * run[0];
        if (!run[2])
            return place + packed;
        node = table + run[2];
    }
}

/* `words` words from packed byte `skip` on; elements of `size` packed bytes lie `extent` apart. */
#define PACK_KERNELS(bytes, type)                                                              \
    ENTRY pack_##bytes(void *flat, void *base, const void *table, size_t skip, size_t words,   \
                       size_t size, size_t extent)                                             \
    {                                                                                          \
        ROLLED for (size_t i = thread_number(); i < words; i += threads())                     \
        {                                                                                      \
            size_t packed = skip + i * (bytes), element = packed / size;                       \
            size_t place = place_of((const uint64_t *)table, packed - element * size);         \
            ((type *)flat)[i] = *(type *)((char *)base + element * extent + place);            \
        }                                                                                      \
    }                                                                                          \
    ENTRY unpack_##bytes(const void *flat, void *base, const void *table, size_t skip,         \
                         size_t words, size_t size, size_t extent)                             \
    {                                                                                          \
        ROLLED for (size_t i = thread_number(); i < words; i += threads())                     \
        {                                                                                      \
            size_t packed = skip + i * (bytes), element = packed / size;                       \
            size_t place = place_of((const uint64_t *)table, packed - element * size);         \
            *(type *)((char *)base + element * extent + place) = ((const type *)flat)[i];      \
        }                                                                                      \
    }

typedef uint64_t two_words __attribute__((ext_vector_type(2)));

PACK_KERNELS(1, uint8_t)
PACK_KERNELS(2, uint16_t)
PACK_KERNELS(4, uint32_t)
PACK_KERNELS(8, uint64_t)
PACK_KERNELS(16, two_words)
