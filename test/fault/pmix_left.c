/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Two jobs on several hosts, of which one waits for what the other one has no longer: for spawn.sh, with
 * --keep-going.  The first argument says what is gone; who waits says what answer there was.
 *
 *     data     the host of a spawned rank is lost while the first job asks for what that rank never put
 *     partner  the first job ends badly while the spawned one waits for it in a fence of both
 *     gone     the same, but it has ended before that
 */
#include "pmix_family.h"

enum {
    A_WHILE_US = 500000
}; /* for questions to be asked, and for news to come: nothing depends on it */

static void say(const char *what, pmix_status_t status)
{
    printf("%s %u: %s: %s\n", is_spawned ? "spawned" : "first", me.rank, what,
           status == PMIX_SUCCESS ? "good" : "error");
    fflush(stdout);
}

/* What starts a rank is its host's launcher. */
static void lose_host(void)
{
    usleep(A_WHILE_US);
    kill(getppid(), SIGKILL);
    for (;;)
        pause();
}

static void ask(const char *spawned)
{
    pmix_proc_t lost = process(spawned, 1);
    pmix_value_t *value = NULL;
    say("data", PMIx_Get(&lost, "test.never", NULL, 0, &value));
}

static void do_data(const pmix_proc_t *both)
{
    if (!is_spawned)
        ask(both[1].nspace);
    else if (me.rank == 1)
        lose_host();
    say("fence", PMIx_Fence(both, 2, NULL, 0));
}

static void do_partner(const pmix_proc_t *both, bool is_late)
{
    usleep(is_spawned == is_late ? A_WHILE_US : 0);
    if (!is_spawned)
        exit(3);
    say("fence", PMIx_Fence(both, 2, NULL, 0));
}

int main(int argc, char **argv)
{
    pmix_nspace_t spawned;
    pmix_app_t app = myself(2, argv);
    begin(argv);
    app.cmd = program;
    if (is_spawned)
        strcpy(spawned, me.nspace);
    else
        spawn(&app, 1, spawned);
    pmix_proc_t both[] = { process(is_spawned ? parent.nspace : me.nspace, PMIX_RANK_WILDCARD),
                           process(spawned, PMIX_RANK_WILDCARD) };
    CHECK(argc == 2 && PMIx_Connect(both, 2, NULL, 0) == PMIX_SUCCESS);
    if (strcmp(argv[1], "data") == 0)
        do_data(both);
    else
        do_partner(both, strcmp(argv[1], "gone") == 0);
    PMIx_Finalize(NULL, 0);
    return 0;
}
