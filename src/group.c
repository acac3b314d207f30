/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Groups: the set algebra of MPI 5.0, 7.3, as pure functions over rank maps.
 *
 * Every operation turns positions of its arguments into world ranks, and asks of some of them
 * "where is this one in the other group?".  struct finder answers that in O(1): regular maps
 * compute it, long lists get a table indexed by world rank, short lists are searched.  Results
 * grow as drafts (runtime/ranks.h), which need no memory while they are regular; positions are
 * marked to find repetitions only when they neither rise nor fall all the way.  So all operations
 * cost O(n) time, regular groups of 10^6 processes no more memory than small ones, and nothing
 * here talks to another process.
 *
 * A group is immutable.  The empty group is always MPI_GROUP_EMPTY itself.
 */
#include "src/group.h"

#include "mpi.h"
#include "runtime/boot.h"
#include "runtime/fail.h"
#include "src/api/comm.h"

#include <stdlib.h>

static struct ranks no_ranks = { .refs = 1, .stride = 1 };
struct group group_empty = { .object = { .kind = OBJECT_GROUP, .refs = 1 },
                             .ranks = &no_ranks,
                             .rank = MPI_UNDEFINED };

/* ---- objects ---- */

struct group *group_new(struct ranks *ranks)
{
    if (!ranks)
        return NULL;
    if (ranks->n == 0) {
        ranks_drop(ranks);
        return group_hold(&group_empty);
    }
    struct group *group = object_new(OBJECT_GROUP, sizeof *group);
    if (!group) {
        ranks_drop(ranks);
        return NULL;
    }
    int mine = ranks_find(ranks, boot.rank);
    group->ranks = ranks;
    group->rank = mine < 0 ? MPI_UNDEFINED : mine;
    return group;
}

struct group *group_hold(struct group *group)
{
    if (group != &group_empty)
        object_hold(group);
    return group;
}

void group_drop(struct group *group)
{
    if (!group || group == &group_empty || !object_drop(group))
        return;
    ranks_drop(group->ranks);
    object_delete(group);
}

static int group_no_memory(int n)
{
    return fail(MPI_ERR_NO_MEM, "no memory for a group operation over %d processes", n);
}

/* ---- finding ---- */

enum { FINDER_SEARCHES = 16 }; /* lists up to here are searched, longer ones get a table */

struct finder {
    const struct ranks *ranks;
    int32_t *position; /* by world rank, plus one; NULL: ask the map */
    int limit;         /* world ranks below it are in the table */
};

static bool finder_open(struct finder *f, const struct ranks *ranks)
{
    *f = (struct finder){ .ranks = ranks };
    if (!ranks->list || ranks->n <= FINDER_SEARCHES)
        return true;
    for (int i = 0; i < ranks->n; i++)
        if (ranks->list[i] >= f->limit)
            f->limit = ranks->list[i] + 1;
    f->position = calloc((size_t)f->limit, sizeof *f->position);
    if (!f->position)
        return false;
    for (int i = 0; i < ranks->n; i++)
        f->position[ranks->list[i]] = i + 1;
    return true;
}

/* Position of a world rank, -1 when it is not there. */
static int finder_find(const struct finder *f, int world)
{
    if (!f->position)
        return ranks_find(f->ranks, world);
    return world < f->limit ? f->position[world] - 1 : -1;
}

static void finder_close(struct finder *f)
{
    free(f->position);
}

/* ---- the set operations ---- */

/* Add the members of `from` that are (or are not) in `other`, in their order. */
static int sieve(struct ranks_draft *draft, const struct ranks *from, const struct ranks *other,
                 bool wanted)
{
    struct finder f;
    if (!finder_open(&f, other))
        return group_no_memory(other->n);
    for (int i = 0; i < from->n; i++) {
        int world = ranks_world(from, i);
        if ((finder_find(&f, world) >= 0) == wanted)
            ranks_add(draft, world);
    }
    finder_close(&f);
    return MPI_SUCCESS;
}

/* The group that the draft has become, unless that went wrong; `from` gave it its members. */
static int group_finish(int rc, struct ranks_draft *draft, const struct group *from,
                        struct group **newgroup)
{
    struct ranks *ranks = ranks_finish(draft);
    if (rc) {
        ranks_drop(ranks);
        return rc;
    }
    struct group *group = group_new(ranks);
    if (!group)
        return fail(MPI_ERR_NO_MEM, "no memory for a group");
    if (group != &group_empty)
        group->session = from->session; /* what is made of a session's group is the session's */
    *newgroup = group;
    return MPI_SUCCESS;
}

/* The members of `group` that are (or are not) in `other`. */
static int group_sieve(const struct group *group, const struct ranks *other, bool wanted,
                       struct group **newgroup)
{
    struct ranks_draft draft = { 0 };
    int rc = sieve(&draft, group->ranks, other, wanted);
    return group_finish(rc, &draft, group, newgroup);
}

