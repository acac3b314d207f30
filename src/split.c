/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Partitioning a communicator: MPI_Comm_split (MPI 5.0, 7.4.2).
 *
 *     guess     all votes follow a formula: two folds of 48 bytes, no table anywhere
 *               (split_guess.c)
 *     sort      otherwise: up a tree, sorted, down again (split_sort.c)
 *     both      the first of a colour draws the ticket and tells the others (context.c)
 *
 * A single colour in the old order shares the parent's group.  An intercommunicator's processes
 * hear all votes, 8 bytes each, and sort both sides themselves.
 */
#include "src/split.h"

#include "runtime/fail.h"
#include "src/agree.h"
#include "src/api/comm.h"
#include "src/context.h"
#include "src/inter.h"
#include "src/split_sort.h"

#include <stdlib.h>

/* ---- intracommunicators ---- */

static int votes_fold(struct comm *comm, struct vote vote, struct tally *all)
{
    *all = tally_of(vote, comm_rank(comm));
    return team_fold(comm, tally_fold, all, sizeof *all);
}

/* *regular says whether the guess is right; the same everywhere. */
static int votes_guess(struct comm *comm, struct vote mine, struct guess *guess, bool *regular)
{
    struct tally all, check;
    int rc = votes_fold(comm, mine, &all);
    *regular = all.low.count == 0; /* nobody joins anybody */
    if (rc || *regular || !guess_from(&all, comm_size(comm), guess))
        return rc;
    bool fits = guess_fits(guess, mine, comm_rank(comm));
    bool votes = mine.color != MPI_UNDEFINED;
    rc = votes_fold(comm, (struct vote){ votes ? !fits : MPI_UNDEFINED, 0 }, &check);
    *regular = !rc && check.high.color == 0 && check.high.count == guess_voters(guess);
    return rc;
}

/* The parent's group where the members are all of it in its order, or a new one. */
static struct group *group_of_part(struct comm *comm, struct ranks *ranks)
{
    if (!ranks || !ranks_are_equal(ranks, comm->group->ranks))
        return group_new(ranks);
    ranks_drop(ranks);
    return group_hold(comm->group);
}

static struct ranks *guessed_ranks(struct comm *comm, const struct guess *guess, int32_t color)
{
    struct ranks_draft draft = { 0 };
    int first, stride, n = guess_members(guess, color, &first, &stride);
    ranks_add_part(&draft, comm->group->ranks, n, first, stride);
    return ranks_finish(&draft);
}

static int intra_ranks(struct comm *comm, struct vote mine, struct ranks **ranks)
{
    struct guess guess;
    struct classes classes = { 0 };
    bool regular, joins = mine.color != MPI_UNDEFINED;
    int rc = votes_guess(comm, mine, &guess, &regular);
    if (!rc && !regular)
        rc = split_sort(comm, mine, &classes);
    *ranks = NULL;
    if (!rc && joins)
        *ranks = regular ? guessed_ranks(comm, &guess, mine.color)
                         : classes_members(&classes, mine.color, comm->group->ranks);
    free(classes.words);
    return rc || !joins || *ranks ? rc : split_no_memory(comm_size(comm));
}

static int split_intra(struct comm *comm, struct vote mine, struct comm **newcomm)
{
    struct ranks *ranks;
    int rc = intra_ranks(comm, mine, &ranks);
    if (rc || !ranks)
        return rc;
    struct group *group = group_of_part(comm, ranks);
    if (!group)
        return split_no_memory(comm_size(comm));
    rc = comm_of_group(comm, group, 0, STEP_SPLIT, newcomm);
    group_drop(group);
    return rc;
}

/* ---- intercommunicators ---- */

/* Those of one side of the team, n from `base` on, that have my colour. */
static struct group *side_choose(struct comm *comm, const struct vote *votes, int base, int n,
                                 int32_t color)
{
    struct classes classes;
    if (!classes_sort(votes + base, n, base, &classes))
        return NULL;
    struct ranks *ranks = classes_members(&classes, color, comm->team.channel.peers);
    free(classes.words);
    return group_new(ranks);
}

static int sides_join(struct comm *comm, const struct vote *votes, int32_t color,
                      struct comm **newcomm)
{
    bool first = inter_is_first(comm->group, comm->remote);
    int split = comm->team.split, n = comm->team.channel.size, rc = MPI_SUCCESS;
    struct group *low = side_choose(comm, votes, 0, split, color);
    struct group *high = side_choose(comm, votes, split, n - split, color);
    struct group *group = first ? low : high, *remote = first ? high : low;
    if (!low || !high)
        rc = split_no_memory(n);
    else if (remote->ranks->n > 0)
        rc = inter_new(comm, group, remote, STEP_SPLIT, newcomm);
    group_drop(low);
    group_drop(high);
    return rc;
}

static int split_inter(struct comm *comm, struct vote mine, struct comm **newcomm)
{
    int n = comm->team.channel.size;
    struct vote *votes = malloc((size_t)n * sizeof *votes);
    if (!votes)
        return split_no_memory(n);
    int rc = team_allgather(comm, &mine, sizeof mine, votes);
    if (!rc && mine.color != MPI_UNDEFINED)
        rc = sides_join(comm, votes, mine.color, newcomm);
    free(votes);
    return rc;
}

/* ---- both ---- */

int split_by(struct comm *comm, int32_t color, int32_t key, struct comm **newcomm)
{
    struct vote mine = { color, key };
    *newcomm = NULL;
    return comm_is_inter(comm) ? split_inter(comm, mine, newcomm)
                               : split_intra(comm, mine, newcomm);
}

uint32_t split_begin(const struct comm *comm)
{
    return comm->team.calls;
}

int split_end(struct comm *comm, uint32_t begun, int rc, struct comm **newcomm)
{
    return comm_made(comm, begun, rc, newcomm);
}

int xmpi_comm_split(comm_t comm, int color, int key, comm_out_t *newcomm)
{
    if (color < 0 && color != MPI_UNDEFINED)
        return fail(MPI_ERR_ARG, "argument color is %d, it must be 0 or more, or MPI_UNDEFINED",
                    color);
    uint32_t before = split_begin(comm);
    return split_end(comm, before, split_by(comm, color, key, newcomm), newcomm);
}
