/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Measuring a collective of very many ranks, if need be by smaller ones.
 */
#ifndef XMPI_STEADY_H
#define XMPI_STEADY_H

#include "coll/cast.h"

enum { STEADY_VALUES = 12 };

/* Measures a cast. */
typedef int steady_measure(const struct cast *cast, const void *with, double v[STEADY_VALUES]);

struct steady {
    int64_t acts; /* performed in the last measurement */
    int actors;
    enum symmetry symmetry; /* why so few actors */
    int ranks;              /* of the largest run, when the rest was extrapolated; else 0 */
    double bend;            /* so far the runs are from a line, as a share of its slope */
};

struct steady_job {
    const struct price_query *query;
    struct grouping grouping;
    size_t most; /* acts to perform */
    steady_measure *measure;
    int certain;      /* so many of its values must lie on a line, */
    double bend;      /* or almost, see steady.bend */
    const void *with; /* handed to the measure */
};

/* Steps of rank 0 of an algorithm that needs no places, on p ranks, without inferring anything.  -1: no memory. */
double count_steps(const struct price_query *query, int p);

/* v of the query, and how it was got.  0, or what cast_open or the measure says. */
int steady_run(const struct steady_job *job, double v[STEADY_VALUES], struct steady *how);

#endif
