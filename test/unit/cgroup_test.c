/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quotas of recorded machines: the files of both versions of control groups in a directory.
 */
#include "launcher/cgroup.h"

#include "test/unit/files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static double quota(void)
{
    char self[128];
    snprintf(self, sizeof self, "%s/self", root);
    return cgroup_cpu_quota(self, root);
}

static void start(void)
{
    strcpy(root, "/tmp/xmpi-cgroup.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(version_2_takes_the_least_on_the_way_up)
{
    start();
    put("self", "0::/a/b/c\n");
    ck_assert_double_eq(quota(), 0);
    put("a/b/c/cpu.max", "max 100000\n");
    ck_assert_double_eq(quota(), 0);
    put("a/cpu.max", "250000 100000\n");
    ck_assert_double_eq(quota(), 2.5);
    put("a/b/cpu.max", "400000 100000\n");
    ck_assert_double_eq(quota(), 2.5);
    put("a/b/c/cpu.max", "50000 100000\n");
    ck_assert_double_eq(quota(), 0.5);
    end();
}
END_TEST

START_TEST(version_2_in_a_container_sees_its_root)
{
    start();
    put("self", "0::/../outside\n");
    put("cpu.max", "150000 100000\n");
    ck_assert_double_eq(quota(), 1.5);
    end();
}
END_TEST

START_TEST(version_1_reads_two_files)
{
    start();
    put("self", "9:name=systemd:/\n4:cpu,cpuacct:/docker/abc\n2:memory:/x\n");
    put("cpu/docker/abc/cpu.cfs_quota_us", "-1\n");
    put("cpu/docker/abc/cpu.cfs_period_us", "100000\n");
    ck_assert_double_eq(quota(), 0);
    put("cpu/docker/abc/cpu.cfs_quota_us", "300000\n");
    ck_assert_double_eq(quota(), 3);
    end();
}
END_TEST

START_TEST(version_1_in_a_container)
{
    start();
    put("self", "4:cpuacct,cpu:/docker/abc\n");
    put("cpu/cpu.cfs_quota_us", "50000\n");
    put("cpu/cpu.cfs_period_us", "50000\n");
    ck_assert_double_eq(quota(), 1);
    end();
}
END_TEST

START_TEST(paths_are_found_in_the_right_line)
{
    static const char text[] = "12:cpuset:/set\n5:cpu,cpuacct:/c\n1:name=systemd:/s\n0::/u\n";
    char path[16];
    ck_assert(cgroup_path(text, "cpu", path, sizeof path));
    ck_assert_str_eq(path, "/c");
    ck_assert(cgroup_path(text, "cpuset", path, sizeof path));
    ck_assert_str_eq(path, "/set");
    ck_assert(cgroup_path(text, "", path, sizeof path));
    ck_assert_str_eq(path, "/u");
    ck_assert(!cgroup_path(text, "memory", path, sizeof path));
    ck_assert(!cgroup_path("", "cpu", path, sizeof path));
    ck_assert(!cgroup_path("garbage", "cpu", path, sizeof path));
}
END_TEST

START_TEST(limits_parse)
{
    ck_assert_double_eq(cgroup_parse_max("200000 100000\n"), 2);
    ck_assert_double_eq(cgroup_parse_max("max 100000\n"), 0);
    ck_assert_double_eq(cgroup_parse_max("5 0\n"), 0);
    ck_assert_double_eq(cgroup_parse_max(""), 0);
}
END_TEST

UNIT_MAIN("cgroup", version_2_takes_the_least_on_the_way_up,
          version_2_in_a_container_sees_its_root, version_1_reads_two_files,
          version_1_in_a_container, paths_are_found_in_the_right_line, limits_parse)
