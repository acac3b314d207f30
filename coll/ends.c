/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The two ends of messages, by hash, in a table that is at most half full: where a message meets
 * another one it goes into the next entry that is free.
 *
 * Costs 20 bytes an entry and, when it is opened, one pass over them.
 */
#include "coll/ends.h"

#include <stdlib.h>

bool ends_open(struct ends_table *table, size_t messages)
{
    table->mask = 15;
    while (table->mask < 2 * messages)
        table->mask = 2 * table->mask + 1;
    table->ends = calloc(table->mask + 1, sizeof *table->ends);
    return table->ends != NULL;
}

void ends_close(struct ends_table *table)
{
    free(table->ends);
    table->ends = NULL;
}

struct ends *ends_of(const struct ends_table *table, int from, int to, uint32_t slot)
{
    uint64_t h = (uint64_t)(unsigned)from * 0x9e3779b97f4a7c15ull ^
                 (uint64_t)(unsigned)to * 0xbf58476d1ce4e5b9ull ^ slot * 0x94d049bb133111ebull;
    for (size_t i = (size_t)(h ^ h >> 29) & table->mask;; i = (i + 1) & table->mask) {
        struct ends *e = &table->ends[i];
        if (e->sent == 0 && e->taken == 0)
            *e = (struct ends){ .from = from, .to = to, .slot = slot };
        if (e->from == from && e->to == to && e->slot == slot)
            return e;
    }
}
