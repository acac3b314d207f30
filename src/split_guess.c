/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Guessing how a communicator is split.  Nearly all programs split by rank / k, rank % k, into
 * two parts, or leave some processes out, with a constant, the rank, or the place as key:
 *
 *     rank     0  1  2  3  4  5  6  7      low: 7, ranks 0 .. 6, 4 of them     stride 2
 *     color    7  8  7  8  7  8  7  8      high: 8, ranks 1 .. 7, 4 of them    first 0 + color - 7
 *     key      0  0 -2 -2 -4 -4 -6 -6      keys 0 .. -6                        -2 per place
 *
 * The lowest and the highest colour tell first ranks, stride and keys; the colours between have
 * to lie evenly between them.  A guess is then checked: each process compares its own vote, and
 * the number of voters must be that of the formula, so no place is empty or taken by another
 * colour.  Cost: 48 bytes folded twice, whatever the size.
 *
 * Not guessed: three or more parts that differ in size by more than what is missing at the end,
 * and keys that are no linear function of colour and place.
 */
#include "src/split_guess.h"

#include "mpi.h"

/* ---- tallies ---- */

struct tally tally_of(struct vote vote, int rank)
{
    if (vote.color == MPI_UNDEFINED)
        return (struct tally){ 0 };
    struct tally_color one = { vote.color, rank, rank, 1, vote.key, vote.key };
    return (struct tally){ one, one };
}

static struct tally_color color_fold(const struct tally_color *a, const struct tally_color *b,
                                     int wanted)
{
    if (a->count == 0 || b->count == 0)
        return a->count == 0 ? *b : *a;
    if (a->color != b->color)
        return (a->color < b->color) == (wanted < 0) ? *a : *b;
    const struct tally_color *first = a->first < b->first ? a : b;
    const struct tally_color *last = a->last > b->last ? a : b;
    return (struct tally_color){ a->color,         first->first,
                                 last->last,       a->count + b->count,
                                 first->first_key, last->last_key };
}

void tally_fold(void *to, const void *a, const void *b, size_t bytes)
{
    const struct tally *x = a, *y = b;
    struct tally *z = to;
    for (size_t i = 0; i < bytes / sizeof *z; i++)
        z[i] = (struct tally){ color_fold(&x[i].low, &y[i].low, -1),
                               color_fold(&x[i].high, &y[i].high, 1) };
}

/* ---- guesses ---- */

/* *result = (to - from) / steps, if that is whole; 0 without steps. */
static bool slope(int64_t from, int64_t to, int64_t steps, int64_t *result)
{
    *result = steps ? (to - from) / steps : 0;
    return steps == 0 || *result * steps == to - from;
}

/* How the ranks and keys of one colour go on; a single one goes on like the other colour. */
static bool color_slopes(const struct tally_color *c, struct guess *guess)
{
    int64_t stride, keys;
    if (c->count < 2)
        return true;
    if (!slope(c->first, c->last, c->count - 1, &stride) ||
        !slope(c->first_key, c->last_key, c->count - 1, &keys))
        return false;
    if (guess->stride && (guess->stride != stride || guess->key_stride != keys))
        return false;
    guess->stride = stride;
    guess->key_stride = keys;
    return true;
}

bool guess_from(const struct tally *all, int n, struct guess *guess)
{
    const struct tally_color *low = &all->low, *high = &all->high;
    *guess = (struct guess){ .low = low->color, .ends = { *low, *high }, .n = n };
    guess->colors = (int64_t)high->color - low->color + 1;
    guess->only_two = guess->colors > 1 && low->count + high->count == n;
    if (low->count == 0 || (guess->colors > n && !guess->only_two))
        return false;
    if (!color_slopes(low, guess) || !color_slopes(high, guess))
        return false;
    guess->stride += guess->stride == 0;
    guess->first = low->first;
    guess->key = low->first_key;
    guess->most = low->count > high->count ? low->count : high->count;
    return guess->only_two ||
           (slope(low->first, high->first, guess->colors - 1, &guess->first_step) &&
            slope(low->first_key, high->first_key, guess->colors - 1, &guess->key_step));
}

/* A colour that the formula knows: its first rank, first key and number; false: it does not. */
static bool color_at(const struct guess *g, int32_t color, struct tally_color *found)
{
    for (int i = 0; i < 2; i++)
        if (color == g->ends[i].color) {
            *found = g->ends[i];
            return true;
        }
    int64_t at = color - g->low, first = g->first + g->first_step * at;
    int64_t key = g->key + g->key_step * at;
    if (g->only_two || at < 0 || at >= g->colors || key != (int32_t)key)
        return false;
    int64_t room = (g->n - 1 - first) / g->stride + 1;
    *found = (struct tally_color){ .color = color,
                                   .first = (int32_t)first,
                                   .count = (int32_t)(room < g->most ? room : g->most),
                                   .first_key = (int32_t)key };
    return true;
}

bool guess_fits(const struct guess *guess, struct vote vote, int rank)
{
    struct tally_color mine;
    if (vote.color == MPI_UNDEFINED)
        return true;
    if (!color_at(guess, vote.color, &mine) || rank < mine.first)
        return false;
    int64_t place = (rank - mine.first) / guess->stride;
    return mine.first + place * guess->stride == rank && place < mine.count &&
           mine.first_key + place * guess->key_stride == vote.key;
}

int64_t guess_voters(const struct guess *guess)
{
    struct tally_color color;
    int64_t voters = 0;
    if (guess->only_two)
        return (int64_t)guess->ends[0].count + guess->ends[1].count;
    for (int64_t i = 0; i < guess->colors; i++)
        if (color_at(guess, (int32_t)(guess->low + i), &color))
            voters += color.count;
    return voters;
}

int guess_members(const struct guess *guess, int32_t color, int *first, int *stride)
{
    struct tally_color mine = { 0 };
    color_at(guess, color, &mine);
    bool backwards = guess->key_stride < 0;
    *stride = (int)(backwards ? -guess->stride : guess->stride);
    *first = (int)(backwards ? mine.first + (mine.count - 1) * guess->stride : mine.first);
    return mine.count;
}
