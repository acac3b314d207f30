/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A number for a text (FNV-1a).  Files of measurements are named after it, so it stays as it is.
 */
#ifndef XMPI_TEXT_HASH_H
#define XMPI_TEXT_HASH_H

#include <stdint.h>

static inline uint32_t text_hash(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

#endif
