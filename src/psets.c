/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Process sets (MPI 5.0, 11.3.2): the two that the standard demands, whose names may be written
 * in any case, and those of the launcher, which are in the boot segment: named ones (--pset),
 * one per program, host, package and NUMA node.
 *
 *     number     0             1            2 ...
 *     name       mpi://WORLD   mpi://SELF   as the launcher wrote them down
 *
 * A process is shown the sets that it belongs to; groups can be made of any, so that two of them
 * can become an intercommunicator.  Nothing is kept: each call reads the text.
 */
#include "src/psets.h"

#include "runtime/boot.h"
#include "runtime/fail.h"
#include "runtime/psets.h"
#include "src/api/comm.h"
#include "src/api/process.h"
#include "src/group.h"
#include "src/info.h"
#include "src/session.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char *const standard[PSETS_OF_STANDARD] = { "mpi://WORLD", "mpi://SELF" };

/* ---- sets by number ---- */

/* The launcher's set of this number. */
static bool launchers_set(int number, struct pset *set)
{
    const char *at = bootseg_psets(boot.segment);
    bool found = true;
    for (int i = PSETS_OF_STANDARD; i <= number && found; i++)
        found = psets_next(&at, set);
    return found;
}

int pset_find(const char *name)
{
    struct pset set;
    for (int i = 0; i < PSETS_OF_STANDARD; i++)
        if (!strcasecmp(name, standard[i]))
            return i;
    const char *at = bootseg_psets(boot.segment);
    for (int i = PSETS_OF_STANDARD; psets_next(&at, &set); i++)
        if (pset_is_called(&set, name))
            return i;
    return -1;
}

struct ranks *pset_ranks(int number)
{
    struct ranks_draft draft = { 0 };
    struct pset_range range;
    struct pset set;
    if (number == PSET_WORLD)
        return ranks_range(boot.size, 0, 1);
    if (number == PSET_SELF)
        return ranks_range(1, boot.rank, 1);
    if (launchers_set(number, &set))
        while (pset_next_range(&set, &range))
            ranks_add_range(&draft, range.n, range.first, range.stride);
    return ranks_finish(&draft);
}

static bool is_member(struct pset *set)
{
    struct pset_range range;
    while (pset_next_range(set, &range)) {
        struct ranks ranks = { .n = range.n, .first = range.first, .stride = range.stride };
        if (ranks_find(&ranks, boot.rank) >= 0)
            return true;
    }
    return false;
}

/* The n-th set that this process belongs to: its name, not terminated; false: there are fewer,
 * *n of them. */
static bool my_set(int *n, const char **name, int *chars)
{
    const char *at = bootseg_psets(boot.segment);
    struct pset set;
    int mine = PSETS_OF_STANDARD;
    if (*n >= 0 && *n < PSETS_OF_STANDARD) {
        *name = standard[*n];
        *chars = (int)strlen(*name);
        return true;
    }
    while (psets_next(&at, &set)) {
        *name = set.name;
        *chars = set.name_chars;
        if (is_member(&set) && mine++ == *n)
            return true;
    }
    *n = mine;
    return false;
}

/* ---- the functions of the standard ---- */

int xmpi_session_get_num_psets(session_t session, info_t info, int_out_t *npset_names)
{
    const char *name;
    int chars;
    (void)session;
    (void)info;
    *npset_names = -1;
    my_set(npset_names, &name, &chars);
    return MPI_SUCCESS;
}

int xmpi_session_get_nth_pset(session_t session, info_t info, int n, int_out_t *pset_len,
                              char *pset_name)
{
    const char *name;
    int chars, count = n;
    (void)session;
    (void)info;
    if (!my_set(&count, &name, &chars))
        return fail(MPI_ERR_ARG, "argument n is %d, there are %d process sets counted from 0",
                    n, count);
    if (*pset_len > 0 && !pset_name)
        return fail(MPI_ERR_ARG,
                    "argument pset_name is NULL, pset_len says that it has %d bytes",
                    *pset_len);
    if (*pset_len > 0)
        snprintf(pset_name, (size_t)*pset_len, "%.*s", chars, name);
    *pset_len = chars + 1;
    return MPI_SUCCESS;
}

static int pset_number(const char *name, int *number)
{
    *number = pset_find(name);
    if (*number >= 0)
        return MPI_SUCCESS;
    return fail(MPI_ERR_ARG,
                "there is no process set \"%s\"; MPI_Session_get_nth_pset names them (%s, %s "
                "and those of the launcher)",
                name, standard[0], standard[1]);
}

int xmpi_session_get_pset_info(session_t session, string_t pset_name, info_out_t *info)
{
    int number, rc = pset_number(pset_name, &number);
    (void)session;
    if (rc)
        return rc;
    struct ranks *ranks = pset_ranks(number);
    char size[32];
    snprintf(size, sizeof size, "%d", ranks ? ranks->n : 0);
    struct info *made = ranks ? info_new() : NULL;
    ranks_drop(ranks);
    if (!made || info_set(made, "mpi_size", size)) {
        info_delete(made);
        return fail(MPI_ERR_NO_MEM, "no memory for an info object");
    }
    *info = made;
    return MPI_SUCCESS;
}

int xmpi_group_from_session_pset(session_t session, string_t pset_name, group_out_t *newgroup)
{
    int number, rc = pset_number(pset_name, &number);
    if (rc)
        return rc;
    *newgroup = group_new(pset_ranks(number));
    if (!*newgroup)
        return fail(MPI_ERR_NO_MEM, "no memory for a group");
    if (*newgroup != &group_empty)
        (*newgroup)->session = session->number;
    return MPI_SUCCESS;
}
