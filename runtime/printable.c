/* SPDX-License-Identifier: BSD-3-Clause
 *
 * UTF-8 as RFC 3629 has it: no longer form of what has a shorter one, no halves of UTF-16.
 */
#include "runtime/printable.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t text_mark(const char *text)
{
    return strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* The bytes of the character that begins here, and its number; 0: it is none of UTF-8. */
static size_t utf8_read(const unsigned char *text, uint32_t *number)
{
    size_t n = text[0] < 0x80             ? 1
               : (text[0] & 0xe0) == 0xc0 ? 2
               : (text[0] & 0xf0) == 0xe0 ? 3
               : (text[0] & 0xf8) == 0xf0 ? 4
                                          : 0;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    *number = n > 1 ? text[0] & (0x7fu >> n) : text[0];
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *number = *number << 6 | (text[i] & 0x3f);
    }
    return *number < least[n] || *number > 0x10ffff || (*number >> 11) == 0x1b ? 0 : n;
}

/* Controls, and what ends lines or turns their direction. */
static bool is_printable(uint32_t c)
{
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) && !(c >= 0x2028 && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069);
}

static size_t shown_as(const unsigned char *text, char shown[20], size_t *taken)
{
    uint32_t c;
    size_t n = utf8_read(text, &c), used = 0;
    *taken = n ? n : 1;
    if (n && is_printable(c)) {
        memcpy(shown, text, n);
        return n;
    }
    if (*text == '\n' || *text == '\t')
        return (size_t)sprintf(shown, "\\%c", *text == '\n' ? 'n' : 't');
    for (size_t i = 0; i < *taken; i++)
        used += (size_t)sprintf(shown + used, "\\x%02x", text[i]);
    return used;
}

const char *printable(char *to, size_t room, const char *text)
{
    char shown[20];
    size_t used = 0, taken;
    for (const unsigned char *at = (const unsigned char *)text; *at; at += taken) {
        size_t chars = shown_as(at, shown, &taken);
        if (used + chars >= room)
            break;
        memcpy(to + used, shown, chars);
        used += chars;
    }
    to[used] = '\0';
    return to;
}

static bool is_plain(const char *text, size_t room)
{
    size_t n = 0;
    while (n < room && text[n] >= ' ' && text[n] <= '~')
        n++;
    return n < room && !text[n];
}

/* Does the text, of so many bytes, end within a character? */
static size_t cut_of(const char *text, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char first = (unsigned char)text[n - back];
        if (first >= 0xc0)
            return (first >= 0xf0 ? 4u : first >= 0xe0 ? 3u : 2u) > back ? back : 0;
        if (first < 0x80)
            return 0;
    }
    return 0;
}

void printable_here(char *text, size_t room)
{
    enum { MOST = 512 };
    char raw[MOST];
    if (is_plain(text, room))
        return;
    size_t n = strnlen(text, room < MOST ? room - 1 : MOST - 1);
    memcpy(raw, text, n);
    raw[n] = '\0';
    if (n + 1 == room)
        raw[n - cut_of(raw, n)] = '\0';
    printable(text, room, raw);
}
