/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What xmpi doctor says about made-up hosts, one fault at a time; a host's files out of a folder;
 * findings of many hosts, exchanged as lines.
 */
#include "tools/machine_facts.h"

#include "test/unit/files.h"

#include <string.h>
#include <sys/stat.h>

static struct machine_facts healthy(void)
{
    return (struct machine_facts){ .sharing = { true, "" },
                                   .reading = { true, "" },
                                   .shm_bytes = 1LL << 30,
                                   .locked = -1,
                                   .open_files = -1,
                                   .cpus = 8,
                                   .online = 8,
                                   .clock = "tsc",
                                   .clock_ns = 25,
                                   .pmix = { true, "OpenPMIx 5" },
                                   .hwloc = { true, "API 2.8" },
                                   .fabric = { true, "1.17" },
                                   .network = { true, "provider net, interface eth0" },
                                   .agent = { true, "ssh" } };
}

static struct findings judged(const struct machine_facts *facts, bool hosts)
{
    struct findings findings = { 0 };
    machine_judge(facts, hosts, &findings);
    return findings;
}

/* Exactly one finding is not good: its level, its name, and words in its text and remedy. */
static void one_finding(const struct machine_facts *facts, bool hosts, enum finding_level level,
                        const char *what, const char *words)
{
    struct findings findings = judged(facts, hosts);
    const struct finding *found = NULL;
    int n = 0;
    for (int i = 0; i < findings.n; i++)
        if (findings.list[i].level != FINDING_GOOD) {
            found = &findings.list[i];
            n++;
        }
    ck_assert_int_eq(n, 1);
    ck_assert_str_eq(found->what, what);
    ck_assert_int_eq(found->level, level);
    ck_assert_msg(strstr(found->text, words) != NULL, "no \"%s\" in: %s", words, found->text);
    ck_assert_msg(*found->remedy, "%s: no remedy", what);
    findings_free(&findings);
}

START_TEST(a_healthy_host_is_good)
{
    struct machine_facts facts = healthy();
    for (int hosts = 0; hosts < 2; hosts++) {
        struct findings findings = judged(&facts, hosts);
        ck_assert_int_gt(findings.n, 10);
        ck_assert_int_eq(findings_count(&findings, FINDING_GOOD), findings.n);
        findings_free(&findings);
    }
}
END_TEST

START_TEST(rights_and_limits)
{
    struct machine_facts f = healthy();
    f.sharing = (struct fact){ false, "memfd_create: Operation not permitted" };
    one_finding(&f, false, FINDING_BAD, "shared memory", "memfd_create");
    f = healthy();
    f.reading = (struct fact){ false, "kernel.yama.ptrace_scope is 1" };
    one_finding(&f, false, FINDING_NOTE, "cross-memory reads", "ptrace_scope is 1");
    f = healthy();
    f.mapping = (struct fact){ false, "/dev/xpmem may not be opened: Permission denied" };
    f.xpmem = true;
    one_finding(&f, false, FINDING_NOTE, "mapped memory", "may not be opened");
    f = healthy();
    f.shm_bytes = 64 << 20;
    one_finding(&f, false, FINDING_NOTE, "/dev/shm", "only 64 MiB");
    f.shm_bytes = -1;
    one_finding(&f, false, FINDING_NOTE, "/dev/shm", "not there");
    f = healthy();
    f.open_files = 1024;
    one_finding(&f, false, FINDING_NOTE, "open files", "at most 1024");
    f.open_files = 4096;
    f.quota = 2.5;
    one_finding(&f, false, FINDING_NOTE, "CPUs",
                "8 may be used, but the control group gives "
                "time for 2.5");
    f = healthy();
    f.quota = 8;
    f.cpus = 2;
    one_finding(&f, false, FINDING_NOTE, "CPUs", "2 of 8");
    f = healthy();
    f.clock_ns = 900;
    strcpy(f.clock, "hpet");
    one_finding(&f, false, FINDING_NOTE, "clock", "900 ns (clock source hpet)");
}
END_TEST

START_TEST(networks)
{
    struct machine_facts f = healthy();
    f.locked = 64 << 10;
    struct findings findings = judged(&f, true);
    ck_assert_int_eq(findings_count(&findings, FINDING_GOOD),
                     findings.n); /* TCP locks nothing */
    findings_free(&findings);
    f.pins = true;
    one_finding(&f, true, FINDING_BAD, "locked memory", "64 KiB");
    f.locked = -1;
    f.rdma = 2;
    findings = judged(&f, true);
    ck_assert_int_eq(findings_count(&findings, FINDING_GOOD), findings.n);
    findings_free(&findings);
    f.pins = false;
    one_finding(&f, true, FINDING_NOTE, "network",
                "2 RDMA devices, but messages would go over");
    f = healthy();
    f.network = (struct fact){ false, "no network with interface nosuch0" };
    one_finding(&f, true, FINDING_BAD, "network", "nosuch0");
    one_finding(&f, false, FINDING_NOTE, "network", "nosuch0");
    f = healthy();
    f.fabric = (struct fact){ false, "not found: libfabric.so.1" };
    one_finding(&f, true, FINDING_BAD, "libfabric", "not found");
    one_finding(&f, false, FINDING_NOTE, "libfabric", "not found");
}
END_TEST

