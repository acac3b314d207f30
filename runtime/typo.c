/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The distance of Damerau and Levenshtein, a table of all beginnings of both words: row[i][j] is what
 * it takes to make the first j letters of b of the first i of a.
 */
#include "runtime/typo.h"

#include <stdbool.h>
#include <string.h>

enum { MOST = 40 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static bool are_swapped(const char *a, const char *b)
{
    return a[-1] == b[-2] && a[-2] == b[-1];
}

int typo_distance(const char *a, size_t n, const char *b)
{
    int na = (int)strnlen(a, n < MOST ? n : MOST), nb = (int)strnlen(b, MOST);
    int row[MOST + 1][MOST + 1];
    for (int i = 0; i <= na; i++)
        for (int j = 0; j <= nb; j++) {
            if (!i || !j) {
                row[i][j] = i + j;
                continue;
            }
            int change = row[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            row[i][j] = least(change, 1 + least(row[i - 1][j], row[i][j - 1]));
            if (i > 1 && j > 1 && are_swapped(a + i, b + j))
                row[i][j] = least(row[i][j], 1 + row[i - 2][j - 2]);
        }
    return row[na][nb];
}
