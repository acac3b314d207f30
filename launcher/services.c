/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The table of services, and the calls to all of them.
 */
#include "launcher/services.h"

#include "launcher/pmixsrv.h"
#include "launcher/spawned.h"
#include "launcher/trace.h"

#include <stddef.h>

const struct service services[] = {
    { "trace", trace_start, NULL, trace_started, NULL, NULL, trace_stop },
    { "pmix", pmixsrv_start, pmixsrv_rank_env, pmixsrv_started, pmixsrv_rank_gone,
      pmixsrv_other_gone, pmixsrv_stop },
    { "spawned", spawned_start, spawned_rank_env, spawned_started, spawned_rank_gone,
      spawned_other_gone, spawned_stop },
    { 0 },
};

int services_start(struct job *job)
{
    int status = 0;
    for (const struct service *s = services; s->name && !status; s++)
        if (s->start)
            status = s->start(job);
    return status;
}

int services_rank_env(struct job *job, int rank, struct environment *env)
{
    int status = 0;
    for (const struct service *s = services; s->name && !status; s++)
        if (s->rank_env)
            status = s->rank_env(job, rank, env);
    return status;
}

void services_started(struct job *job)
{
    for (const struct service *s = services; s->name; s++)
        if (s->started)
            s->started(job);
}

void services_rank_gone(struct job *job, int rank, int wait_status)
{
    for (const struct service *s = services; s->name; s++)
        if (s->rank_gone)
            s->rank_gone(job, rank, wait_status);
}

void services_other_gone(struct job *job, int world)
{
    for (const struct service *s = services; s->name; s++)
        if (s->other_gone)
            s->other_gone(job, world);
}

void services_stop(struct job *job)
{
    for (const struct service *s = services; s->name; s++)
        if (s->stop)
            s->stop(job);
}
