/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text as JSON wants it between quotes.
 */
#ifndef XMPI_JSON_H
#define XMPI_JSON_H

#include <stdio.h>

static inline void json_text(FILE *to, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < ' ')
            fprintf(to, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else
            fputc(*c, to);
}

#endif
