/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The launcher explains: when it is asked to (SIGQUIT), when the time limit is reached, and once
 * when nothing can move any more.
 *
 * Twice a second it looks at the waits of all ranks.  A deadlock is certain when ranks that wait for
 * each other have done so for XMPI_HANG seconds (10), nothing moved between two looks, and the next
 * look, soon after, finds it so again; then the ranks and the reason are printed, and the job goes on
 * as it is: to end it is up to the user, or --timeout.  Where some of them only test they may stop
 * that, so it says "perhaps", and goes on looking.  With XMPI_HANG set the same is printed when no rank
 * has done anything at all for so long, whatever the reason.  Each is said once.  One look costs some
 * microseconds per rank.
 */
#include "launcher/explain.h"

#include "launcher/job.h"
#include "launcher/mail.h"
#include "launcher/out.h"
#include "launcher/status.h"
#include "launcher/survey.h"

#include <stdlib.h>

enum news {
    NOTHING,
    SILENCE,
    PERHAPS,
    CERTAIN
}; /* the last one is news when another was said */

static struct {
    enum news said;
    double limit; /* seconds, 0: no watching */
    bool asked;   /* XMPI_HANG was set */
    int period_ms;
    int still;         /* looks in a row at which nothing had moved */
    bool stuck, again; /* somebody was at the last look; the next one is a moment later */
    struct situation *before;
} watching;

static const double MOMENT = 0.2; /* of the limit */

static void (*afterwards)(struct job *job); /* what the explanation was for */

char *explain_text(const struct job *job, const char *heading, const struct situation *ranks,
                   int missing, double settled, size_t *bytes)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, bytes);
    if (!to)
        abort();
    fputs(heading, to);
    status_print(to, ranks, job->plan->world, settled);
    if (missing)
        fprintf(to, "    %d ranks are on hosts that have not answered within %d s\n", missing,
                SURVEY_MS / 1000);
    if (fclose(to) != 0)
        abort();
    return text;
}

static void print_all(const struct job *job, const char *why, const struct situation *ranks,
                      int missing, double settled)
{
    char heading[240];
    size_t bytes = 0;
    snprintf(heading, sizeof heading, "xmpirun: %s%s; job %s, %d ranks:\n", launcher_job_name(),
             why, job->id, job->plan->world);
    char *text = explain_text(job, heading, ranks, missing, settled, &bytes);
    out_write(&out_stderr, NULL, text, bytes);
    free(text);
}

static void go_on(struct job *job)
{
    void (*then)(struct job *) = afterwards;
    afterwards = NULL;
    if (then)
        then(job);
}

static void surveyed(struct job *job, const char *why, const struct situation *ranks,
                     int missing)
{
    print_all(job, why, ranks, missing, STATUS_SETTLED);
    go_on(job);
}

void explain(struct job *job, const char *why, void (*then)(struct job *job))
{
    afterwards = then ? then : afterwards;
    if (survey_is_possible(job)) {
        survey_begin(job, true, why, surveyed);
        return;
    }
    struct situation *ranks = job->segment && !job->others ? status_look(job->segment) : NULL;
    if (ranks)
        print_all(job, why, ranks, 0, STATUS_SETTLED);
    else
        complain("%s; what the %d ranks of this job do is not to be shown", why,
                 job->plan->world);
    free(ranks);
    go_on(job);
}

/* ---- watching ---- */

/* Seconds; what cannot be read as such is said, and the default is taken. */
static bool wish_read(const struct job *job, const char *wish, double *seconds)
{
    char *end;
    double number = strtod(wish, &end);
    if (end != wish && *end == '\0' && number >= 0) { /* NaN is not */
        *seconds = number;
        return true;
    }
    if (mail_is_root(job))
        complain("XMPI_HANG=%s is not a number of seconds from 0 on; taking the default, 10",
                 wish);
    return false;
}

void explain_begin(struct job *job)
{
    const char *wish = getenv("XMPI_HANG");
    watching.limit = 10;
    watching.asked = wish && *wish && wish_read(job, wish, &watching.limit);
    if (watching.limit <= 0 || job->options->quiet || (job->others && !survey_is_possible(job)))
        return;
    watching.period_ms = watching.limit < 10 ? (int)(watching.limit * 50) + 1 : 500;
    if (job->others) /* large jobs have other things to do than to answer */
        watching.period_ms *= 2 + job->plan->world / 128;
    job_set_deadline(job, DEADLINE_HANG, watching.period_ms);
}

static bool is_still(const struct situation *ranks, int n)
{
    for (int i = 0; i < n; i++)
        if (ranks[i].moving)
            return false;
    return true;
}

/* Who is stuck is so at two looks, a moment apart: where CPUs are scarce a rank may not have run yet since what it
 * waits for came, and waits that began a little after those of others are to be told with them. */
static bool is_early(int stuck)
{
    watching.again = stuck && !watching.stuck;
    watching.stuck = stuck;
    return watching.again;
}

/* What there is to say that has not been said yet.  Then `why` is written. */
static enum news find_news(const struct job *job, const struct situation *ranks, char *why,
                           size_t room)
{
    struct blame blame;
    int n = job->plan->world;
    blame_find(ranks, n, watching.limit, &blame);
    watching.still = is_still(ranks, n) ? watching.still + 1 : 0;
    bool long_still = watching.still * watching.period_ms >= watching.limit * 1000;
    enum news news = blame.nstuck > 0 && blame.ntest == 0 ? CERTAIN
                     : blame.nstuck > 0                   ? PERHAPS
                     : watching.asked && long_still       ? SILENCE
                                                          : NOTHING;
    if (is_early(blame.nstuck) || news <= watching.said)
        return NOTHING;
    if (news == SILENCE)
        snprintf(why, room, "no rank has called or received anything for %g s", watching.limit);
    else
        snprintf(why, room, "%s: %d of %d ranks can never go on%s",
                 news == CERTAIN ? "deadlock" : "perhaps a deadlock", blame.nstuck, n,
                 news == CERTAIN ? "" : ", unless those that test do something else");
    return watching.said = news;
}

static void look_again(struct job *job)
{
    int moment_ms = (int)(watching.limit * MOMENT * 1000) + 1;
    bool after_a_moment = watching.again;
    watching.again = false;
    if (!job->stopping && watching.said != CERTAIN)
        job_set_deadline(job, DEADLINE_HANG, after_a_moment ? moment_ms : watching.period_ms);
}

static void told(struct job *job, const char *why, const struct situation *ranks, int missing)
{
    print_all(job, why, ranks, missing, watching.limit);
    look_again(job);
}

/* Ranks that moved are only known to have moved: ask for all before it is told. */
static void looked(struct job *job, const char *why, const struct situation *ranks, int missing)
{
    static char text[120];
    (void)why;
    if (!missing && !job->stopping && find_news(job, ranks, text, sizeof text))
        survey_begin(job, true, text, told);
    else
        look_again(job);
}

void explain_late(struct job *job)
{
    survey_late(job);
}

void explain_watch(struct job *job)
{
    char why[120];
    if (job->others) {
        survey_begin(job, false, "", looked);
        return;
    }
    struct situation *ranks = status_read(job->segment);
    bool two = ranks && watching.before && job->running > 0;
    if (two)
        status_compare(ranks, watching.before, job->nranks);
    if (two && !job->stopping && find_news(job, ranks, why, sizeof why))
        print_all(job, why, ranks, 0, watching.limit);
    look_again(job);
    free(watching.before);
    watching.before = ranks;
}
