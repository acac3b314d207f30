/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the facts about a host mean for jobs, and what can be done.  Pure: facts in, findings out.
 * Bad is what keeps a job from running; what costs time, or matters to some programs only, is a note.
 */
#include "tools/machine_facts.h"

#include <stdlib.h>

static void judge_memory(const struct machine_facts *f, struct findings *to)
{
    if (f->sharing.there)
        finding_add(to, FINDING_GOOD, "shared memory", "", "ranks of a node share memory");
    else
        finding_add(to, FINDING_BAD, "shared memory",
                    "allow memfd_create and shared mappings (the container's seccomp profile)",
                    "ranks of a node cannot share memory: %s", f->sharing.text);
    if (f->reading.there)
        finding_add(to, FINDING_GOOD, "cross-memory reads", "",
                    "ranks may read each other's memory: long messages are copied once");
    else
        finding_add(to, FINDING_NOTE, "cross-memory reads",
                    "sysctl kernel.yama.ptrace_scope=0; in a container --cap-add=SYS_PTRACE",
                    "long messages within a node are copied twice: %s", f->reading.text);
    if (f->mapping.there)
        finding_add(
            to, FINDING_GOOD, "mapped memory", "",
            "ranks may map each other's memory (XPMEM): long messages take no system call");
    else if (f->xpmem)
        finding_add(to, FINDING_NOTE, "mapped memory",
                    "install libxpmem, and let users read and write /dev/xpmem",
                    "there is XPMEM, but it cannot be used: %s", f->mapping.text);
    else
        finding_add(to, FINDING_GOOD, "mapped memory", "",
                    "not used: %s; long messages do without", f->mapping.text);
}

static void judge_shm(const struct machine_facts *f, struct findings *to)
{
    static const char remedy[] = "in a container --shm-size=1g, or mount a tmpfs on /dev/shm";
    enum { LEAST_MIB = 64 };
    if (f->shm_bytes < 0)
        finding_add(to, FINDING_NOTE, "/dev/shm", remedy,
                    "it is not there; xmpi needs none, but PMIx and other libraries do");
    else if (f->shm_bytes >> 20 <= LEAST_MIB)
        finding_add(to, FINDING_NOTE, "/dev/shm", remedy,
                    "only %lld MiB; xmpi needs none of it, but other libraries may",
                    f->shm_bytes >> 20);
    else
        finding_add(to, FINDING_GOOD, "/dev/shm", "", "%lld MiB; xmpi needs none of it",
                    f->shm_bytes >> 20);
}

static void judge_limits(const struct machine_facts *f, struct findings *to)
{
    enum { LEAST_FILES = 4096 };
    if (f->locked < 0)
        finding_add(to, FINDING_GOOD, "locked memory", "", "no limit");
    else if (f->pins || f->rdma)
        finding_add(to, f->pins ? FINDING_BAD : FINDING_NOTE, "locked memory",
                    "ulimit -l unlimited (memlock in limits.conf, LimitMEMLOCK=infinity)",
                    "a limit of %lld KiB: network cards that move memory themselves need more",
                    f->locked >> 10);
    else
        finding_add(to, FINDING_GOOD, "locked memory", "",
                    "a limit of %lld KiB, but no network here that locks memory",
                    f->locked >> 10);
    if (f->open_files >= 0 && f->open_files < LEAST_FILES)
        finding_add(to, FINDING_NOTE, "open files", "ulimit -n (nofile in limits.conf)",
                    "at most %lld: xmpirun needs five for each rank of a host, a rank one "
                    "for each peer on other hosts",
                    f->open_files);
    else
        finding_add(to, FINDING_GOOD, "open files", "",
                    f->open_files < 0 ? "no limit" : "enough may be open");
}

static void judge_cpus(const struct machine_facts *f, struct findings *to)
{
    if (f->quota > 0 && f->quota < f->cpus)
        finding_add(to, FINDING_NOTE, "CPUs", "docker run --cpus, or cpu.max of the group",
                    "%d may be used, but the control group gives time for %.1f: more ranks "
                    "than that will take turns",
                    f->cpus, f->quota);
    else if (f->cpus < f->online)
        finding_add(to, FINDING_NOTE, "CPUs", "taskset, cpuset, or the allocation of the job",
                    "%d of %d may be used: the affinity mask is narrower than the machine",
                    f->cpus, f->online);
    else
        finding_add(to, FINDING_GOOD, "CPUs", "", "%d, all of the machine's", f->cpus);
}

