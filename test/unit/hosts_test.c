/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/batch.h"
#include "launcher/environment.h"
#include "launcher/hosts.h"
#include "launcher/out.h"
#include "launcher/ranges.h"

#include "test/unit/unit.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    for (char *c = own; *c; c++)
        *c = (char)(isupper((unsigned char)*c) ? tolower(*c) : toupper(*c));
    ck_assert(host_is_local(own)); /* names of hosts have no case */
    ck_assert(host_is_local("LocalHost"));
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
        { NULL,
          "\xef\xbb\xbf"
          "localhost:2\n",
          2 },
        { NULL, "localhost cpu=2 # two\nlocalhost np=1", 3 },
        { "::1", NULL, 0 },
        { "[::1]:2", NULL, 2 },
        { "127.0.0.[1-3]", NULL, 3 },
        { "joe@[fe80::2%eth0]:2", NULL, 2 },
        { "joe@[fe80::2]", NULL, 0 },
        { "localhost:1048576,localhost:1048576,localhost", NULL, 1048576 },
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
    static const char *const lists[] = {
        "localhost:x", "localhost:0", "n[1-",    "n[2-1]",     "n[a]",   "n1]",
        "n[1;2]",      ":3",          "",        ",,",         "[::1]x", "[::1]x:2",
        "x[::1]",      "[::1]:",      "[::1]:x", "joe@[::1]2", "a:2:4",  "joe@a:1:2"
    };
    static const char *const files[] = {
        "localhost slots=x\n",
        "localhost slots=0\n",
        "localhost slot=2\n",
        "localhost -np 2\n",
        "localhost user=\n",
        "joe@n1 user=bob\n",
        "localhost slots=4 max_slots=2\n",
        "# nothing\n",
        "n[1-2\n",
        "localhost slots=9999999\n",
    };
    static const struct {
        const char *file, *says;
    } garbage[] = {
        { "\x7f"
          "ELF\x02\n",
          "1: \\x7fELF\\x02 is no name of a host" },
        { "# a\nn1 \x1b[2J\n", "2: \\x1b[2J: expected slots=N" },
        { "n1 user=\x1b[2J\n", "1: user=\\x1b[2J: expected slots=N" },
        { "n1 slots=\x9b\n", "1: slots=\\x9b: expected" },
    };
    int slots;
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        ck_assert_int_ne(find(NULL, garbage[i].file, &slots), 0);
        ck_assert_msg(strstr(last_complaint, garbage[i].says), "%s", last_complaint);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        ck_assert_msg(find(lists[i], NULL, &slots) != 0, "%s", lists[i]);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        ck_assert_msg(find(NULL, files[i], &slots) != 0, "%s", files[i]);
}
END_TEST

/* "n1:2 n2:2 n3" */
static const char *hosts_as_text(struct options *options)
{
    static char text[4096];
    struct host *hosts;
    int n;
    complaints_wanted = false;
    int status = hosts_find(options, &hosts, &n);
    complaints_wanted = true;
    text[0] = 0;
    for (int i = 0; i < n && !status; i++) {
        size_t used = strlen(text);
        int room = (int)(sizeof text - used);
        used +=
            (size_t)snprintf(text + used, (size_t)room, "%s%s", i ? " " : "", hosts[i].name);
        if (hosts[i].slots)
            used += (size_t)snprintf(text + used, sizeof text - used, ":%d", hosts[i].slots);
        if (hosts[i].max_slots)
            snprintf(text + used, sizeof text - used, "/%d", hosts[i].max_slots);
    }
    if (status)
        snprintf(text, sizeof text, "error");
    free(hosts);
    return text;
}

