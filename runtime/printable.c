/* SPDX-License-Identifier: BSD-3-Clause
 *
 * UTF-8 as RFC 3629 has it: no longer form of what has a shorter one, no halves of UTF-16.
 */
#include "runtime/printable.h"

#include <stdio.h>
#include <string.h>

size_t text_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* The bytes of a character of several, by its first one; 0: it begins none. */
static size_t length_of(unsigned char first)
{
    return first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/* What the second byte of a character is at least, and at most. */
static void second_of(unsigned char first, unsigned char reach[2])
{
    reach[0] = first == 0xc2 || first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    reach[1] = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
}

/* The bytes of the character at `at`, which ends with a zero; 0: none that is shown. */
static size_t character(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    unsigned char reach[2];
    if (byte[0] < 0x80)
        return byte[0] == '\t' || (byte[0] >= 0x20 && byte[0] != 0x7f);
    size_t n = length_of(byte[0]);
    second_of(byte[0], reach);
    if (n == 0 || byte[1] < reach[0] || byte[1] > reach[1])
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

const char *printable(char *to, size_t room, const char *text)
{
    enum { LONGEST = 4 }; /* "\x1b", and a character */
    char *end = to;
    while (*text && (size_t)(end - to) + LONGEST < room) {
        size_t n = character(text);
        if (n)
            memcpy(end, text, n);
        else
            snprintf(end, LONGEST + 1, "\\x%02x", (unsigned char)*text);
        end += n ? n : LONGEST;
        text += n ? n : 1;
    }
    *end = '\0';
    return to;
}
