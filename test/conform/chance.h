/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Chance for random programs: the same on all ranks, and of each rank alone.
 */
#ifndef CHANCE_H
#define CHANCE_H

#include "check.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* The same on all ranks, for what they must agree on; and of this rank, for what is its own affair. */
static uint64_t together, alone;

static inline uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline int draw(uint64_t *state, int below)
{
    *state += 0x9e3779b97f4a7c15u;
    return (int)(mixed(*state) % (uint64_t)below);
}

static inline bool one_in(uint64_t *state, int n)
{
    return draw(state, n) == 0;
}

static inline void seed_chance(int seed)
{
    together = mixed((uint64_t)seed + 1);
    alone = mixed(together + (uint64_t)world_rank() + 1);
}

/* 0 to n - 1 in any order. */
static inline void shuffle(uint64_t *state, int *order, int n)
{
    for (int i = 0; i < n; i++) {
        int j = draw(state, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

/* What a random program plays: so many rounds of a seed, and how much at most in each. */
struct game {
    int *seed, *rounds, *most;
    int seeds; /* 1 to so many, without arguments */
    void (*play)(void);
};

/* PROGRAM [SEED [ROUNDS [MOST]]]; rounds and most are what they are without. */
static inline void play_seeds(int argc, char **argv, struct game game)
{
    *game.rounds = argc > 2 ? atoi(argv[2]) : *game.rounds;
    *game.most = argc > 3 ? atoi(argv[3]) : *game.most;
    CHECK(*game.rounds > 0 && *game.most > 0);
    int first = argc > 1 ? atoi(argv[1]) : 1, last = argc > 1 ? first : game.seeds;
    for (*game.seed = first; *game.seed <= last; ++*game.seed)
        game.play();
}

#endif