int xmpi_group_union(group_t group1, group_t group2, group_out_t *newgroup)
{
    struct ranks_draft draft = { 0 };
    ranks_add_part(&draft, group1->ranks, group1->ranks->n, 0, 1);
    int rc = sieve(&draft, group2->ranks, group1->ranks, false);
    return group_finish(rc, &draft, group1, newgroup);
}

int xmpi_group_intersection(group_t group1, group_t group2, group_out_t *newgroup)
{
    return group_sieve(group1, group2->ranks, true, newgroup);
}

int xmpi_group_difference(group_t group1, group_t group2, group_out_t *newgroup)
{
    return group_sieve(group1, group2->ranks, false, newgroup);
}

/* ---- choosing by position ---- */

/* Whoever was named before; `marks` are there when that is not obvious from the order. */
struct naming {
    const struct group *group;
    const char *what; /* the argument */
    bool *marks;      /* by position, or NULL */
};

static int name(const struct naming *naming, int i, int position)
{
    int n = naming->group->ranks->n;
    if (position < 0 || position >= n)
        return fail(MPI_ERR_RANK, "%s[%d] names rank %d, the group has ranks 0 to %d",
                    naming->what, i, position, n - 1);
    if (!naming->marks)
        return MPI_SUCCESS;
    if (naming->marks[position])
        return fail(MPI_ERR_RANK, "%s[%d] names rank %d, which was named before", naming->what,
                    i, position);
    naming->marks[position] = true;
    return MPI_SUCCESS;
}

/* False when memory is out. */
static bool naming_open(struct naming *naming, const struct group *group, const char *what,
                        bool obvious)
{
    *naming = (struct naming){ .group = group, .what = what };
    if (obvious)
        return true;
    naming->marks = calloc((size_t)group->ranks->n + 1, sizeof *naming->marks);
    return naming->marks;
}

static bool rises_or_falls(int n, const int positions[])
{
    for (int i = 2; i < n; i++)
        if ((positions[i] > positions[i - 1]) != (positions[1] > positions[0]) ||
            positions[i] == positions[i - 1])
            return false;
    return n < 2 || positions[0] != positions[1];
}

/* The members at these positions, in this order. */
static int group_at(struct ranks_draft *draft, const struct group *group, int n,
                    const int positions[])
{
    struct naming naming;
    if (!naming_open(&naming, group, "ranks", rises_or_falls(n, positions)))
        return group_no_memory(group->ranks->n);
    int rc = MPI_SUCCESS;
    for (int i = 0; i < n && !rc; i++) {
        rc = name(&naming, i, positions[i]);
        if (!rc)
            ranks_add(draft, ranks_world(group->ranks, positions[i]));
    }
    free(naming.marks);
    return rc;
}

/* The group without the members in the draft. */
static int group_without(int rc, const struct group *group, struct ranks_draft *draft,
                         struct group **newgroup)
{
    struct ranks *named = ranks_finish(draft);
    if (!rc)
        rc = named ? group_sieve(group, named, false, newgroup)
                   : group_no_memory(group->ranks->n);
    ranks_drop(named);
    return rc;
}

int xmpi_group_incl(group_t group, length_t n, const int ranks[], group_out_t *newgroup)
{
    struct ranks_draft draft = { 0 };
    int rc = group_at(&draft, group, n, ranks);
    return group_finish(rc, &draft, group, newgroup);
}

int xmpi_group_excl(group_t group, length_t n, const int ranks[], group_out_t *newgroup)
{
    struct ranks_draft draft = { 0 };
    int rc = group_at(&draft, group, n, ranks);
    return group_without(rc, group, &draft, newgroup);
}

/* ---- ranges: first, last, stride ---- */

static int range_check(const struct group *group, const int range[3], int i)
{
    int first = range[0], last = range[1], stride = range[2], n = group->ranks->n;
    if (stride == 0)
        return fail(MPI_ERR_ARG, "argument ranges[%d] has stride 0", i);
    if (first < 0 || first >= n || last < 0 || last >= n)
        return fail(MPI_ERR_RANK, "ranges[%d] goes from %d to %d, the group has ranks 0 to %d",
                    i, first, last, n - 1);
    if ((stride > 0 && first > last) || (stride < 0 && first < last))
        return fail(MPI_ERR_ARG, "ranges[%d] goes from %d to %d with stride %d: wrong sign", i,
                    first, last, stride);
    return MPI_SUCCESS;
}

/* Does each range lie above the one before it, so that nobody can be named twice? */
static bool ranges_rise(int n, int ranges[][3])
{
    for (int i = 1; i < n; i++) {
        int before = ranges[i - 1][2] > 0 ? ranges[i - 1][1] : ranges[i - 1][0];
        if ((ranges[i][2] > 0 ? ranges[i][0] : ranges[i][1]) <= before)
            return false;
    }
    return true;
}

