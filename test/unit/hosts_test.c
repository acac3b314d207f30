/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/environment.h"
#include "launcher/hosts.h"
#include "launcher/out.h"

#include "test/unit/unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int find(const char *list, const char *file, int *slots)
{
    struct options options = { 0 };
    struct host *hosts;
    int n;
    char path[] = "/tmp/xmpi-hosts.XXXXXX";
    if (list)
        strings_add(&options.hosts, (char *)list);
    if (file) {
        int fd = mkstemp(path);
        ck_assert_int_eq(write(fd, file, strlen(file)), (int)strlen(file));
        close(fd);
        strings_add(&options.hostfiles, path);
    }
    complaints_wanted = false;
    int status = hosts_find(&options, &hosts, &n);
    complaints_wanted = true;
    if (file)
        unlink(path);
    ck_assert(status || n == 1);
    *slots = status ? -1 : hosts[0].slots;
    free(hosts);
    return status;
}

START_TEST(this_machine_by_all_its_names)
{
    char own[256];
    gethostname(own, sizeof own);
    ck_assert(host_is_local(own));
    ck_assert(host_is_local("localhost"));
    ck_assert(host_is_local("127.0.0.1"));
    ck_assert(host_is_local("::1"));
    ck_assert(!host_is_local("no.such.host"));
    strcat(own, "x");
    ck_assert(!host_is_local(own));
}
END_TEST

START_TEST(slots_add_up)
{
    static const struct {
        const char *list, *file;
        int slots;
    } rows[] = {
        { NULL, NULL, 0 },
        { "localhost", NULL, 0 },
        { "localhost:3", NULL, 3 },
        { "localhost,localhost", NULL, 2 },
        { "localhost:2,127.0.0.1:3", NULL, 5 },
        { NULL, "# all\nlocalhost slots=4 max_slots=8\n", 4 },
        { NULL, "localhost:2\n\nlocalhost\n", 3 },
        { NULL, "localhost cpu=2 # two\nlocalhost np=1", 3 },
        { "::1", NULL, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int slots;
        ck_assert_int_eq(find(rows[i].list, rows[i].file, &slots), 0);
        ck_assert_msg(slots == rows[i].slots, "row %zu: %d", i, slots);
    }
}
END_TEST

START_TEST(what_is_no_host_is_refused)
{
    int slots;
    ck_assert_int_ne(find("localhost:x", NULL, &slots), 0);
    ck_assert_int_ne(find("localhost:0", NULL, &slots), 0);
}
END_TEST

/* The environment of a rank is what the rules say. */
START_TEST(environments_are_built_in_order)
{
    clearenv();
    setenv("KEPT", "1", 1);
    setenv("CHANGED", "old", 1);
    setenv("GONE", "1", 1);
    setenv("RANK", "77", 1);
    setenv("PMIX_RANK", "77", 1);
    setenv("PMIX_MCA_x", "1", 1);
    struct options options = { 0 };
    struct app app = { 0 };
    strings_add(&options.env.set, "CHANGED=global");
    strings_add(&options.env.set, "BOTH=global");
    strings_add(&app.env.set, "BOTH=app");
    strings_add(&app.env.unset, "GONE");
    struct strings common = { 0 };
    strings_add(&common, "WORLD_SIZE=4");
    struct environment env;
    environment_build(&env, &options, &app, &common);
    char text[16];
    for (int rank = 0; rank < 3; rank++) {
        snprintf(text, sizeof text, "RANK=%d", rank);
        environment_reset(&env);
        environment_add(&env, text);
        ck_assert_str_eq(environment_get(&env, "RANK"), text + 5);
    }
    ck_assert_str_eq(environment_get(&env, "KEPT"), "1");
    ck_assert_str_eq(environment_get(&env, "CHANGED"), "global");
    ck_assert_str_eq(environment_get(&env, "BOTH"), "app");
    ck_assert_str_eq(environment_get(&env, "WORLD_SIZE"), "4");
    ck_assert_str_eq(environment_get(&env, "PMIX_MCA_x"), "1");
    ck_assert_ptr_null(environment_get(&env, "GONE"));
    ck_assert_ptr_null(environment_get(&env, "PMIX_RANK"));
    int n = 0;
    while (env.list[n])
        n++;
    ck_assert_int_eq(n, 6);
    free(env.list);

    app.env.none = true;
    environment_build(&env, &options, &app, &common);
    ck_assert_ptr_null(environment_get(&env, "KEPT"));
    ck_assert_str_eq(environment_get(&env, "BOTH"), "app");
    free(env.list);
}
END_TEST

UNIT_MAIN("hosts", this_machine_by_all_its_names, slots_add_up, what_is_no_host_is_refused,
          environments_are_built_in_order)