static const char *file_with(const char *content)
{
    static char path[] = "/tmp/xmpi-hosts.XXXXXX";
    snprintf(path, sizeof path, "/tmp/xmpi-hosts.XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_eq(write(fd, content, strlen(content)), (int)strlen(content));
    close(fd);
    return path;
}

START_TEST(both_customs_and_ranges)
{
    static const struct {
        const char *list, *file, *hosts;
    } rows[] = {
        { "a,b:2,a", NULL, "a:2 b:2" },
        { " a, b:2 ,\ta,", NULL, "a:2 b:2" },
        { "n[1-3]", NULL, "n1 n2 n3" },
        { "n[08-10,3]:4,login", NULL, "n08:4 n09:4 n10:4 n3:4 login" },
        { "r[1-2]n[0-1]-ib", NULL, "r1n0-ib r1n1-ib r2n0-ib r2n1-ib" },
        { "fe80::1,[fe80::2]:8", NULL, "fe80::1 fe80::2:8" },
        { "fe80::1%eth0,joe@::2", NULL, "fe80::1%eth0 joe@::2" },
        { NULL, "a slots=2 max_slots=4\nb:3 # comment\n\n#c\n  d\tcpu=1\r\n", "a:2/4 b:3 d:1" },
        { NULL, "n[1-2] slots=8\nn[2-3]\n", "n1:8 n2:9 n3" },
        { NULL, "a:2 binding=user:0 max-slots=2", "a:2/2" },
        { NULL, "n[1-2] user=joe slots=2\nb username=eve", "joe@n1:2 joe@n2:2 eve@b" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct options options = { 0 };
        const char *path = rows[i].file ? file_with(rows[i].file) : NULL;
        if (rows[i].list)
            strings_add(&options.hosts, (char *)rows[i].list);
        if (path)
            strings_add(&options.hostfiles, (char *)path);
        const char *hosts = hosts_as_text(&options);
        if (path)
            unlink(path);
        ck_assert_msg(strcmp(hosts, rows[i].hosts) == 0, "row %zu: %s, not %s", i, hosts,
                      rows[i].hosts);
    }
}
END_TEST

START_TEST(batch_systems_say_their_hosts)
{
    enum { MOST = 4 };
    static const struct {
        const char *variables[MOST]; /* FILE stands for a file with the content */
        const char *content, *wish, *hosts;
    } rows[] = {
        { { "SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=2(x2),1" },
          NULL,
          NULL,
          "n1:2 n2:2 n3:1" },
        { { "SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=1",
            "SLURM_JOB_CPUS_PER_NODE=16(x3)" },
          NULL,
          NULL,
          "n1:16 n2:16 n3:16" },
        { { "SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=n[01-03],big7",
            "SLURM_TASKS_PER_NODE=4(x4)" },
          NULL,
          "big7,n02:1",
          "big7:4 n02:1" },
        { { "SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=n[1-" }, NULL, NULL, "error" },
        { { "PBS_JOBID=1", "PBS_NODEFILE=FILE" }, "a\na\nb\n", NULL, "a:2 b:1" },
        { { "LSB_JOBID=1", "LSB_DJOB_HOSTFILE=FILE" }, "a\nb\nb\n", NULL, "a:1 b:2" },
        { { "LSB_JOBID=1", "LSB_MCPU_HOSTS=a 4 b 2" }, NULL, NULL, "a:4 b:2" },
        { { "LSB_JOBID=1", "LSB_MCPU_HOSTS=a 4 b" }, NULL, NULL, "error" },
        { { "JOB_ID=1", "PE_HOSTFILE=FILE" },
          "a 4 all.q@a UNDEFINED\nb 2 all.q@b UNDEFINED\n",
          NULL,
          "a:4 b:2" },
        /* as these systems write them: a queue on the host of the job, domains, processors */
        { { "JOB_ID=80913", "PE_HOSTFILE=FILE" },
          "node017.cluster 8 short.q@node017.cluster <NULL>\n"
          "node003.cluster 8 short.q@node003.cluster UNDEFINED\n"
          "node003.cluster 2 long.q@node003.cluster 0,0:0,1\n",
          NULL,
          "node017.cluster:8 node003.cluster:10" },
        { { "LSB_JOBID=4711", "LSB_DJOB_HOSTFILE=FILE", "LSB_MCPU_HOSTS=batch01 1 c05n11 2" },
          "batch01\nc05n11\nc05n11\n",
          NULL,
          "batch01:1 c05n11:2" },
        { { "LSB_JOBID=4711", "LSB_MCPU_HOSTS=batch01 1 c05n11 42 c05n12 42 " },
          NULL,
          NULL,
          "batch01:1 c05n11:42 c05n12:42" },
        { { "PBS_JOBID=1234.pbs01", "PBS_NODEFILE=FILE" },
          "r1i0n3.ib0.smc\nr1i0n3.ib0.smc\nr1i0n7.ib0.smc\nr1i0n3.ib0.smc\n",
          NULL,
          "r1i0n3.ib0.smc:3 r1i0n7.ib0.smc:1" },
        { { "PBS_JOBID=1", "PBS_NODEFILE=FILE" }, "\n", NULL, "error" },
        { { "COBALT_JOBID=1", "COBALT_NODEFILE=FILE" }, "a\nb\n", NULL, "a b" },
        { { "PBS_JOBID=1", "PBS_NODEFILE=/nowhere" }, NULL, NULL, "error" },
        { { "PBS_NODEFILE=/nowhere" }, NULL, "a", "a" },
        { { "PBS_JOBID=1", "PBS_NODEFILE=/nowhere" }, NULL, "a", "a" },
        { { "SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=n[1-" }, NULL, "a,b:2", "a b:2" },
        { { "LSB_JOBID=1", "LSB_MCPU_HOSTS=a 4x b 2" }, NULL, NULL, "error" },
        { { "LSB_JOBID=1", "LSB_MCPU_HOSTS=a 4 b 99999999999" }, NULL, NULL, "error" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct options options = { 0 };
        char path[64] = "";
        clearenv();
        if (rows[i].content)
            snprintf(path, sizeof path, "%s", file_with(rows[i].content));
        for (int v = 0; v < MOST && rows[i].variables[v]; v++) {
            char copy[100];
            snprintf(copy, sizeof copy, "%s", rows[i].variables[v]);
            char *value = strchr(copy, '=');
            *value++ = 0;
            setenv(copy, strcmp(value, "FILE") == 0 ? path : value, 1);
        }
        if (rows[i].wish)
            strings_add(&options.hosts, (char *)rows[i].wish);
        const char *hosts = hosts_as_text(&options);
        if (*path)
            unlink(path);
        ck_assert_msg(strcmp(hosts, rows[i].hosts) == 0, "row %zu: %s, not %s", i, hosts,
                      rows[i].hosts);
    }
}
END_TEST

START_TEST(a_batch_system_has_its_agent_and_name)
{
    clearenv();
    ck_assert_ptr_null(batch_agent());
    ck_assert_ptr_null(batch_own_name());
    setenv("SLURM_JOB_ID", "1", 1);
    ck_assert_ptr_null(batch_agent()); /* no list: nothing to reach */
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURMD_NODENAME", "n2", 1);
    ck_assert_ptr_nonnull(strstr(batch_agent(), "--nodelist={host} "));
    ck_assert(host_is_local("n2"));
    ck_assert(!host_is_local("n1"));
    ck_assert(batch_is_here());
}
END_TEST

START_TEST(lsf_and_grid_engine_have_agents_where_installed)
{
    static const char *const names[] = { "blaunch", "qrsh" };
    char place[] = "/tmp/xmpi-agents.XXXXXX", path[64];
    clearenv();
    ck_assert_ptr_nonnull(mkdtemp(place));
    setenv("PATH", place, 1);
    setenv("LSB_JOBID", "1", 1);
    setenv("LSB_MCPU_HOSTS", "a 4 b 4", 1);
    ck_assert_ptr_null(batch_agent()); /* ssh, then */
    snprintf(path, sizeof path, "%s/blaunch", place);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_ptr_null(batch_agent()); /* a directory is no command */
    rmdir(path);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", place, names[i]);
        close(open(path, O_CREAT | O_WRONLY, 0700));
    }
    ck_assert_str_eq(batch_agent(), "blaunch {host} {cmd}");
    clearenv();
    setenv("PATH", place, 1);
    setenv("JOB_ID", "1", 1);
    ck_assert_ptr_null(batch_agent()); /* no parallel environment */
    ck_assert(!batch_is_here());       /* somebody else's word */
    setenv("SGE_ROOT", "/opt/sge", 1);
    ck_assert(batch_is_here());
    unsetenv("SGE_ROOT");
    setenv("PE_HOSTFILE", "/somewhere", 1);
    ck_assert_str_eq(batch_agent(), "qrsh -inherit {host} {cmd}");
    ck_assert(batch_is_here());
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", place, names[i]);
        unlink(path);
    }
    rmdir(place);
}
END_TEST

/* The work for a hundred thousand names must not grow with their square. */
START_TEST(many_hosts_are_found_soon)
{
    struct host_list list = { 0 };
    ck_assert_int_eq(hosts_add(&list, "n[1-99999]:2", (struct host_words){ 0 }, ""), 0);
    ck_assert_int_eq(list.n, 99999);
    ck_assert_str_eq(hosts_named(&list, "n4711")->name, "n4711");
    ck_assert_ptr_null(hosts_named(&list, "n0"));
    complaints_wanted = false;
    ck_assert_int_ne(hosts_add(&list, "n[1-999999999]", (struct host_words){ 0 }, ""), 0);
    complaints_wanted = true;
    hosts_free(&list);
}
END_TEST

/* Nodes that a batch system has left over lie scattered: as many numbers as hosts in one bracket. */
START_TEST(brackets_hold_many_numbers)
{
    enum { HOSTS = 1000 };
    struct host_list list = { 0 };
    char text[5 * HOSTS + 3] = "n[", name[600];
    for (int i = 0; i < HOSTS; i++)
        sprintf(text + strlen(text), "%s%04d", i ? "," : "", 2 * i + 1);
    strcat(text, "]");
    ck_assert_int_eq(hosts_add(&list, text, (struct host_words){ 0 }, ""), 0);
    ck_assert_int_eq(list.n, HOSTS);
    ck_assert_str_eq(list.hosts[HOSTS - 1].name, "n1999");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    complaints_wanted = false;
    ck_assert_int_ne(hosts_add(&list, name, (struct host_words){ 0 }, ""), 0);
    complaints_wanted = true;
    hosts_free(&list);
}
END_TEST

/* Grid Engine names each processor that a job is bound to. */
START_TEST(lines_of_grid_engine_may_be_long)
{
    struct options options = { 0 };
    char content[8192] = "a 256 all.q@a ";
    for (int i = 0; i < 256; i++)
        sprintf(content + strlen(content), "%s%d,%d", i ? ":" : "", i / 128, i % 128);
    strcat(content, "\n\nb 2 all.q@b UNDEFINED\n");
    const char *path = file_with(content);
    clearenv();
    setenv("JOB_ID", "1", 1);
    setenv("PE_HOSTFILE", path, 1);
    ck_assert_str_eq(hosts_as_text(&options), "a:256 b:2");
    unlink(path);
}
END_TEST

START_TEST(counts_in_short)
{
    int numbers[8];
    ck_assert_int_eq(ranges_counts("2(x3),1", numbers, 8), 4);
    ck_assert(numbers[0] == 2 && numbers[2] == 2 && numbers[3] == 1);
    static const char *const wrong[] = { "x",    "2(x",  "2(x3",  "0",
                                         "2,,1", "2(3)", "2(x9)", "99999999999" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(ranges_counts(wrong[i], numbers, 8) == -1, "%s", wrong[i]);
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
          both_customs_and_ranges, batch_systems_say_their_hosts,
          a_batch_system_has_its_agent_and_name,
          lsf_and_grid_engine_have_agents_where_installed, many_hosts_are_found_soon,
          brackets_hold_many_numbers, lines_of_grid_engine_may_be_long, counts_in_short,
          environments_are_built_in_order)
