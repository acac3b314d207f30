/* SPDX-License-Identifier: BSD-3-Clause
 *
 * xmpirun: from the command line to an exit code.
 */
#include "launcher/cli.h"
#include "launcher/gather.h"
#include "launcher/job.h"
#include "launcher/master.h"
#include "launcher/remote.h"
#include "launcher/show.h"
#include "runtime/standard.h"

#include <string.h>

static int shown(int status)
{
    return standard_close("xmpirun", status);
}

/* Those that make a start on several hosts fail do no harm to this one. */
static void tell_wrong_parameters(void)
{
    remote_silence();
    remote_patience(0);
}

int main(int argc, char **argv)
{
    standard_open();
    if (argc == 3 && strcmp(argv[1], "--spawned") == 0)
        return spawned_main(argv[2]);
    struct options options;
    int status = cli_parse(argc, argv, &options);
    if (status || options.done)
        return shown(status);
    if (options.status)
        return shown(status_main(options.napps && options.apps[0].argv ? options.apps[0].argv[0]
                                                                       : NULL));
    status = gather_check(&options);
    if (!status && gather_is_wanted(&options) && options.node_rank > 0)
        return gather_join(&options);
    struct plan plan;
    if (!status)
        status = plan_make(&options, &plan);
    if (!status && (options.dry_run || options.display_map))
        status = shown(plan_show(&options, &plan, stdout));
    if (options.dry_run || status) {
        remote_dismiss(status);
        return status;
    }
    master_decide(&options, &plan);
    if (plan_is_spread(&plan))
        return remote_run(&options, &plan);
    tell_wrong_parameters();
    struct job job = { .options = &options, .plan = &plan };
    return job_run(&job);
}
