/* SPDX-License-Identifier: BSD-3-Clause
 *
 * See tree.h.  The first parts are the longer ones, so the first of them says how high the tree is.
 */
#include "launcher/tree.h"

int tree_parts(int n, int fanout)
{
    return n < fanout ? n : fanout;
}

int tree_part(int n, int fanout, int i)
{
    int parts = tree_parts(n, fanout);
    if (!parts)
        return 0;
    int longer = n % parts;
    return i * (n / parts) + (i < longer ? i : longer);
}

int tree_height(int n, int fanout)
{
    int height = 0;
    for (; n > 0; height++)
        n = tree_part(n, fanout, 1) - 1;
    return height;
}
