/* SPDX-License-Identifier: BSD-3-Clause */
#include "pml/patience.h"

#include "pml/arrived.h"
#include "pml/failure.h"
#include "runtime/progress.h"

#include <stddef.h>
#include <stdint.h>

/* Twice as many rounds for each MiB that was taken and waits for receives. */
enum { ROUNDS = 2, MIB = 20, MOST_MIBS = 10, FEW = 4 };

static uint32_t rounds; /* in a row that found nothing else */
static int lost;

/* Who sleeps is not woken once more by what is here already. */
int patience_allows(void)
{
    if (lost > 0 || waits_asleep > 0 || troubles > 0)
        return PATIENCE_ALL;
    size_t mibs = arrived_held >> MIB;
    if (rounds < (uint32_t)ROUNDS << (mibs < MOST_MIBS ? mibs : MOST_MIBS))
        return 0;
    return mibs > 0 ? FEW : PATIENCE_ALL;
}

void patience_round(bool only_stayed)
{
    rounds = only_stayed ? rounds + 1 : 0;
}

void patience_lose(void)
{
    lost++;
}

void patience_regain(void)
{
    lost--;
}
