/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The words of XMPI_EXPLAIN: collectives, with commas, or all.
 */
#include "coll/explain.h"

#include "coll/forced.h"
#include "runtime/boot.h"
#include "runtime/log.h"
#include "runtime/param.h"

#include <string.h>

/* A word that is no collective explains nothing for ever: said once, by one rank. */
static void words_check(const char *list)
{
    static bool checked;
    char word[48];
    if (checked)
        return;
    checked = true;
    for (size_t n; boot.rank == 0 && *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)n, list);
        if (n && strcmp(word, "all") != 0 && collective_find(word) < 0)
            say("XMPI_EXPLAIN=%s: there is no collective \"%s\"; give some of those that xmpi "
                "plan list shows, with commas, or all",
                param_string(EXPLAIN), word);
    }
}

bool explain_wanted(enum collective what)
{
    const char *list = param_string(EXPLAIN);
    if (list)
        words_check(list);
    return list && (strcmp(list, "all") == 0 || list_has(list, collective_name(what)));
}
