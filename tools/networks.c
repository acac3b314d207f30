/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The part of xmpi info about networks: which there are, which a job on several nodes would use, and
 * why.  The judgement is the library's own (pml/survey.h).
 */
#include "tools/info.h"

#include "pml/survey.h"
#include "runtime/fail.h"
#include "runtime/param.h"
#include "tools/report.h"

static void show_network(void *to, const struct network *network)
{
    struct report *r = to;
    char name[256];
    snprintf(name, sizeof name, "%s %s", network->provider, network->place);
    if (!r->json) {
        report_text(r, name, "%s: %s", network->used ? "used" : "not used", network->why);
        return;
    }
    report_group(r, name);
    report_truth(r, "used", network->used);
    report_text(r, "why", "%s", network->why);
    report_end(r);
}

void info_networks(struct report *r)
{
    params_read();
    report_group(r, r->json ? "networks" : "networks, for jobs on several nodes");
    if (networks_survey(show_network, r))
        report_text(r, "none", "%s", fail_text());
    report_end(r);
}