static int ranges_name(const struct naming *naming, struct ranks_draft *draft, int n,
                       int ranges[][3])
{
    for (int i = 0; i < n; i++) {
        int rc = range_check(naming->group, ranges[i], i);
        if (rc)
            return rc;
        int first = ranges[i][0], stride = ranges[i][2],
            steps = (ranges[i][1] - first) / stride;
        for (int k = 0; k <= steps && naming->marks && !rc; k++)
            rc = name(naming, i, first + k * stride);
        if (rc)
            return rc;
        ranks_add_part(draft, naming->group->ranks, steps + 1, first, steps ? stride : 1);
    }
    return MPI_SUCCESS;
}

/* The members that the ranges name, in this order. */
static int group_ranges(struct ranks_draft *draft, const struct group *group, int n,
                        int ranges[][3])
{
    struct naming naming;
    if (!naming_open(&naming, group, "ranges", ranges_rise(n, ranges)))
        return group_no_memory(group->ranks->n);
    int rc = ranges_name(&naming, draft, n, ranges);
    free(naming.marks);
    return rc;
}

int xmpi_group_range_incl(group_t group, length_t n, int ranges[][3], group_out_t *newgroup)
{
    struct ranks_draft draft = { 0 };
    int rc = group_ranges(&draft, group, n, ranges);
    return group_finish(rc, &draft, group, newgroup);
}

int xmpi_group_range_excl(group_t group, length_t n, int ranges[][3], group_out_t *newgroup)
{
    struct ranks_draft draft = { 0 };
    int rc = group_ranges(&draft, group, n, ranges);
    return group_without(rc, group, &draft, newgroup);
}

/* ---- questions ---- */

int xmpi_group_size(group_t group, int_out_t *size)
{
    *size = group->ranks->n;
    return MPI_SUCCESS;
}

int xmpi_group_rank(group_t group, int_out_t *rank)
{
    *rank = group->rank;
    return MPI_SUCCESS;
}

int xmpi_group_translate_ranks(group_t group1, length_t n, const int ranks1[], group_t group2,
                               int ranks2[])
{
    struct finder f;
    if (!finder_open(&f, group2->ranks))
        return group_no_memory(group2->ranks->n);
    int rc = MPI_SUCCESS, size = group1->ranks->n;
    for (int i = 0; i < n && !rc; i++) {
        if (ranks1[i] == MPI_PROC_NULL) {
            ranks2[i] = MPI_PROC_NULL;
        } else if (ranks1[i] < 0 || ranks1[i] >= size) {
            rc = fail(MPI_ERR_RANK,
                      "argument ranks1[%d] is %d, group1 has %d members counted from 0", i,
                      ranks1[i], size);
        } else {
            int at = finder_find(&f, ranks_world(group1->ranks, ranks1[i]));
            ranks2[i] = at < 0 ? MPI_UNDEFINED : at;
        }
    }
    finder_close(&f);
    return rc;
}

int group_compare(const struct group *a, const struct group *b, int *result)
{
    struct finder f;
    *result = MPI_UNEQUAL;
    if (a->ranks->n != b->ranks->n)
        return MPI_SUCCESS;
    if (ranks_are_equal(a->ranks, b->ranks)) {
        *result = MPI_IDENT;
        return MPI_SUCCESS;
    }
    if (!finder_open(&f, b->ranks))
        return group_no_memory(b->ranks->n);
    bool same = true;
    for (int i = 0; i < a->ranks->n && same; i++)
        same = finder_find(&f, ranks_world(a->ranks, i)) >= 0;
    finder_close(&f);
    *result = same ? MPI_SIMILAR : MPI_UNEQUAL;
    return MPI_SUCCESS;
}

int group_check_inside(const struct group *part, const struct group *whole)
{
    struct finder f;
    if (part->ranks == whole->ranks)
        return MPI_SUCCESS;
    if (!finder_open(&f, whole->ranks))
        return group_no_memory(whole->ranks->n);
    int missing = -1;
    for (int i = 0; i < part->ranks->n && missing < 0; i++)
        if (finder_find(&f, ranks_world(part->ranks, i)) < 0)
            missing = i;
    finder_close(&f);
    if (missing >= 0)
        return fail(MPI_ERR_GROUP,
                    "rank %d of group (process %d of MPI_COMM_WORLD) is not in the "
                    "communicator's group",
                    missing, ranks_world(part->ranks, missing));
    return MPI_SUCCESS;
}

int xmpi_group_compare(group_t group1, group_t group2, int_out_t *result)
{
    return group_compare(group1, group2, result);
}

int xmpi_group_free(group_free_t *group)
{
    group_drop(*group);
    *group = NULL;
    return MPI_SUCCESS;
}
