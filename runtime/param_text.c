/* SPDX-License-Identifier: BSD-3-Clause
 *
 * One row per knob whose text is one of some words, or has a form that can be looked at by itself.  What
 * needs more is looked at where it is used: names of algorithms, networks, interfaces.
 */
#include "runtime/param_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "0000:1b:00.0", with less in front or behind where CUDA takes that, too. */
static bool is_place_on_pci(const char *text)
{
    static const char *const forms[] = { "%*8x:%*2x:%*2x.%*1x%n", "%*8x:%*2x:%*2x%n",
                                         "%*2x:%*2x.%*1x%n" };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        int used = 0;
        sscanf(text, forms[i], &used);
        if (used && !text[used])
            return true;
    }
    return false;
}

/* "mpi,cuda:device:host": no word is empty where a colon says that there is one.  Kinds that nobody knows may
 * be asked for. */
static bool is_list_of_kinds(const char *text)
{
    for (const char *at = text; (at = strchr(at, ':')); at++)
        if (at == text || strchr(", :", at[-1]) || !at[1] || strchr(", :", at[1]))
            return false;
    return true;
}

/* A name without a folder is searched for. */
static bool may_be_opened(const char *text)
{
    return !strchr(text, '/') || access(text, R_OK) == 0;
}

static const struct row {
    enum param_id id;
    const char *words;
    bool (*fits)(const char *text);
    const char *wrong, *then;
} rows[] = {
    { PARAM_ID_POLITE, "auto, always, never", NULL, "none of auto, always, never", NULL },
    { PARAM_ID_CROWDED, "auto, yes, no", NULL, "none of auto, yes, no", NULL },
    { PARAM_ID_SHM_SINGLE_COPY, "auto, cma, xpmem, both, none", NULL,
      "none of auto, cma, xpmem, both, none", NULL },
    { PARAM_ID_INITIAL_ERRHANDLER, "mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return",
      NULL, "none of mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return", NULL },
    { PARAM_ID_GPU, NULL, is_place_on_pci, "not a place on PCI such as 0000:1b:00.0", NULL },
    { PARAM_ID_MEMORY_ALLOC_KINDS, NULL, is_list_of_kinds,
      "not a list of kinds such as mpi,system,cuda:device", NULL },
    { PARAM_ID_LIBXPMEM, NULL, may_be_opened, "not a library that can be read",
      "no memory of other ranks is mapped" },
};

static bool is_among(const char *text, const char *words)
{
    size_t n = strlen(text);
    for (; *words; words += strspn(words, ", ")) {
        size_t chars = strcspn(words, ",");
        if (chars == n && memcmp(words, text, n) == 0)
            return true;
        words += chars;
    }
    return false;
}

static const struct row *row_of(enum param_id id)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

const char *param_text_wrong(enum param_id id, const char *text, const char **then)
{
    const struct row *row = row_of(id);
    *then = row ? row->then : NULL;
    if (!row || !*text)
        return NULL;
    return (row->words ? is_among(text, row->words) : row->fits(text)) ? NULL : row->wrong;
}