START_TEST(programs_and_devices)
{
    struct machine_facts f = healthy();
    f.agent = (struct fact){ false, "ssh" };
    one_finding(&f, false, FINDING_NOTE, "launch agent", "ssh is not in PATH");
    f = healthy();
    f.pmix = (struct fact){ false, "not found: libpmix.so.2" };
    one_finding(&f, true, FINDING_NOTE, "PMIx", "srun");
    f = healthy();
    f.hwloc = (struct fact){ false, "not found: libhwloc.so.15" };
    one_finding(&f, true, FINDING_NOTE, "hwloc", "--bind-to");
    f = healthy();
    f.gpus = 4;
    f.gpu = (struct fact){ false, "the driver answers with error 803" };
    one_finding(&f, true, FINDING_NOTE, "GPU", "4 NVIDIA devices, but the driver answers");
    f.gpu = (struct fact){ true, "4 visible" };
    struct findings findings = judged(&f, true);
    ck_assert_int_eq(findings_count(&findings, FINDING_GOOD), findings.n);
    findings_free(&findings);
}
END_TEST

/* ---- a host's files ---- */

START_TEST(files_of_the_kernel)
{
    char command[128];
    strcpy(root, "/tmp/xmpi-doctor.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    struct machine_facts f = machine_look(root);
    ck_assert_int_eq(f.shm_bytes, -1);
    ck_assert_double_eq(f.quota, 0);
    ck_assert_str_eq(f.clock, "");
    ck_assert(f.gpus == 0 && f.rdma == 0 && !f.amd);
    ck_assert_double_gt(f.clock_ns, 0);
    ck_assert_int_ge(f.cpus, 1);
    put("proc/self/cgroup", "0::/box\n");
    put("sys/fs/cgroup/box/cpu.max", "50000 100000\n");
    put("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    put("sys/class/infiniband/mlx5_0", "");
    put("sys/class/infiniband/mlx5_1", "");
    put("dev/shm/x", "");
    put("dev/nvidia0", "");
    put("dev/nvidia1", "");
    put("dev/nvidiactl", "");
    put("dev/kfd", "");
    f = machine_look(root);
    ck_assert_int_gt(f.shm_bytes, 0);
    ck_assert_double_eq(f.quota, 0.5);
    ck_assert_str_eq(f.clock, "hpet");
    ck_assert_int_eq(f.rdma, 2);
    ck_assert_int_eq(f.gpus, 2);
    ck_assert(f.amd);
    snprintf(command, sizeof command, "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

/* ---- many hosts ---- */

static char *text_of(const struct findings *findings, bool lines)
{
    char *text;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    if (lines)
        findings_write_lines(findings, to);
    else
        findings_write(findings, to, false);
    fclose(to);
    return text;
}

START_TEST(hosts_that_agree_are_told_together)
{
    struct findings a = { 0 }, all = { 0 };
    finding_add(&a, FINDING_NOTE, "clock", "buy\nanother", "it takes %d ns\tor so", 900);
    char *line = text_of(&a, true);
    ck_assert_str_eq(line, "finding\tnote\tclock\tit takes 900 ns or so\tbuy another\n");
    ck_assert(finding_read(&all, line, "a"));
    ck_assert(finding_read(&all, "finding\tbad\tGPU\tbroken\t\n", "a"));
    ck_assert(finding_read(&all, line, "b"));
    ck_assert(finding_read(&all, "finding\tbad\tGPU\tmissing\t\n", "b"));
    ck_assert_int_eq(all.n, 3);
    ck_assert_str_eq(all.list[0].hosts, "a, b");
    free(line);
    char *text = text_of(&all, false);
    ck_assert_ptr_nonnull(strstr(text, "on a, b: it takes 900 ns or so\n"));
    ck_assert_ptr_nonnull(strstr(text, "-> buy another\n"));
    ck_assert_ptr_nonnull(strstr(text, "0 good, 1 to note, 2 bad\n"));
    free(text);
    findings_free(&a);
    findings_free(&all);
}
END_TEST

START_TEST(what_is_no_finding)
{
    static const char *const lines[] = { "",
                                         "hello\n",
                                         "finding\n",
                                         "finding\tgood\tclock\n",
                                         "finding\tgood\tclock\ttext\n",
                                         "finding\tfine\tclock\ttext\t\n",
                                         "finding\tgood\tclock\ttext\t\tmore\n" };
    struct findings all = { 0 };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_msg(!finding_read(&all, lines[i], "a"), "%s", lines[i]);
    ck_assert_int_eq(all.n, 0);
}
END_TEST

UNIT_MAIN("doctor", a_healthy_host_is_good, rights_and_limits, networks, programs_and_devices,
          files_of_the_kernel, hosts_that_agree_are_told_together, what_is_no_finding)