static void judge_clock(const struct machine_facts *f, struct findings *to)
{
    enum { SLOW_NS = 200 };
    const char *source = *f->clock ? f->clock : "unknown";
    if (f->clock_ns > SLOW_NS)
        finding_add(to, FINDING_NOTE, "clock", "boot with clocksource=tsc tsc=reliable",
                    "a reading takes %.0f ns (clock source %s): programs that call MPI_Wtime "
                    "often will feel it",
                    f->clock_ns, source);
    else
        finding_add(to, FINDING_GOOD, "clock", "", "a reading takes less than %d ns (%s)",
                    SLOW_NS, source);
}

/* A library that some need. */
static void judge_library(const struct fact *library, const char *name, const char *package,
                          const char *need, struct findings *to)
{
    if (library->there)
        finding_add(to, FINDING_GOOD, name, "", "%s", library->text);
    else
        finding_add(to, FINDING_NOTE, name, package, "%s: %s need it", library->text, need);
}

static void judge_network(const struct machine_facts *f, bool hosts, struct findings *to)
{
    enum finding_level missing = hosts ? FINDING_BAD : FINDING_NOTE;
    if (!f->fabric.there)
        finding_add(to, missing, "libfabric", "install libfabric (Debian: libfabric1)",
                    "%s: jobs on several hosts need it", f->fabric.text);
    else
        finding_add(to, FINDING_GOOD, "libfabric", "", "%s", f->fabric.text);
    if (f->network.there && f->rdma && !f->pins)
        finding_add(to, FINDING_NOTE, "network",
                    "install the device's library (Debian: ibverbs-providers), see fi_info -l",
                    "there are %d RDMA devices, but messages would go over %s", f->rdma,
                    f->network.text);
    else if (f->network.there)
        finding_add(to, FINDING_GOOD, "network", "", "%s", f->network.text);
    else
        finding_add(
            to, missing, "network",
            "look at xmpi info, and at XMPI_OFI_PROVIDER, XMPI_OFI_IFACE, XMPI_OFI_NICS",
            "no job on several hosts: %s", f->network.text);
}

static void judge_agent(const struct machine_facts *f, struct findings *to)
{
    if (f->agent.there)
        finding_add(to, FINDING_GOOD, "launch agent", "",
                    "%s is here; `xmpi doctor -H host,...` tries it", f->agent.text);
    else
        finding_add(to, FINDING_NOTE, "launch agent",
                    "install ssh (Debian: openssh-client), or set XMPI_LAUNCH_AGENT",
                    "%s is not in PATH: no job on other hosts can be started from here",
                    f->agent.text);
}

static void judge_gpu(const struct machine_facts *f, struct findings *to)
{
    if (f->gpus && !f->gpu.there)
        finding_add(to, FINDING_NOTE, "GPU",
                    "install NVIDIA's libcuda of the driver's version, look at nvidia-smi",
                    "%d NVIDIA devices, but %s", f->gpus, f->gpu.text);
    else if (f->gpus)
        finding_add(to, FINDING_GOOD, "GPU", "", "%d NVIDIA devices, %s", f->gpus, f->gpu.text);
    else if (f->amd)
        finding_add(to, FINDING_NOTE, "GPU", "", "an AMD GPU, which xmpi does not use");
    else
        finding_add(to, FINDING_GOOD, "GPU", "", "none");
}

void machine_judge(const struct machine_facts *f, bool hosts, struct findings *to)
{
    judge_memory(f, to);
    judge_shm(f, to);
    judge_limits(f, to);
    judge_cpus(f, to);
    judge_clock(f, to);
    judge_library(&f->hwloc, "hwloc", "install hwloc (Debian: libhwloc15)",
                  "--map-by and --bind-to", to);
    judge_library(&f->pmix, "PMIx", "install PMIx (Debian: libpmix2)",
                  "srun --mpi=pmix and prterun", to);
    judge_network(f, hosts, to);
    if (!hosts)
        judge_agent(f, to);
    judge_gpu(f, to);
}
