/* SPDX-License-Identifier: BSD-3-Clause
 *
 * SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of a text.  Who does not know the key
 * cannot make it.  Fifty lines are less than a library for them would be.
 */
#ifndef XMPI_LAUNCHER_SIPHASH_H
#define XMPI_LAUNCHER_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { KEY_BYTES = 16 };

uint64_t siphash(const uint8_t key[KEY_BYTES], const void *text, size_t bytes);

/* Its 128-bit form; makes keys out of keys. */
void siphash_key(const uint8_t key[KEY_BYTES], const void *text, size_t bytes,
                 uint8_t made[KEY_BYTES]);

#endif
