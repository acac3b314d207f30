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
#include "launcher/status.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Descriptors 0, 1 and 2 exist, so that nothing else gets these numbers. */
static void open_missing_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    open_missing_streams();
    if (argc == 3 && strcmp(argv[1], "--spawned") == 0)
        return spawned_main(argv[2]);
    struct options options;
    int status = cli_parse(argc, argv, &options);
    if (status || options.done)
        return status;
    if (options.status)
        return status_main(options.napps && options.apps[0].argv ? options.apps[0].argv[0]
                                                                 : NULL);
    status = gather_check(&options);
    if (!status && gather_is_wanted(&options) && options.node_rank > 0)
        return gather_join(&options);
    struct plan plan;
    if (!status)
        status = plan_make(&options, &plan);
    if (!status && (options.dry_run || options.display_map))
        status = plan_show(&options, &plan, stdout);
    if (options.dry_run || status) {
        remote_dismiss(status);
        return status;
    }
    fflush(stdout);
    master_decide(&options, &plan);
    if (plan_is_spread(&plan))
        return remote_run(&options, &plan);
    struct job job = { .options = &options, .plan = &plan };
    return job_run(&job);
}
