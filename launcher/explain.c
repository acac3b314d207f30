/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher explains: when it is asked to (SIGQUIT), when the time limit is reached, and once
 * when nothing can move any more.
 *
 * Every few seconds it looks at the waits of all ranks.  A deadlock is certain when ranks that
 * wait for each other have done so for XMPI_HANG seconds (10) and nothing moved between two
 * looks; then the ranks and the reason are printed, and the job goes on as it is: to end it is up
 * to the user, or --timeout.  With XMPI_HANG set the same is printed when no rank has done anything
 * at all for so long, whatever the reason.  One look costs some microseconds per rank.
 */
#include "launcher/explain.h"

#include "launcher/job.h"
#include "launcher/out.h"
#include "launcher/status.h"

#include <stdlib.h>

static struct {
    double limit; /* seconds, 0: no watching */
    bool asked;   /* XMPI_HANG was set */
    int period_ms;
    int still; /* looks in a row at which nothing had moved */
    struct situation *before;
} watching;

static void print_all(const struct job *job, const char *why, const struct situation *ranks,
                      double settled)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    if (!to)
        return;
    fprintf(to, "xmpirun: %s; job %s, %d ranks:\n", why, job->id, job->nranks);
    status_print(to, ranks, job->nranks, settled);
    if (fclose(to) == 0)
        out_write(&out_stderr, NULL, text, bytes);
    free(text);
}

void explain(struct job *job, const char *why)
{
    if (job->others) {
        complain("%s; what ranks on several hosts wait for is not shown yet", why);
        return;
    }
    struct situation *ranks = job->segment ? status_look(job->segment) : NULL;
    if (ranks)
        print_all(job, why, ranks, STATUS_SETTLED);
    free(ranks);
}

/* ---- watching ---- */

void explain_begin(struct job *job)
{
    const char *wish = getenv("XMPI_HANG");
    watching.asked = wish && *wish;
    watching.limit = watching.asked ? atof(wish) : 10;
    if (watching.limit <= 0 || job->options->quiet || job->others)
        return;
    watching.period_ms = watching.limit < 10 ? (int)(watching.limit * 250) + 1 : 2500;
    job_set_deadline(job, DEADLINE_HANG, watching.period_ms);
}

static bool is_still(const struct situation *ranks, int n)
{
    for (int i = 0; i < n; i++)
        if (ranks[i].moving)
            return false;
    return true;
}

/* True when there was something to say. */
static bool compare_looks(struct job *job, struct situation *ranks)
{
    struct blame blame;
    char why[120];
    int n = job->nranks;
    status_compare(ranks, watching.before, n);
    blame_find(ranks, n, watching.limit, &blame);
    watching.still = is_still(ranks, n) ? watching.still + 1 : 0;
    bool long_still = watching.still * watching.period_ms >= watching.limit * 1000;
    if (blame.nstuck > 0)
        snprintf(why, sizeof why, "deadlock: %d of %d ranks can never go on", blame.nstuck, n);
    else if (watching.asked && long_still)
        snprintf(why, sizeof why, "no rank has called or received anything for %g s",
                 watching.limit);
    else
        return false;
    print_all(job, why, ranks, watching.limit);
    return true;
}

void explain_watch(struct job *job)
{
    struct situation *ranks = status_read(job->segment);
    bool said = ranks && watching.before && !job->stopping && compare_looks(job, ranks);
    free(watching.before);
    watching.before = ranks;
    if (!said && !job->stopping)
        job_set_deadline(job, DEADLINE_HANG, watching.period_ms);
}
